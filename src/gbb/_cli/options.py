"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gbb.cuts import methods
from gbb.environment import NOISES
from gbb.graph.links import FEEDBACKS
from gbb.learning.radius import RADII

FAMILY = "The graph"
INSTANCE = "The instance"
LEARNER = "The learner"


def option(*names: str, panel: str, help: str, shown: object = None, metavar: str = "") -> Any:
    """An option in a panel of the help; ``shown`` is the default to show for one left out."""
    return typer.Option(
        *names,
        help=help,
        rich_help_panel=panel,
        show_default=False if shown is None else str(shown),
        metavar=metavar or None,
    )


GraphSpec = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        show_default=False,
        help="A file (.csv, .graphml, .json, .txt or .gset) or FAMILY:SIZE, such as complete:5, "
        "random:100, grid:4x6 or regular:50.",
    ),
]
EdgeProbability = Annotated[
    float | None,
    option("--p", panel=FAMILY, help="Edge probability of a random graph.", shown=0.6),
]
Degree = Annotated[int | None, option("--degree", panel=FAMILY, help="Degree of a regular graph.")]
Undirected = Annotated[
    bool,
    option("--undirected", panel=FAMILY, help="Each row of the file stands for both directions."),
]
SeedNumber = Annotated[
    int, option("--seed", panel=FAMILY, help="Where all randomness comes from.", shown=0)
]
CutName = Annotated[
    str,
    option("--cut", panel=FAMILY, help=f"Cut method: {', '.join(methods())}.", shown="greedy"),
]
MatrixFile = Annotated[
    Path | None,
    option(
        "--matrix", panel=INSTANCE, metavar="FILE", help="M*, a CSV of d x d numbers, no header."
    ),
]
ArmsFile = Annotated[
    Path | None,
    option(
        "--arms",
        panel=INSTANCE,
        metavar="FILE",
        help="The arms, a CSV of K x d numbers; a header and a first column of names may be there.",
        shown="identity",
    ),
]
Sigma = Annotated[
    float | None, option("--sigma", panel=INSTANCE, help="Scale of the noise, >= 0.", shown=1)
]
FrobeniusBound = Annotated[
    float | None,
    option(
        "--S", panel=INSTANCE, help="Bound on the Frobenius norm of M*.", shown="the norm itself"
    ),
]
EdgeArmBound = Annotated[
    float | None,
    option(
        "--L", panel=INSTANCE, help="Bound on the norms of edge-arms.", shown="the largest norm"
    ),
]
Noise = Annotated[
    str,
    option("--noise", panel=INSTANCE, help=f"Noise: {', '.join(NOISES)}.", shown="gaussian"),
]
OwnMatrices = Annotated[
    bool,
    option("--own-matrices", panel=INSTANCE, help="Draw a matrix for each agent's edges (i, j)."),
]
Feedback = Annotated[
    str,
    option(
        "--feedback",
        panel=INSTANCE,
        help=f"What a round reports, a number each: {', '.join(FEEDBACKS)}.",
        shown="edge",
    ),
]
Lam = Annotated[
    float | None,
    option("--lam", "--lambda", panel=LEARNER, help="Ridge regulariser, > 0.", shown=1),
]
Delta = Annotated[
    float | None,
    option("--delta", panel=LEARNER, help="Failure probability of the bound, (0, 1].", shown=0.001),
]
RadiusName = Annotated[
    str,
    option(
        "--radius", panel=LEARNER, help=f"Confidence radius: {', '.join(RADII)}.", shown="paper"
    ),
]
