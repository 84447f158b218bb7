"""``gbb control retract | forbid``: what was told by mistake, and what must not be played."""

from __future__ import annotations

from typing import Annotated

import typer

from gbb._cli.control.options import Name, Storage, TrialNumber, opened
from gbb._support import checks


def retract(
    url: Storage,
    trial: TrialNumber,
    reason: Annotated[str, typer.Option("--reason", help="Why it is taken back.")] = "",
    name: Name = None,
) -> None:
    """Take back what was told of a trial; it is open again and the history keeps both."""
    with opened(url, name) as controller:
        controller.retract(trial, reason)
        status = controller.status()
    typer.echo(
        f"trial {trial} is open again; {status['rounds']} rounds told, {len(status['open'])} open"
    )


def forbid(  # noqa: PLR0917
    url: Storage,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="The agents; may be given often; all when left out."),
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="The arms; may be given often.")
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Allow no arm but the one of --arm.")] = False,
    allow: Annotated[bool, typer.Option("--allow", help="Allow them again.")] = False,
    all: Annotated[bool, typer.Option("--all", help="With --allow: lift every ban.")] = False,
    name: Name = None,
) -> None:
    """Keep agents from playing arms; or pin them to one, or allow arms again."""
    if pin and allow:
        raise checks.input_error("forbid", "have one of --pin and --allow", "both")
    if not arm and not allow:
        raise checks.input_error("--arm", "be given", "none")
    if all and (not allow or agent or arm):
        raise checks.input_error("--all", "go with --allow and nothing else", "it otherwise")
    if allow and not (agent or arm or all):
        cure = "--all lifts every ban."
        raise checks.input_error("--allow", "go with --agent, --arm or --all", "none of them", cure)
    if pin and len(arm or ()) != 1:
        raise checks.input_error("--arm", "be one arm with --pin", arm)
    with opened(url, name) as controller:
        if pin:
            controller.pin(agent or None, (arm or [""])[0])
        else:
            (controller.allow if allow else controller.forbid)(agent or None, arm or None)
        count = controller.status()["forbidden"]
    typer.echo(f"{count} pairs of agent and arm are forbidden")
