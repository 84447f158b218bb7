"""A ``gbb`` that starts at once: a server has imported it, and forks a child for every command.

The client (:mod:`served_client`) hands over its arguments, folder, environment and three standard
files. The child then is the command, with the same files, signals and exit code; only its start is
not that of ``gbb``, so what is about the start itself starts an interpreter.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from gbb._cli import commands, control
from gbb.cli import main

CLIENT = Path(__file__).with_name("served_client.py")
WARM = """
create {policy}.db complete:3 --arms arms.csv --policy {policy}
ask {policy}.db
tell {policy}.db 1 rewards.json
recommend {policy}.db
status {policy}.db
history {policy}.db
"""
"""What the server does once, so that the modules and loops are loaded that most commands need."""


def command(tools: Path, line: str) -> Path:
    """``tools``, which now holds a command ``gbb``: a line of the shell."""
    script = tools / "gbb"
    script.write_text(f"#!/bin/sh\n{line}\n")
    script.chmod(0o755)
    return tools


@contextlib.contextmanager
def serving(tools: Path, env: dict[str, str]) -> Iterator[Path]:
    """``tools``, which while this lasts holds a command ``gbb`` that is served."""
    with tempfile.TemporaryDirectory(prefix="gbb-") as folder:
        place = Path(folder) / "socket"
        command(tools, f'exec "{sys.executable}" -IS "{CLIENT}" "{place}" "$@"')
        with subprocess.Popen(
            [sys.executable, __file__, str(place)],
            stdin=subprocess.PIPE,  # its end ends the server
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=env,
        ) as server:
            assert server.stdout.readline() == b"ready\n"
            try:
                yield tools
            finally:
                server.stdin.close()
                assert server.wait(60) == 0


def serve(place: str) -> list[str] | None:
    """Answer clients until standard input ends; in the child of a command, its arguments."""
    load()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait for commands
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        os.write(1, b"ready\n")
        while listening in select.select([listening, 0], [], [])[0]:
            client, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                return accompany(client)
            client.close()
    return None


def load() -> None:
    """Import what commands import, and compile what they call."""
    for place, _ in [*commands.PLACES.values(), *control.PLACES.values()]:
        importlib.import_module(f"gbb._cli.{place}")
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        Path("arms.csv").write_text("arm,x,y\nleft,1,0\nright,0,1\n")
        Path("rewards.json").write_text("[[0, 1, 0.5]]")
        for policy in ("ImprovedOFUL", "JointOFUL", "ThompsonSampling"):
            for line in WARM.format(policy=policy).strip().splitlines():
                with contextlib.suppress(SystemExit):
                    main(["control", *line.split()])


def accompany(client: socket.socket) -> list[str]:
    """Fork a client's command, pass signals on to it, and say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    text, files, _, _ = socket.recv_fds(client, 1 << 20, 3)
    while not text.endswith(b"\n"):
        text += client.recv(1 << 20)
    child = os.fork()
    if child == 0:
        client.close()
        return become(json.loads(text), files)
    for file in [0, 1, 2, *files]:
        os.close(file)
    threading.Thread(target=pass_on, args=(client, child), daemon=True).start()
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # its number stays its own
    code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    client.sendall(f"{code}\n".encode())
    os._exit(0)


def pass_on(client: socket.socket, command: int) -> None:
    """Send the command the signals that its client got; its end, when the client is gone."""
    while number := client.recv(1):
        os.kill(command, number[0])
    os.kill(command, signal.SIGKILL)


def become(told: dict, files: list[int]) -> list[str]:
    """Take a client's place."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    return told["arguments"]


def end(code: int) -> None:
    """End as an interpreter does, but for taking apart what is loaded, which takes longest."""
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = 120
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    given = serve(sys.argv[1])
    if given is not None:
        try:
            main(given)
        except SystemExit as ended:
            end(ended.code)
