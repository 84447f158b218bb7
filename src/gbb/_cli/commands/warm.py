"""``gbb warm``: compile ahead what is usually played, so that no later command waits for it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from gbb import policies
from gbb._cli.given.policies import Spec, policies_option, read_own_policies
from gbb.cuts import best
from gbb.problem import Problem
from gbb.simulation import warm_up
from gbb.simulation.warm_up import PAPER, ROUNDS

USUAL = (*PAPER, "ThompsonSampling", "JointOFUL")


def warm(
    policy: Annotated[list[str] | None, policies_option(USUAL)] = None,
) -> None:
    """Compile ahead what is usually played.

    Plays a few rounds of each policy with one-hot arms and with arms in few
    dimensions, where sigma and S are known and where not. What is compiled stays on
    disk until the version changes.
    """
    for spec in read_own_policies(policy or USUAL, {}):
        for arms in ("one-hot", "general"):
            for label, seconds in warm_up(partial(_build, spec), arms=arms).items():
                typer.echo(f"{label}: {seconds:.1f} s")


def _build(spec: Spec, problem: Problem) -> policies.AnyPolicy:
    cut = best(problem.graph)
    return spec.build(problem, cut=cut, horizon=ROUNDS, name=spec.label)
