"""A server that runs until it is told to stop."""

from __future__ import annotations

import errno
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import FrameType

import uvicorn

from gbb._support import checks
from gbb.serve.access.guard import is_loopback
from gbb.serve.access.limits import Limits
from gbb.serve.access.tokens import Tokens
from gbb.serve.app import make_app
from gbb.serve.protocol import Protocol
from gbb.serve.service import Service

GRACE = 10
"""Seconds that requests have to end when the server is told to stop."""

KEPT = 75
"""Seconds that a connection on which nothing is said stays open."""

SWITCH = 0.001
"""Seconds after which a thread that computes lets the one that answers go on."""


class Server(uvicorn.Server):
    """Ends listeners' streams at once when it is told to stop, and then as any other program."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: what is being answered is answered first."""
        self.service.hub.close()
        if sig == signal.SIGTERM:
            self.should_exit = True  # and end well
        else:
            super().handle_exit(sig, frame)


def serve(
    url: str | Path,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    say: Callable[[str], object] = print,
) -> None:
    """Serve a storage until SIGTERM or SIGINT."""
    if tokens is None:
        check_loopback(host)
    with closing(bind(host, port)) as listening:
        service = Service(url, tokens, limits)
        sys.setswitchinterval(SWITCH)
        config = uvicorn.Config(
            make_app(service),
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=KEPT,
            lifespan="on",
            ws="none",
            http=Protocol,
        )
        name, number = listening.getsockname()[:2]
        shown = f"[{name}]" if ":" in name else name
        say(f"serving {service.studies.store.shown} at http://{shown}:{number}")
        if tokens is None:
            say("no tokens: only this machine can connect, and everybody on it may do everything")
        Server(config, service).run(sockets=[listening])
        with suppress(OSError):  # nobody may be reading any more
            say("stopped; what was acknowledged is kept")


def check_loopback(host: str) -> None:
    """Refuse an address that others can reach, where nobody needs a token."""
    cure = "Make a token with `gbb serve token create` and start with --tokens FILE."
    if not is_loopback(host):
        rule = "be a loopback address where there are no tokens"
        raise checks.input_error("host", rule, host, cure)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    checks.integer("port", port, low=0, high=65535)
    made = None
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        family, kind, protocol, _, address = found
        made = socket.socket(family, kind, protocol)  # named, or asyncio leaves Nagle's delays on
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(1024)
        return made
    except (OSError, UnicodeError) as error:
        if made is not None:
            made.close()
        reason = getattr(error, "strerror", None) or str(error)
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        cure = " Give another `port`; 0 takes a free one." if taken else ""
        raise checks.conflict(f"Cannot listen at {host}, port {port}: {reason}.{cure}") from None
