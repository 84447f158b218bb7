"""Where the result of a simulation goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from gbb._cli.given.outputs import check_output
from gbb._cli.options import RUN, option
from gbb._cli.show import console
from gbb.simulation import save

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True)
class Results:
    """The files of a result."""

    panel: ClassVar[str] = RUN

    out: Annotated[Path | None, option("Write the result here (.nc).", metavar="FILE")] = None
    plot: Annotated[Path | None, option("Draw it here (.png, .pdf or .svg).", metavar="FILE")] = (
        None
    )

    def check(self) -> None:
        """Refuse paths that could not be written in the end."""
        check_output("--out", self.out, (".nc",))
        check_output("--plot", self.plot, (".png", ".pdf", ".svg"))

    def write(self, result: xr.Dataset) -> None:
        """Write the result and its picture, those that were asked for."""
        if self.out is not None:
            save(result, self.out)
        if self.plot is not None:
            from gbb.plotting import figure_of, save_figure

            save_figure(figure_of(result), self.plot)


def say_written(*paths: Path | None) -> None:
    """One line that names the files that were written."""
    if written := [str(path) for path in paths if path is not None]:
        console.print(f"wrote {', '.join(written)}", markup=False, soft_wrap=True)
