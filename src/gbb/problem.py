"""The problem as the learner knows it: graph, arms and bounds, but never the matrix M*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph, links
from gbb.graph.parts import Parts, check_parts

LARGEST = 1e100
"""The largest reward, and the largest that is to be expected; sigma, S, L and lam have it as their limit
too. Squares of these, and sums of squares, stay finite."""

SMALLEST = 1e-100
"""The smallest S, and the smallest squared norm that the largest arm may have."""

UNITS = "Measure in other units."


def check_lam(lam: float) -> float:
    """A ridge regulariser: > 0, and no larger than what it is added to may be."""
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
        round. Where these share noise, sigma must be that of the worst direction: up to
        ``sqrt(observations)`` times one number's.
    S
        A bound on the Frobenius norm of M*.
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
        sigma: float = 1.0,
        S: float = 1.0,
        L: float | None = None,
        arm_names: Sequence[str] | None = None,
        edge_types: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
        feedback: str = "edge",
        allowed: ArrayLike | None = None,
        parts: Parts | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise checks.input_error("graph", "be a gbb.Graph", type(graph).__name__)
        if graph.m == 0:
            raise checks.input_error("graph", "have at least one edge", "none")
        self.graph = graph
        self.arms = checks.array("arms", arms, ndim=2, meaning="one arm per row (K x d)")
        if 0 in self.arms.shape:
            raise checks.input_error(
                "arms", "hold at least one arm of one dimension", self.arms.shape
            )
        self.sigma = checks.real("sigma", sigma, low=0.0)
        self.S = checks.real("S", S, low=0.0, low_open=True)
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
        self._types = links.edge_types(graph, edge_types)
        self._weights = links.edge_weights(graph, edge_weights)
        self._allowed = links.allowed(graph, self.K, allowed)
        self.feedback = checks.choice("feedback", feedback, links.FEEDBACKS)
        self.parts = check_parts(graph, parts)
        self._check_sizes()
        if self.parts is not None:
            self._check_one_arm_a_part(self.parts)

    def _check_one_arm_a_part(self, parts: Parts) -> None:
        """Refuse what a part, which plays one arm and has its links summed, cannot have."""
        if not self.reports_edges:
            rule = "be 'edge' for a network in shards"
            raise checks.input_error("feedback", rule, repr(self.feedback))
        if not np.array_equal(self.allowed, self.allowed[parts.of]):
            rule = "allow the same arms to all agents of a part"
            raise checks.input_error("allowed", rule, "others")

    def _check_sizes(self) -> None:
        """Refuse sizes whose squares, or whose products' squares, overflow."""
        checks.real("sigma", self.sigma, high=LARGEST, cure=UNITS)
        checks.real("S", self.S, low=SMALLEST, high=LARGEST, cure=UNITS)
        checks.real("L", self.L, high=LARGEST, cure=UNITS)
        heaviest = float(self.sum_reported(np.abs(self.edge_weights)).max())
        if (reach := heaviest * self.L * max(1.0, self.S)) > LARGEST * (1 + 1e-9):
            name = "L" if self._weights is None else "edge_weights"
            pays = {"edge": "an edge", "link": "a link"}
            pays |= {"agent": "an agent's edges", "global": "all edges"}
            w = "|w|" if self.reports_edges else "sum |w|"
            rule = (
                f"keep {w} L and {w} L S, which {pays[self.feedback]} may pay, at most {LARGEST:g}"
            )
            raise checks.input_error(name, rule, f"{reach:g}", UNITS)

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
        links = (self._types, self._weights, self._allowed, self.parts)
        return self.feedback in ("edge", "link") and all(each is None for each in links)

    @property
    def weighted(self) -> bool:
        """Whether any edge has a weight other than 1."""
        return self._weights is not None

    @cached_property
    def types(self) -> int:
        """Number of edge types, each with a matrix of its own."""
        return 1 if self._types is None else int(self._types.max()) + 1

    @cached_property
    def edge_types(self) -> IntArray:
        """The type of each directed edge."""
        zeros = np.zeros(self.m, dtype=np.int64)
        return checks.frozen(zeros) if self._types is None else self._types

    @cached_property
    def edge_weights(self) -> FloatArray:
        """The weight of each directed edge."""
        return checks.frozen(np.ones(self.m)) if self._weights is None else self._weights

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
        back = self.graph.reverse
        each = (self._types, self._weights)
        return all(known is None or np.array_equal(known, known[back]) for known in each)

    @property
    def symmetric(self) -> bool:
        """Whether only symmetric parts matter: a number per edge or link, whose directions are alike."""
        return self.feedback in ("edge", "link") and self.links_alike

    @property
    def observations(self) -> int:
        """How many numbers a round reports."""
        return {"edge": self.m, "link": self.m // 2, "agent": self.n, "global": 1}[self.feedback]

    @cached_property
    def adds_to(self) -> IntArray:
        """Which number of a round's report each directed edge adds to (m)."""
        return checks.frozen(links.added_to(self.graph, self.feedback))

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
        return self.feedback == "link" and self.links_alike

    @property
    def keeps_tables(self) -> bool:
        """Whether what was seen is kept in tables by edge-arm, and not as moments of sums."""
        return self.reports_edges or self.halves_only

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

    @property
    def parameters(self) -> int:
        """Dimension of the unknown: d^2 for each type."""
        return self.types * self.d**2

    @property
    def norm(self) -> float:
        """A bound on the norm of all matrices together."""
        return float(np.sqrt(self.types)) * self.S

    @cached_property
    def gram_growth_per_round(self) -> float:
        """The sum over a round's observations of their squared sums of weights; m for the paper's."""
        if self.parts is not None:
            return float((self.edge_weights**2) @ self.parts.total)
        return float((self.sum_reported(np.abs(self.edge_weights)) ** 2).sum())

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
        if self.parts is not None:
            return self._allocation_of_parts(arms, self.parts)
        if isinstance(arms, Mapping):
            return self._allocation_by_name(arms)
        return checks.indices(
            "allocation", arms, length=self.n, high=self.K, meaning="one arm index per agent"
        )

    def _allocation_of_parts(self, arms: ArrayLike | Mapping[str, str], parts: Parts) -> IntArray:
        if isinstance(arms, Mapping):
            arms = self._allocation_by_name(arms, parts)
        length = parts.k if np.shape(arms) == (parts.k,) else self.n
        given = checks.indices(
            "allocation", arms, length=length, high=self.K, meaning="one arm index per part"
        )
        played: IntArray = given[parts.of]
        if length == self.n and not np.array_equal(played, given):
            raise checks.input_error("allocation", "have one arm for each part", given.tolist())
        return checks.frozen(played)

    def _allocation_by_name(self, arms: Mapping[str, str], parts: Parts | None = None) -> IntArray:
        result = np.full(self.n, -1, dtype=np.int64)
        for agent, arm in arms.items():
            place = self.graph.index(agent)
            if result[place] >= 0:
                name = self.graph.label(place)
                raise checks.input_error("allocation", "name every agent once", f"{name!r} twice")
            result[place] = self.arm(arm)
        if parts is not None:
            result = np.where(result < 0, result[parts.of], result)
        if (missing := np.flatnonzero(result < 0)).size:
            name = self.graph.label(int(missing[0]))
            raise checks.input_error(
                "allocation", "give every agent an arm", f"none for agent {name!r}"
            )
        result.flags.writeable = False
        return result

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
        self.check_agents("rewards")
        try:
            length = np.shape(rewards)
        except ValueError:  # a ragged list, which the check below names
            length = ()
        cure = ""
        if self.feedback == "edge" and length == (self.m // 2,):
            cure = "Did you pass undirected edges? feedback='link' takes one reward per link."
        if self.feedback == "link" and length == (self.m,):
            cure = "Did you pass directed edges? feedback='edge' takes one reward for each."
        each = {"edge": "one per directed edge", "link": "one per link"}
        each |= {"agent": "one per agent", "global": "one in all"}
        checked = checks.array(
            "rewards",
            rewards,
            shape=(self.observations,),
            meaning=each[self.feedback],
            cure=cure,
        )
        if (high := float(np.abs(checked).max())) > LARGEST:
            raise checks.input_error("rewards", f"hold numbers of at most {LARGEST:g}", high)
        return checked

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
        more += f", feedback={self.feedback!r}" if self.feedback != "edge" else ""
        more += ", some arms forbidden" if self._allowed is not None else ""
        if self.parts is not None:
            more += f", shards={self.parts.shards}, links={self.links_seen}"
        return (
            f"Problem(n={self.n}, m={self.m}, K={self.K}, d={self.d}, "
            f"sigma={self.sigma:g}, S={self.S:g}, L={self.L:g}{more})"
        )
