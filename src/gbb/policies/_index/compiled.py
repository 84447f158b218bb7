"""Index policies as compiled choices take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbb._kernels.choice.diagonal import Diagonal
from gbb._kernels.choice.rule import Rule

if TYPE_CHECKING:
    from gbb.policies._index.policy import IndexPolicy


def make_rule(policy: IndexPolicy) -> Rule:
    """The numbers of an index policy."""
    regressor, amount = policy.tuples.list_terms(policy.coordinates.index)
    types = np.array(policy.problem.in_play)
    return Rule(
        tuples=policy.tuples.size,
        tuple_regressor=regressor,
        tuple_amount=amount,
        types=types,
        blocks=types if policy.problem.keeps_tables else np.zeros(1, dtype=np.int64),
        **policy.constants,
    )


def make_diagonal(policy: IndexPolicy) -> Diagonal:
    """Room for the mean and the variance of every regressor."""
    problem, index = policy.problem, policy.coordinates.index
    features = policy.coordinates.features
    count = len(features)
    first, second = np.divmod(np.unique(index, return_index=True)[1], problem.K)
    return Diagonal(
        mean=np.zeros(problem.types * count),
        var=np.zeros(problem.types * count),
        share=np.ones(problem.types * count),
        norm2=np.diag(features) ** 2,
        first=first,
        second=second,
        both=policy.learns_two_way,
        lam=policy.lam,
    )
