"""One look for every picture of the course and the examples, on light pages and dark ones."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

LOOK = {
    "figure.figsize": (7.0, 3.4),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}


def reset(_conf: dict[str, Any], _file: str | Path, when: str = "before") -> None:
    """Called around each script: pictures start from the same settings."""
    if when == "before":
        mpl.rcParams.update(LOOK)
