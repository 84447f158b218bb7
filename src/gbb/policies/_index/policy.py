"""Index policies: a tuple of arms over parts with the best index, then local search over allocations.

An index policy is data: the parts, what each edge counts for, how optimistic it is (the radius), how
much it draws at random (``v``, ``explore``), what a draw may miss of the best optimistic value
(``beta``, ``c``), and from how many tuples it searches.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb._support.straight import Straight
from gbb.cuts import Cut, KCut, check_cut
from gbb.learning import radius as radius_of
from gbb.learning.coordinates import Coordinates, coordinates
from gbb.learning.radius import SCHEDULES, Schedule, check_radius, confidence_radius
from gbb.learning.record import AnyRecord, empty
from gbb.learning.ridge import Ridge
from gbb.learning.scales import UNSEEN, Scales, estimate_scales, is_due
from gbb.learning.tuples import Tuples
from gbb.policies._base import Choice, Learned, Policy, draw_allowed
from gbb.policies._index.information import direct
from gbb.policies._index.objective import TIE, Objective, pick_near
from gbb.policies._index.prior import follow_scales
from gbb.problem import Problem, check_lam

if TYPE_CHECKING:  # numba takes long to load, and a coordinator of shards does without
    from gbb._kernels.choice.rule import Rule
    from gbb.policies._index.links import LinkSearch

STARTS = 5
"""Tuples that local search starts from. One gets stuck on an eighth of the matrices of the paper's
Figure 2, where three reach the optimum on all of sixty."""

TUPLES = 2_000_000
"""The largest number of tuples of arms over the parts that is enumerated each round."""

CELLS = 1 << 22
"""About how many numbers are held at once when tuples are compared."""

LISTED = 1 << 23
"""The most terms that the tuples of a compiled choice may have."""

Weights = tuple[float, float, float, float]


class IndexPolicy(Policy[Learned]):
    """Plays the allocation with the best index that a local search from a tuple over parts finds.

    For an allocation whose directed edges sum to ``phi = sum w z`` the index is

        ``<phi, theta> + radius ||phi||_{A^-1}``,

    with theta = theta_hat, or a draw from N(theta_hat, v^2 A^-1).

    The k-tuple of arms over the parts with the best index is found by enumeration, ties broken at
    random. Agents in turn then take the arm that is best for the index until none gains, from that
    tuple and from the next best with other sets of arms; the best end is played, and its index is never
    below the best tuple's. Where both directions of every link are alike phi is a symmetric matrix, and
    the symmetric block of dimension d (d + 1) / 2 decides (fact 2).

    With ``beta`` or ``c`` the two are apart: the allocation that is best for theta without a radius is
    a proposal. With U(a) the index of an allocation for theta_hat and the radius, and a_J the best that
    the search finds for it, the proposal is played if

        ``U(proposal) >= U(a_J) - (1 - beta_t) |U(a_J)|``,  beta_t = beta, or max(0, 1 - c / sqrt(t)),

    and else a_J. U(a_J) is never below the index of the best tuple.

    Parameters
    ----------
    problem
        What the learner knows.
    cut
        The parts that the tuple of arms is played over: V1 and V2, or k parts.
    radius
        One of :data:`gbb.radius.RADII`; a function ``schedule(problem, rounds, lam, delta)`` of an array
        of numbers of rounds; or None for no optimism. ``released`` and functions of one's own have no
        theorem, so that the policy's ``guarantee`` is then None.
    v
        Scale of the draw around ``theta_hat``; 0 for none. None to follow sigma.
    samples, power, floor
        How many draws to make; of more than 1, one of the allocations that are best for a draw each is
        played, as :class:`~gbb.policies.InformationDirected` says.
    explore
        Probability of a round in which every agent draws its arm uniformly.
    beta, c
        Guard what is drawn: 0 <= beta <= 1, or c >= 0, which lets beta grow with the round t; both left
        out for no guard. They take a radius, and ``starts`` of at least 1.
    starts
        From how many tuples to search; 0 to play the best tuple as it is.
    shrinking
        Charge the radii that follow the record only ``lam S / sqrt(smallest eigenvalue of A)`` for the
        regulariser's bias instead of ``sqrt(lam) S``.
    weights
        What the edges between and inside two parts count for in the index of a couple,
        ``(w12, w21, w1, w2)``; all that there are when left out.
    halves
        Learn symmetric parts only where they decide, from links seen in both directions; everything
        where the record has the directions unequally often. Where a round reports a number per link
        they are all that can be learnt, whatever is said here.
    lam
        The ridge regulariser lambda, > 0. None to follow sigma and S, as a prior does.
    delta
        The confidence set misses theta* with probability at most delta. Where the directions were seen
        unequally often, the set in all dimensions takes its place, which has delta / 6.
    name
        How results call this policy.

    Notes
    -----
    The compiled engine plays the data, with :meth:`radii` as the one thing that a subclass may change:
    another bonus that depends on the number of rounds. A subclass that chooses or learns otherwise is
    played by the reference loop.

    Where nobody knows ``sigma`` or ``S`` it plays as if what its record says of them were declared
    (:func:`gbb.learning.scales.estimate_scales`): what they are at most for its radius, what is expected
    for its draws. They are estimated anew after rounds 1 to 4 and then whenever there are half as
    many more of them (:func:`gbb.learning.scales.marks`). Its confidence set then relies on these, half
    of delta is for the bound on the noise, and ``guarantee`` is None.
    """

    plays_any_problem = True
    learns_scales = True
    plays_parts = True
    compiled = True
    widening = 1.0
    """How many times as wide the prior is where ``lam`` is left to follow sigma and S."""

    def __init__(
        self,
        problem: Problem,
        *,
        cut: Cut | KCut,
        radius: str | Schedule | None = None,
        v: float | None = 0.0,
        samples: int = 1,
        power: float = 2.0,
        floor: float = 0.0,
        explore: float = 0.0,
        beta: float | None = None,
        c: float | None = None,
        starts: int = STARTS,
        shrinking: bool = False,
        weights: Weights | None = None,
        halves: bool = True,
        lam: float | None = 1.0,
        delta: float = 1e-3,
        name: str | None = None,
    ) -> None:
        super().__init__(problem, name=name)
        self.parts: KCut = as_parts(problem, cut)
        if isinstance(cut, Cut):
            self.cut: Cut = cut
        elif self.parts.k == 2:  # its own two parts in its own order, as couples say them
            self.cut = Cut.of(problem.graph, self.parts.parts)
        else:
            self.cut = self.parts.merged
        self._prior = None if v is None else checks.real("v", v, low=0.0), lam
        known = problem.told(1.0, 1.0)  # until something is seen
        self.v, lam = follow_scales(known, *self._prior, self.widening)
        self.lam: float = check_lam(lam)
        self.delta: float = checks.real("delta", delta, low=0.0, low_open=True, high=1.0)
        self.radius = None if radius is None else check_radius(problem, radius)
        if self.radius == "released" or callable(self.radius):
            self.guarantee = None  # nobody has proven a theorem with these
        if problem.unknown:
            self.guarantee = None  # the theorems take sigma and S at their word
        self.samples = checks.integer("samples", samples, low=1)
        self.power = checks.real("power", power, low=1.0, low_open=True)
        self.floor = checks.real("floor", floor, low=0.0, high=1.0)
        self.explore = checks.real("explore", explore, low=0.0, high=1.0)
        self.beta = None if beta is None else checks.real("beta", beta, low=0.0, high=1.0)
        self.c = None if c is None else checks.real("c", c, low=0.0)
        self.guaranteed_share = 1.0 if self.beta is None else self.beta
        self.shrinking, self.halves = shrinking, halves
        self.starts = checks.integer("starts", starts, low=1 if self.guarded else 0)
        self._check_guard()
        self._check_parts()
        self.weights: Weights = self.cut.weights if weights is None else weights
        even = self.weights[0] == self.weights[1]
        if self.radius == "symmetric" and not even:
            rule = "be 'paper' unless z_ab and z_ba weigh the same"
            w12, w21, *_ = self.weights
            found = f"'symmetric' with weights {w12:g} and {w21:g}"
            raise checks.input_error("radius", rule, found)
        wanted = halves and problem.symmetric and self.radius != "complete"
        self.learns_two_way = wanted or problem.halves_only
        # Where links differ, couples need not be near the best allocation.
        couples_will_do = problem.feedback in ("edge", "link") and problem.alike_in_play
        self.restarts = 0 if couples_will_do else self.starts

    def _check_guard(self) -> None:
        """Refuse a guard that is said twice, or has nothing to guard by."""
        if self.beta is not None and self.c is not None:
            raise checks.conflict("`beta` and `c` are two guards: leave one of them out.")
        if self.guarded and not self.optimistic:
            raise checks.conflict("`beta` and `c` guard by optimism: give a `radius`, too.")
        if self.samples > 1 and not self.proposes:
            raise checks.conflict("`samples` are drawn without a bonus: leave `radius` out.")

    def _check_parts(self) -> None:
        """Refuse to play anything but an arm for each part where that is all that can be sent out."""
        parts = self.problem.parts
        if parts is None:
            return
        alone = "for a network in shards, which gets an arm for each part"
        for name in ("starts", "explore"):
            if getattr(self, name) != 0:
                raise checks.input_error(name, f"be 0 {alone}", getattr(self, name))
        if self.samples > 1:
            raise checks.input_error("samples", f"be 1 {alone}", self.samples)
        if not np.array_equal(self.parts.parts, self.parts.parts[parts.of]):
            cure = "Leave it out, or take `cut` of the gbb.Network."
            raise checks.input_error("cut", "keep the parts whole " + alone, repr(self.parts), cure)

    @property
    def adaptive(self) -> bool:
        """Whether the radius follows the record and not the number of rounds.

        It does not where a subclass has :meth:`radii` of its own.
        """
        own = type(self).radii is not IndexPolicy.radii
        return self.radius in ("symmetric", "complete") and not own

    @cached_property
    def tuples(self) -> Tuples:
        """The tuples of arms over the parts, with what each edge counts for."""
        problem, parts = self.problem, np.array(self.parts.parts, dtype=np.int64)
        weights = problem.edge_totals
        if self.weights != self.cut.weights:
            factor = np.zeros((2, 2))
            ends = ((0, 1), (1, 0), (0, 0), (1, 1))
            for place, count, weight in zip(ends, self._links_cut, self.weights, strict=True):
                factor[place] = weight / count if count else 0.0
            source, target = parts[problem.sources], parts[problem.targets]
            weights = factor[source, target] * weights
        return Tuples(problem, parts, self.parts.k, weights)

    @property
    def _links_cut(self) -> tuple[int, int, int, int]:
        """``(m12, m21, m1, m2)`` of the cut, with all that its edges stand for."""
        if self.problem.parts is None:
            return self.cut.weights
        source, target = self.cut.sides[self.problem.graph.edges.T]
        counts = np.bincount(2 * source + target, weights=self.problem.parts.total, minlength=4)
        m1, m12, m21, m2 = (int(count) for count in counts)
        return m12, m21, m1, m2

    @property
    def objectives(self) -> FloatArray:
        """The sum of edge-arms of every tuple, v (K^k x parameters); row ``a * K + b`` for couples."""
        z = self.problem.edge_arms.reshape(self.problem.K, self.problem.K, -1)
        return np.concatenate(self.tuples.by_type(z), axis=1)

    @cached_property
    def coordinates(self) -> Coordinates:
        """What it learns in: edge-arms, or their symmetric parts."""
        return coordinates(self.problem, symmetric=self.learns_two_way)

    @cached_property
    def link_search(self) -> LinkSearch:
        """The search over allocations."""
        from gbb.policies._index.links import LinkSearch  # noqa: PLC0415

        index, merged = self.coordinates.index, self.problem.links_alike
        return LinkSearch(self.tuples, index, merged, self.starts, self.restarts)

    @property
    def optimistic(self) -> bool:
        """Whether it adds a bonus: a radius, or :meth:`radii` of a subclass."""
        return self.radius is not None or type(self).radii is not IndexPolicy.radii

    @property
    def guarded(self) -> bool:
        """Whether what it draws is played only if it is optimistic enough."""
        return self.beta is not None or self.c is not None

    @property
    def proposes(self) -> bool:
        """Whether it looks for the best allocation without optimism, to play it or to guard it."""
        return self.guarded or not self.optimistic

    @property
    def mixes(self) -> bool:
        """Whether it adds a bonus to a draw, which compiled choices do not."""
        return self.v > 0.0 and not self.proposes

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether every regressor has an estimate to itself, and the choice is compiled."""
        small = self.problem.parts is not None
        return self.coordinates.diagonal and self.is_listed and not small

    @property
    def hears_regressors(self) -> bool:
        """Whether every number of a round's report is of one regressor."""
        # A link's number is one regressor's, unless both directions have one each.
        return self.problem.keeps_tables and (self.problem.ways == 1 or self.learns_two_way)

    @property
    def is_listed(self) -> bool:
        """Whether compiled choices can take it: tuples can be listed, and draws have no bonus."""
        few = self.tuples.size * len(self.tuples.kinds) <= LISTED
        return few and not self.mixes

    @cached_property
    def rule(self) -> Rule:
        """The policy as compiled choices take it."""
        from gbb.policies._index.compiled import make_rule  # noqa: PLC0415

        return make_rule(self)

    @cached_property
    def counted_search(self) -> LinkSearch:
        """The search as counts of regressors want it: an entry for each, so for each direction."""
        search = self.link_search
        separate = search.merged and not self.learns_two_way
        return replace(search, merged=False) if separate else search

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
            "explore": self.explore,
            "starts": self.starts,
            "slack": 1.0 - self.beta if self.beta is not None else self.c or 0.0,
            "fading": self.c is not None,
        }

    def knowing(self, state: Learned) -> IndexPolicy:
        """The policy that is told what nobody knows, as ``state`` has it; itself where all is known."""
        if not self.problem.unknown:
            return self
        return self._knowing(state.scales or UNSEEN)

    @cached_property
    def _knowing(self) -> Callable[[Scales], IndexPolicy]:
        return lru_cache(maxsize=8)(self._tell)  # runs may be in several threads

    def _tell(self, scales: Scales) -> IndexPolicy:
        if self.problem.parts is None:
            _ = self.link_search, self.counted_search  # made once, for all copies
        other = copy.copy(self)
        for name in ("rule", "in_all_dimensions"):
            vars(other).pop(name, None)
        other.problem = self.problem.told(scales.sigma_most, scales.S_most)
        expected = self.problem.told(scales.sigma, scales.S)
        other.v, other.lam = follow_scales(expected, *self._prior, self.widening)
        if "sigma" in self.problem.unknown:
            other.delta = self.delta / 2.0
        other._last_ridge = self._last_ridge
        return other

    def absorb(
        self, state: Learned, choice: Choice | None, seen: AnyRecord, *, rounds: int = 1
    ) -> Learned:
        after = super().absorb(state, choice, seen, rounds=rounds)
        if not self.problem.unknown or not is_due(state.rounds, after.rounds):
            return after
        return after._replace(scales=self.scales(after.record))

    def scales(self, record: AnyRecord) -> Scales:
        """What a record says of sigma and S."""
        return estimate_scales(self.problem, record, self.delta / 2.0)

    def radii(self, rounds: FloatArray) -> FloatArray:
        """The radius after each number of rounds; 0 where there is none or the record decides.

        The one thing that a subclass may change and compiled loops still play: another bonus.
        """
        if self.radius is None or self.adaptive:
            return np.zeros_like(rounds)
        schedule = self.radius if callable(self.radius) else SCHEDULES[self.radius]
        return schedule(self.problem, rounds, self.lam, self.delta)

    @cached_property
    def in_all_dimensions(self) -> IndexPolicy:
        """The same policy, which learns no halves.

        Its set is another than that of the halves, and both may be needed in one run, as when rewards
        are told in part. So it has the next delta of :func:`gbb.learning.radius.delta_after`, delta / 6.
        """
        if not self.learns_two_way or self.problem.halves_only:
            return self
        given = self.settings()
        if self.radius == "symmetric":
            given["radius"] = "complete"
        other = type(self)(self.problem, **given)
        other.learns_two_way = False
        other.delta = radius_of.delta_after(1, self.delta)
        return other

    def fit(self, record: AnyRecord) -> IndexPolicy:
        """The policy itself, or that in all dimensions where one direction was seen more often.

        One direction alone also pays for the order of its arms, which would pass for noise in halves.
        """
        halves_hold = not self.learns_two_way or record.two_way
        return self if halves_hold else self.in_all_dimensions

    def estimate(self, state: Learned) -> tuple[Ridge, float]:
        """The estimate, on symmetric parts where they decide, and its radius."""
        return self.knowing(state).fit(state.record)._estimate(state)

    def _estimate(self, state: Learned) -> tuple[Ridge, float]:
        ridge = self.ridge(state.record, self.lam, symmetric=self.learns_two_way)
        if self.adaptive:
            return ridge, confidence_radius(ridge, self.delta, shrinking=self.shrinking)
        return ridge, float(self.radii(np.array([float(state.rounds)]))[0])

    def init(self) -> Learned:
        return Learned(0, empty(self.problem))

    def select(self, state: Learned, rng: np.random.Generator) -> Choice:
        if (policy := self.knowing(state).fit(state.record)) is not self:
            return policy.select(state, rng)
        if self.is_diagonal:
            return self._select_diagonal(state, rng)
        if self.explore > 0.0 and rng.random() < self.explore:
            return Choice(draw_allowed(self.problem.allowed, rng))
        ridge, radius = self._estimate(state)
        if self.guarded:
            proposal = self._propose(ridge, rng)
            best = self._search(Objective(ridge, ridge.centre, radius), rng)
            return self._guard(ridge, radius, proposal, best, state.rounds)
        return self._propose(ridge, rng, radius)

    def _propose(self, ridge: Ridge, rng: np.random.Generator, radius: float = 0.0) -> Choice:
        """The best allocation for the estimate, or for a draw around it."""
        if self.samples > 1:
            return self._direct(ridge, rng)
        centre = ridge.draw(self.v, rng) if self.v > 0.0 else ridge.centre
        return self._search(Objective(ridge, centre, radius), rng)

    def _direct(self, ridge: Ridge, rng: np.random.Generator) -> Choice:
        """One of the allocations that are best for a draw each."""
        tables, own = [], []
        for _ in range(self.samples):
            centre = ridge.draw(self.v, rng) if self.v > 0.0 else ridge.centre
            objective = Objective(ridge, centre, 0.0)
            own.append(self._search(objective, rng))
            tables.append(objective.means)
        return direct(
            self.problem,
            np.stack(tables),
            own,
            rng,
            regressor=self.coordinates.index if self.hears_regressors else None,
            noise=self.v**2,
            power=self.power,
            floor=self.floor,
        )

    def _guard(
        self, ridge: Ridge, radius: float, proposal: Choice, best: Choice, rounds: float
    ) -> Choice:
        """The proposal if its optimistic value is near enough that of the ``best``; else that."""
        mean, width = ridge.total(proposal.allocation)
        spread, slack = radius * width, self.constants["slack"]
        if self.c is not None:
            slack = min(1.0, slack / np.sqrt(rounds + 1.0))
        floor = best.value - slack * abs(best.value) - TIE * (abs(mean) + spread)
        passes = mean + spread >= floor
        return proposal._replace(value=mean + spread) if passes else best

    def _search(self, objective: Objective, rng: np.random.Generator) -> Choice:
        """The allocation that the search finds for ``objective``, or the best tuple."""
        values = self.value_tuples(objective)
        if self.starts == 0:
            return self._choice(values, pick_near(values, rng))
        arms, number, value = self.link_search.search(objective, values, rng)
        return Choice(arms, self._couple(number), value)

    def select_within(
        self, state: Learned, rng: np.random.Generator, allowed: NDArray[np.bool_]
    ) -> Choice:
        """The best couple that every agent of its part may play; as without limits if it draws,

        explores or searches, or if there is none.
        """
        two = self.starts == 0 and self.parts.k == 2 and self.v == self.explore == 0.0
        free = [allowed[self.parts.parts == part].all(axis=0) for part in range(2)]
        couples = np.flatnonzero(np.outer(*free))
        if not two or couples.size == 0:
            return self.select(state, rng)
        ridge, radius = self.estimate(state)
        values = self.value_tuples(Objective(ridge, ridge.centre, radius))
        return self._choice(values, int(couples[pick_near(values[couples], rng)]))

    def settings(self) -> dict[str, Any]:
        k_parts = self.parts.k > 2 or not np.array_equal(self.parts.parts, self.cut.sides)
        known = {**super().settings(), "cut": self.parts if k_parts else self.cut}
        if self.problem.unknown:  # v and lam follow what nobody knows yet
            own = zip(("v", "lam"), self._prior, strict=True)
            known |= {name: each for name, each in own if name in known}
        return known

    def value_tuples(self, objective: Objective) -> FloatArray:
        """The index of every tuple of arms over the parts (K^k)."""
        tuples, ridge, centre = self.tuples, objective.ridge, objective.centre
        if objective.radius == 0.0:
            return tuples.combine(objective.means)
        values = np.empty(tuples.size)
        chunk = max(1, CELLS // (centre.shape[1] + len(tuples.group_part)))
        for first in range(0, tuples.size, chunk):
            codes = np.arange(first, min(first + chunk, tuples.size))
            mean, norm2 = np.zeros(len(codes)), np.zeros(len(codes))
            for block, own in enumerate(centre):
                types = np.flatnonzero(ridge.block_of == block)
                sums = tuples.combine(ridge.table, codes, types)
                mean += sums @ own
                norm2 += np.einsum("ij,ij->i", sums, sums)
            values[codes] = mean + objective.radius * np.sqrt(norm2)
        return values

    @cached_property
    def _choose_alone(self) -> Straight:
        from gbb._kernels.choice.index import choose_alone  # noqa: PLC0415

        return Straight(choose_alone)

    def _select_diagonal(self, state: Learned, rng: np.random.Generator) -> Choice:
        from gbb._kernels.choice.diagonal import refresh_all  # noqa: PLC0415
        from gbb.policies._index.compiled import make_diagonal, make_information  # noqa: PLC0415

        tables = state.record.tables
        assert tables is not None
        N, Y = tables[0].astype(np.float64), tables[1]
        diagonal, search = make_diagonal(self), self.link_search
        linear = counted = None
        if self.optimistic:
            search = self.counted_search
            counted = search.counted()
        if self.proposes:
            linear = search.linear()
        refresh_all(diagonal, counted, N, Y)
        arms, room = np.empty(self.problem.n, dtype=np.int64), search.room
        given = float(self.radii(np.array([float(state.rounds)]))[0])
        number, value = self._choose_alone(
            self.rule,
            search.links,
            room,
            diagonal,
            None,
            None,
            None,
            linear,
            make_information(self, room.mu.size),
            None,
            counted,
            given,
            float(state.rounds),
            rng,
            arms,
        )
        return Choice(arms, self._couple(number), value)

    def _choice(self, values: FloatArray, number: int) -> Choice:
        return Choice(self.tuples.allocation(number), self._couple(number), float(values[number]))

    def _couple(self, number: int) -> tuple[int, int] | None:
        return divmod(number, self.problem.K) if number >= 0 and self.parts.k == 2 else None


def as_parts(problem: Problem, cut: Cut | KCut) -> KCut:
    """``cut`` as parts, if it is a cut of the problem's graph and its tuples of arms can be listed."""
    graph = problem.graph
    parts = cut if isinstance(cut, KCut) else KCut.of(graph, check_cut(graph, cut).sides, 2)
    if parts.graph is not graph and parts.graph != graph:
        raise checks.input_error("cut", f"cut the problem's graph ({graph!r})", repr(parts.graph))
    if problem.K**parts.k > TUPLES:
        rule = f"have at most {TUPLES:,} tuples of arms, K^k"
        raise checks.input_error("k", rule, f"{problem.K}^{parts.k}", "Take fewer parts.")
    return parts
