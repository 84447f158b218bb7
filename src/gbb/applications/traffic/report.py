"""What the traffic demo shows: numbers, sentences and data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

import gbb
from gbb._support.checks import FloatArray
from gbb.applications._outcome import Outcome
from gbb.applications.traffic.pictures import draw_loss, draw_matrix
from gbb.applications.traffic.rounds import Rounds

PATIENT = 30
"""Rounds after which one-hot arms have tried every couple of offsets, and the best ones again."""

WORDS = {"random": "random offsets", "zero": "no offsets", "best_fixed": "best fixed offsets"}
"""What the rounds that nobody learnt in are called, by their names in the data."""

DIMENSIONS = {"allocations": ("agent",), "rewards": ("edge",), "loss": (), "between": ()}
"""Of each array of some rounds, beside that of the rounds."""


def make_outcome(
    graph: gbb.Graph,
    lives: Mapping[str, Rounds],
    fixed: Mapping[str, Rounds],
    *,
    best: gbb.optimum.Optimum,
    table: FloatArray,
    sigma: float,
    fits: Mapping[str, gbb.Diagnosis],
) -> Outcome:
    """Everything together: the learners' rounds by their arms, the fixed ones by :data:`WORDS`."""
    numbers = {
        f"{kind}_{field}": float(getattr(fixed[kind], field).mean())
        for field in ("loss", "between")
        for kind in WORDS
    }
    rows = [
        (
            f"{words}, vehicle-hours lost (between signals)",
            f"{numbers[f'{kind}_loss']:.1f} ({numbers[f'{kind}_between']:.1f})",
        )
        for kind, words in WORDS.items()
    ]
    numbers |= {"best_fixed_proven": float(best.proven), "sigma": sigma}
    for name, rounds in lives.items():
        found = _against(rounds, numbers, fits[name])
        numbers |= {f"{name.replace('-', '_')}_{key}": value for key, value in found.items()}
        rows += _rows(name, rounds, found)
    first = next(iter(lives.values()))
    proof = "proven best" if best.proven else "best found"
    sentences = [
        f"Learners are judged over {_span(first)}: against the fixed offsets that are {proof} for the "
        f"fitted model, in the same traffic, and against {fixed['random'].size} rounds with random "
        "offsets.",
        *(f"Fit with {name} arms: {fit.sentence}" for name, fit in fits.items()),
    ]
    if "one-hot" in lives and first.size < PATIENT:
        sentences.append(
            "One-hot arms try each of the 21 couples of offsets once before they settle: "
            f"{first.size} rounds are few for them."
        )
    sentences.append(
        "Each round is a fresh simulation with traffic of its own; real signals would carry their "
        "queues over, and SUMO's drivers are a model."
    )
    figures = {
        "loss": draw_loss(lives, fixed),
        "matrix": draw_matrix(table, best.allocation, graph),
    }
    title = "Traffic lights: 16 signals, 6 offsets, learnt live in SUMO"
    return Outcome(title, _data(graph, lives, fixed, table), numbers, rows, sentences, figures)


def _span(rounds: Rounds) -> str:
    """The rounds over which learners are judged."""
    return f"rounds {rounds.window.start + 1}-{rounds.size}"


def _against(rounds: Rounds, numbers: Mapping[str, float], fit: gbb.Diagnosis) -> dict[str, float]:
    """A learner's late loss as it is, and over that of random and of the best fixed offsets."""
    loss, between = (float(each[rounds.window].mean()) for each in (rounds.loss, rounds.between))
    return {
        "early_loss": float(rounds.loss[:10].mean()),
        "late_loss": loss,
        "late_between": between,
        "over_random": loss / numbers["random_loss"],
        "over_best": loss / numbers["best_fixed_loss"],
        "between_over_random": between / numbers["random_between"],
        "between_over_best": between / numbers["best_fixed_between"],
        "within": fit.within,
        "total": fit.total,
    }


def _rows(name: str, rounds: Rounds, found: Mapping[str, float]) -> list[tuple[str, str]]:
    learner = f"improved OFUL, {name} arms"
    shown = [
        (f"{learner}, rounds 1-{min(10, rounds.size)}", "{early_loss:.1f}"),
        (f"{learner}, {_span(rounds)}", "{late_loss:.1f} ({late_between:.1f})"),
        ("  over random offsets", "{over_random:.2f} ({between_over_random:.2f})"),
        ("  over best fixed offsets", "{over_best:.2f} ({between_over_best:.2f})"),
        ("  held-out R^2, within edges / of the sum", "{within:.2f} / {total:.2f}"),
    ]
    return [(what, form.format_map(found)) for what, form in shown]


def _data(
    graph: gbb.Graph,
    lives: Mapping[str, Rounds],
    fixed: Mapping[str, Rounds],
    table: FloatArray,
) -> xr.Dataset:
    """Everything, round by round."""
    names = [str(graph.label(i)) for i in range(graph.n)]
    edges = [f"{names[i]} <- {names[j]}" for i, j in graph.edges.tolist()]
    data = xr.Dataset(
        {"fitted_matrix": (("arm", "arm_of_neighbour"), table)},
        coords={"agent": names, "edge": edges, "arms": list(lives)},
    )
    for kind, rounds in fixed.items():
        for field, dims in DIMENSIONS.items():
            data[f"{kind}_{field}"] = ((f"{kind}_round", *dims), getattr(rounds, field))
    for field, dims in DIMENSIONS.items():
        stacked = np.stack([getattr(rounds, field) for rounds in lives.values()])
        data[f"live_{field}"] = (("arms", "round", *dims), stacked)
    return data.assign_coords(round=np.arange(1, data.sizes["round"] + 1))
