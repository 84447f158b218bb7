"""Every policy keeps the contract."""

import gbb
from gbb.testing import policy_contract

KINDS = {name: gbb.policies.find(name) for name in gbb.policies.names()}
SETTINGS = {"Conservative": {"eps": 1.0, "floor": 0.0}}
"""Lets the policy inside `Conservative` through from the first round on."""

for name, kind in KINDS.items():
    globals()[f"Test{name}"] = policy_contract(kind, **SETTINGS.get(name, {}))


def test_the_papers_policies_are_listed():
    known = {"OFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom", "FixedAllocation"}
    assert known <= set(KINDS)
