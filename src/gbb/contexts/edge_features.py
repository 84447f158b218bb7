"""Features of every edge a round, the general form: ``sum_k f_e[k] M_k``."""

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


class EdgeFeatures(Contexts):
    """Before every round P features of each directed edge are known.

    A context is an array m x P; or ``{(source, target): features}`` by names, where edges that are left
    out pay nothing (with ``alike``, one direction stands for both). Weights of the edges' own come on
    top. Where an edge never has more than one feature that is not 0, :class:`EdgeTypes` says the same
    and keeps tables, which are less than the moments of all parameters together.

    Parameters
    ----------
    features
        How many there are, or their names.
    most
        No feature is larger, nor smaller than minus this.
    alike
        Whether both directions of every link always have the same features.
    """

    kind = "edge features"
    weighs = True

    def __init__(
        self, features: int | Sequence[str], *, most: float = 1.0, alike: bool = False
    ) -> None:
        self.P, self.names = base.count_or_names("features", features)
        self.most = base.check_most(most)
        self.keeps_alike = self.alike = bool(alike)
        self.one_each = self.P == 1
        self.reach = float(np.sqrt(self.P)) * self.most

    def count_matrices(self, types: int) -> int:
        base.check_no_types(types, "EdgeFeatures")
        return self.P

    def read(self, graph: Graph, context: Any) -> FloatArray:
        if context is None:
            cure = "Say the features of every edge in this round."
            raise checks.input_error("context", "be an array m x P", "None", cure)
        if isinstance(context, Mapping):
            context = self._in_order(graph, context)
        shape = (graph.m, self.P)
        values = checks.array("context", context, shape=shape, meaning="directed edges x features")
        values = base.check_within("context", values, self.most)
        if self.alike:
            base.check_alike(graph, values)
        return checks.frozen(values.ravel())

    def _in_order(self, graph: Graph, context: Mapping[Any, Any]) -> FloatArray:
        places, said = base.find_named(graph, context, alike=self.alike)
        features = np.zeros((graph.m, self.P))
        for place, each in zip(places.tolist(), said, strict=True):
            by_name = isinstance(each, Mapping)
            numbers = base.read_numbers(each, self.names, self.P) if by_name else each
            features[place] = checks.array("context", numbers, shape=(self.P,))
        return features

    def entries(self, own: Entries, types: int, row: FloatArray) -> Entries:  # noqa: ARG002
        features = own.weight[:, None] * row.reshape(len(own.edge), self.P)
        if self.one_each:
            return own._replace(weight=features[:, 0]).frozen()
        return Entries.of_features(features)

    def name(self, row: FloatArray) -> Any:
        return row.reshape(-1, self.P).tolist()

    def to_dict(self) -> dict[str, Any]:
        features = self.P if self.names is None else list(self.names)
        return {"kind": self.kind, "features": features, "most": self.most, "alike": self.alike}
