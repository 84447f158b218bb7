"""``gbb control run``: a controller at the end of a pipe, line by line."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from gbb._cli.control.options import Name, Storage, open_controller
from gbb._support.json_text import as_json


def run(url: Storage, name: Name = None) -> None:
    """Answer lines of JSON on standard input until it ends, each with one on standard output.

    A line is {"do": VERB, ...}: ask, tell, next, fail, abandon, retract,
    attach, open, recommend, table, predict, estimate, status, watch, history,
    diagnose, check, forbid, pin, allow, discount, set-policy or replace-graph.
    An "id" comes back in the answer; an error is an answer, {"error": "..."}.
    What was answered is kept, however it ends.
    """
    with open_controller(url, name) as controller:
        from gbb.controller.pipe import MOST_BYTES, serve_line, too_long

        with _until_terminated() as stopping:
            for line in _lines(sys.stdin.buffer, MOST_BYTES, stopping):
                found = too_long() if line is None else serve_line(controller, line)
                try:
                    sys.stdout.write(as_json(found) + "\n")
                    sys.stdout.flush()
                except BrokenPipeError:  # nobody reads on
                    _drop_output()
                    return


class _Stop(Exception):  # noqa: N818
    """The program was asked to end while it waited for a line."""


class _Stopping:
    """Whether the program was asked to end. What it is doing is finished first, and answered."""

    def __init__(self) -> None:
        self.asked = self.waiting = False

    def ask(self, *_: object) -> None:
        self.asked = True
        if self.waiting:
            raise _Stop


@contextmanager
def _until_terminated() -> Iterator[_Stopping]:
    """Within it, SIGTERM ends the wait for the next line, and nothing else."""
    stopping = _Stopping()
    if threading.current_thread() is not threading.main_thread():
        yield stopping
        return
    before = signal.signal(signal.SIGTERM, stopping.ask)
    try:
        yield stopping
    finally:
        signal.signal(signal.SIGTERM, before)


def _lines(stream: BinaryIO, most: int, stopping: _Stopping) -> Iterator[bytes | None]:
    """The lines of a stream; None for one that is longer than ``most`` bytes."""
    while True:
        try:
            stopping.waiting = True
            line = b"" if stopping.asked else stream.readline(most + 1)
            whole = len(line) <= most
            while not whole and not line.endswith(b"\n") and line:
                line = stream.readline(most)
            stopping.waiting = False
        except _Stop:
            return
        if whole and not line:
            return
        yield line if whole else None


def _drop_output() -> None:
    """Let what is still to be written go nowhere, so that nothing fails when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
