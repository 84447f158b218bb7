"""What the edges of a round pay by: entries, each an edge, a matrix and a weight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph


class Entries(NamedTuple):
    """The features of the edges that are not left out, sorted by edge and then by matrix.

    An edge e with features ``f_e`` pays ``sum_k f_e[k] x_i' M_k x_j``; an entry is one of these terms.

    Attributes
    ----------
    edge
        The directed edge of each entry.
    type
        The number k of its matrix.
    weight
        ``f_e[k]``.
    """

    edge: IntArray
    type: IntArray
    weight: FloatArray

    @classmethod
    def of_features(cls, features: FloatArray) -> Entries:
        """All entries of features, m x P, that are not 0; one for each edge if none has two."""
        edge, kind = np.nonzero(features)
        if (np.bincount(edge, minlength=len(features)) <= 1).all():
            edge, kind = np.arange(len(features)), np.abs(features).argmax(axis=1)
        return cls(edge, kind, features[edge, kind]).frozen()

    @property
    def one_each(self) -> bool:
        """Whether there is one for each edge, in edge order."""
        return np.array_equal(self.edge, np.arange(len(self.edge)))

    def frozen(self) -> Entries:
        """The same, read-only."""
        return Entries(*map(checks.frozen, self))

    def are_alike(self, graph: Graph) -> bool:
        """Whether both directions of every link have the same features."""
        back = graph.reverse[self.edge]
        order = np.lexsort((self.type, back))
        return all(
            np.array_equal(here, there[order])
            for here, there in zip(self, (back, self.type, self.weight), strict=True)
        )

    def kinds(self, m: int, types: int) -> tuple[FloatArray, IntArray]:
        """The different features that edges have (kinds x types), and which of them each edge has."""
        if not self.one_each:
            rows, which = np.unique(self.dense(m, types), axis=0, return_inverse=True)
            return rows, which.ravel().astype(np.int64)
        weights, number = np.unique(self.weight, return_inverse=True)
        codes, which = np.unique(self.type * len(weights) + number, return_inverse=True)
        rows = np.zeros((len(codes), types))
        rows[np.arange(len(codes)), codes // len(weights)] = weights[codes % len(weights)]
        return rows, which.ravel().astype(np.int64)

    def dense(self, m: int, types: int) -> FloatArray:
        """The features of all edges, m x types."""
        features = np.zeros((m, types))
        np.add.at(features, (self.edge, self.type), self.weight)
        return features
