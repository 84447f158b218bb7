"""The constants of Figure 2."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from gbb.experiments._study import Settings

NAME = "figure2"


@dataclass(frozen=True, kw_only=True)
class Figure2Settings(Settings):
    """Constants of the figure.

    ``S`` is both the bound the learner is told and the Frobenius norm the matrices are scaled to, so
    that the bound is true. ``released_tables`` plays the five reward tables of the released code, with
    their original diagonals, in place of random matrices.
    """

    n: int = 5
    d: int = 5
    matrices: int = 5
    runs: int = 10
    T: int = 20_000
    zeta: float = 0.0
    S: float = 4.0
    sigma: float = 1.0
    lam: float = 1.0
    delta: float = 1e-3
    radius: str = "paper"
    commit: str = "couple"
    released_tables: bool = False
    window: int = 100
    last: int = 1000


PAPER = Figure2Settings()
RELEASED = Figure2Settings(
    radius="released", commit="edge-arm", released_tables=True, as_released=True
)
QUICK = Figure2Settings(matrices=2, runs=2, T=4000, last=400, quick=True)
QUICK_RELEASED = dataclasses.replace(RELEASED, runs=2, T=4000, last=400, quick=True)

RELEASED_ALL = {"OFUL": 0.787, "ImprovedOFUL": 0.840, "ExploreThenCommit": 0.768}
"""The released code's mean fraction over all rounds."""

RELEASED_LAST = {"OFUL": 0.846, "ImprovedOFUL": 0.907, "ExploreThenCommit": 0.861}
"""The released code's mean fraction over the last 1000 rounds."""

TOLERANCE = 0.015

LABELS = {
    "OFUL": "OFUL for GBB",
    "ImprovedOFUL": "Improved OFUL for GBB",
    "ExploreThenCommit": "GBB-BAI",
}
"""What the paper's figure calls the policies."""

GUARANTEES = {"OFUL": "alpha_1", "ImprovedOFUL": "alpha_2", "ExploreThenCommit": "alpha_1"}
