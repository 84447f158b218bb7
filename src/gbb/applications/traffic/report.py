"""What the traffic demo shows: numbers, sentences and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

import gbb
from gbb._support.checks import FloatArray, IntArray
from gbb.applications._outcome import Outcome
from gbb.applications.traffic.pictures import draw_loss, draw_matrix
from gbb.applications.traffic.rounds import Live, Rounds

PATIENT = 30
"""Rounds after which one-hot arms have tried every couple of offsets, and the best ones again."""


def make_outcome(
    graph: gbb.Graph,
    lives: Sequence[Live],
    random: Rounds,
    zero: Rounds,
    fixed: Rounds,
    *,
    best: gbb.optimum.Optimum,
    table: FloatArray,
    sigma: float,
    fits: Mapping[str, gbb.Diagnosis],
) -> Outcome:
    """Everything together."""
    numbers = {
        "random_loss": float(random.loss.mean()),
        "zero_loss": float(zero.loss.mean()),
        "best_fixed_loss": float(fixed.loss.mean()),
        "random_between": float(random.between.mean()),
        "zero_between": float(zero.between.mean()),
        "best_fixed_between": float(fixed.between.mean()),
        "best_fixed_proven": float(best.proven),
        "sigma": sigma,
    }
    rows = [
        (f"{name}, vehicle-hours lost (between signals)", f"{total:.1f} ({between:.1f})")
        for name, total, between in (
            ("random offsets", numbers["random_loss"], numbers["random_between"]),
            ("no offsets", numbers["zero_loss"], numbers["zero_between"]),
            ("best fixed offsets", numbers["best_fixed_loss"], numbers["best_fixed_between"]),
        )
    ]
    for live, fit in zip(lives, fits.values(), strict=True):
        found = _against(live, numbers, fit)
        numbers |= found
        rows += _rows(live, found)
    first = lives[0].rounds
    window = f"rounds {first.last().start + 1}-{first.size}"
    proof = "proven best" if best.proven else "best found"
    sentences = [
        f"Learners are judged over {window}: against the fixed offsets that are {proof} for the "
        f"fitted model, in the same traffic, and against {random.size} rounds with random offsets.",
        *(f"Fit with {name} arms: {fit.sentence}" for name, fit in fits.items()),
        *_patience(lives),
        "Each round is a fresh simulation with traffic of its own; real signals would carry their "
        "queues over, and SUMO's drivers are a model.",
    ]
    figures = {
        "loss": draw_loss(lives, random, zero, fixed),
        "matrix": draw_matrix(table, best.allocation, graph),
    }
    data = _data(graph, lives, random, zero, fixed, table=table)
    title = "Traffic lights: 16 signals, 6 offsets, learnt live in SUMO"
    return Outcome(title, data, numbers, rows, sentences, figures)


def _patience(lives: Sequence[Live]) -> list[str]:
    """A warning where one-hot arms cannot have settled."""
    short = [live for live in lives if live.name == "one-hot" and live.rounds.size < PATIENT]
    return [
        f"One-hot arms try each of the 21 couples of offsets once before they settle: "
        f"{live.rounds.size} rounds are few for them."
        for live in short
    ]


def _against(live: Live, numbers: Mapping[str, float], fit: gbb.Diagnosis) -> dict[str, float]:
    """A learner's late loss as it is, and over that of random and of the best fixed offsets."""
    name, late = live.name.replace("-", "_"), live.rounds.last()
    loss, between = (float(each[late].mean()) for each in (live.rounds.loss, live.rounds.between))
    return {
        f"{name}_early_loss": float(live.rounds.loss[:10].mean()),
        f"{name}_late_loss": loss,
        f"{name}_late_between": between,
        f"{name}_over_random": loss / numbers["random_loss"],
        f"{name}_over_best": loss / numbers["best_fixed_loss"],
        f"{name}_between_over_random": between / numbers["random_between"],
        f"{name}_between_over_best": between / numbers["best_fixed_between"],
        f"{name}_within": fit.within,
        f"{name}_total": fit.total,
    }


def _rows(live: Live, found: Mapping[str, float]) -> list[tuple[str, str]]:
    rounds, key = live.rounds, live.name.replace("-", "_")

    def value(name: str) -> float:
        return found[f"{key}_{name}"]

    span = f"{rounds.last().start + 1}-{rounds.size}"
    learner = f"improved OFUL, {live.name} arms"
    return [
        (f"{learner}, rounds 1-{min(10, rounds.size)}", f"{value('early_loss'):.1f}"),
        (f"{learner}, rounds {span}", f"{value('late_loss'):.1f} ({value('late_between'):.1f})"),
        (
            "  over random offsets",
            f"{value('over_random'):.2f} ({value('between_over_random'):.2f})",
        ),
        (
            "  over best fixed offsets",
            f"{value('over_best'):.2f} ({value('between_over_best'):.2f})",
        ),
        (
            "  held-out R^2, within edges / of the sum",
            f"{value('within'):.2f} / {value('total'):.2f}",
        ),
    ]


def _data(
    graph: gbb.Graph,
    lives: Sequence[Live],
    random: Rounds,
    zero: Rounds,
    fixed: Rounds,
    *,
    table: FloatArray,
) -> xr.Dataset:
    """Everything, round by round."""
    names = [str(graph.label(i)) for i in range(graph.n)]
    edges = [f"{names[i]} <- {names[j]}" for i, j in graph.edges.tolist()]
    data = xr.Dataset(
        {"fitted_matrix": (("arm", "arm_of_neighbour"), table)},
        coords={"agent": names, "edge": edges, "arms": [live.name for live in lives]},
    )
    for kind, rounds in (("random", random), ("zero", zero), ("best_fixed", fixed)):
        for field, values, dims in _fields(rounds):
            data[f"{kind}_{field}"] = ((f"{kind}_round", *dims), values)
    for field, _, dims in _fields(lives[0].rounds):
        stacked = np.stack([getattr(live.rounds, field) for live in lives])
        data[f"live_{field}"] = (("arms", "round", *dims), stacked)
    return data.assign_coords(round=np.arange(1, lives[0].rounds.size + 1))


def _fields(rounds: Rounds) -> list[tuple[str, FloatArray | IntArray, tuple[str, ...]]]:
    return [
        ("allocations", rounds.allocations, ("agent",)),
        ("rewards", rounds.rewards, ("edge",)),
        ("loss", rounds.loss, ()),
        ("between", rounds.between, ()),
    ]
