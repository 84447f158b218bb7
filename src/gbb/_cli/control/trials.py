"""``gbb control ask | tell | attach``: what to play next, and what it paid."""

from __future__ import annotations

from typing import Annotated

import typer

from gbb._cli.control import files
from gbb._cli.control.contexts import ContextGiven, context_of
from gbb._cli.control.options import Format, Name, Storage, TrialNumber, open_controller
from gbb._cli.errors import reword
from gbb._cli.show import counted
from gbb._support import checks

RETRACT = "call retract() first to correct what was told"


def ask(  # noqa: PLR0917
    url: Storage,
    name: Name = None,
    trial: Annotated[
        int | None, typer.Option(help="Show this open trial again; ask for nothing.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="Ask for so many trials at once; 1 when left out.")
    ] = None,
    context: ContextGiven = None,
    timeout: Annotated[
        float | None, typer.Option(help="Close them, as never heard of, after so many seconds.")
    ] = None,
    format: Format = "text",
) -> None:
    """What each agent should do next."""
    files.format_of(format)
    if trial is not None and count is not None:
        raise checks.conflict("`--trial` and `--count` cannot be combined.")
    if trial is not None and timeout is not None:
        raise checks.conflict("`--trial` and `--timeout` cannot be combined.")
    if trial is not None and context is not None:
        raise checks.conflict("`--trial` and `--context` cannot be combined.")
    asked = 1 if count is None else count
    with open_controller(url, name) as controller:
        if trial is None:
            known = context_of(controller.problem, context)
            trials = controller.ask_many(asked, context=known, timeout=timeout)
        else:
            trials = [controller.trial(trial)]

    data = [trial.to_dict() for trial in trials]
    rows = [(t.id, t.round, *pair) for t in trials for pair in t.allocation.items()]
    title = f"trial {trials[0].id}" if len(trials) == 1 else f"{len(trials)} trials"
    if context is not None:
        title += f", context {context}"
    columns = ("trial", "round", "agent", "arm")
    files.show(format, title, columns, rows, data=data[0] if len(data) == 1 else data)


def tell(  # noqa: PLR0917
    url: Storage,
    trial: TrialNumber,
    rewards: Annotated[
        str | None,
        typer.Argument(
            metavar="[REWARDS]",
            help="CSV or JSON rows of source, target and reward (some edges or links, or all), of "
            "agent and reward, or one number, whichever the feedback is; - reads them from standard "
            "input.",
        ),
    ] = None,
    fail: Annotated[bool, typer.Option(help="It was played and gave nothing.")] = False,
    abandon: Annotated[bool, typer.Option(help="It was not played.")] = False,
    reason: Annotated[str, typer.Option(help="Why it gave nothing.")] = "",
    name: Name = None,
) -> None:
    """What was paid when a trial was played."""
    if (rewards is not None) + fail + abandon != 1:
        raise checks.conflict("Give exactly one of REWARDS, `--fail` and `--abandon`.")
    if rewards is not None and reason:
        raise checks.conflict("`--reason` can only be combined with `--fail` or `--abandon`.")
    retract = f"take it back with `gbb control retract URL {trial}` first"
    with reword({RETRACT: retract}), open_controller(url, name) as controller:
        if rewards is not None:
            controller.tell(trial, files.rewards_from(rewards, controller.problem.feedback))
        else:
            (controller.fail if fail else controller.abandon)(trial, reason)
        status = controller.status()
    typer.echo(
        f"trial {trial} is closed; {counted(status['rounds'], 'round')} told, "
        f"{len(status['open'])} open"
    )


def attach(  # noqa: PLR0917
    url: Storage,
    allocation: Annotated[
        str,
        typer.Argument(
            metavar="ALLOCATION", help="CSV of agent and arm, or JSON {agent: arm}; - reads it."
        ),
    ],
    rewards: Annotated[str, typer.Argument(metavar="REWARDS", help="CSV or JSON rows as in tell.")],
    context: ContextGiven = None,
    key: Annotated[
        str | None, typer.Option(help="The round's own name: attached again, it counts once.")
    ] = None,
    name: Name = None,
) -> None:
    """Learn from a round that was played elsewhere."""
    arms = files.allocation_from(allocation)
    with open_controller(url, name) as controller:
        given = files.rewards_from(rewards, controller.problem.feedback)
        known = context_of(controller.problem, context)
        controller.attach(arms, given, context=known, key=key)
        rounds = controller.status()["rounds"]
    typer.echo(f"attached; {counted(rounds, 'round')} told")
