"""Contracts: what every policy, cut, solver and noise law owes, as tests for pytest to collect.

A package that adds one of its own tests it in two lines::

    from gbb.testing import policy_contract
    TestMyPolicy = policy_contract(MyPolicy)

This package needs pytest, which gbb itself does not.
"""

from __future__ import annotations

try:
    import pytest
except ModuleNotFoundError:
    text = "gbb.testing needs pytest, which gbb itself does not. Install it: pip install pytest."
    raise ModuleNotFoundError(text, name="pytest") from None

pytest.register_assert_rewrite("gbb.testing.plugins", "gbb.testing.policies")

from gbb.testing.plugins import cut_contract, noise_contract, solver_contract  # noqa: E402
from gbb.testing.policies import policy_contract  # noqa: E402
from gbb.testing.problems import PROBLEMS  # noqa: E402

__all__ = ["PROBLEMS", "cut_contract", "noise_contract", "policy_contract", "solver_contract"]
