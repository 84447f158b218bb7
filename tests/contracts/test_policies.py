"""Every policy keeps the contract, by existing."""

import gbb
from gbb.testing import policy_contract

KINDS = gbb.policies.classes()
SETTINGS = {"Conservative": {"eps": 1.0, "floor": 0.0}}
"""Lets the policy inside `Conservative` through from the first round on."""

for name, kind in KINDS.items():
    globals()[f"Test{name}"] = policy_contract(kind, **SETTINGS.get(name, {}))


def test_the_papers_policies_are_discovered():
    known = {"OFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom", "FixedAllocation"}
    assert known <= set(KINDS)
