"""An environment from what the command line says: files, or a random matrix."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gbb._cli.tables import read_arms, read_matrix
from gbb._support import checks, seeds
from gbb._support.checks import FloatArray
from gbb.environment import Environment
from gbb.graph import Graph
from gbb.instances import absolute_normal
from gbb.problem import Problem

DIMENSION = 5
"""The dimension of a random instance when nothing says it."""


class Draw(NamedTuple):
    """How to draw a random matrix; None where the command line says nothing."""

    d: int | None
    zeta: float | None
    frobenius: float | None
    distinct_couple: bool
    seed: int


class Links(NamedTuple):
    """How links differ from the paper's: a matrix for each agent, rewards in sums."""

    own_matrices: bool = False
    feedback: str = "edge"


class Bounds(NamedTuple):
    """What the learner is told; None where the command line says nothing."""

    sigma: float | None
    S: float | None
    L: float | None


def environment(
    graph: Graph,
    matrix_file: Path | None,
    arms_file: Path | None,
    bounds: Bounds,
    *,
    draw: Draw | None = None,
    noise: str = "gaussian",
    links: Links = Links(),  # noqa: B008  (a constant)
) -> Environment:
    """The instance; without ``--S`` the learner is told the Frobenius norm of M* itself."""
    arms, names = (None, None) if arms_file is None else read_arms(arms_file)
    if matrix_file is not None:
        matrix = _read(matrix_file, arms, arms_file, draw)
        if links.own_matrices:
            raise checks.input_error(
                "--own-matrices", "go with random matrices", "--matrix as well"
            )
    elif draw is not None and links.own_matrices:
        matrix = np.stack([_drawn(arms, draw, agent) for agent in range(graph.n)])
    elif draw is not None:
        matrix = _drawn(arms, draw)
    else:
        raise checks.input_error("--matrix", "be given", "nothing")
    problem = Problem(
        graph,
        np.eye(matrix.shape[-1]) if arms is None else arms,
        sigma=1.0 if bounds.sigma is None else bounds.sigma,
        S=(_largest_norm(matrix) or 1.0) if bounds.S is None else bounds.S,
        L=bounds.L,
        arm_names=names,
        edge_types="source" if links.own_matrices else None,
        feedback=links.feedback,
    )
    return Environment(problem, matrix, noise=noise)


def _largest_norm(matrix: FloatArray) -> float:
    """The Frobenius norm, the largest one of several matrices."""
    return float(np.linalg.norm(matrix, axis=(-2, -1)).max())


def _read(
    matrix_file: Path, arms: FloatArray | None, arms_file: Path | None, draw: Draw | None
) -> FloatArray:
    if draw is not None:
        for name in ("d", "zeta", "frobenius", "distinct_couple"):
            value = getattr(draw, name)
            if value is not None and value is not False:
                option = f"--{name.replace('_', '-')}"
                raise checks.input_error(option, "go with a random matrix", "--matrix as well")
    matrix = read_matrix(matrix_file)
    if arms is not None and arms.shape[1] != len(matrix):
        rule = f"have d = {len(matrix)} columns of numbers, as --matrix is d x d"
        raise checks.input_error("--arms", rule, f"{arms.shape[1]} in {str(arms_file)!r}")
    return matrix


def _drawn(arms: FloatArray | None, draw: Draw, number: int = 0) -> FloatArray:
    d = draw.d
    if arms is not None:
        if d is not None and d != arms.shape[1]:
            raise checks.input_error("--d", f"be the arms' dimension {arms.shape[1]}", d)
        d = int(arms.shape[1])
    return absolute_normal(
        DIMENSION if d is None else d,
        # A child, since a random graph is drawn from the seed itself.
        seed=seeds.spawn(draw.seed, number + 1)[number],
        frobenius=draw.frobenius,
        distinct_couple=draw.distinct_couple,
        zeta=draw.zeta,
    )
