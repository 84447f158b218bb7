"""Table 1: how much of each graph the greedy cut leaves uncut, and what that makes of the alphas.

``run`` gives ``uncut`` = (m1 + m2) / m and its ``standard_error`` over ``graph``, and ``uncut_random``
over ``draw``; its seed is that of the random graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import xarray as xr

from gbb import cuts
from gbb._support import seeds
from gbb.experiments._findings import (
    DIFFERS,
    NONE,
    Finding,
    Findings,
    Table,
    number,
    standard_error,
    within,
)
from gbb.experiments._study import Experiment, Part, Settings
from gbb.graph import Graph

NAME = "table1"


@dataclass(frozen=True, kw_only=True)
class Table1Settings(Settings):
    """Constants of the table."""

    n: int = 100
    p: float = 0.6
    draws: int = 100
    odd_circle: int = 101


PAPER = Table1Settings()
RELEASED = Table1Settings(as_released=True)
QUICK = Table1Settings(draws=10, quick=True)
QUICK_RELEASED = Table1Settings(draws=10, quick=True, as_released=True)

PUBLISHED = {"complete": 0.495, "random": 0.453, "circle": 0.01, "star": 0.0, "matching": 0.0}
RELEASED_OUTPUT = {
    "complete": 0.4949,
    "random": 0.4534,
    "circle": 0.0,
    "star": 0.0,
    "matching": 0.0,
}
ROUNDING = {"complete": 0.0005, "circle": 0.005, "star": 0.0, "matching": 0.0}
"""Half of the last published digit; a published 0 is taken as exact."""

ODD = "odd circle"


def _cut_all(settings: Table1Settings, seed: int) -> xr.Dataset:
    n = settings.n
    graphs = {
        "complete": Graph.complete(n),
        "circle": Graph.circle(n),
        "star": Graph.star(n),
        "matching": Graph.matching(n),
        ODD: Graph.circle(settings.odd_circle),
    }
    uncut = {name: cuts.greedy(graph).uncut for name, graph in graphs.items()}
    drawn = np.array(
        [
            cuts.greedy(Graph.random(n, p=settings.p, seed=child)).uncut
            for child in seeds.spawn(seed, settings.draws)
        ]
    )
    uncut["random"] = float(drawn.mean())
    names = [*PUBLISHED, ODD]
    errors = [standard_error(drawn) if name == "random" else 0.0 for name in names]
    sizes = [settings.odd_circle if name == ODD else n for name in names]
    return xr.Dataset(
        {
            "uncut": ("graph", [uncut[name] for name in names], {"long_name": "(m1 + m2) / m"}),
            "standard_error": ("graph", errors),
            "uncut_random": ("draw", drawn),
        },
        coords={"graph": names, "n": ("graph", sizes), "draw": np.arange(settings.draws)},
    )


def _parts(settings: Table1Settings, seed: int) -> Iterator[Part]:
    yield Part("all", settings.draws, partial(_cut_all, settings, seed))


STUDY = Experiment(NAME, PAPER, RELEASED, QUICK, QUICK_RELEASED, _parts, along=None)
choose, run, steps = STUDY.choose, STUDY.run, STUDY.steps


def report(dataset: xr.Dataset) -> Findings:
    """Compare the table with the published one and with the released code's."""
    settings = STUDY.settings_of(dataset)
    values = dataset.set_coords("standard_error").uncut
    rows = [_row(settings, name, values.sel(graph=name)) for name in PUBLISHED]
    rows.append(_odd_row(settings, values.sel(graph=ODD).item()))
    return Findings(
        title="Table 1: share of uncut edges (m1 + m2) / m and the alphas",
        label=STUDY.label(settings),
        caption=(
            f"Graphs of n = {settings.n} agents, greedy cut in agent order; the random graph has edge "
            f"probability {settings.p:g} and is averaged over {settings.draws} draws "
            f"(± one standard error of that mean). Seed {dataset.attrs['seed']}."
        ),
        rows=tuple(rows),
        notes=_notes(settings, dataset),
        table=_paper_form(dataset),
    )


def _row(settings: Table1Settings, name: str, value: xr.DataArray) -> Finding:
    published, ours, error = PUBLISHED[name], value.item(), value.standard_error.item()
    shown = f"{published:g}"
    if name == "random":
        # The published mean has its own sampling error, that of 100 draws, and is rounded.
        theirs = error * (settings.draws / PAPER.draws) ** 0.5
        limit = 3 * (error**2 + theirs**2) ** 0.5 + 0.0005
        why = "3 standard errors of the difference and rounding"
    else:
        limit, why = ROUNDING[name], "the published rounding"
    verdict, detail = within(ours, published, limit, why)
    if verdict == DIFFERS and name == "circle":
        detail += "; see the note below"
    ours_text = number(ours, error if name == "random" else float("nan"))
    title = f"{name}, n = {settings.n}"
    return Finding(title, shown, f"{RELEASED_OUTPUT[name]:g}", ours_text, verdict, detail)


def _odd_row(settings: Table1Settings, odd: float) -> Finding:
    verdict, detail = within(odd, PUBLISHED["circle"], ROUNDING["circle"], "the published rounding")
    shown = f"{PUBLISHED['circle']:g} (for n = 100)"
    return Finding(f"circle, n = {settings.odd_circle}", shown, NONE, number(odd), verdict, detail)


def _notes(settings: Table1Settings, dataset: xr.Dataset) -> tuple[str, ...]:
    notes = []
    circle = dataset.uncut.sel(graph="circle").item()
    if settings.n % 2 == 0 and circle == 0.0:
        odd = dataset.uncut.sel(graph=ODD).item()
        notes.append(
            f"The circle of n = {settings.n} agents has an even number of agents, so it is bipartite, "
            "and the greedy, going round it in order, finds that cut: no edge is left uncut, and "
            f"alpha_2 = 1. An odd circle cannot be cut whole: n = {settings.odd_circle} leaves one "
            f"link, 2/{2 * settings.odd_circle} = {odd:.4f} of the directed edges."
        )
    if settings.as_released:
        notes.append("The released code's setting for this table is the paper's.")
    return tuple(notes)


def alpha_2_formula(uncut: float) -> str:
    """alpha_2 = 1 - [(m1 + m2)/m (1 - gamma) - epsilon] as a function of gamma and epsilon.

    On a cut without uncut edges epsilon is 0 as well, because both couples of Theorem 4.1 coincide.
    """
    return "1" if uncut == 0 else f"{1 - uncut:.3g} + {uncut:.3g} γ + ε"


ALPHA_1_FORMULA = "0.5 + 0.5 γ"


def _paper_form(dataset: xr.Dataset) -> Table:
    names = [str(name) for name in dataset.graph.values]
    shares = [float(value) for value in dataset.uncut.values]
    sizes = [int(size) for size in dataset.n.values]
    heads = [
        f"{name} ({size})" if name == ODD else name for name, size in zip(names, sizes, strict=True)
    ]
    return Table(
        ("", *heads),
        (
            ("(m1 + m2) / m", *(f"{share:.3g}" for share in shares)),
            ("α₁", *(ALPHA_1_FORMULA for _ in names)),
            ("α₂", *(alpha_2_formula(share) for share in shares)),
        ),
    )


def to_csv(dataset: xr.Dataset) -> str:
    """The table as CSV, one graph a line."""
    frame = dataset[["uncut", "standard_error"]].to_dataframe().reset_index()
    frame["draws"] = np.where(frame["graph"] == "random", dataset.sizes["draw"], 1)
    frame["alpha_1"] = ALPHA_1_FORMULA.replace("γ", "gamma")
    plain = [
        alpha_2_formula(x).replace("γ", "gamma").replace("ε", "epsilon") for x in frame["uncut"]
    ]
    frame["alpha_2"] = plain
    frame["published"] = [PUBLISHED.get(name, np.nan) for name in frame["graph"]]
    frame["released"] = [RELEASED_OUTPUT.get(name, np.nan) for name in frame["graph"]]
    order = ["graph", "n", "draws", "uncut", "standard_error", "alpha_1", "alpha_2"]
    text: str = frame[[*order, "published", "released"]].to_csv(index=False)
    return text
