"""A fixed-seed family of 200 problems: five kinds of graphs, three numbers of arms, two diagonals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gbb

SIZES = 20
ARMS = (3, 5, 10)
DIAGONALS = ("zeta0", "diag0")


class Member(NamedTuple):
    """A problem of the family and where it comes from."""

    kind: str
    diagonal: str
    problem: gbb.Problem
    M: np.ndarray

    @property
    def name(self) -> str:
        return f"{self.kind} n={self.problem.n} K={self.problem.K} {self.diagonal}"


def matrix(K: int, seed: int, diagonal: str) -> np.ndarray:
    """Absolute normals; the best couple's diagonal entries zero, or the whole diagonal."""
    M = gbb.instances.absolute_normal(K, seed=seed, distinct_couple=True, zeta=0.0)
    if diagonal == "diag0":
        np.fill_diagonal(M, 0.0)
    return M


def triangles(width: int, height: int) -> gbb.Graph:
    """A lattice of triangles: a grid with one diagonal in every square."""
    agents = np.arange(width * height).reshape(width, height)
    edges = [
        np.column_stack((agents[:, :-1].ravel(), agents[:, 1:].ravel())),
        np.column_stack((agents[:-1].ravel(), agents[1:].ravel())),
        np.column_stack((agents[:-1, :-1].ravel(), agents[1:, 1:].ravel())),
    ]
    return gbb.Graph.from_edges(np.concatenate(edges), undirected=True)


def family() -> list[Member]:
    """All 200 problems, the same every time."""
    members = []
    for r in range(SIZES):
        K = ARMS[r % len(ARMS)]
        graphs = {
            "complete": gbb.Graph.complete(8 + 2 * r),
            "random": gbb.Graph.random(10 + r, 0.6, seed=r),
            "regular": gbb.Graph.random_regular(20 + 4 * r, 3 if r % 2 else 4, seed=r),
            "circle": gbb.Graph.circle(11 + 10 * r),
            "triangles": triangles(3 + r % 3, 5 + r),
        }
        for diagonal in DIAGONALS:
            M = matrix(K, 1000 + r, diagonal)
            for kind, graph in graphs.items():
                members.append(Member(kind, diagonal, gbb.Problem(graph, np.eye(K)), M))
    return members
