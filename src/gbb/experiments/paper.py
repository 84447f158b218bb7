"""The table and both figures, written to one directory with a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr

from gbb._support import checks, files
from gbb._support.progress import Advance, ignore
from gbb.experiments import _report, figure1, figure2, table1
from gbb.experiments._cache import ResultStore
from gbb.experiments._findings import Findings, beside
from gbb.simulation.result import read_dataset, write_dataset
from gbb.sweep import executors
from gbb.sweep.finish import MakeExecutor

EXPERIMENTS = {module.NAME: module for module in (table1, figure1, figure2)}
PICTURES = ("figure1", "figure2")
AS_RELEASED = "as-released"
"""The folder, beside the data in the paper's setting, of those in the released code's."""

Progress = Callable[[str], Advance]
"""Given an experiment's name, the function that its steps are reported to."""


@dataclass(frozen=True)
class Paper:
    """What one call of :func:`reproduce` made.

    Attributes
    ----------
    directory
        Where the files are.
    datasets
        The data of the experiments that were asked for, by name.
    findings
        What the report says of them, by name.
    """

    directory: Path
    datasets: Mapping[str, xr.Dataset]
    findings: Mapping[str, Findings] = field(repr=False)


def choose(
    which: tuple[str, ...] = tuple(EXPERIMENTS),
    *,
    quick: bool = False,
    as_released: bool = False,
    d: int | None = None,
) -> dict[str, Any]:
    """The settings of the experiments for the switches of the command, by name."""
    settings: dict[str, Any] = {}
    for name in which:
        module = EXPERIMENTS[checks.choice("which", name, EXPERIMENTS)]
        extra = {"d": d} if name == "figure2" else {}
        settings[name] = module.choose(quick=quick, as_released=as_released, **extra)
    return settings


def reproduce(
    out: str | Path,
    settings: Mapping[str, Any] | None = None,
    *,
    released: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress = lambda name: ignore,  # noqa: ARG005
    make_executor: MakeExecutor = executors.here,
) -> Paper:
    """Run the experiments and write data, pictures and the report to ``out``.

    Finished parts are kept in ``out/parts`` and not computed again; every file appears whole or not at
    all. The report covers all data found in ``out``, each labelled with its own setting.

    Parameters
    ----------
    out
        The directory; made if it is not there.
    settings
        The settings by name of experiment (see :func:`choose`); those of the paper when left out.
    released
        Settings of the released code, to be run first, in ``out/as-released``; the report then shows
        ours in both settings beside the published and the released numbers.
    seed
        Where all randomness comes from.
    progress
        Given an experiment's name, returns the function that its steps are reported to; the name ends
        in ``, as released`` for those of ``released``.
    make_executor
        What the parts are handed to, as those of :func:`gbb.sweep.run`; this process when left out.
    """
    if released:
        reproduce(
            Path(out) / AS_RELEASED,
            released,
            seed=seed,
            progress=lambda name: progress(f"{name}, as released"),
            make_executor=make_executor,
        )
    chosen = choose() if settings is None else settings
    store = ResultStore(out)
    datasets: dict[str, xr.Dataset] = {}
    with store.locked():
        for name, constants in chosen.items():
            module = EXPERIMENTS[checks.choice("settings", name, EXPERIMENTS)]
            result = module.run(
                constants,
                seed=seed,
                progress=progress(name),
                where=store.places(name, constants, seed),
                make_executor=make_executor,
            )
            datasets[name] = result
            _write(store.directory, name, result)
        write_report(store.directory)
    findings = {name: _findings(store.directory, name) for name in datasets}
    return Paper(store.directory, datasets, findings)


def _findings(directory: Path, name: str) -> Findings:
    """What the data of an experiment say, beside those as released where there are any."""
    report = EXPERIMENTS[name].report
    found: Findings = report(read_dataset(directory / f"{name}.nc"))
    twin = directory / AS_RELEASED / f"{name}.nc"
    return beside(found, report(read_dataset(twin))) if twin.is_file() else found


def _write(directory: Path, name: str, dataset: xr.Dataset) -> None:
    """The data and, beside them, the picture or the table."""
    if name in PICTURES:
        from gbb.experiments import _figure

        picture = EXPERIMENTS[name].plot(dataset)
        for kind in ("png", "pdf"):
            _figure.save(picture, directory / f"{name}.{kind}")
    else:
        files.write_text(directory / f"{name}.csv", table1.to_csv(dataset))
    write_dataset(dataset, directory / f"{name}.nc")


def write_report(directory: str | Path) -> None:
    """Write ``report.md`` and ``report.html`` from all data found in ``directory``."""
    import gbb

    place = Path(directory)
    sections = []
    for name in EXPERIMENTS:
        if not (place / f"{name}.nc").is_file():
            continue
        found = _findings(place, name)
        picture = place / f"{name}.png" if name in PICTURES else None
        warn = found.label not in ("the paper's setting", "as released")
        sections.append(_report.Section(found, warn, picture))
    files.write_text(place / "report.md", _report.markdown(sections, gbb.__version__))
    files.write_text(place / "report.html", _report.html(sections, gbb.__version__))
