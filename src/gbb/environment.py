"""What policies play in: the protocol of a system, and the problem with its hidden matrix and noise."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks, plugins
from gbb._support.checks import FloatArray
from gbb.problem import SMALLEST, Problem

ROUNDING = 1e-9
"""A norm above S by this share is put down to rounding."""

Noise = Callable[[np.random.Generator, int], FloatArray]
"""A law of unit noise: ``law(rng, size)`` draws ``size`` independent numbers."""


def _gaussian(rng: np.random.Generator, size: int) -> FloatArray:
    return rng.standard_normal(size)


def _uniform(rng: np.random.Generator, size: int) -> FloatArray:
    return rng.uniform(-(3.0**0.5), 3.0**0.5, size)


def _rademacher(rng: np.random.Generator, size: int) -> FloatArray:
    return rng.integers(0, 2, size) * np.float64(2.0) - 1.0


def _none(_: np.random.Generator, size: int) -> FloatArray:
    return np.zeros(size)


def _even(rng: np.random.Generator, size: int) -> FloatArray:
    """What decides yes/no rewards: uniform on [0, 1)."""
    return rng.random(size)


NOISES: dict[str, Noise] = {
    "gaussian": _gaussian,
    "uniform": _uniform,
    "rademacher": _rademacher,
    "none": _none,
}
"""Unit noise by name. Each has variance 1 (0 for none) and is 1-sub-Gaussian: the uniform law on
[-sqrt 3, sqrt 3] is so because sinh(u)/u <= exp(u^2/6). Laws added here are known by their name."""

YES_NO = "bernoulli"
"""Rewards of 1 with the expected reward as probability, else 0: the noise depends on the reward."""

YES_NO_SIGMA = 0.5
"""A yes/no reward is 1/2-sub-Gaussian whatever its probability (Hoeffding's lemma)."""


def noises() -> dict[str, Noise]:
    """Return all noise laws by name, including those of installed packages."""
    return plugins.members("gbb.noises", NOISES)


@runtime_checkable
class System(Protocol):
    """Anything that policies can be played in: a hidden matrix, an adversary, a simulator."""

    @property
    def problem(self) -> Problem:
        """What the learner knows."""
        ...

    def expected(self, t: int, allocation: ArrayLike) -> float:
        """The expected global reward of round ``t``, counted from 1; NaN where nobody knows it."""
        ...

    def draw(self, t: int, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """The numbers that round ``t`` reports: per edge in edge order, per agent, or in all."""
        ...


@runtime_checkable
class ContextSystem(System, Protocol):
    """A system whose rounds have contexts: that of round t is known before it is played."""

    def context(self, t: int) -> Any:
        """What is known before round ``t``, as ``problem.contexts`` takes it."""
        ...


def problem_at(system: System, t: int) -> Problem:
    """The problem of round ``t``: the system's own, at the round's context where there are any."""
    problem = system.problem
    if problem.contexts is None:
        return problem
    if isinstance(system, TableSystem):
        return system.problem_at(t)
    if not isinstance(system, ContextSystem):
        rule = "say the context of every round, in context(t)"
        raise checks.input_error("env", rule, type(system).__name__)
    return problem.at(system.context(t))


class TableSystem(ABC):
    """A system whose edges pay by a table of arms, one for each edge type, with independent noise.

    Edge (i, j) of type g and weight w pays ``w R_g[a_i, a_j]``; every number that a round reports has
    noise ``sigma * unit`` of its own, except those to which only edges of weight 0 add: they are 0.
    """

    def __init__(self, problem: Problem, noise: str | Noise, sigma: float | None = None) -> None:
        if not isinstance(problem, Problem):
            raise checks.input_error("problem", "be a gbb.Problem", type(problem).__name__)
        problem.check_agents("problem")
        self.problem = problem
        self._sigma = None if sigma is None else checks.real("sigma", sigma, low=0.0)
        self.noise, self.law = _name_and_law(noise)

    @cached_property
    def _remember(self) -> Callable[[int, bytes], FloatArray]:
        """What a round pays: it is asked for twice, and paid once."""
        return lru_cache(maxsize=1)(self._pay)

    def __getstate__(self) -> dict[str, Any]:
        # These are made again where they are needed.
        made = ("_remember", "_remembered")
        return {name: value for name, value in vars(self).items() if name not in made}

    @property
    def additive(self) -> bool:
        """Whether noise is drawn by itself and added, as it is but for yes/no rewards."""
        return self.noise != YES_NO

    @property
    def sigma(self) -> float:
        """What the unit noise is multiplied by: the problem's own sigma unless another was given."""
        return self.problem.sigma if self._sigma is None else self._sigma

    @abstractmethod
    def tables_at(self, t: int) -> FloatArray:
        """``R[g, a, b]``: what an edge of type g and weight 1 pays in round ``t`` (types x K x K)."""

    def expected(self, t: int, allocation: ArrayLike) -> float:
        """The expected global reward of round ``t``: the sum over all directed edges."""
        return float(self._edge_rewards(t, allocation).sum())

    def draw(self, t: int, allocation: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Noisy rewards of round ``t``: per edge in edge order, per agent, or in all."""
        problem = self.problem_at(t)
        noise = self.law(rng, problem.observations)
        paid = problem.report.sum(self._edge_rewards(t, allocation))
        if not self.additive:
            return (noise < _probabilities(paid)).astype(np.float64)
        return paid + self.sigma * np.where(problem.report.nonzero, noise, 0.0)

    def problem_at(self, t: int) -> Problem:  # noqa: ARG002
        """The problem of round ``t``."""
        return self.problem

    def _edge_rewards(self, t: int, allocation: ArrayLike) -> FloatArray:
        """What every directed edge pays in expectation in round ``t``, or each of its entries."""
        paid: FloatArray = self._remember(t, self.problem.allocation(allocation).tobytes())
        return paid

    def _pay(self, t: int, allocation: bytes) -> FloatArray:
        problem, arms = self.problem_at(t), np.frombuffer(allocation, np.int64)
        first, second = arms[problem.sources], arms[problem.targets]
        paid = self.tables_at(t)[problem.edge_types, first, second]
        return checks.frozen(problem.edge_weights * paid)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.problem!r}, noise={self.noise!r})"


class Environment(TableSystem):
    """A problem and what the learner does not know of it.

    Edge (i, j) pays ``x_i' M* x_j + sigma * noise`` (equation 1 of the paper). With edge types it uses
    the matrix of its own type, scaled by the edge weight. With ``agent`` or ``global`` feedback, noise
    is added to the reported sum.

    Parameters
    ----------
    problem
        What the learner knows.
    M_star
        The hidden matrix (d x d), or one for each edge type (types x d x d). If a Frobenius norm
        exceeds ``problem.S`` there is a :class:`BoundWarning`.
    noise
        ``gaussian``, ``uniform``, ``rademacher``, ``none`` or another name of
        :func:`gbb.environment.noises`; ``package.module:law``; or a function ``law(rng, size)`` that
        draws unit noise. It is multiplied by ``problem.sigma``; the named laws have standard deviation
        ``sigma`` (but ``none``) and are ``sigma``-sub-Gaussian. With ``bernoulli`` an edge pays 1 or 0,
        with its expected reward, in [0, 1], as the probability of 1; ``problem.sigma`` should be 1/2, as
        all yes/no rewards are 1/2-sub-Gaussian. These are played by the plain loop, edge by edge.
    sigma
        The noise's scale, where the problem does not say it; the problem's own where it does.
    contexts
        What is known before each round, one context a round, where ``problem.contexts`` has a kind.
        :func:`gbb.simulate` takes them as well.
    """

    def __init__(
        self,
        problem: Problem,
        M_star: ArrayLike,
        *,
        noise: str | Noise = "gaussian",
        contexts: Iterable[Any] | None = None,
        sigma: float | None = None,
    ) -> None:
        super().__init__(problem, noise, sigma)
        told = None if "sigma" in problem.unknown else problem.sigma
        if told is not None and sigma is not None and sigma != told:
            rule = f"be left out where the problem says it ({told:g})"
            cure = "Pass sigma=None to gbb.Problem for noise that nobody is told of."
            raise checks.input_error("sigma", rule, f"{sigma:g}", cure)
        if told is None and sigma is None:
            if self.additive:
                cure = "Pass sigma=... to gbb.Environment: it draws the noise nobody is told of."
                raise checks.input_error("sigma", "be known to the environment", "None", cure)
            self._sigma = YES_NO_SIGMA
        self._given_noise = noise
        self.rows: FloatArray | None = None
        if contexts is not None:
            if problem.contexts is None:
                cure = "Pass contexts=... to gbb.Problem."
                rule = "be left out where the problem has none"
                raise checks.input_error("contexts", rule, type(contexts).__name__, cure)
            if isinstance(contexts, Iterator):  # which may have no end
                cure = "Give simulate(contexts=...) what has no end; it takes one for each round."
                got = type(contexts).__name__
                raise checks.input_error("contexts", "be a list of contexts", got, cure)
            self.rows = checks.frozen(problem.contexts.read_all(problem.graph, contexts))
        self.M_star = check_matrices("M_star", problem, M_star)
        _warn_of_norm(problem, self.M_star)
        tables = reward_tables("M_star", problem, self.M_star)
        if not self.additive:
            _check_yes_no(problem, tables)
        self.reward_tables: FloatArray = checks.frozen(tables.reshape(-1, problem.K, problem.K))
        """``R[g, a, b] = x_a' M_g x_b``: what an edge of type g and weight 1 pays (types x K x K)."""

    @property
    def reward_table(self) -> FloatArray:
        """``R[a, b] = x_a' M* x_b``, the expected reward of an edge with arms a and b (K x K)."""
        if len(self.reward_tables) > 1:
            cure = "Use reward_tables."
            raise checks.input_error("env", "have one edge type", len(self.reward_tables), cure)
        table: FloatArray = self.reward_tables[0]
        return table

    def tables_at(self, t: int) -> FloatArray:  # noqa: ARG002
        """The same tables in every round."""
        return self.reward_tables

    def problem_at(self, t: int) -> Problem:
        """The problem of round ``t``, at its context."""
        return self.problem if self.problem.contexts is None else self.problem.at_row(self._row(t))

    def context(self, t: int) -> Any:
        """What is known before round ``t``, counted from 1."""
        contexts = self.problem.contexts
        return None if contexts is None else contexts.name(self._row(t))

    def _row(self, t: int) -> FloatArray:
        if self.rows is None or t > len(self.rows):
            got = "none" if self.rows is None else f"{len(self.rows)} of them"
            cure = "Take env.at(context) for one round, env.during(contexts) for several."
            raise checks.input_error("contexts", f"have one for round {t}", got, cure)
        row: FloatArray = self.rows[t - 1]
        return row

    def during(self, contexts: Iterable[Any]) -> Environment:
        """The same environment in rounds with these contexts."""
        return self._again(self.problem, self.M_star, contexts)

    def _again(
        self, problem: Problem, M_star: FloatArray, contexts: Iterable[Any] | None = None
    ) -> Environment:
        """Another one of the same matrices: that their norm is too large was said of this one."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundWarning)
            noise, sigma = self._given_noise, self._sigma
            return Environment(problem, M_star, noise=noise, contexts=contexts, sigma=sigma)

    def at(self, context: Any) -> Environment:
        """The environment of a round with this context, without contexts: with the round's own matrices.

        Edges that pay by the same matrices and weights in the round have one type.
        """
        problem = self.problem
        if problem.contexts is None:
            problem.at(context)  # refuses one
            return self
        return self.at_row(problem.contexts.read(problem.graph, context))

    def at_row(self, row: FloatArray) -> Environment:
        """As :meth:`at`, for a context that was read into ``row``."""
        problem = self.problem
        entries = problem.at_row(row).edges
        M, which = entries.combine(self.M_star.reshape(-1, problem.d, problem.d), problem.m)
        heaviest = float(np.bincount(entries.edge, np.abs(entries.weight)).max())
        S = None if "S" in problem.unknown else max(problem.S * heaviest, SMALLEST)
        types = which if len(M) > 1 else None
        alone = problem.replace(S=S, edge_types=types, edge_weights=None, contexts=None)
        return self._again(alone, M[0] if len(M) == 1 else M)

    def expected_edge_rewards(self, allocation: ArrayLike) -> FloatArray:
        """Expected reward of every directed edge, in the graph's edge order."""
        paid, problem = self._edge_rewards(1, allocation), self.problem
        if problem.edges.single:
            return paid.copy()
        sums = np.bincount(problem.edges.edge, weights=paid, minlength=problem.m)
        return sums.astype(np.float64, copy=False)

    def expected_reward(self, allocation: ArrayLike) -> float:
        """The expected global reward: the sum over all directed edges."""
        return self.expected(1, allocation)


class BoundWarning(UserWarning):
    """What the learner is told of the hidden matrix is not true of it."""


def _warn_of_norm(problem: Problem, M_star: FloatArray) -> None:
    norm = float(np.linalg.norm(M_star, axis=(-2, -1)).max())
    if "S" not in problem.unknown and norm > problem.S * (1.0 + ROUNDING):
        text = (
            f"The hidden matrix has the Frobenius norm {norm:.6g}, more than `S` = {problem.S:g}, on "
            "which the learner relies: its confidence sets may be wrong. Declare a larger `S`."
        )
        warnings.warn(text, BoundWarning, stacklevel=3)


def _check_yes_no(problem: Problem, tables: FloatArray) -> None:
    """Refuse what has no yes/no rewards, and warn of a sigma that is too small for them."""
    if problem.feedback != "edge":
        rule = "report rewards per edge where these are yes or no"
        raise checks.input_error("problem", rule, repr(problem.feedback))
    if problem.contexts is None and not problem.weighted:
        _probabilities(tables)
    told = None if "sigma" in problem.unknown else problem.sigma
    if told is not None and told < YES_NO_SIGMA:
        text = (
            f"Yes/no rewards are 1/2-sub-Gaussian, more than `sigma` = {told:g}, on which the "
            "learner relies: its confidence sets may be wrong. Declare sigma=0.5."
        )
        warnings.warn(text, BoundWarning, stacklevel=3)


def _probabilities(means: FloatArray) -> FloatArray:
    """Expected rewards that are probabilities, but for rounding."""
    low, high = float(means.min(initial=0.0)), float(means.max(initial=0.0))
    if low < -ROUNDING or high > 1.0 + ROUNDING:
        rule = "give expected rewards in [0, 1] where these are the probabilities of a 1"
        cure = "Scale the matrix or the arms, or take another noise."
        raise checks.input_error("M_star", rule, f"{low:g} to {high:g}", cure)
    return means


def check_matrices(
    name: str, problem: Problem, matrices: ArrayLike, *, rounds: tuple[int, ...] = ()
) -> FloatArray:
    """A matrix, or one for each edge type; so many ``rounds`` of them where these are given."""
    each = " a round" if rounds else ""
    shape, meaning = (*rounds, problem.d, problem.d), f"d x d{each}"
    if problem.types > 1 or np.ndim(matrices) == len(rounds) + 3:
        shape, meaning = (*rounds, problem.types, problem.d, problem.d), f"types x d x d{each}"
    return checks.array(name, matrices, shape=shape, meaning=meaning)


def reward_tables(name: str, problem: Problem, matrices: FloatArray) -> FloatArray:
    """``x_a' M x_b`` for a matrix or a stack of them, refused as ``name`` where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        tables: FloatArray = problem.arms @ matrices @ problem.arms.T
    checks.finite(name, tables)
    return tables


def _name_and_law(noise: str | Noise) -> tuple[str, Noise]:
    """What results call the noise, and how it is drawn; for yes/no rewards, what decides them."""
    if noise == YES_NO:
        return YES_NO, _even
    if isinstance(noise, str) and ":" not in noise and noise not in NOISES:
        checks.choice("noise", noise, [*noises(), YES_NO])
    law: Noise = (
        noise if callable(noise) else plugins.load("gbb.noises", noise, NOISES, argument="noise")
    )
    size = 3
    drawn = checks.array("noise", law(np.random.default_rng(0), size))
    if drawn.shape != (size,):
        rule = "return `size` numbers from noise(rng, size)"
        raise checks.input_error("noise", rule, f"shape {drawn.shape} for size {size}")
    if not callable(noise):
        return noise, law
    name = getattr(noise, "__qualname__", type(noise).__qualname__)
    return f"{noise.__module__}:{name}", noise
