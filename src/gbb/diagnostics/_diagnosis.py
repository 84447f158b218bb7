"""What a diagnosis says, and how it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gbb.diagnostics._margin import GOOD, Margin
from gbb.diagnostics._residuals import Residuals

FEWEST_ROUNDS = 10
COVERED = 0.8
"""Share of the observations that the other folds must be able to predict."""

SIGNIFICANT = 4.0
"""Standard errors of a correlation that pure noise does not reach."""


@dataclass(frozen=True)
class Diagnosis:
    """How well the pairwise model predicts rounds that it has not seen.

    Attributes
    ----------
    status
        ``good``, ``poor``, ``noise`` or ``too few``.
    sentence
        The same in plain words.
    rounds, allocations
        How many rounds, and how many different allocations among them.
    covered
        Share of the observations that the other folds could predict; only they are judged.
    within
        Held-out R^2 of the observations, each edge's (or agent's) own mean removed.
    total
        Held-out R^2 of the round's sum, the same means removed.
    ceiling, total_ceiling
        What a perfect model would reach, given the noise; NaN when the noise is not known. That of
        sums is known from repeated allocations only, as links may share their noise.
    sigma_hat
        Standard deviation of the noise of one observation; of the residuals if nothing was repeated.
    noise_source
        ``allocations``, ``arms`` or ``nothing``: what was repeated to tell noise from misfit.
    by_type
        Residuals by edge type, or of all observations when rewards are sums over edges.
    worst
        The edges or agents with the largest residuals.
    """

    status: str
    sentence: str
    rounds: int
    allocations: int
    covered: float
    within: float
    total: float
    ceiling: float
    total_ceiling: float
    sigma_hat: float
    noise_source: str
    by_type: tuple[Residuals, ...]
    worst: tuple[Residuals, ...]

    @property
    def good(self) -> bool:
        """Whether the model is good enough to act on."""
        return self.status == "good"

    def __str__(self) -> str:
        return self.sentence


class Evidence(NamedTuple):
    """What a verdict needs beside the diagnosis; the errors are one standard error of the ceilings."""

    spread: float
    correlation: float
    ceiling_error: float
    total_ceiling_error: float
    single: Margin
    summed: Margin
    types: int


def judge(d: Diagnosis, e: Evidence) -> tuple[str, str]:
    """Status and sentence."""
    if d.rounds < FEWEST_ROUNDS:
        return "too few", f"Too few rounds to say: {d.rounds}, and {FEWEST_ROUNDS} are the fewest."
    if d.covered < COVERED:
        return "too few", (
            f"Too few rounds to say: only {d.covered:.0%} of the rewards can be predicted from other "
            "rounds, as the rest had arms that were not played together elsewhere."
        )
    if not e.spread > 0.0:
        return "too few", "Nothing to judge: no reward ever changed."
    known = np.isfinite(d.ceiling)
    if e.correlation < SIGNIFICANT and (not known or d.ceiling < 3.0 * e.ceiling_error):
        cure = "" if known else " Repeat some allocations to tell noise from a wrong model."
        return "noise", (
            "Nothing to act on: of what changes the model predicts no more than it would of pure "
            f"noise.{cure}"
        )
    return _judge_fit(d, e)


def _judge_fit(d: Diagnosis, e: Evidence) -> tuple[str, str]:
    """Compare what is predicted with what could be, each with two standard errors.

    Only noise that was measured can condemn a model: of single rewards by any repetition, of the sum by
    repeated allocations alone, because links may share their noise.
    """
    known = bool(np.isfinite(d.ceiling))
    facts = (
        f"On rounds it has not seen it predicts {max(d.within, 0.0):.0%} of how single rewards vary "
        f"and {max(d.total, 0.0):.0%} of how their sum varies"
    )
    facts += f", and noise allows at most {max(d.ceiling, 0.0):.0%} of the former" if known else ""
    single = d.ceiling > 2.0 * e.ceiling_error and e.single.below
    summed = d.total_ceiling > 2.0 * e.total_ceiling_error and e.summed.below
    if single or summed:
        cure = (
            "One matrix per kind of link (edge_types) may fit."
            if e.types == 1
            else "Links may depend on more than the arms at their ends."
        )
        return "poor", f"The pairwise model is not good enough to act on. {facts}. {cure}"
    if not e.single.above or e.summed.value < 0.0:
        cure = ""
        if not known:
            cure = " Repeat some allocations to tell noise from a wrong model."
        elif not np.isfinite(d.total_ceiling) and e.summed.below:
            cure = " Repeat some allocations to tell noise that links share from a wrong model."
        return "too few", f"Too few rounds to say whether the pairwise model fits. {facts}.{cure}"
    beyond = (
        " (noise here includes whatever agents beyond the link do; repeat an allocation to tell)"
        if d.noise_source == "arms" and d.within / max(d.ceiling, d.within) - d.within > 1.0 - GOOD
        else ""
    )
    return "good", f"The pairwise model is good enough to act on. {facts}{beyond}."
