"""The problem as the learner knows it: graph, arms and bounds, but never the matrix M*."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph, links
from gbb.graph._rows import Integers
from gbb.graph.entries import Entries
from gbb.graph.parts import Parts, check_parts
from gbb.problem import _reading as reading
from gbb.problem._limits import LARGEST, SMALLEST, UNITS, rounds_kept

if TYPE_CHECKING:
    from gbb.contexts import Contexts


class Problem:
    """A graphical bilinear bandit as the learner sees it (the paper's Section 2).

    Playing arms a at agent i and b at agent j makes edge (i, j) pay ``x_a' M* x_b + noise``, which
    is linear in the unknown: ``<z_ab, theta*>`` with the edge-arm ``z_ab = vec(x_a x_b')`` and
    ``theta* = vec(M*)``, both in R^(d^2). ``vec`` stacks columns, as in the paper.

    Parameters
    ----------
    graph
        The agents and their links; it must have at least one edge.
    arms
        The arm set X, one arm per row (K x d).
    sigma
        The noise is ``sigma``-sub-Gaussian, and independent across rounds and across the numbers of a
        round. Where these share noise, sigma must be that of the worst direction: up to
        ``sqrt(observations)`` times one number's. None where nobody knows it: policies then estimate
        it from what they see (:mod:`gbb.learning.scales`).
    S
        A bound on the Frobenius norm of M*; None where nobody knows one.
    L
        A bound on the norm of every edge-arm; ``max ||x||^2`` when left out.
    arm_names
        Names of the K arms, used at the edges of the system only.
    edge_types
        A whole number per directed edge, in edge order, that says which matrix it uses; ``"source"``
        gives each agent its own. One matrix for all, as in the paper, when left out. S then bounds
        the norm of each matrix.
    edge_weights
        A number w per directed edge, in edge order: the edge pays ``w x_i' M* x_j``. Weight 0 is an
        edge that is known to pay nothing. All 1 when left out.
    feedback
        What a round reports, each number with noise of its own: ``edge``, one number per directed
        edge; ``link``, one per link, the sum of both directions, in the order of the edges (i, j) with
        i < j; ``agent``, one per agent, the sum over its edges (i, j); ``global``, the sum over all.
    allowed
        Which arms each agent may play, n x K booleans; all when left out.
    parts
        What agents and edges stand for where ``graph`` is that of a :class:`gbb.Network` in shards.
    features
        P numbers f per directed edge, in edge order (m x P), in place of types: the edge pays
        ``sum_k f[k] x_i' M_k x_j``.
    contexts
        What is known before each round and decides by which matrices its edges pay: one of
        :mod:`gbb.contexts`. :meth:`at` is the problem of a round.

    Notes
    -----
    The paper bounds ``||x|| <= L`` and then uses L as the bound of an edge-arm's norm, which agrees
    with Cauchy-Schwarz only when L = 1. Here L bounds ``||z_ab|| = ||x_a|| ||x_b||``, so that every
    formula of the paper holds as written, with rewards between 0 and ``L S``.
    """

    def __init__(
        self,
        graph: Graph,
        arms: ArrayLike,
        *,
        sigma: float | None = 1.0,
        S: float | None = 1.0,
        L: float | None = None,
        arm_names: Sequence[str] | None = None,
        edge_types: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
        feedback: str = "edge",
        allowed: ArrayLike | None = None,
        parts: Parts | None = None,
        features: ArrayLike | None = None,
        contexts: Contexts | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise reading.no_graph(graph)
        if graph.m == 0:
            raise checks.input_error("graph", "have at least one edge", "none")
        self.graph = graph
        self.arms = checks.array(
            "arms",
            arms,
            ndim=2,
            meaning="one arm per row (K x d)",
            cure="np.eye(3) is three arms that have nothing in common.",
        )
        if 0 in self.arms.shape:
            raise checks.input_error(
                "arms", "hold at least one arm of one dimension", self.arms.shape
            )
        self._sigma = None if sigma is None else checks.real("sigma", sigma, low=0.0)
        self._S = None if S is None else checks.real("S", S, low=0.0, low_open=True)
        with np.errstate(over="ignore"):
            widest = float(np.max(np.sum(self.arms**2, axis=1)))
        if not SMALLEST <= widest <= LARGEST:
            some = f"the largest square at least {SMALLEST:g}"
            rule = f"have norms that are not all zero, {some}, their squares at most {LARGEST:g}"
            raise checks.input_error("arms", rule, widest)
        cure = "L bounds the norm of the edge-arms, ||x_a|| ||x_b||."
        self.L = widest if L is None else checks.real("L", L, low=0.0, low_open=True, cure=cure)
        if widest * (1 - 1e-12) > self.L:
            raise checks.input_error("L", f"be at least max ||x||^2 = {widest:g}", self.L, cure)
        self.arm_names = checks.names("arm_names", arm_names, length=self.K)
        if features is not None and not (edge_types is None and edge_weights is None):
            raise checks.conflict(
                "`features` say it all: leave out `edge_types` and `edge_weights`."
            )
        self._given: Entries | None = None
        if features is not None:
            entries = links.edge_features(graph, features)
            if entries.one_each:
                edge_types, edge_weights = entries.type, entries.weight
            else:
                self._given = entries
        self._types = links.edge_types(graph, edge_types)
        self._weights = links.edge_weights(graph, edge_weights)
        self._allowed = links.allowed(graph, self.K, allowed)
        self.feedback = checks.choice("feedback", feedback, links.FEEDBACKS)
        self.parts = check_parts(graph, parts)
        self.contexts = contexts
        self._of: Problem | None = None
        self._row: FloatArray | None = None
        if contexts is not None:
            self._check_contexts()
        self._check_sizes()
        if self.parts is not None:
            self._check_one_arm_a_part(self.parts)

    def _check_one_arm_a_part(self, parts: Parts) -> None:
        """Refuse what a part, which plays one arm and has its links summed, cannot have."""
        if self.unknown:
            rule = "be given for a network in shards, whose tables have no squares"
            raise checks.input_error(self.unknown[0], rule, "None")
        if not self.reports_edges:
            rule = "be 'edge' for a network in shards"
            raise checks.input_error("feedback", rule, repr(self.feedback))
        if not np.array_equal(self.allowed, self.allowed[parts.of]):
            rule = "allow the same arms to all agents of a part"
            raise checks.input_error("allowed", rule, "others")

    def _check_sizes(self) -> None:
        """Refuse sizes whose squares, or whose products' squares, overflow."""
        if self._sigma is not None:
            checks.real("sigma", self._sigma, high=LARGEST, cure=UNITS)
        if self._S is not None:
            checks.real("S", self._S, low=SMALLEST, high=LARGEST, cure=UNITS)
        checks.real("L", self.L, high=LARGEST, cure=UNITS)
        heaviest = float(self._heaviest.max())
        if (reach := heaviest * self.L * max(1.0, self._S or 1.0)) > LARGEST * (1 + 1e-9):
            name = "L" if self._weights is None else "edge_weights"
            name = name if self.contexts is None else "contexts"
            pays = {"edge": "an edge", "link": "a link"}
            pays |= {"agent": "an agent's edges", "global": "all edges"}
            w = "|w|" if self.reports_edges else "sum |w|"
            rule = (
                f"keep {w} L and {w} L S, which {pays[self.feedback]} may pay, at most {LARGEST:g}"
            )
            raise checks.input_error(name, rule, f"{reach:g}", UNITS)

    @property
    def sigma(self) -> float:
        """The scale of the noise; refused where nobody knows it."""
        return self._known("sigma", self._sigma)

    @property
    def S(self) -> float:
        """The bound on the Frobenius norm of M*; refused where nobody knows one."""
        return self._known("S", self._S)

    @staticmethod
    def _known(name: str, value: float | None) -> float:
        if value is None:
            cure = "Policies estimate it from what they see; other answers need it. Declare it."
            raise checks.input_error(name, "be known for this", "None", cure)
        return value

    @property
    def unknown(self) -> tuple[str, ...]:
        """Which of ``sigma`` and ``S`` nobody knows."""
        return tuple(name for name, value in self.declared.items() if value is None)

    @property
    def declared(self) -> dict[str, float | None]:
        """``sigma`` and ``S`` by name, None where nobody knows them."""
        return {"sigma": self._sigma, "S": self._S}

    def told(self, sigma: float, S: float) -> Problem:
        """The same problem, with these in the place of what nobody knows; itself where all is known."""
        if not self.unknown:
            return self
        other = copy.copy(self)
        other._sigma = sigma if self._sigma is None else self._sigma
        other._S = S if self._S is None else self._S
        return other

    @property
    def K(self) -> int:
        """Number of arms."""
        return int(self.arms.shape[0])

    @property
    def d(self) -> int:
        """Dimension of an arm."""
        return int(self.arms.shape[1])

    @property
    def n(self) -> int:
        """Number of agents."""
        return self.graph.n

    @property
    def m(self) -> int:
        """Number of directed edges."""
        return self.graph.m

    @property
    def is_paper_problem(self) -> bool:
        """Whether this is the paper's problem: one matrix, a number per edge, all arms allowed."""
        return self.feedback == "edge" and self.pays_as_paper

    @property
    def pays_as_paper(self) -> bool:
        """Whether this is the paper's problem but for the sums that a round may report it in.

        These are those of links at most: of the rest it is as much as the paper's.
        """
        links = (self._types, self._weights, self._allowed, self.parts, self._given, self.contexts)
        return self.feedback in ("edge", "link") and all(each is None for each in links)

    @cached_property
    def alike_in_play(self) -> bool:
        """Whether all edges pay by one and the same matrix, and all arms are allowed.

        So it is in the paper's problem, and in a round of it that has a context.
        """
        if self._allowed is not None or self.parts is not None:
            return False
        if self._given is None:
            return self._types is None and self._weights is None
        return len(self.entries.kinds(self.m, self.types)[0]) == 1

    def at(self, context: Any = None) -> Problem:
        """The problem of a round of which ``context`` is known; itself where there are no contexts.

        It has all matrices of this problem, and the same record.
        """
        if self.contexts is None:
            if context is not None:
                cure = "Pass contexts=... to gbb.Problem."
                raise checks.input_error(
                    "context", "be left out: there are no contexts", repr(context), cure
                )
            return self
        return self.at_row(self.contexts.read(self.graph, context))

    def at_row(self, row: FloatArray) -> Problem:
        """The problem of a round whose context was read into ``row``."""
        return self._round_of(row.tobytes())

    @cached_property
    def _round_of(self) -> Callable[[bytes], Problem]:
        return lru_cache(maxsize=rounds_kept(self.m))(self._make_round)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_round_of"}

    def _make_round(self, row: bytes) -> Problem:
        assert self.contexts is not None
        known, own = np.frombuffer(row), self._own_entries
        other = self._with(self.contexts.entries(own, self._own_types, known))
        other._row = known
        return other

    def _with(self, entries: Entries) -> Problem:
        """The problem of a round whose edges have these features."""
        other = object.__new__(type(self))
        kept = ("graph", "arms", "_sigma", "_S", "L", "arm_names", "feedback", "parts")
        for name in (*kept, "_types", "_weights", "_allowed"):
            setattr(other, name, getattr(self, name))
        other._given, other.contexts, other._of = entries, None, self
        other.__dict__.update(types=self.types, weighted=self.weighted, edge_arms=self.edge_arms)
        other.__dict__.update(links_alike=self.links_alike, orthogonal=self.orthogonal)
        return other

    def _check_contexts(self) -> None:
        from gbb.contexts import Contexts  # noqa: PLC0415  (most problems have none)

        if not isinstance(self.contexts, Contexts):
            got = type(self.contexts).__name__
            cure = "Say for example contexts=gbb.contexts.Regimes(['morning', 'noon'])."
            raise checks.input_error("contexts", "be one of gbb.contexts", got, cure)
        if self._given is not None or self.parts is not None:
            beside = "features" if self.parts is None else "a network in shards"
            raise checks.conflict(f"`contexts` cannot be combined with {beside}.")
        if self.types > (most := links.most_types(self.graph)):
            raise checks.input_error("contexts", f"have at most {most} matrices", self.types)

    @property
    def whole(self) -> Problem:
        """The problem of all rounds, where this is that of one; else itself."""
        return self if self._of is None else self._of

    @property
    def context(self) -> Any:
        """What is known of the round whose problem this is; None where there are no contexts."""
        contexts = self.whole.contexts
        return None if self._row is None or contexts is None else contexts.name(self._row)

    @property
    def one_each(self) -> bool:
        """Whether every edge pays by one matrix at most, in every round."""
        whole = self.whole
        return whole._given is None if whole.contexts is None else whole.contexts.one_each

    @cached_property
    def weighted(self) -> bool:
        """Whether any edge may have a weight other than 1."""
        changes = self.contexts is not None and self.contexts.weighs
        return self._weights is not None or self._given is not None or changes

    @property
    def _own_types(self) -> int:
        return 1 if self._types is None else int(self._types.max()) + 1

    @cached_property
    def types(self) -> int:
        """Number of matrices: one for each edge type, or feature, in every regime."""
        if self.contexts is not None:
            return self.contexts.count_matrices(self._own_types)
        return self._own_types if self._given is None else int(self._given.type.max()) + 1

    @cached_property
    def _own_entries(self) -> Entries:
        """What edges pay by but for contexts."""
        if self._given is not None:
            return self._given
        types = np.zeros(self.m, dtype=np.int64) if self._types is None else self._types
        weights = np.ones(self.m) if self._weights is None else self._weights
        return Entries(np.arange(self.m), types, weights).frozen()

    @property
    def known_links(self) -> dict[str, Any]:
        """What is known of the links in every round, as the constructor takes it."""
        whole = self.whole
        if whole._given is not None:
            return {"features": whole._given.dense(whole.m, whole.types)}
        known = {"edge_types": whole._types, "edge_weights": whole._weights}
        return {name: each for name, each in known.items() if each is not None}

    @property
    def matrix_names(self) -> tuple[str, ...] | None:
        """Whose each matrix is where there are contexts; None where they are those of edge types."""
        whole = self.whole
        if whole.contexts is None:
            return None
        own = whole.types // whole.contexts.count_matrices(1)
        names = getattr(whole.contexts, "names", None) or range(whole.types // own)
        beside = [""] if own == 1 else [f", type {g}" for g in range(own)]
        return tuple(f"{name}{more}" for name in names for more in beside)

    @property
    def entries(self) -> Entries:
        """By which matrices the edges pay: one for each edge, unless edges have several features."""
        if self.contexts is not None:
            cure = "Take those of a round: problem.at(context), policy.at(context)."
            raise checks.input_error("context", "be given: edges differ by round", "none", cure)
        return self._own_entries

    @cached_property
    def in_play(self) -> IntArray:
        """The matrices of this round; all of them where there are no contexts.

        All of them, too, where numbers of a report sum edges of matrices that come together in other
        ways in other rounds: what is not known of one is then in doubt of the others.
        """
        contexts = self.whole.contexts
        if self._of is None or contexts is None or not (self.keeps_tables or contexts.apart):
            return checks.frozen(np.arange(self.types))
        return checks.frozen(np.unique(self.entries.type))

    @property
    def edge_types(self) -> IntArray:
        """The type of each directed edge, or of each of :attr:`entries`."""
        return self.entries.type

    @property
    def edge_weights(self) -> FloatArray:
        """The weight of each directed edge, or of each of :attr:`entries`."""
        return self.entries.weight

    @cached_property
    def sources(self) -> Integers:
        """The agent that each of :attr:`entries` leads from."""
        return self.graph.sources if self.one_each else self.graph.sources[self.entries.edge]

    @cached_property
    def targets(self) -> Integers:
        """The agent that each of :attr:`entries` leads to."""
        return self.graph.indices if self.one_each else self.graph.indices[self.entries.edge]

    @cached_property
    def edge_totals(self) -> FloatArray:
        """What each directed edge adds to a sum over all: its weight, for each edge it stands for."""
        weights = self.edge_weights
        return weights if self.parts is None else checks.frozen(weights * self.parts.total)

    @property
    def links_seen(self) -> int:
        """How many directed edges a round is played on: m, or those that the m edges stand for."""
        return self.m if self.parts is None else int(self.parts.total.sum())

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Which arms each agent may play (n x K)."""
        everything = np.ones((self.n, self.K), dtype=np.bool_)
        return checks.frozen(everything) if self._allowed is None else self._allowed

    @cached_property
    def instead(self) -> IntArray:
        """What each agent plays for each arm: the arm itself, or its first allowed one (n x K)."""
        first = self.allowed.argmax(axis=1)[:, None]
        return checks.frozen(np.where(self.allowed, np.arange(self.K), first).astype(np.int64))

    @cached_property
    def links_alike(self) -> bool:
        """Whether both directions of every link have the same type and weight."""
        kept = self.contexts is None or self.contexts.keeps_alike
        return kept and self._own_entries.are_alike(self.graph)

    @property
    def symmetric(self) -> bool:
        """Whether only symmetric parts matter: a number per edge or link, whose directions are alike."""
        return self.one_each and self.feedback in ("edge", "link") and self.links_alike

    @property
    def observations(self) -> int:
        """How many numbers a round reports."""
        return {"edge": self.m, "link": self.m // 2, "agent": self.n, "global": 1}[self.feedback]

    @cached_property
    def adds_to(self) -> IntArray:
        """Which number of a round's report each directed edge, or each of :attr:`entries`, adds to."""
        each = links.added_to(self.graph, self.feedback)
        return checks.frozen(each if self.one_each else each[self.entries.edge])

    @property
    def reports_edges(self) -> bool:
        """Whether a round reports every directed edge by itself, not in sums."""
        return self.feedback == "edge"

    @cached_property
    def halves_only(self) -> bool:
        """Whether symmetric parts are all that can be learnt: a number per link of directions alike.

        With arms a and b a link pays ``w (z_ab + z_ba)' theta``. As in a record of edges there are
        tables by edge-arm, but these must be read in symmetric parts.
        """
        return self.one_each and self.feedback == "link" and self.links_alike

    @property
    def keeps_tables(self) -> bool:
        """Whether what was seen is kept in tables by edge-arm, and not as moments of sums."""
        return self.one_each and (self.reports_edges or self.halves_only)

    @property
    def ways(self) -> int:
        """How many directions of a link a number sums, where tables are kept: 1, or 2 for links."""
        return 2 if self.halves_only else 1

    def sum_reported(self, values: FloatArray) -> FloatArray:
        """Sum a value per directed edge into the numbers that a round reports."""
        if self.observations == 1:  # pairwise summation, which rounds less
            total: FloatArray = values.sum(keepdims=True)
            return total
        sums = np.bincount(self.adds_to, weights=values, minlength=self.observations)
        return sums.astype(np.float64, copy=False)

    @cached_property
    def paying(self) -> NDArray[np.bool_]:
        """Which of the reported numbers an edge of some weight adds to; in any round, with contexts."""
        if self.contexts is not None:
            return checks.frozen(self._heaviest > 0.0)
        return checks.frozen(self.sum_reported(np.abs(self.edge_weights)) > 0.0)

    @property
    def parameters(self) -> int:
        """Dimension of the unknown: d^2 for each type."""
        return self.types * self.d**2

    @property
    def norm(self) -> float:
        """A bound on the norm of all matrices together that are in play."""
        return float(np.sqrt(len(self.in_play))) * self.S

    @cached_property
    def edge_reach(self) -> float:
        """No edge has features of a larger norm, its weight among them; 1 for the paper's."""
        own = self._own_entries
        squares = np.bincount(own.edge, weights=own.weight**2, minlength=self.m)
        reach = 1.0 if self.contexts is None else self.contexts.reach
        return reach * math.sqrt(float(squares.max()))

    @cached_property
    def gram_growth_per_round(self) -> float:
        """The sum over a round's observations of their squared sums of weights; m for the paper's."""
        if self._of is not None:
            return self._of.gram_growth_per_round
        if self.parts is not None:
            return float((self.edge_weights**2) @ self.parts.total)
        return float((self._heaviest**2).sum())

    @property
    def _heaviest(self) -> FloatArray:
        """The largest sum of weights of each number that a round reports."""
        own, reach = self._own_entries, 1.0 if self.contexts is None else self.contexts.reach
        each = links.added_to(self.graph, self.feedback)[own.edge]
        sums = np.bincount(each, weights=np.abs(own.weight), minlength=self.observations)
        return reach * sums.astype(np.float64, copy=False)

    @property
    def unknowns(self) -> int:
        """How many parameters can be learnt: d (d + 1) / 2 of each type's with ``halves_only``."""
        return self.types * self.d * (self.d + 1) // 2 if self.halves_only else self.parameters

    @cached_property
    def edge_arms(self) -> FloatArray:
        """The set Z: row ``a * K + b`` is ``z_ab = vec(x_a x_b')``, columns stacked (K^2 x d^2)."""
        z: FloatArray = np.einsum("bj,ai->abji", self.arms, self.arms).reshape(self.K**2, self.d**2)
        z.flags.writeable = False
        return z

    @cached_property
    def orthogonal(self) -> bool:
        """Whether different arms are orthogonal, and with them different pairs of arms."""
        gram = self.arms @ self.arms.T
        scale = np.sqrt(np.diag(gram))
        off = np.abs(gram - np.diag(np.diag(gram)))
        return bool((off <= 1e-14 * np.outer(scale, scale)).all())

    def allocation(self, arms: ArrayLike | Mapping[str, str]) -> IntArray:
        """Check an allocation: one arm per agent, in agent order, as indices.

        A mapping from agent names (or indices) to arm names (or indices) is accepted as well. Of a
        network in shards an arm for each part will do.
        """
        return reading.allocation(self, arms)

    def arm(self, arm: int | str) -> int:
        """Index of an arm given by name or index."""
        if self.arm_names is not None and isinstance(arm, str):
            return self.arm_names.index(checks.choice("arm", arm, self.arm_names))
        if isinstance(arm, str) and arm.isdecimal():
            arm = int(arm)
        return checks.integer("arm", arm, low=0, high=self.K - 1)

    def rewards(self, rewards: ArrayLike) -> FloatArray:
        """Check the rewards of a round: finite numbers, one per directed edge in edge order.

        Per link in the order of the edges (i, j) with i < j, per agent in agent order, or one in all,
        where that is the ``feedback``.
        """
        return reading.rewards(self, rewards)

    def check_agents(self, name: str) -> None:
        """Refuse a network in shards where ``name`` takes agents and links one by one."""
        if self.parts is not None:
            rule = "be of a graph that is at hand"
            cure = "Links in shards are told by Controller.tell_tables and never seen one by one."
            got = f"a network of {self.links_seen:,} links in {self.parts.shards} shards"
            raise checks.input_error(name, rule, got, cure)

    def __repr__(self) -> str:
        more = f", types={self.types}" if self.types > 1 else ""
        more += ", weighted" if self.weighted else ""
        more += f", contexts={self.contexts!r}" if self.contexts is not None else ""
        more += f", feedback={self.feedback!r}" if self.feedback != "edge" else ""
        more += ", some arms forbidden" if self._allowed is not None else ""
        if self.parts is not None:
            more += f", shards={self.parts.shards}, links={self.links_seen}"
        said = ", ".join(
            f"{name}={'unknown' if value is None else f'{value:g}'}"
            for name, value in self.declared.items()
        )
        return (
            f"Problem(n={self.n}, m={self.m}, K={self.K}, d={self.d}, {said}, L={self.L:g}{more})"
        )
