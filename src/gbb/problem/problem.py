"""The problem as the learner knows it: graph, arms and bounds, but never the matrix M*."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph, find
from gbb.graph.build import Integers
from gbb.problem import edges
from gbb.problem.edges import FEEDBACKS, EdgeFeatures, Report

if TYPE_CHECKING:
    from gbb.contexts import Contexts

LARGEST = 1e100
"""The largest reward, expected or observed; sigma, S, L and lam have it as their limit too. Squares of
these, and sums of squares, stay finite."""

SMALLEST = 1e-100
"""The smallest S, and the smallest squared norm that the largest arm may have."""


def rounds_kept(edges: int) -> int:
    """Return how many problems of rounds with so many edges are cached for contexts that come again."""
    # Policies lay out some hundred bytes for each edge of a round.
    return max(2, min(64, 1_000_000 // edges))


def check_lam(lam: float) -> float:
    """Check a ridge regulariser: > 0, and no larger than what it is added to may be."""
    return checks.real("lam", lam, low=0.0, low_open=True, high=LARGEST)


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
        round. If these share noise, sigma must be that of the worst direction: up to
        ``sqrt(observations)`` times one number's. None if it is unknown: policies then estimate
        it from the rewards (:mod:`gbb.learning.scales`).
    S
        A bound on the Frobenius norm of M*; None if none is known.
    L
        A bound on the norm of every edge-arm; ``max ||x||^2`` by default.
    arm_names
        Names of the K arms, used at the edges of the system only.
    edge_types
        A whole number per directed edge, in edge order, that says which matrix it uses; ``"source"``
        gives each agent its own. One matrix for all, as in the paper, by default. S then bounds
        the norm of each matrix.
    edge_weights
        A number w per directed edge, in edge order: the edge pays ``w x_i' M* x_j``. Weight 0 is an
        edge that is known to pay nothing. All 1 by default.
    features
        P numbers f per directed edge, in edge order (m x P), in place of types: the edge pays
        ``sum_k f[k] x_i' M_k x_j``.
    feedback
        What a round reports, each number with noise of its own: ``edge``, one number per directed
        edge; ``link``, one per link, the sum of both directions, in the order of the edges (i, j) with
        i < j; ``agent``, one per agent, the sum over its edges (i, j); ``global``, the sum over all.
    allowed
        Which arms each agent may play, n x K booleans; all by default.
    contexts
        What is observed before each round and decides by which matrices its edges pay: one of
        :mod:`gbb.contexts`. :meth:`at` is the problem of a round.
    edge_counts, parts
        A merged network (:class:`gbb.Network`): how many directed edges of each shard each edge stands
        for (shards x m), and the part of each agent, 0..k-1, where agent p stands for part p. Agents of
        one part play one arm.

    Attributes
    ----------
    n, m, K, d
        The numbers of agents, directed edges and arms, and the dimension of an arm.
    allowed
        Which arms each agent may play (n x K).

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
        features: ArrayLike | None = None,
        feedback: str = "edge",
        allowed: ArrayLike | None = None,
        contexts: Contexts | None = None,
        edge_counts: ArrayLike | None = None,
        parts: ArrayLike | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            cure = "Make one by gbb.Graph.from_networkx, from_sparse, from_edges or read."  # type: ignore[unreachable]
            raise checks.input_error("graph", "be a gbb.Graph", type(graph), cure)
        if graph.m == 0:
            raise checks.input_error("graph", "have at least one edge", "none")
        self.graph, self.n, self.m = graph, graph.n, graph.m
        cure = "np.eye(3) is three arms that have nothing in common."
        meaning = "one arm per row (K x d)"
        self.arms = checks.array("arms", arms, ndim=2, meaning=meaning, cure=cure)
        self.K, self.d = map(int, self.arms.shape)
        with np.errstate(over="ignore"):
            widest = float(np.sum(self.arms**2, axis=1).max(initial=0.0))
        if not SMALLEST <= widest <= LARGEST:
            lower = f"the largest square at least {SMALLEST:g}"
            rule = f"have norms that are not all zero, {lower}, their squares at most {LARGEST:g}"
            raise checks.input_error("arms", rule, widest)
        self._scales = {
            "sigma": None if sigma is None else checks.real("sigma", sigma, low=0.0, high=LARGEST),
            "S": None if S is None else checks.real("S", S, low=SMALLEST, high=LARGEST),
        }
        # A user's own L may have been rounded down where it was computed.
        low, cure = widest * (1 - 1e-12), "L bounds ||x_a|| ||x_b||, which is max ||x||^2 at most."
        self._L = None if L is None else checks.real("L", L, low=low, high=LARGEST, cure=cure)
        self.L = widest if self._L is None else self._L
        self.arm_names = checks.names("arm_names", arm_names, length=self.K)
        self._edges = edges.read_edges(graph, edge_types, edge_weights, features)
        self.allowed = allowed_arms(graph, self.K, allowed)
        self.feedback = checks.choice("feedback", feedback, FEEDBACKS)
        self.edge_counts, self.parts = edges.read_parts(graph, edge_counts, parts)
        self.contexts = contexts
        # Of a round's problem: that of all rounds, and its context as a row of numbers.
        self._root: Problem | None = None
        self._row: FloatArray | None = None
        if contexts is not None:
            # By its methods, as gbb.contexts, which makes EdgeFeatures, imports this package.
            if not hasattr(contexts, "count_matrices"):
                cure = "Pass for example gbb.contexts.Regimes(['morning', 'noon'])."
                raise checks.input_error("contexts", "be one of gbb.contexts", repr(contexts), cure)
            if not self._edges.single:
                raise checks.conflict("`contexts` cannot be combined with features.")
            if self.types > (limit := edges.max_types(graph)):
                raise checks.input_error("contexts", f"have at most {limit} matrices", self.types)
        if self.parts is not None:
            # A part plays one arm and its links are summed; tables that shards send have no squares.
            one_arm = np.array_equal(self.allowed, self.allowed[self.parts])
            if self.unknown or self.feedback != "edge" or contexts is not None or not one_arm:
                rule = "be given with sigma, S, feedback 'edge' and the same arms for all of a part"
                raise checks.input_error("parts", rule, repr(self))
        # Squares of what a number of a report may be must not overflow.
        largest = float(self._max_weights.max()) * self.L * max(1.0, self._scales["S"] or 1.0)
        if largest > LARGEST * (1 + 1e-9):
            name = "edge_weights" if self._edges.weighted else "L"
            w = "|w|" if self.feedback == "edge" else "sum |w|"
            rule = f"keep {w} L and {w} L S, which a number of a report may be, at most {LARGEST:g}"
            raise checks.input_error(name, rule, f"{largest:g}", "Measure in other units.")

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the constructor that make this problem, but for those left out.

        Those of a round's problem are those of its :attr:`root`.
        """
        root, names = self.root, ("arm_names", "feedback", "contexts", "edge_counts", "parts")
        optional = {name: getattr(root, name) for name in names}
        optional |= {"allowed": None if root.allowed.all() else root.allowed, "L": root._L}
        optional |= root._edges.settings(self.m, root._own_types)
        declared = {name: value for name, value in optional.items() if value is not None}
        return {"graph": root.graph, "arms": root.arms, **root._scales, **declared}

    def replace(self, **changes: Any) -> Problem:
        """Return the same problem with other arguments of the constructor, checked as there."""
        names = inspect.signature(type(self)).parameters
        checks.known_names("Problem", "setting", changes, names)
        return type(self)(**{**self.settings(), **changes})

    def with_scales(self, sigma: float | None = None, S: float | None = None) -> Problem:
        """Return the same problem with these where none were declared; itself if all were."""
        if not self.unknown:
            return self
        other = copy.copy(self)  # keeps what was computed, but for rounds: see __getstate__
        estimates = {"sigma": sigma, "S": S}
        other._scales = {**self._scales, **{name: estimates[name] for name in self.unknown}}
        return other

    @property
    def sigma(self) -> float:
        """The scale of the noise; an error if it is unknown."""
        return self._scale("sigma")

    @property
    def S(self) -> float:
        """The bound on the Frobenius norm of M*; an error if it is unknown."""
        return self._scale("S")

    def _scale(self, name: str) -> float:
        value = self._scales[name]
        if value is None:
            cure = "Policies estimate it from what they see; other answers need it. Declare it."
            raise checks.input_error(name, "be known for this", "None", cure)
        return value

    @property
    def unknown(self) -> tuple[str, ...]:
        """Which of ``sigma`` and ``S`` are unknown."""
        return tuple(name for name, value in self._scales.items() if value is None)

    @property
    def link_count(self) -> int:
        """Number of directed edges that rewards come from: m, or all that the m edges stand for."""
        return self.m if self.edge_counts is None else int(self.edge_counts.sum())

    @cached_property
    def _own_types(self) -> int:
        """Number of types or features of the edges, without contexts."""
        return int(self._edges.type.max()) + 1

    @cached_property
    def types(self) -> int:
        """Number of matrices: one for each edge type, or feature, in every regime."""
        types = self._own_types
        return types if self.contexts is None else self.contexts.count_matrices(types)

    @property
    def parameters(self) -> int:
        """Dimension of the unknown: d^2 for each type."""
        return self.types * self.d**2

    @property
    def free_parameters(self) -> int:
        """Parameters that can be learnt: d (d + 1) / 2 of each type with ``symmetric_only``."""
        return self.types * self.d * (self.d + 1) // 2 if self.symmetric_only else self.parameters

    @cached_property
    def edge_arms(self) -> FloatArray:
        """The set Z: row ``a * K + b`` is ``z_ab = vec(x_a x_b')``, columns stacked (K^2 x d^2)."""
        z: FloatArray = np.einsum("bj,ai->abji", self.arms, self.arms).reshape(self.K**2, self.d**2)
        return checks.frozen(z)

    @cached_property
    def orthogonal(self) -> bool:
        """Whether different arms are orthogonal, and with them different edge-arms."""
        gram = self.arms @ self.arms.T
        scale = np.sqrt(np.diag(gram))
        off = np.abs(gram - np.diag(np.diag(gram)))  # relative: arms may differ by magnitudes
        return bool((off <= 1e-14 * np.outer(scale, scale)).all())

    @property
    def edges(self) -> EdgeFeatures:
        """The matrices by which edges pay: an entry for each edge, or for each of its features."""
        if self.contexts is not None:
            cure = "Take those of a round: problem.at(context), policy.at(context)."
            raise checks.input_error("context", "be given: edges differ by round", "none", cure)
        return self._edges

    @property
    def edge_types(self) -> IntArray:
        """The type of each directed edge, or of each of :attr:`edges`."""
        return self.edges.type

    @property
    def edge_weights(self) -> FloatArray:
        """The weight of each directed edge, or of each of :attr:`edges`."""
        return self.edges.weight

    @cached_property
    def edge_totals(self) -> FloatArray:
        """What each of :attr:`edges` adds to a sum over all: its weight, for each edge it stands for."""
        counts = 1 if self.edge_counts is None else self.edge_counts.sum(axis=0)
        return checks.frozen(self.edge_weights * counts)

    @cached_property
    def sources(self) -> Integers:
        """The agent that each of :attr:`edges` leads from."""
        return self.graph.sources if self.single else self.graph.sources[self.edges.edge]

    @cached_property
    def targets(self) -> Integers:
        """The agent that each of :attr:`edges` leads to."""
        return self.graph.indices if self.single else self.graph.indices[self.edges.edge]

    @property
    def single(self) -> bool:
        """Whether every edge pays by one matrix at most, in every round."""
        root = self.root
        return root._edges.single if root.contexts is None else root.contexts.single

    @cached_property
    def weighted(self) -> bool:
        """Whether any edge may have a weight other than 1."""
        return self._edges.weighted or not (self.contexts is None or self.contexts.disjoint)

    @cached_property
    def links_alike(self) -> bool:
        """Whether (i, j) and (j, i) have the same type and weight for every link."""
        symmetric = self.contexts is None or self.contexts.symmetric
        return symmetric and self._edges.same_both_ways(self.graph)

    @property
    def symmetric(self) -> bool:
        """Whether only symmetric parts matter: a number per edge or link, whose directions are alike."""
        return self.single and self.feedback in ("edge", "link") and self.links_alike

    @cached_property
    def symmetric_only(self) -> bool:
        """Whether symmetric parts are all that can be learnt: a number per link of directions alike.

        With arms a and b a link pays ``w (z_ab + z_ba)' theta``. As in a record of edges there are
        tables by edge-arm, but these must be read in symmetric parts.
        """
        return self.feedback == "link" and self.symmetric

    @property
    def tabular(self) -> bool:
        """Whether rewards are kept in tables by edge-arm, and not as moments of sums."""
        return self.single and (self.feedback == "edge" or self.symmetric_only)

    @property
    def ways(self) -> int:
        """Number of directions that a number of a tabular report sums: 1, or 2 for links."""
        return 2 if self.symmetric_only else 1

    @property
    def is_paper_problem(self) -> bool:
        """Whether this is the paper's problem: one matrix, a number per edge, all arms allowed."""
        return self.feedback == "edge" and self.has_one_matrix

    @property
    def has_one_matrix(self) -> bool:
        """Whether this is the paper's problem, but for the two directions that a link's number sums."""
        one_round = self.contexts is None and self._root is None and self._edges.single
        return self.feedback in ("edge", "link") and one_round and self.uniform

    @cached_property
    def uniform(self) -> bool:
        """Whether all edges have one and the same matrix, and all arms are allowed.

        So it is in the paper's problem, and in a round of it that has a context.
        """
        if self.parts is not None or not self.allowed.all():
            return False
        if self._root is None and self._edges.single:
            # Weights that are all 2 are one kind too, but not the paper's problem.
            return not (self._edges.weighted or self._edges.type.any())
        kinds, _ = self._edges.combine(np.empty((self.types, 0, 0)), self.m)
        return len(kinds) == 1

    @cached_property
    def report(self) -> Report:
        """The numbers that a round reports, and which of them each edge adds to."""
        return Report(self.graph, self.feedback, self._edges)

    @property
    def observations(self) -> int:
        """How many numbers a round reports."""
        return self.report.size

    @cached_property
    def edge_reach(self) -> float:
        """No edge has features of a larger norm, its weight among them; 1 for the paper's."""
        edge, weight = self._edges.edge, self._edges.weight
        squares = np.bincount(edge, weights=weight**2, minlength=self.m)
        return self._context_norm * math.sqrt(float(squares.max()))

    @cached_property
    def gram_growth_per_round(self) -> float:
        """The sum over a round's observations of their squared sums of weights; m for the paper's.

        That of a round's problem is its root's, a bound for every context.
        """
        if self._root is not None:
            return self._root.gram_growth_per_round
        if self.edge_counts is not None:
            return float((self.edge_weights**2) @ self.edge_counts.sum(axis=0))
        return float((self._max_weights**2).sum())

    @property
    def _max_weights(self) -> FloatArray:
        """The largest sum of weights of each number that a round reports."""
        return self._context_norm * self.report.weights

    @property
    def _context_norm(self) -> float:
        return 1.0 if self.contexts is None else self.contexts.max_norm

    @cached_property
    def matrices_in_play(self) -> IntArray:
        """The matrices of this round; all of them if there are no contexts.

        All of them, too, if numbers of a report sum edges of matrices that come together in other
        ways in other rounds: what is not known of one is then in doubt of the others.
        """
        contexts = self.root.contexts
        if self._root is None or contexts is None or not (self.tabular or contexts.disjoint):
            return checks.frozen(np.arange(self.types))
        return checks.frozen(np.unique(self.edges.type))

    @property
    def norm(self) -> float:
        """A bound on the norm of all matrices together that are in play."""
        # S bounds each of them. The radius counts those of the round only, the record all parameters.
        return float(np.sqrt(len(self.matrices_in_play))) * self.S

    @property
    def matrix_names(self) -> tuple[str, ...] | None:
        """What contexts call each matrix; None if they are those of edge types."""
        root = self.root
        if root.contexts is None:
            return None
        # Matrix k G + g is that of edge type g in regime k, or for number k of a vector.
        G = root.types // root.contexts.count_matrices(1)
        names = getattr(root.contexts, "names", None) or range(root.types // G)
        types = [""] if G == 1 else [f", type {g}" for g in range(G)]
        return tuple(f"{name}{kind}" for name in names for kind in types)

    def at(self, context: Any = None) -> Problem:
        """Return the problem of a round with this context; itself if there are no contexts.

        It has all matrices of this problem, and the same record.
        """
        if self.contexts is not None:
            return self.at_row(self.contexts.read(self.graph, context))
        if context is not None:
            rule, cure = "be left out: there are no contexts", "Pass contexts=... to gbb.Problem."
            raise checks.input_error("context", rule, repr(context), cure)
        return self

    def at_row(self, row: FloatArray) -> Problem:
        """Return the problem of a round whose context was read into ``row``."""
        return self._round_of(row.tobytes())  # equal bytes: equal context, as -0.0 was made 0.0

    @cached_property
    def _round_of(self) -> Callable[[bytes], Problem]:
        return lru_cache(maxsize=rounds_kept(self.m))(self._make_round)

    def _make_round(self, row: bytes) -> Problem:
        assert self.contexts is not None
        values = np.frombuffer(row)
        other = object.__new__(type(self))
        # What was declared, and what holds in all rounds or follows from the arms; no other caches.
        # `types` and the like are computed here, once: a round has no contexts to count them from.
        shared = (vars(self).keys() - CACHED) | OF_ALL_ROUNDS
        vars(other).update({name: getattr(self, name) for name in shared})
        other._edges = self.contexts.edges(self._edges, self._own_types, values)
        other.contexts, other._root, other._row = None, self, values
        return other

    def __getstate__(self) -> dict[str, Any]:
        # The cache of rounds holds a function of this very object, which copies must not share.
        return {name: value for name, value in vars(self).items() if name != "_round_of"}

    @property
    def root(self) -> Problem:
        """The problem of all rounds, if this is that of one; else itself."""
        return self if self._root is None else self._root

    @property
    def context(self) -> Any:
        """The context of the round whose problem this is; None if there is none."""
        contexts = self.root.contexts
        return None if self._row is None or contexts is None else contexts.name(self._row)

    @cached_property
    def first_allowed(self) -> IntArray:
        """What each agent plays for each arm: the arm itself, or its first allowed one (n x K)."""
        first = self.allowed.argmax(axis=1)[:, None]
        return checks.frozen(np.where(self.allowed, np.arange(self.K), first).astype(np.int64))

    def arm(self, arm: int | str) -> int:
        """Return the index of an arm given by name or index."""
        return find.index("arm", arm, self.arm_names, self.K)

    def allocation(self, arms: ArrayLike | Mapping[str, str]) -> IntArray:
        """Check an allocation: one arm per agent, in agent order, as indices.

        A mapping from agent names (or indices) to arm names (or indices) is accepted as well. Of a
        merged network an arm for each part will do.
        """
        if isinstance(arms, Mapping):
            arms = self._allocation_by_name(arms)
        if self.parts is not None and np.shape(arms) == (int(self.parts.max()) + 1,):
            arms = np.asarray(arms)[self.parts]
        meaning = "one arm index per agent"
        cure = f"There are K = {self.K} arms, counted from 0."
        allocation = checks.indices(
            "allocation", arms, length=self.n, high=self.K, meaning=meaning, cure=cure
        )
        if self.parts is not None and not np.array_equal(allocation, allocation[self.parts]):
            raise checks.input_error("allocation", "have one arm for each part", arms)
        return allocation

    def _allocation_by_name(self, arms: Mapping[str, str]) -> IntArray:
        agents = find.agents("allocation", self.graph, list(arms))
        allocation = np.full(self.n, -1, dtype=np.int64)
        allocation[agents] = [self.arm(arm) for arm in arms.values()]
        if self.parts is not None:
            allocation = np.where(allocation < 0, allocation[self.parts], allocation)
        counts = np.bincount(agents, minlength=self.n)
        for rule, bad, got in (
            ("name every agent once", counts > 1, "{!r} twice"),
            ("give every agent an arm", allocation < 0, "none for agent {!r}"),
        ):
            if bad.any():
                agent = self.graph.label(int(np.argmax(bad)))
                raise checks.input_error("allocation", rule, got.format(agent))
        return allocation

    def rewards(self, rewards: ArrayLike, *, missing: bool = False) -> FloatArray:
        """Check the rewards of a round: finite numbers, one per directed edge in edge order.

        Per link in the order of the edges (i, j) with i < j, per agent in agent order, or one in all,
        according to ``feedback``. If some may be ``missing``, NaN stands for them.
        """
        self.check_agents("rewards")
        shape, meaning, cure = (self.observations,), FEEDBACKS[self.feedback], ""
        with suppress(ValueError):  # a ragged list, which the check below names
            if self.feedback == "edge" and np.shape(rewards) == (self.m // 2,):
                cure = "Did you pass undirected edges? feedback='link' takes one reward per link."
            if self.feedback == "link" and np.shape(rewards) == (self.m,):
                cure = "Did you pass directed edges? feedback='edge' takes one reward for each."
        checked = checks.array(
            "rewards", rewards, shape=shape, meaning=meaning, cure=cure, missing=missing
        )
        # fmax passes over NaN.
        if (high := float(np.fmax.reduce(np.abs(checked)))) > LARGEST:
            raise checks.input_error("rewards", f"hold numbers of at most {LARGEST:g}", high)
        return checked

    def check_agents(self, name: str) -> None:
        """Refuse a merged network where ``name`` takes agents and links one by one."""
        if self.edge_counts is not None:
            rule = "be of a graph that is at hand"
            cure = "Links in shards are told by Controller.tell_tables and never seen one by one."
            got = f"a network of {self.link_count:,} links in {len(self.edge_counts)} shards"
            raise checks.input_error(name, rule, got, cure)

    def __repr__(self) -> str:
        values = {name: getattr(self, name) for name in ("n", "m", "K", "d")}
        values |= {**self._scales, "L": self.L}
        usual = {"types": 1, "weighted": False, "contexts": None, "feedback": "edge"}
        values |= {k: getattr(self, k) for k, value in usual.items() if getattr(self, k) != value}
        values |= {} if self.allowed.all() else {"allowed": "some"}
        values |= {} if self.parts is None else {"links": self.link_count}
        shown = {k: f"{v:g}" if isinstance(v, float) else v for k, v in values.items()}
        return f"Problem({', '.join(f'{k}={v}' for k, v in shown.items())})"


OF_ALL_ROUNDS = {"types", "weighted", "links_alike", "edge_arms", "orthogonal"}
CACHED = {name for name, value in vars(Problem).items() if isinstance(value, cached_property)}


def allowed_arms(graph: Graph, K: int, allowed: ArrayLike | None) -> NDArray[np.bool_]:
    """Check which arms each agent may play (n x K); all if None."""
    shape = (graph.n, K)
    checks.unmasked("allowed", allowed)
    mask = np.ones(shape, dtype=np.bool_) if allowed is None else np.array(allowed)
    if mask.shape != shape or mask.dtype != np.bool_:
        got = f"{mask.dtype} of shape {mask.shape}"
        raise checks.input_error("allowed", f"be a boolean array of shape {shape}, n x K", got)
    if not mask.any(axis=1).all():
        agent = graph.label(int(np.argmin(mask.any(axis=1))))
        raise checks.input_error("allowed", "leave every agent an arm", f"none for agent {agent!r}")
    return checks.frozen(mask)
