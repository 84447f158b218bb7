"""Index policies as the compiled loops take them: their declared parts as numbers and layouts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np

from gbb._kernels.choice.counts import Counted
from gbb._kernels.choice.diagonal import Diagonal
from gbb._kernels.choice.edges import Edges
from gbb._kernels.choice.information import Information
from gbb._kernels.choice.rule import Rule
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb._support.checks import FloatArray
from gbb._support.rows import unique_rows
from gbb.cuts import Cut
from gbb.learning.coordinates import Coordinates, coordinates
from gbb.learning.radius import Radius, check_radius
from gbb.learning.record import AnyRecord
from gbb.learning.ridge import Ridge
from gbb.learning.scales import Scales
from gbb.learning.tuples import Tuples
from gbb.policies import (
    AnyPolicy,
    CutSearch,
    EpsilonRandom,
    Guarded,
    Index,
    IndexPolicy,
    InformationRatio,
    Learned,
    LocalSearch,
    Memory,
    Optimistic,
    PosteriorSample,
    RidgeLearner,
)
from gbb.policies._layout import LinkSearch, first_entries
from gbb.problem import Problem, rounds_kept

MAX_TERMS = 1 << 23
"""The most terms that the tuples of a compiled choice may have."""

PROPOSALS = (PosteriorSample, InformationRatio)
"""The indices whose allocations the compiled loops play, or guard."""

OWN_METHODS = ("init", "select", "update", "absorb", "on", "at", "_on_round")
"""What a subclass may not override if the compiled loops are to play it."""


class CountedSearch(LinkSearch):
    """Local search on how often an allocation plays each regressor."""

    def counted(self) -> Counted:
        """Return room for counts of regressors, of which nothing is counted yet."""
        problem, tables = self.tuples.problem, len(self.regressors)
        slots, longest = len(self._slots["slot_table"]), int(np.diff(self.links.start).max())
        shape, limits = (tables, problem.K, padded(problem.K)), aligned_zeros(padded(problem.n))
        limits[:] = np.inf
        apart = aligned_zeros(problem.K, padded(problem.K))
        np.fill_diagonal(apart, -np.inf)
        return Counted(
            mean=aligned_zeros(*shape),
            var=aligned_zeros(*shape),
            counts=aligned_zeros(*shape),
            level=aligned_zeros(tables, padded(problem.K)),
            around=aligned_zeros(slots, padded(problem.K)),
            crowd=np.zeros((slots, problem.K), dtype=np.int64),
            rows=np.zeros(longest, dtype=np.int64),
            shares=np.zeros(longest),
            added=aligned_zeros(2, padded(problem.K)),
            last=np.zeros(problem.K, dtype=np.int64),
            slopes=aligned_zeros(*shape),
            apart=apart,
            limits=limits,
            found=aligned_zeros(3, WIDTH),
            **self._slots,
        )

    @cached_property
    def _slots(self) -> dict[str, Any]:
        """The neighbours counted together: by agent and table, in the order of both."""
        links, problem, tables = self.links, self.tuples.problem, len(self.regressors)
        agent = np.repeat(np.arange(problem.n), np.diff(links.start))
        slots, slot = np.unique(agent * tables + links.table, return_inverse=True)
        whose = np.repeat(np.arange(problem.n), np.diff(links.bundle_start))
        joint, which, _ = unique_rows(links.bundle_table, links.group[whose], links.bundle_group)
        total = np.bincount(which, weights=links.bundle_weight)
        owner, table = np.divmod(slots, tables)
        mate = np.arange(tables) if self.merged else np.roll(np.arange(tables), problem.types)
        mates = np.searchsorted(slots, owner * tables + mate[table])
        there = slots[np.minimum(mates, len(slots) - 1)] == owner * tables + mate[table]
        around = np.bincount(agent, weights=np.abs(links.weight), minlength=problem.n)
        return {
            "mate": mate,
            "slot_start": first_entries(owner, problem.n),
            "slot_table": table,
            "slot_mate": np.where(there, mates, -1),
            "slot": slot,
            "back": np.searchsorted(slots, links.other * tables + links.back),
            "bundle_slot": np.searchsorted(slots, whose * tables + links.bundle_table),
            "joint_table": joint[0],
            "joint_own": joint[1],
            "joint_other": joint[2],
            "joint_weight": total.astype(np.float64),
            # No agent's limit moves by more than this in a move; 0 where limits are not kept.
            "reach": 2.0 * float(around.max()) if self.sparse and tables == 1 else 0.0,
        }


@dataclass(eq=False)
class LoweredPolicy:
    """The parts of an index policy that the compiled loops play.

    Attributes
    ----------
    policy
        The policy itself.
    problem
        What it plays on; sigma and S are known after :meth:`with_scales`.
    search
        How it searches, whose cut it plays over.
    bonus
        The optimistic index, or that of a guard; None without optimism.
    sample
        The index of proposals; None if there are none.
    epsilon
        The probability of a random round.
    beta, c
        The guard, if any.
    v, lam, delta
        The scale of draws, the regulariser, and the probability left for confidence sets.
    symmetric
        Whether it learns symmetric parts only.
    """

    policy: IndexPolicy
    problem: Problem
    search: CutSearch | LocalSearch
    bonus: Optimistic | None
    sample: PosteriorSample | InformationRatio | None
    epsilon: float
    beta: float | None
    c: float | None
    v: float
    lam: float
    delta: float
    symmetric: bool

    @property
    def name(self) -> str:
        """The policy's name in results."""
        return self.policy.name

    @property
    def starts(self) -> int:
        """The number of tuples that local search starts from; 0 for the best tuple as it is."""
        return self.search.starts if isinstance(self.search, LocalSearch) else 0

    @cached_property
    def restarts(self) -> int:
        """The number of random allocations that local search starts from."""
        problem = self.problem
        return self.search.restarts(problem) if isinstance(self.search, LocalSearch) else 0

    @property
    def cut(self) -> Cut:
        """The parts that it plays tuples over."""
        return self.search.cut

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """What the edges between and inside two parts count for in the value of a couple."""
        declared = self.search.weights if isinstance(self.search, CutSearch) else None
        return self.cut.weights if declared is None else declared

    @cached_property
    def radius(self) -> str | Radius | None:
        """The radius by the name that is valid here."""
        return None if self.bonus is None else check_radius(self.problem, self.bonus.radius)

    @property
    def adaptive(self) -> bool:
        """Whether the radius follows the record and not the number of rounds."""
        return self.bonus is not None and self.bonus.follows_record

    @property
    def shrinking(self) -> bool:
        """Whether the charge for the regulariser's bias shrinks."""
        return self.bonus is not None and self.bonus.shrinking

    @property
    def optimistic(self) -> bool:
        """Whether there is a bonus."""
        return self.bonus is not None

    @property
    def guarded(self) -> bool:
        """Whether a proposal is played only if it is optimistic enough."""
        return self.beta is not None or self.c is not None

    @property
    def proposes(self) -> bool:
        """Whether it searches without optimism, to play what it finds or to guard it."""
        return self.sample is not None

    @property
    def samples(self) -> int:
        """The number of draws in a round."""
        return self.sample.samples if isinstance(self.sample, InformationRatio) else 1

    def radii(self, rounds: FloatArray) -> FloatArray:
        """Return the radius after each number of rounds; 0 if there is none or the record decides."""
        if self.bonus is None:
            return np.zeros_like(rounds)
        return self.bonus.radii(self.problem, rounds, self.lam, self.delta)

    @cached_property
    def tuples(self) -> Tuples:
        """The tuples of arms over the parts, with what each edge counts for."""
        return self.search.tuples(self.problem)

    @cached_property
    def coordinates(self) -> Coordinates:
        """What it learns in: edge-arms, or their symmetric parts."""
        return coordinates(self.problem, symmetric=self.symmetric)

    @cached_property
    def link_search(self) -> LinkSearch:
        """The search over allocations."""
        index, merged = self.coordinates.index, self.problem.links_alike
        return LinkSearch(self.tuples, index, merged, self.starts, self.restarts)

    @cached_property
    def counted_search(self) -> CountedSearch:
        """The search on counts of regressors."""
        # An entry for each regressor, so for each direction unless both have one.
        merged = self.problem.links_alike and self.symmetric
        index = self.coordinates.index
        return CountedSearch(self.tuples, index, merged, self.starts, self.restarts)

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether estimates are independent across regressors (orthogonal arms)."""
        return self.coordinates.diagonal and self.is_listed

    @property
    def is_listed(self) -> bool:
        """Whether the terms of all tuples are few enough to be listed."""
        return self.tuples.size * len(self.tuples.kinds) <= MAX_TERMS

    @property
    def reports_regressors(self) -> bool:
        """Whether every number of a round's report is of one regressor."""
        return self.problem.tabular and (self.problem.ways == 1 or self.symmetric)

    @property
    def constants(self) -> dict[str, Any]:
        """The numbers that every compiled choice takes, by the names it has for them."""
        return {
            "lam": self.lam,
            "adaptive": self.adaptive,
            "sigma": self.problem.sigma,
            "spread": float(-2.0 * np.log(self.delta)),
            "offset": float(np.sqrt(self.lam) * self.problem.norm),
            "shrinking": self.shrinking,
            "v": self.v,
            "explore": self.epsilon,
            "starts": self.starts,
            "slack": 1.0 - self.beta if self.beta is not None else self.c or 0.0,
            "fading": self.c is not None,
        }

    @cached_property
    def rule(self) -> Rule:
        """The numbers of the policy."""
        regressor, amount = self.tuples.list_terms(self.coordinates.index)
        types = np.array(self.problem.matrices_in_play)
        return Rule(
            tuples=self.tuples.size,
            tuple_regressor=regressor,
            tuple_amount=amount,
            types=types,
            blocks=types if self.problem.tabular else np.zeros(1, dtype=np.int64),
            **self.constants,
        )

    def on(self, problem: Problem) -> LoweredPolicy:
        """Return the policy on a round's problem, which is its own at some context."""
        return self if problem is self.problem else self._on(problem)

    @cached_property
    def _on(self) -> Callable[[Problem], LoweredPolicy]:
        return lru_cache(rounds_kept(self.problem.m))(self.rebuild)

    def rebuild(self, problem: Problem) -> LoweredPolicy:
        """Return the policy on another problem."""
        lowered = _lower(replace(self.policy, problem=problem))
        assert lowered is not None
        return lowered

    def with_scales(self, state: Learned) -> LoweredPolicy:
        """Return the policy with the scales of ``state`` if sigma or S is unknown."""
        learner, problem = self.policy.learner, self.policy.problem
        if not problem.unknown:
            return self
        _ = self.link_search, self.counted_search  # made once, for all copies
        other = copy.copy(self)
        vars(other).pop("rule", None)
        other.problem, v, other.lam = learner.scale(problem, state.scales)
        other.v = v if self.sample is not None else 0.0
        return other

    def scales(self, record: AnyRecord) -> Scales:
        """Return what a record says of sigma and S."""
        problem = self.policy.problem
        scales: Scales = self.policy.learner.estimate_scales(problem, record)
        return scales

    def ridge(self, record: AnyRecord) -> Ridge:
        """Return the estimate from a record."""
        return Ridge(self.problem, record, self.lam, symmetric=self.symmetric)

    def make_diagonal(self) -> Diagonal:
        """Make room for the mean and the variance of every regressor."""
        problem, index, features = self.problem, self.coordinates.index, self.coordinates.features
        count = len(features)
        first, second = np.divmod(np.unique(index, return_index=True)[1], problem.K)
        return Diagonal(
            mean=np.zeros(problem.types * count),
            var=np.zeros(problem.types * count),
            share=np.ones(problem.types * count),
            norm2=np.diag(features) ** 2,
            first=first,
            second=second,
            both=self.symmetric,
            lam=self.lam,
        )

    def make_edges(self) -> Edges:
        """Return the directed edges, and the regressors that are learnt of them."""
        problem = self.problem
        return Edges(
            indptr=np.searchsorted(problem.sources, np.arange(problem.n + 1)).astype(np.int64),
            indices=np.array(problem.targets, dtype=np.int64),
            types=np.array(problem.edge_types),
            weights=np.array(problem.edge_weights),
            adds_to=np.array(problem.report.index),
            regressor=np.array(self.coordinates.index),
            ways=float(problem.ways),
            plain=problem.types == 1 and bool((problem.edge_weights == 1.0).all()),
        )

    def make_information(self, regressors: int) -> Information | None:
        """Make room for a choice among the allocations of many draws, if there are many."""
        problem, samples = self.problem, self.samples
        if samples == 1:
            return None
        assert isinstance(self.sample, InformationRatio)
        return Information(
            edges=self.make_edges(),
            own=len(self.coordinates.features),
            in_sums=not self.reports_regressors,
            power=self.sample.power,
            floor=self.sample.floor,
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


def lower(policy: AnyPolicy) -> LoweredPolicy | None:
    """Return an index policy as compiled loops take it; None if a part or a method is not gbb's own.

    It is kept with the policy, as all runs share its layouts.
    """
    if not isinstance(policy, IndexPolicy):
        return None
    if "lowered" not in policy.cache:
        policy.cache["lowered"] = _lower(policy)
    lowered: LoweredPolicy | None = policy.cache["lowered"]
    return lowered


def _lower(policy: IndexPolicy) -> LoweredPolicy | None:
    kind = type(policy)
    if any(getattr(kind, name) is not getattr(IndexPolicy, name) for name in OWN_METHODS):
        return None  # whatever a subclass overrides, it is not the compiled loops' policy any more
    learner, index, search = policy.learner, policy.index, policy.search
    # By exact type: a subclass of a part may do anything.
    plain = type(learner) is RidgeLearner and type(learner.memory) is Memory
    if not plain or learner.reweight is not None or learner.sigma is not None:
        return None
    if type(search) is not CutSearch and type(search) is not LocalSearch:
        return None
    epsilon = 0.0
    if type(index) is EpsilonRandom:
        epsilon, index = index.epsilon, index.index
    bonus: Index | None
    sample: Index | None
    match index:
        case Guarded(sample, bonus, beta, c) if type(index) is Guarded:
            pass
        case Optimistic():
            bonus, sample, beta, c = index, None, None, None
        case _:
            bonus, sample, beta, c = None, index, None, None
    own_bonus = bonus is None or type(bonus) is Optimistic
    if not own_bonus or (sample is not None and type(sample) not in PROPOSALS):
        return None
    _, v, lam = learner.scale(policy.problem, None)
    return LoweredPolicy(
        policy=policy,
        problem=policy.problem,
        search=search,
        bonus=bonus,
        sample=cast(PosteriorSample | InformationRatio | None, sample),
        epsilon=epsilon,
        beta=beta,
        c=c,
        v=v if sample is not None else 0.0,
        lam=lam,
        # Half of delta is for the bound on an unknown sigma.
        delta=learner.delta / 2.0 if "sigma" in policy.problem.unknown else learner.delta,
        symmetric=learner.uses_symmetric_part(policy.problem),
    )
