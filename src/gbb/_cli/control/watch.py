"""``gbb control watch``: alerts and their exit codes, for monitoring systems."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from gbb._cli.control.options import Name, Storage, open_controller
from gbb._cli.show import counted
from gbb._support import checks

if TYPE_CHECKING:
    from gbb.controller import Alert, Controller

CODES = {"warning": 1, "critical": 2}
"""Exit codes by severity, as monitoring systems have them; 0 where there is no alert."""


def watch(
    url: Storage,
    name: Name = None,
    every: Annotated[
        float | None,
        typer.Option(help="Look again after so many seconds, and print what begins and ends."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once, as without --every.")] = False,
    stale: Annotated[
        float | None,
        typer.Option(help="Trials open for more than so many seconds are an alert."),
    ] = None,
) -> None:
    """Close trials whose time is up, and print a line for each alert; the exit code says how bad."""
    if once and every is not None:
        raise checks.conflict("`--once` and `--every` cannot be combined.")
    if every is not None:
        every = checks.real("every", every, low=0.0, low_open=True)
    with open_controller(url, name) as controller:
        if every is not None:
            _go_on(controller, every, stale)
        alerts = controller.watch(stale=stale)
        rounds = controller.status()["rounds"]
    for alert in alerts:
        typer.echo(_line(alert))
    if not alerts:
        typer.echo(f"ok: no alerts; {counted(rounds, 'round')} told")
    raise typer.Exit(max((CODES[alert.severity] for alert in alerts), default=0))


def _go_on(controller: Controller, every: float, stale: float | None) -> None:
    """Look again and again, until somebody stops it."""
    before: dict[str, Alert] = {}
    while True:
        now = {alert.kind: alert for alert in controller.watch(stale=stale)}
        for kind, alert in now.items():
            if kind not in before or before[kind].since != alert.since:
                typer.echo(_line(alert))
        for kind in before.keys() - now.keys():
            typer.echo(f"ok: {kind} has ended")
        before = now
        time.sleep(every)


def _line(alert: Alert) -> str:
    since = alert.since.isoformat(" ", "seconds")[:19]
    return f"{alert.severity}: {alert.kind} since {since}: {' '.join(alert.text.split())}"
