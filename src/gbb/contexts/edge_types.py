"""A type, and a weight, of every edge a round: geometry relative to the wind, links that are down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.contexts import _base as base
from gbb.contexts._base import Contexts
from gbb.graph import Graph
from gbb.graph.entries import Entries


class EdgeTypes(Contexts):
    """Before every round the type of each directed edge is known, and perhaps its weight.

    A context is an array of m types, -1 for an edge that pays nothing, or a pair of such types and m
    weights; or ``{(source, target): type}`` or ``{(source, target): (type, weight)}`` by names, where
    edges that are left out pay nothing (with ``alike``, one direction stands for both).
    Weights of the edges' own come on top.

    Parameters
    ----------
    types
        How many there are, or their names.
    most
        No weight of a round is larger, nor smaller than minus this.
    alike
        Whether both directions of every link always have the same type and weight: then half of the
        parameters need not be learnt.
    """

    kind = "edge types"
    one_each = True
    weighs = True

    def __init__(
        self, types: int | Sequence[str], *, most: float = 1.0, alike: bool = False
    ) -> None:
        self.P, self.names = base.count_or_names("types", types)
        self.most = self.reach = base.check_most(most)
        self.keeps_alike = self.alike = bool(alike)

    def count_matrices(self, types: int) -> int:
        base.check_no_types(types, "EdgeTypes")
        return self.P

    def read(self, graph: Graph, context: Any) -> FloatArray:
        types, weights = self._in_order(graph, context)
        rule = f"have a whole number, or a name, for each of the {graph.m} directed edges"
        try:
            raw = np.asarray(types)
        except ValueError:
            raise checks.input_error("context", rule, "lists of several lengths") from None
        if raw.dtype.kind == "U" and raw.ndim == 1 and self.names is not None:
            raw = np.array([self._number(str(each)) for each in raw], dtype=np.int64)
        if raw.dtype.kind not in "iu" or raw.shape != (graph.m,):
            got = f"{raw.dtype} of shape {raw.shape}" if raw.ndim else repr(types)
            raise checks.input_error("context", rule, got)
        low, high = int(raw.min()), int(raw.max())
        if low < -1 or high >= self.P:
            rule = f"hold types from 0 to {self.P - 1}, or -1 for none"
            raise checks.input_error("context", rule, low if low < -1 else high)
        meaning = "one weight per directed edge"
        given = checks.array("context", weights, shape=(graph.m,), meaning=meaning)
        given = base.check_within("context", given, self.most)
        row = np.concatenate([raw.astype(np.float64), np.where(raw < 0, 0.0, given)])
        if self.alike:
            base.check_alike(graph, row.reshape(2, -1).T)
        return checks.frozen(row)

    def _in_order(self, graph: Graph, context: Any) -> tuple[Any, Any]:
        """Types and weights in edge order."""
        ones = np.ones(graph.m)
        if context is None:
            cure = "Say the type of every edge in this round."
            raise checks.input_error("context", "be an array of types", "None", cure)
        if isinstance(context, Mapping):
            places, said = base.find_named(graph, context, alike=self.alike)
            each = [pair if isinstance(pair, list | tuple) else (pair, 1.0) for pair in said]
            if odd := [pair for pair in each if len(pair) != 2]:
                rule = "have a type or (type, weight) for each edge"
                raise checks.input_error("context", rule, repr(odd[0]))
            types = np.full(graph.m, -1, dtype=np.int64)
            types[places] = [self._number(kind) for kind, _ in each]
            ones[places] = [checks.real("weight", weight) for _, weight in each]
            return types, ones
        pair = isinstance(context, list | tuple) and len(context) == 2
        if pair and isinstance(context[0], list | tuple | np.ndarray):
            return context[0], context[1]
        return context, ones

    def _number(self, kind: Any) -> int:
        """A type by name or number."""
        if self.names is not None and isinstance(kind, str):
            return self.names.index(checks.choice("context", kind, self.names))
        return checks.integer("context", kind, low=-1, high=self.P - 1)

    def entries(self, own: Entries, types: int, row: FloatArray) -> Entries:  # noqa: ARG002
        kind, weight = row.reshape(2, -1)
        # An edge that pays nothing has a type all the same, and weight 0.
        kinds = np.maximum(kind, 0.0).astype(np.int64)
        return Entries(own.edge, kinds, own.weight * weight).frozen()

    def name(self, row: FloatArray) -> Any:
        kind, weight = row.reshape(2, -1)
        types = kind.astype(np.int64).tolist()
        even = bool(((weight == 1.0) | (kind < 0.0)).all())
        return types if even else (types, weight.tolist())

    def to_dict(self) -> dict[str, Any]:
        types = self.P if self.names is None else list(self.names)
        return {"kind": self.kind, "types": types, "most": self.most, "alike": self.alike}
