"""``gbb control retract | forbid``: what was told by mistake, and what must not be played."""

from __future__ import annotations

from typing import Annotated

import typer

from gbb._cli.control.options import Name, Storage, open_controller
from gbb._cli.show import counted
from gbb._support import checks


def retract(  # noqa: PLR0917
    url: Storage,
    trial: Annotated[
        int | None, typer.Argument(metavar="[TRIAL]", help="The trial's number.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why it is taken back.")] = "",
    key: Annotated[str | None, typer.Option(help="The key of an attached round.")] = None,
    event: Annotated[
        int | None, typer.Option(help="The number of the event that attached a round.")
    ] = None,
    name: Name = None,
) -> None:
    """Take back what was told of a trial, or an attached round; the history keeps both."""
    with open_controller(url, name) as controller:
        controller.retract(trial, reason, key=key, event=event)
        status = controller.status()
    what = "the attached round is taken back" if trial is None else f"trial {trial} is open again"
    typer.echo(f"{what}; {counted(status['rounds'], 'round')} told, {len(status['open'])} open")


def forbid(  # noqa: PLR0917
    url: Storage,
    agent: Annotated[
        list[str] | None, typer.Option(help="The agents; may be given often; all when left out.")
    ] = None,
    arm: Annotated[list[str] | None, typer.Option(help="The arms; may be given often.")] = None,
    pin: Annotated[bool, typer.Option(help="Allow no arm but the one of --arm.")] = False,
    allow: Annotated[bool, typer.Option(help="Allow them again.")] = False,
    all: Annotated[bool, typer.Option(help="With --allow: lift every ban.")] = False,
    name: Name = None,
) -> None:
    """Keep agents from playing arms; or pin them to one, or allow arms again."""
    if pin and allow:
        raise checks.conflict("`--pin` and `--allow` cannot be combined.")
    if not arm and not allow:
        raise checks.conflict("Give at least one `--arm`, or `--allow`.")
    if all and (not allow or agent or arm):
        raise checks.conflict("`--all` can only be combined with `--allow`.")
    if allow and not (agent or arm or all):
        raise checks.conflict(
            "`--allow` needs `--agent`, `--arm` or `--all`, which lifts every ban."
        )
    if pin and len(arm or ()) != 1:
        raise checks.conflict(f"`--pin` needs exactly one `--arm`, but got {len(arm or ())}.")
    with open_controller(url, name) as controller:
        if pin:
            controller.pin(agent or None, (arm or [""])[0])
        else:
            (controller.allow if allow else controller.forbid)(agent or None, arm or None)
        count = controller.status()["forbidden"]
    typer.echo(f"{count} pairs of agent and arm are forbidden")
