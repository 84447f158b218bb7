"""A demo that runs against the service, through the client, while its page is open."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from gbb._cli.show import console
from gbb._support import checks, seeds
from gbb._support.checks import InputError
from gbb.applications._live import Live

if TYPE_CHECKING:
    from gbb.client import Client

PACE = 0.5
"""Seconds that a round takes at least, so that people can follow."""

PATIENCE = 10.0
"""Seconds that the service has to stop."""


def run_live(live: Live, name: str, database: Path, port: int, seed: int) -> None:
    """Play all rounds, then keep the page up until somebody stops it."""
    from gbb.client import Client

    database.parent.mkdir(parents=True, exist_ok=True)
    called = f"{name} {datetime.now():%Y-%m-%d %H:%M:%S}"
    with serving(database, port) as (url, service):
        client = Client.create(
            url, live.system.problem, live.policy, seed, name=called, **live.settings
        )
        try:
            say(f"Watch it at {url}/#/c/{quote(called, safe='')}")
            play(live, client, seed)
            say("All rounds are played. The page stays until you press Ctrl-C.")
            service.wait()
        except KeyboardInterrupt:
            say(f"Stopped. All of it is kept: gbb serve {database}")
        finally:
            client.close()


def play(live: Live, client: Client, seed: int) -> None:
    """Ask, simulate, tell. What somebody abandons on the page meanwhile is not told."""
    from gbb._support.progress import progress_bar

    rng = seeds.generator(seed)
    with progress_bar(live.rounds, "rounds") as advance:
        for t in range(1, live.rounds + 1):
            start = time.monotonic()
            trial = client.ask()
            rewards = live.system.draw(t, trial.arms, rng)
            try:
                client.tell(trial, rewards)
            except InputError as error:
                say(str(error))
            time.sleep(max(0.0, PACE - (time.monotonic() - start)))
            advance(1)


@contextmanager
def serving(database: Path, port: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A service in a process of its own, and where it answers."""
    command = [sys.executable, "-c", "import gbb.cli; gbb.cli.main()", "serve", str(database)]
    command += ["--port", str(port)]
    with (
        tempfile.TemporaryFile("w+") as said,
        subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=said) as service,
    ):
        assert service.stdout is not None
        try:
            found = re.search(r"http://\S+", service.stdout.readline())
            if found is None:
                service.wait()
                said.seek(0)
                raise checks.conflict(said.read().strip().removeprefix("gbb: error: "))
            yield found[0], service
        finally:
            service.terminate()
            try:
                service.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                service.kill()


def say(text: str) -> None:
    """A line on the terminal."""
    console.print(text, soft_wrap=True, markup=False)
