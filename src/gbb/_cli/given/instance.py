"""An environment from what the command line says: files, or a random matrix."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from gbb._cli.given.graphs import CutName, GraphOptions
from gbb._cli.given.tables import Arms, read_arms, read_matrix
from gbb._cli.options import INSTANCE, option
from gbb._support import checks, seeds
from gbb._support.checks import FloatArray
from gbb._support.seeds import Seed
from gbb.environment import YES_NO, YES_NO_SIGMA, Environment, noises
from gbb.graph import Graph
from gbb.instances import absolute_normal
from gbb.problem import FEEDBACKS, Problem

DIMENSION = 5
"""The dimension of random matrices when nothing says it."""

MEANING = (
    "--S bounds the Frobenius norm of M*, --L the norms of edge-arms, --sigma is the noise's scale"
)

Feedback = Annotated[
    str,
    option(f"What a round reports, a number each: {', '.join(FEEDBACKS)}.", "edge", panel=INSTANCE),
]
EdgeArmBound = Annotated[
    float | None, option("Bound on the norms of edge-arms.", "the largest norm", panel=INSTANCE)
]


@dataclass(frozen=True, kw_only=True)
class Files:
    """An instance from files."""

    panel: ClassVar[str] = INSTANCE

    matrix: Annotated[
        Path | None, option("M*, a CSV of d x d numbers, no header.", metavar="FILE")
    ] = None
    arms: Annotated[
        Path | None,
        option(
            "The arms, a CSV of K x d numbers; it may have a header and a first column of names.",
            "identity",
            metavar="FILE",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How to draw random matrices; one that is read from a file leaves all of this out."""

    panel: ClassVar[str] = INSTANCE

    d: Annotated[int | None, option("Dimension of random matrices.", DIMENSION)] = None
    zeta: Annotated[float | None, option("The paper's zeta construction, in [0, 1].")] = None
    frobenius: Annotated[float | None, option("Scale random matrices to this norm.")] = None
    distinct_couple: Annotated[
        bool, option("Redraw a random matrix until its best couple has two different arms.")
    ] = False
    own_matrices: Annotated[bool, option("Draw a matrix for each agent's edges (i, j).")] = False


@dataclass(frozen=True, kw_only=True)
class Rewards:
    """What a round reports, and its noise."""

    panel: ClassVar[str] = INSTANCE

    feedback: Feedback = "edge"
    noise: Annotated[str, option(f"Noise: {', '.join([*noises(), YES_NO])}.", "gaussian")] = (
        "gaussian"
    )


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What the learner is told."""

    panel: ClassVar[str] = INSTANCE

    sigma: Annotated[float | None, option("Scale of the noise, >= 0.", f"1; 0.5 for {YES_NO}")] = (
        None
    )
    S: Annotated[float | None, option("Bound on the Frobenius norm of M*.", "the norm itself")] = (
        None
    )
    L: EdgeArmBound = None


@dataclass(frozen=True, kw_only=True)
class InstanceOptions:
    """A graph, its cut, and what it pays, drawn or from files."""

    graph: GraphOptions
    cut: CutName = "best"
    files: Files
    draw: Draw
    rewards: Rewards
    bounds: Bounds


def environment(
    graph: Graph,
    files: Files,
    bounds: Bounds | None = None,
    *,
    draw: Draw | None = None,
    seed: Seed = 0,
    rewards: Rewards | None = None,
    read: Arms | None = None,
    unknown: bool = False,
) -> Environment:
    """The instance, its matrix drawn from ``seed`` where there is no file.

    Without ``--S`` the learner is told the Frobenius norm of M* itself. ``read`` are the arms of the
    file where the caller has read it. Where they are ``unknown`` it is told neither sigma nor S.
    """
    bounds, rewards = bounds or Bounds(), rewards or Rewards()
    if unknown and bounds.S is not None:
        raise checks.conflict("`--S` is told to the learner: leave it out, or `--unknown`.")
    if read is None and files.arms is not None:
        read = read_arms(files.arms)
    arms, names = (None, None) if read is None else (read.features, read.names)
    own = draw is not None and draw.own_matrices
    if files.matrix is not None:
        matrix = _read(files.matrix, arms, files.arms, draw)
    elif draw is None:
        raise checks.conflict("Give the matrix M* as `--matrix`.")
    else:
        drawn = [_draw(arms, draw, seed, agent) for agent in range(graph.n if own else 1)]
        matrix = np.stack(drawn) if own else drawn[0]
    norm = float(np.linalg.norm(matrix, axis=(-2, -1)).max())  # the largest one of several
    sigma = _sigma(bounds, rewards)
    S = (norm or 1.0) if bounds.S is None else bounds.S
    problem = Problem(
        graph,
        np.eye(matrix.shape[-1]) if arms is None else arms,
        sigma=None if unknown else sigma,
        S=None if unknown else S,
        L=bounds.L,
        arm_names=names,
        edge_types="source" if own else None,
        feedback=rewards.feedback,
    )
    return Environment(problem, matrix, noise=rewards.noise, sigma=sigma)


def _sigma(bounds: Bounds, rewards: Rewards) -> float:
    if bounds.sigma is not None:
        return bounds.sigma
    return YES_NO_SIGMA if rewards.noise == YES_NO else 1.0


def draw_environment(
    graph: Graph, given: InstanceOptions, seed: Seed, *, unknown: bool = False
) -> Environment:
    """The instance of all options, its matrix drawn from ``seed`` unless there is a file."""
    return environment(
        graph,
        given.files,
        given.bounds,
        draw=given.draw,
        seed=seed,
        rewards=given.rewards,
        unknown=unknown,
    )


def _read(
    matrix_file: Path, arms: FloatArray | None, arms_file: Path | None, draw: Draw | None
) -> FloatArray:
    for name, value in ({} if draw is None else asdict(draw)).items():
        if value is not None and value is not False:
            option = f"`--{name.replace('_', '-')}`"
            what = f"{option} is for random matrices"
            raise checks.conflict(f"{what} and cannot be combined with `--matrix`.")
    matrix = read_matrix(matrix_file)
    if arms is not None and arms.shape[1] != len(matrix):
        rule = f"have d = {len(matrix)} columns of numbers, as --matrix is d x d"
        raise checks.input_error("--arms", rule, f"{arms.shape[1]} in {str(arms_file)!r}")
    return matrix


def _draw(arms: FloatArray | None, draw: Draw, seed: Seed, number: int) -> FloatArray:
    d = draw.d
    if arms is not None:
        if d is not None and d != arms.shape[1]:
            raise checks.input_error("--d", f"be the arms' dimension {arms.shape[1]}", d)
        d = int(arms.shape[1])
    return absolute_normal(
        DIMENSION if d is None else d,
        # A child, since a random graph is drawn from the seed itself.
        seed=seeds.spawn(seed, number + 1)[number],
        frobenius=draw.frobenius,
        distinct_couple=draw.distinct_couple,
        zeta=draw.zeta,
    )
