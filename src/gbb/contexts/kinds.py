"""The kinds of contexts: a regime or a vector of the round, types or features of every edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.contexts import base
from gbb.contexts.base import Contexts
from gbb.graph import Graph, find
from gbb.problem.edges import EdgeFeatures as Features


class Regimes(Contexts):
    """Every round is in one of R regimes, each with matrices of its own: the hour, a wind sector.

    An edge of type g pays in regime r by the matrix ``r G + g``, G the number of edge types.

    Parameters
    ----------
    regimes
        How many there are, or their names.
    """

    kind = "regimes"
    symmetric = True
    one_hot = True
    disjoint = True

    def __init__(self, regimes: int | Sequence[str]) -> None:
        super().__init__("regimes", regimes)

    def read(self, graph: Graph, context: Any) -> FloatArray:  # noqa: ARG002
        cure = "Pass the regime of the round." if context is None else ""
        number = find.index("context", context, self.names, self.size, cure)
        return checks.frozen(np.array([number], dtype=np.float64))

    def edges(self, declared: Features, types: int, row: FloatArray) -> Features:
        return replace(declared, type=declared.type + types * int(row[0]))

    def name(self, row: FloatArray) -> Any:
        return int(row[0]) if self.names is None else self.names[int(row[0])]


class Vector(Contexts):
    """Before every round C numbers c are observed, and edges pay by ``M(c) = sum_k c_k M_k``.

    An edge of type g has the matrices ``k G + g``, G the number of edge types. A constant part takes a
    number that is always 1.

    Parameters
    ----------
    numbers
        How many there are, or their names.
    max_size
        No number is larger, nor smaller than minus this.
    """

    kind = "vector"
    symmetric = True

    def __init__(self, numbers: int | Sequence[str], *, max_size: float = 1.0) -> None:
        super().__init__("numbers", numbers, max_size)

    def read(self, graph: Graph, context: Any) -> FloatArray:  # noqa: ARG002
        if isinstance(context, Mapping):
            context = base.read_numbers(context, self.names, self.size)
        meaning, cure = "one number for each matrix", "Pass what is observed before the round."
        return base.read_array(context, self.max_size, (self.size,), meaning, cure)

    def edges(self, declared: Features, types: int, row: FloatArray) -> Features:
        # Entries of one edge stand together, matrix after matrix, zeros too: their number never changes.
        kind = np.add.outer(declared.type, types * np.arange(self.size)).ravel()
        edge = np.repeat(declared.edge, self.size)
        return Features(edge, kind, np.outer(declared.weight, row).ravel())

    def name(self, row: FloatArray) -> Any:
        values = row.tolist()
        return values if self.names is None else dict(zip(self.names, values, strict=True))


class EdgeContexts(Contexts):
    """What contexts of types and of features have in common."""

    def __init__(
        self, argument: str, value: int | Sequence[str], max_size: float, symmetric: bool
    ) -> None:
        super().__init__(argument, value, max_size)
        self.symmetric = bool(symmetric)

    def count_matrices(self, types: int) -> int:
        if types > 1:
            cure = "What an edge pays by comes with every round."
            rule = f"be left out with {type(self).__name__}"
            raise checks.input_error("edge_types", rule, types, cure)
        return self.size

    def _by_edge(self, graph: Graph, context: Mapping[Any, Any]) -> tuple[IntArray, list[Any]]:
        """The edges that a context names by their ends, and the value of each.

        With ``symmetric``, the value of one direction holds for the other if only one is named.
        """
        pairs, values = list(context), list(context.values())
        for pair in pairs:
            if not (isinstance(pair, tuple) and len(pair) == 2):
                raise checks.input_error("context", "name edges as (source, target)", repr(pair))
        edges = find.edges("context", graph, ([i for i, _ in pairs], [j for _, j in pairs]))
        if self.symmetric:
            back = graph.reverse[edges]
            new = np.flatnonzero(~np.isin(back, edges))
            edges, values = np.append(edges, back[new]), values + [values[k] for k in new.tolist()]
        return edges, values

    def _check_symmetric(self, graph: Graph, values: FloatArray) -> None:
        """Refuse edges (rows of ``values``) that differ from those back, if they are declared equal."""
        if not self.symmetric:
            return
        other = np.flatnonzero((values != values[graph.reverse]).any(axis=1))
        if other.size:
            source, target = (graph.label(int(i)) for i in graph.edges[other[0]])
            rule = "be the same in both directions of a link"
            cure = "Say symmetric=False where directions differ."
            raise checks.input_error("context", rule, f"others for {source} - {target}", cure)


class EdgeTypes(EdgeContexts):
    """Before every round the type of each directed edge is observed, and perhaps its weight.

    For geometry relative to the wind, or links that are down. A context is an array of m types, -1 for
    an edge that pays nothing, or a pair of such types and m weights; or ``{(source, target): type}`` or
    ``{(source, target): (type, weight)}`` by names, where edges that are left out pay nothing (with
    ``symmetric``, one direction stands for both). Weights of the problem's edges multiply them.

    Parameters
    ----------
    types
        How many there are, or their names.
    max_size
        No weight of a round is larger, nor smaller than minus this.
    symmetric
        Whether both directions of every link always have the same type and weight: then half of the
        parameters need not be learnt.
    """

    kind = "edge types"
    one_hot = True

    def __init__(
        self, types: int | Sequence[str], *, max_size: float = 1.0, symmetric: bool = False
    ) -> None:
        super().__init__("types", types, max_size, symmetric)

    def read(self, graph: Graph, context: Any) -> FloatArray:
        types, weights = self._in_order(graph, context)
        shape, meaning = (graph.m,), "one type per directed edge"
        cure = "Pass the type of every edge in this round."
        types = checks.array("context", types, shape=shape, meaning=meaning, cure=cure)
        bad = (types != np.floor(types)) | (types < -1) | (types >= self.size)
        if bad.any():
            rule = f"hold whole numbers, types from 0 to {self.size - 1}, or -1 for none"
            raise checks.input_error("context", rule, types[bad][0])
        meaning = "one weight per directed edge"
        weights = base.read_array(weights, self.max_size, shape, meaning)
        # Weight 0 where there is no type, so that equal rounds have equal rows.
        row = np.concatenate([types + 0.0, np.where(types < 0, 0.0, weights)])
        self._check_symmetric(graph, row.reshape(2, -1).T)
        return checks.frozen(row)

    def _in_order(self, graph: Graph, context: Any) -> tuple[Any, Any]:
        """Types and weights in edge order."""
        types, ones = context, np.ones(graph.m)
        if isinstance(context, Mapping):
            edges, values = self._by_edge(graph, context)
            is_pair = [isinstance(value, list | tuple) and len(value) == 2 for value in values]
            pairs = [v if pair else (v, 1.0) for v, pair in zip(values, is_pair, strict=True)]
            types = np.full(graph.m, -1, dtype=np.int64)
            types[edges] = [self._number(kind) for kind, _ in pairs]
            ones[edges] = [checks.real("weight", weight) for _, weight in pairs]
            return types, ones
        # A list of two types is no pair: the first item of a pair is a list itself.
        pair = isinstance(context, list | tuple) and len(context) == 2
        if pair and isinstance(context[0], list | tuple | np.ndarray):
            types, ones = context
        listed = np.iterable(types) and not isinstance(types, str)
        if listed and isinstance(next(iter(types), None), str):
            types = [self._number(kind) for kind in types]
        return types, ones

    def _number(self, kind: Any) -> int:
        """Return a type by name or number."""
        return -1 if kind == -1 else find.index("context", kind, self.names, self.size)

    def edges(self, declared: Features, types: int, row: FloatArray) -> Features:  # noqa: ARG002
        kind, weight = row.reshape(2, -1)
        # An edge that pays nothing has a type all the same, and weight 0.
        kinds = np.maximum(kind, 0.0).astype(np.int64)
        return Features(declared.edge, kinds, declared.weight * weight)

    def name(self, row: FloatArray) -> Any:
        kind, weight = row.reshape(2, -1)
        types = kind.astype(np.int64).tolist()
        unweighted = bool(((weight == 1.0) | (kind < 0.0)).all())
        return types if unweighted else (types, weight.tolist())


class EdgeFeatures(EdgeContexts):
    """Before every round P features of each directed edge are observed: ``sum_k f_e[k] M_k``.

    A context is an array m x P; or ``{(source, target): features}`` by names, where edges that are left
    out pay nothing (with ``symmetric``, one direction stands for both). Weights of the problem's edges
    multiply them. If an edge never has more than one nonzero feature, :class:`EdgeTypes` says the same
    and keeps tables, which are less than the moments of all parameters together.

    Parameters
    ----------
    features
        How many there are, or their names.
    max_size
        No feature is larger, nor smaller than minus this.
    symmetric
        Whether both directions of every link always have the same features.
    """

    kind = "edge features"

    def __init__(
        self, features: int | Sequence[str], *, max_size: float = 1.0, symmetric: bool = False
    ) -> None:
        super().__init__("features", features, max_size, symmetric)

    def read(self, graph: Graph, context: Any) -> FloatArray:
        shape, meaning = (graph.m, self.size), "directed edges x features"
        if isinstance(context, Mapping):
            dense = np.zeros(shape)
            for edge, value in zip(*self._by_edge(graph, context), strict=True):
                by_name = isinstance(value, Mapping)
                numbers = base.read_numbers(value, self.names, self.size) if by_name else value
                dense[edge] = checks.array("context", numbers, shape=(self.size,))
            context = dense
        cure = "Pass the features of every edge in this round."
        values = base.read_array(context, self.max_size, shape, meaning, cure)
        self._check_symmetric(graph, values)
        return checks.frozen(values.ravel())

    def edges(self, declared: Features, types: int, row: FloatArray) -> Features:  # noqa: ARG002
        features = declared.weight[:, None] * row.reshape(-1, self.size)
        if self.single:  # a problem with edge types of its own is refused: they are all 0
            return replace(declared, weight=features[:, 0])
        return Features.from_dense(features)

    def name(self, row: FloatArray) -> Any:
        return row.reshape(-1, self.size).tolist()
