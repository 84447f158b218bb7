"""Index policies as the compiled code takes them: their declared parts, by exact type, as numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gbb._support.checks import FloatArray
from gbb.cuts import Cut
from gbb.learning.coordinates import Coordinates, coordinates
from gbb.learning.radius import Radius, check_radius
from gbb.learning.tuples import Tuples
from gbb.policies._index import EpsilonRandom, Guarded, Index, Optimistic, PosteriorSample
from gbb.policies._index_policy import IndexPolicy
from gbb.policies._information import InformationRatio
from gbb.policies._learner import Memory, Posterior, RidgeLearner
from gbb.policies._policy import AnyPolicy, Learned
from gbb.policies._search import CutSearch, LocalSearch, Search, Weights
from gbb.problem import Problem, rounds_kept

if TYPE_CHECKING:  # numba takes long to load
    from gbb._kernels.index.layout import Layout
    from gbb.policies._game import Game

MAX_TERMS = 1 << 23
"""The most terms that the tuples of a compiled choice may have."""

MAX_CELLS = 1 << 23
"""The most numbers that the tables of a policy may hold."""

PROPOSALS = (PosteriorSample, InformationRatio)
"""The indices whose allocations the compiled code plays, or guards."""

OWN_METHODS = ("init", "select", "update", "absorb", "on", "at", "_on_round")
"""What a subclass may not override if the engine is to play it."""


@dataclass(eq=False, kw_only=True)
class CompiledIndex:
    """An index and a search as numbers, with those of the posterior that they choose by.

    Attributes
    ----------
    problem
        What is played.
    search
        How it searches, with the cut.
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
        """The parts whose tuples it values."""
        return self.search.cut

    @property
    def weights(self) -> Weights:
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
    def guarded(self) -> bool:
        """Whether a proposal is played only if it is optimistic enough."""
        return self.beta is not None or self.c is not None

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
    def is_independent(self) -> bool:
        """Whether estimates are independent across regressors (orthogonal arms)."""
        return self.coordinates.diagonal and self.is_listed

    @property
    def is_listed(self) -> bool:
        """Whether the terms of all tuples are few enough to be listed."""
        return self.tuples.size * len(self.tuples.kinds) <= MAX_TERMS

    @property
    def block_size(self) -> int:
        """The number of coordinates in a block of A: of a type, or of all."""
        own = self.coordinates.features.shape[1]
        return int(own) if self.problem.tabular else self.problem.types * int(own)

    @cached_property
    def is_searched(self) -> bool:
        """Whether a single choice takes compiled code: a search, of tables that are not too large."""
        searched = self.starts > 0 or self.samples > 1
        return searched and self.is_listed and self.fits(self.tuples.size)

    def fits(self, tuples: int) -> bool:
        """Return whether the tables are small enough, with so many tuples of arms."""
        problem, size = self.problem, self.block_size
        blocks = problem.types if problem.tabular else 1
        tables = 2 * problem.types * problem.K**2 * size
        factors = blocks * size * (size + 1)
        return (
            self.coordinates.diagonal or max(tables, factors, tuples * blocks * size) <= MAX_CELLS
        )

    @property
    def constants(self) -> dict[str, Any]:
        """The numbers that compiled code takes, by the names it has for them."""
        return {
            "lam": self.lam,
            "adaptive": self.adaptive,
            "sigma": self.problem.sigma,
            "spread": float(-2.0 * np.log(self.delta)),
            "offset": float(np.sqrt(self.lam) * self.problem.norm),
        }

    def with_posterior(self, posterior: Posterior) -> Self:
        """Return the policy with the numbers of a posterior."""
        lam = posterior.ridge.lam
        return self._with_numbers(posterior.problem, posterior.v, lam, posterior.delta)

    def for_coordinates(self, *, symmetric: bool) -> Self:
        """Return the policy that learns symmetric parts, or all parameters."""
        return self if symmetric == self.symmetric else self._other_coordinates

    def _with_numbers(self, problem: Problem, v: float, lam: float, delta: float) -> Self:
        other = copy.copy(self)  # which shares all that was computed of links and tuples
        other.problem, other.lam, other.delta = problem, lam, delta
        other.v = v if self.sample is not None else 0.0
        return other

    @cached_property
    def _other_coordinates(self) -> Self:
        return replace(self, symmetric=not self.symmetric)

    @cached_property
    def layout(self) -> Layout:
        """The links and tuples as compiled code takes them."""
        from gbb._kernels.index.layout import make_layout  # noqa: PLC0415  (loads numba)

        optimistic, independent = self.bonus is not None, self.is_independent
        return make_layout(
            self.tuples,
            self.coordinates,
            starts=self.starts,
            searches=self.starts + self.restarts,
            counts=optimistic and independent,
            dense=optimistic and not independent,
        )

    @cached_property
    def games(self) -> list[Game]:
        """Estimates and buffers of choices that are not being made."""
        return []


@dataclass(eq=False, kw_only=True)
class CompiledPolicy(CompiledIndex):
    """A policy whose parts and methods are all gbb's own.

    Attributes
    ----------
    policy
        The policy itself.
    """

    policy: IndexPolicy

    @property
    def name(self) -> str:
        """The policy's name in results."""
        return self.policy.name

    def at_row(self, row: FloatArray) -> CompiledPolicy:
        """Return the policy of a round whose context was read into ``row``."""
        problem = self.problem.at_row(row)
        return self if problem is self.problem else self._on(problem)

    @cached_property
    def _on(self) -> Callable[[Problem], CompiledPolicy]:
        return lru_cache(rounds_kept(self.problem.m))(self.replace_problem)

    def replace_problem(self, problem: Problem) -> CompiledPolicy:
        """Return the policy on another problem."""
        compiled = compile_policy(replace(self.policy, problem=problem))
        assert compiled is not None
        return compiled

    def with_scales(self, state: Learned) -> CompiledPolicy:
        """Return the policy with the scales of ``state`` if sigma or S is unknown."""
        learner, problem = self.policy.learner, self.policy.problem
        if not problem.unknown:
            return self
        bounded, v, lam = learner.scale(problem, state.scales)
        return self._with_numbers(bounded, v, lam, self.delta)


def compile_policy(policy: AnyPolicy) -> CompiledPolicy | None:
    """Return an index policy as the engine takes it; None if a part or a method is not gbb's own.

    It is kept with the policy, as all runs share its layouts.
    """
    if not isinstance(policy, IndexPolicy):
        return None
    compiled = compile_choice(policy)
    if compiled is None:
        return None
    kind, learner = type(policy), policy.learner
    own = all(getattr(kind, name) is getattr(IndexPolicy, name) for name in OWN_METHODS)
    # By exact type: a subclass of a part may do anything.
    plain = type(learner) is RidgeLearner and type(learner.memory) is Memory
    simple = plain and learner.reweight is None and learner.sigma is None
    return compiled if own and simple else None


def compile_choice(policy: IndexPolicy) -> CompiledPolicy | None:
    """Return a policy's index and search, whatever it learns by; None if one is not gbb's own."""
    if "compiled" not in policy.cache:
        learner, problem = policy.learner, policy.problem
        parts = _compile_parts(policy.index, policy.search)
        _, v, lam = learner.scale(problem, None)
        policy.cache["compiled"] = parts and CompiledPolicy(
            policy=policy,
            problem=problem,
            v=v if parts["sample"] is not None else 0.0,
            lam=lam,
            # Half of delta is for the bound on an unknown sigma.
            delta=learner.delta / 2.0 if "sigma" in problem.unknown else learner.delta,
            symmetric=learner.uses_symmetric_part(problem),
            **parts,
        )
    compiled: CompiledPolicy | None = policy.cache["compiled"]
    return compiled


def compile_index(index: Index, search: Search, posterior: Posterior) -> CompiledIndex | None:
    """Return an index and a search for one choice; None if one is not gbb's own."""
    parts, ridge = _compile_parts(index, search), posterior.ridge
    if parts is None:
        return None
    return CompiledIndex(
        problem=posterior.problem,
        v=posterior.v,
        lam=ridge.lam,
        delta=posterior.delta,
        symmetric=ridge.symmetric,
        **parts,
    )


def _compile_parts(index: Index, search: Search) -> dict[str, Any] | None:
    """Return what an index and a search declare, by exact type: a subclass of a part may do anything."""
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
    own = {"epsilon": epsilon, "beta": beta, "c": c}
    return {"search": search, "bonus": bonus, "sample": sample, **own}
