"""Index policies as compiled choices take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gbb._kernels.choice.diagonal import Diagonal
from gbb._kernels.choice.edges import Edges
from gbb._kernels.choice.information import Information
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


def make_edges(policy: IndexPolicy) -> Edges:
    """The directed edges, and the regressors that the policy learns of them."""
    problem = policy.problem
    return Edges(
        indptr=np.searchsorted(problem.sources, np.arange(problem.n + 1)).astype(np.int64),
        indices=np.array(problem.targets, dtype=np.int64),
        types=np.array(problem.edge_types),
        weights=np.array(problem.edge_weights),
        adds_to=np.array(problem.adds_to),
        regressor=np.array(policy.coordinates.index),
        ways=float(problem.ways),
        plain=problem.types == 1 and bool((problem.edge_weights == 1.0).all()),
    )


def make_information(policy: IndexPolicy, regressors: int) -> Information | None:
    """Room for a choice among the allocations of many draws, where the policy makes so many."""
    problem, samples = policy.problem, policy.samples
    if samples == 1:
        return None
    return Information(
        edges=make_edges(policy),
        own=len(policy.coordinates.features),
        in_sums=not policy.hears_regressors,
        power=policy.power,
        floor=policy.floor,
        draws=np.zeros((samples, regressors)),
        group=np.zeros(samples, dtype=np.int64),
        arms=np.zeros((samples, problem.n), dtype=np.int64),
        counts=np.zeros((samples, regressors)),
        tuples=np.zeros(samples, dtype=np.int64),
        size=np.zeros(samples, dtype=np.int64),
        centre=np.zeros(regressors),
        means=np.zeros((samples, regressors)),
        total=np.zeros(regressors),
        within=np.zeros(regressors),
        seen=np.zeros(regressors),
        regret=np.zeros(samples),
        gain=np.zeros(samples),
        told=np.zeros((3, problem.observations)),
    )
