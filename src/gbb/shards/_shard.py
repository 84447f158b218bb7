"""A shard at its gateway: its agents and the links it owns, cut, played and summed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.shards._cut import extend_cut

Sums = tuple[NDArray[Any], FloatArray]


class Kind(NamedTuple):
    """Links that are alike: their parts, their types and weights there and back, and how many."""

    first: int
    second: int
    type: int
    type_back: int
    weight: float
    weight_back: float
    links: int


class Shard:
    """A shard of a network: what a gateway needs to play its agents and to sum its links.

    Shards are cut one after the other, each from the parts of its neighbours in earlier shards, as the
    paper's greedy cut takes agents in order. A link between two shards belongs, both ways, to the later
    one, which knows the parts of both ends.

    Parameters
    ----------
    agents
        The numbers of its agents, in the order in which they are cut: a range, or a list.
    links
        Rows (agent, agent), each link once: between two of its agents, or one and an earlier shard's.
    K
        Number of arms.
    border
        The part of each agent of an earlier shard that a link leads to: ``{agent: part}``, or a pair of
        arrays, the agents and their parts.
    k
        Number of parts.
    edge_types, edge_weights
        The type and the weight of each link, one for both ways, or two a row: there and back.
    """

    def __init__(
        self,
        agents: range | ArrayLike,
        links: ArrayLike,
        *,
        K: int,
        border: Mapping[int, int] | tuple[ArrayLike, ArrayLike] | None = None,
        k: int = 2,
        edge_types: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
    ) -> None:
        self.K, self.k = checks.integer("K", K, low=1), checks.integer("k", k, low=2, high=127)
        self.agents = agents if isinstance(agents, range) else _whole("agents", agents)
        self._sorted: IntArray = np.argsort(
            np.zeros(0) if isinstance(agents, range) else self.agents, kind="stable"
        )
        if (repeat := np.flatnonzero(np.diff(np.asarray(self.agents)[self._sorted]) == 0)).size:
            twice = np.asarray(self.agents)[self._sorted][repeat[0]]
            raise checks.input_error("agents", "name every agent once", f"{twice} twice")
        ends, near = self._number(_whole("links", links, columns=2), *_border(border, self.k))
        rows = len(ends)
        parts = extend_cut(ends, len(self.agents), near, self.k)
        self.parts = checks.frozen(parts.astype(np.int8))
        """The part of each agent."""
        types = _both_ways("edge_types", edge_types, rows)
        self._types = np.zeros((rows, 2), np.int64) if types is None else types.astype(np.int64)
        if (self._types < 0).any() or (types is not None and (types != self._types).any()):
            raise checks.input_error("edge_types", "be whole numbers from 0 on", "others")
        self._weights = _both_ways("edge_weights", edge_weights, rows)
        self.types = 1 + int(self._types.max(initial=0))
        at = np.concatenate([parts, near])[ends]
        code = (self._types * self.k + at) * self.k + at[:, ::-1]
        self._code = code.astype(np.min_scalar_type(self.types * self.k**2))

    def _number(
        self, links: IntArray, border: IntArray, near: IntArray
    ) -> tuple[IntArray, IntArray]:
        """The ends of the links as places, own agents first, then those of the border."""
        places = self._find(links)
        order = np.argsort(border)
        found = np.searchsorted(border, links, sorter=order)
        found = order[np.minimum(found, len(border) - 1)] if len(border) else np.zeros_like(links)
        known = border[found] == links if len(border) else np.zeros(links.shape, bool)
        ends = np.where(places >= 0, places, len(self.agents) + found)
        lost = (places < 0) & ~known
        for wrong, rule in (
            (lost, "lead to agents of the shard or of `border`"),
            ((places < 0).all(axis=1, keepdims=True), "have an end in the shard"),
            (ends[:, :1] == ends[:, 1:], "join different agents"),
        ):
            if wrong.any():
                row = int(np.argwhere(wrong)[0, 0])
                raise checks.input_error(
                    "links", rule, f"{tuple(links[row].tolist())} at row {row}"
                )
        keys = np.sort(ends, axis=1) @ np.array([len(self.agents) + len(border), 1])
        if len(np.unique(keys)) != len(keys):
            raise checks.input_error("links", "hold each link once", "one twice")
        return ends, near

    def _find(self, agents: IntArray) -> IntArray:
        """The places of agents, -1 for those of other shards."""
        if isinstance(self.agents, range):
            places, off = np.divmod(agents - self.agents.start, self.agents.step)
            inside = (off == 0) & (places >= 0) & (places < len(self.agents))
            return np.where(inside, places, -1)
        if not len(self.agents):
            return np.full(agents.shape, -1)
        found = np.searchsorted(self.agents, agents, sorter=self._sorted)
        found = self._sorted[np.minimum(found, len(self.agents) - 1)]
        return np.where(self.agents[found] == agents, found, -1)

    def part_of(self, agents: ArrayLike) -> IntArray:
        """The parts of some of its agents, which later shards with links to them need."""
        numbers = np.atleast_1d(_whole("agents", agents))
        places = self._find(numbers)
        if (places < 0).any():
            strange = int(numbers[np.argmax(places < 0)])
            raise checks.input_error("agents", "be of the shard", strange)
        return self.parts[places].astype(np.int64)

    @cached_property
    def kinds(self) -> list[Kind]:
        """How many links of each kind it owns: all that the coordinator needs to know of them."""
        k = self.k
        values, level = np.ones(1), np.zeros(self._code.shape, dtype=np.int64)
        if self._weights is not None:
            values, level = np.unique(self._weights, return_inverse=True)
        # The type and the weight of a direction as one number.
        side = self._types * len(values) + level.reshape(self._code.shape)
        first, second = np.divmod(self._code.astype(np.int64)[:, 0] % k**2, k)
        turned = (first > second) | ((first == second) & (side[:, 0] > side[:, 1]))
        first, second = np.where(turned, second, first), np.where(turned, first, second)
        side = np.where(turned[:, None], side[:, ::-1], side)
        size = self.types * len(values)
        keys, counts = np.unique(
            ((first * k + second) * size + side[:, 0]) * size + side[:, 1], return_counts=True
        )
        rest, back = np.divmod(keys, size)
        rest, there = np.divmod(rest, size)
        one, two = np.divmod(rest, k)
        (type, weight), (type_back, weight_back) = (
            np.divmod(x, len(values)) for x in (there, back)
        )
        columns = (one, two, type, type_back, values[weight], values[weight_back], counts)
        return [Kind(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]

    def allocation(self, arms: ArrayLike) -> IntArray:
        """What its agents play when the parts play ``arms``, such as a trial's ``arms``."""
        played: IntArray = self._arms(arms)[self.parts]
        return played

    def tables(self, arms: ArrayLike, rewards: ArrayLike) -> Sums:
        """``(N, Y)`` of its links when the parts play ``arms``: how many, and what they paid.

        Parameters
        ----------
        arms
            The arms of the parts, such as a trial's ``arms``.
        rewards
            Two for each link, there and back, in the order of ``links`` (rows x 2); NaN for one that is
            missing. A link that is alike both ways counts only where both are there.
        """
        x = self._arms(arms)
        paid = np.array(rewards, dtype=np.float64)
        if paid.shape != self._code.shape:
            rule = f"have shape {self._code.shape}, two for each link"
            raise checks.input_error("rewards", rule, f"shape {paid.shape}")
        missing = np.isnan(paid)
        weights, code, seen = self._weights, self._code, None
        if missing.any():
            seen = ~missing
            seen[self._alike] &= seen[self._alike, ::-1]
            paid[~seen] = 0.0
        checks.finite("rewards", paid)
        paid = paid if weights is None else weights * paid
        return self._spread(x, self._count(seen)), self._spread(x, self._sum(code, paid))

    def _sum(self, code: NDArray[Any], values: NDArray[Any]) -> FloatArray:
        size = self.types * self.k**2
        sums = np.bincount(code.ravel(), weights=values.ravel(), minlength=size)
        return sums.astype(np.float64, copy=False)

    def _count(self, seen: NDArray[np.bool_] | None) -> NDArray[Any]:
        """How many directed links of each code were seen; the sum of their squared weights."""
        if seen is None:
            return self._everything
        if self._weights is not None:
            return self._sum(self._code, np.where(seen, self._weights**2, 0.0))
        return np.bincount(self._code[seen], minlength=self.types * self.k**2)

    @cached_property
    def _everything(self) -> NDArray[Any]:
        return self._count(np.ones(self._code.shape, dtype=np.bool_))

    @cached_property
    def _alike(self) -> NDArray[np.bool_]:
        """Which links have the same type and weight both ways."""
        each = [self._types] if self._weights is None else [self._types, self._weights]
        alike: NDArray[np.bool_] = np.all([one[:, 0] == one[:, 1] for one in each], axis=0)
        return alike

    def _spread(self, arms: IntArray, values: NDArray[Any]) -> NDArray[Any]:
        """Values by type and by the parts of both ends, as a table by type and arms."""
        table = np.zeros((self.types, self.K, self.K), dtype=values.dtype)
        blocks = values.reshape(self.types, self.k, self.k)
        for first, second in np.ndindex(self.k, self.k):
            table[:, arms[first], arms[second]] += blocks[:, first, second]
        return table[0] if self.types == 1 else table

    def _arms(self, arms: ArrayLike) -> IntArray:
        given = np.asarray(arms)[: self.k]
        return checks.indices("arms", given, length=self.k, high=self.K, meaning="one per part")

    def __repr__(self) -> str:
        return f"Shard(agents={len(self.agents)}, links={len(self._code)}, k={self.k})"


def _whole(name: str, values: ArrayLike, columns: int | None = None) -> IntArray:
    """Whole numbers, in rows of so many where ``columns`` says so."""
    raw = np.asarray(values)
    if raw.size == 0:
        raw = raw.astype(np.int64).reshape((0,) if columns is None else (0, columns))
    if raw.dtype.kind not in "iu" or (columns is not None and raw.shape[1:] != (columns,)):
        rule = "hold whole numbers" + ("" if columns is None else f" in rows of {columns}")
        raise checks.input_error(name, rule, f"{raw.dtype} of shape {raw.shape}")
    return raw.astype(np.int64)


def _border(given: Any, k: int) -> tuple[IntArray, IntArray]:
    """The agents of earlier shards, and their parts."""
    if isinstance(given, Mapping):
        given = list(given), list(given.values())
    agents, parts = ((), ()) if given is None else given
    numbers = _whole("border", agents)
    meaning = "a part for each agent"
    return numbers, checks.indices(
        "border", _whole("border", parts), length=len(numbers), high=k, meaning=meaning
    )


def _both_ways(name: str, given: ArrayLike | None, rows: int) -> FloatArray | None:
    """A number for each direction of each link (rows x 2)."""
    if given is None:
        return None
    values = np.asarray(given)
    values = np.stack([values, values], axis=1) if values.ndim == 1 else values
    return checks.array(name, values, shape=(rows, 2), meaning="one a link, or there and back")
