"""``gbb control estimate``: what a controller knows of the matrix of each edge type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gbb._cli.control import files
from gbb._cli.control.options import Format, Name, Out, Storage, open_controller
from gbb._cli.errors import warn
from gbb._cli.show import number

if TYPE_CHECKING:
    from gbb.controller import Estimate

COLUMNS = ("type", "arm", "other_arm", "reward", "width", "seen")


def estimate(url: Storage, name: Name = None, format: Format = "text", out: Out = None) -> None:
    """What an edge of each type pays for every pair of arms, with the half-width of its interval."""
    format = files.format_of(format, out)
    with open_controller(url, name) as controller:
        estimates, problem = controller.estimate(), controller.problem
    names = problem.arm_names or range(problem.K)
    whose = () if problem.matrix_names is None else ("matrix",)
    rows = [
        (each.edge_type, *[each.matrix for _ in whose], first, second, *_cells(each, a, b, format))
        for each in estimates
        for a, first in enumerate(names)
        for b, second in enumerate(names)
    ]

    data = [each.to_dict() for each in estimates]
    what = "matrices" if whose else "edge types"
    title = f"estimated reward of an edge, {len(estimates)} {what}"
    columns = (COLUMNS[0], *whose, *COLUMNS[1:])
    files.show(format, title, columns, rows, data=data, out=out)
    if (caveat := estimates[0].caveat) is not None:
        warn(caveat)


def _cells(each: Estimate, a: int, b: int, format: str) -> tuple[Any, Any, Any]:
    seen = None if each.N is None else float(each.N[a, b])
    reward, width = float(each.table[a, b]), float(each.table_width[a, b])
    return (number(reward), number(width), seen) if format == "text" else (reward, width, seen)
