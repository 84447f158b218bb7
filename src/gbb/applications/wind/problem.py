"""A wind farm as a graphical bilinear bandit: turbines, wakes and the wind."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.applications.wind.farm import ALONG, ROTOR, Farm
from gbb.graph import Graph
from gbb.problem import Problem

YAWS = np.arange(-25.0, 26.0, 5.0)
"""The arms: yaw angles in degrees."""

ZERO = len(YAWS) // 2
"""The arm that faces the wind."""

NEIGHBOURS = 2
"""How many upstream turbines a turbine's power depends on, at most."""

FAINT = 0.1
"""An upstream turbine with less than this share of the strongest influence is left out."""

CONTEXTS = 8
"""Allocations around which the influence of a yaw angle is measured: zero yaw and random ones."""


def features(degree: int) -> FloatArray:
    """The arms ``[1, y, y^2, ...]`` up to ``degree``, where y is the yaw over 25 degrees (K x d)."""
    y = YAWS / YAWS[-1]
    arms: FloatArray = y[:, None] ** np.arange(degree + 1)
    return arms


def find_wakes(farm: Farm) -> IntArray:
    """The wake edges (v, u, order): u is the turbine with the largest or the next influence on v.

    Influence is measured in FLORIS, not by distance: it is how far u's yaw moves v's power.
    """
    contexts = np.zeros((CONTEXTS, farm.n))
    contexts[1:] = np.random.default_rng(0).choice(YAWS, size=(CONTEXTS - 1, farm.n))
    influence = farm.influence(YAWS, contexts)
    np.fill_diagonal(influence, 0.0)
    found = []
    for v in np.flatnonzero(farm.depth > 0):
        strongest = np.argsort(-influence[:, v], kind="stable")[:NEIGHBOURS]
        kept = strongest[influence[strongest, v] >= FAINT * influence[strongest[0], v]]
        found += [(int(v), int(u), order) for order, u in enumerate(kept)]
    return np.array(found, dtype=np.int64)


def formulate(
    farm: Farm,
    edges: IntArray,
    *,
    typed: bool = True,
    degree: int = 2,
    sigma: float,
    S: float = 1.0,
) -> Problem:
    """The problem of choosing yaw angles when each turbine reports its own power.

    The power of turbine v is ``sum over its upstream neighbours u of x_v' M_g x_u``, and a turbine of
    the front row has one edge, to an agent called wind that has one arm. The reverse of a wake edge pays
    nothing: its weight is 0.

    Parameters
    ----------
    farm, edges
        The turbines, and their wakes as :func:`find_wakes` finds them.
    typed
        One matrix for each row depth and order of influence; otherwise one for all wakes, and one for
        the wind.
    degree
        Degree of the arms' polynomials.
    sigma
        Noise of one turbine's power, as a share of the free stream.
    S
        Bound on the norm of each matrix.
    """
    n, wind = farm.n, farm.n
    forward = {(int(v), wind): (0, 0) for v in np.flatnonzero(farm.depth == 0)}
    forward |= {(v, u): (int(farm.depth[v]), order) for v, u, order in edges.tolist()}
    names = [f"turbine {v // farm.rows + 1}-{v % farm.rows + 1}" for v in range(n)] + ["wind"]
    before = farm.positions.mean(axis=0) - [farm.positions[:, 0].mean() + ALONG * ROTOR, 0.0]
    stand = np.vstack([farm.positions, before])  # the wind stands in the west
    graph = Graph.from_edges(list(forward), n=n + 1, names=names, undirected=True, positions=stand)
    kinds = sorted(set(forward.values()))
    number = {kind: kinds.index(kind) if typed else min(kind[0], 1) for kind in kinds}
    pairs = [(int(i), int(j)) for i, j in graph.edges]
    allowed = np.ones((n + 1, len(YAWS)), dtype=np.bool_)
    allowed[wind] = np.arange(len(YAWS)) == ZERO
    return Problem(
        graph,
        features(degree),
        sigma=sigma,
        S=S,
        arm_names=[f"{yaw:+.0f}" for yaw in YAWS],
        edge_types=[number[forward.get(pair, forward.get(pair[::-1], (0, 0)))] for pair in pairs],
        edge_weights=[float(pair in forward) for pair in pairs],
        feedback="agent",
        allowed=allowed,
    )
