"""Requests over connections that are kept, said again until they are answered."""

from __future__ import annotations

import http.client
import random
import re
import ssl
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlencode, urlsplit

from gbb._support import checks
from gbb._support.checks import InputError
from gbb._support.json_text import as_json, parse_json
from gbb.controller.log.events import StorageError
from gbb.controller.log.store import KEPT as KEPT_ANSWER
from gbb.controller.log.store import KeyReusedError

AGAIN = {429, 503}
"""Answers after which the same is said again."""

SHORTEST, LONGEST = 0.05, 2.0
"""Seconds between two attempts: they double, and vary so that many callers do not come at once."""

MOST_PATIENCE = KEPT_ANSWER - 600.0
"""Seconds for which the same may be said again: the service must still know that it was said."""

SECRET = re.compile(r"[\x21-\x7e]+")
"""What a header can hold of a token."""

HOST = re.compile(r"[A-Za-z0-9.-]+:[0-9]+")
"""An address without its scheme."""

KEPT = 16
"""Connections that are kept for later."""


class ServiceError(StorageError):
    """The service cannot be reached, or cannot answer; what it acknowledged before is kept."""


class Reply(NamedTuple):
    """An answer: its status, its headers in small letters, and its bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """What the body says."""
        return parse_json(self.body.decode("utf-8"))


class Wire:
    """A service, and how it is talked to; threads may share it.

    Parameters
    ----------
    url
        Where it is: ``http://host:port`` or ``https://host``.
    token
        The secret that says who we are.
    timeout
        Seconds that one answer may take.
    patience
        Seconds after which nothing is said again.
    """

    def __init__(self, url: str, token: str | None, timeout: float, patience: float) -> None:
        parts = _split(url)
        if parts.query or parts.fragment or parts.username:
            rule = "have no query and no secrets"
            raise checks.input_error("url", rule, "some", "Pass the secret as `token`.")
        self.url = url.rstrip("/")
        self.timeout = checks.real("timeout", timeout, low=0.0, low_open=True)
        cure = "The service remembers a request for an hour; after that it would happen twice."
        self.patience = checks.real("patience", patience, low=0.0, high=MOST_PATIENCE, cure=cure)
        self._parts, self._path = parts, parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if token is not None:
            if not isinstance(token, str) or not SECRET.fullmatch(token):
                raise InputError("`token` must be a secret that `gbb serve token create` printed.")
            self._headers["Authorization"] = f"Bearer {token}"
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def get(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        tag: str | None = None,
        *,
        more: float = 0.0,
    ) -> Reply:
        """Read something; 304 where it is still what ``tag`` says. It may take ``more`` seconds."""
        pairs = [(key, value) for key, value in (query or {}).items() if value is not None]
        place = f"{path}?{urlencode(pairs, doseq=True)}" if pairs else path
        headers = {} if tag is None else {"If-None-Match": tag}
        return self._say("GET", place, None, headers, more)

    def post(self, path: str, fields: Mapping[str, Any], *, more: float = 0.0) -> Reply:
        """Do something, once however often it must be said. It may take ``more`` seconds."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
        try:
            body = as_json(fields).encode()
        except TypeError as error:
            raise checks.conflict(f"This cannot be sent as JSON: {error}.") from None
        return self._say("POST", path, body, headers, more)

    def _say(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], more: float
    ) -> Reply:
        until = time.monotonic() + self.patience
        wait = SHORTEST
        while True:
            try:
                reply = self._attempt(method, path, body, headers, more)
            except (OSError, http.client.HTTPException) as error:
                why: Exception = _unreachable(self.url, error)
                least = 0.0
            else:
                if reply.status < 400:
                    return reply
                why = _refusal(reply)
                if reply.status not in AGAIN:
                    raise why
                after = reply.headers.get("retry-after", "")
                least = min(float(after), LONGEST) if after.isdecimal() else 0.0
            pause = max(least, wait * random.uniform(0.5, 1.5))
            if time.monotonic() + pause > until:
                raise why
            time.sleep(pause)
            wait = min(2.0 * wait, LONGEST)

    def _attempt(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], more: float
    ) -> Reply:
        connection = self._take()
        connection.timeout = self.timeout + more
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        try:
            connection.request(method, self._path + path, body, {**self._headers, **headers})
            answer = connection.getresponse()
            text = answer.read()
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)
        return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)

    def _take(self) -> http.client.HTTPConnection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port)

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < KEPT:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the connections; the next request opens another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _split(url: str) -> SplitResult:
    """The parts of the address of a service."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except (ValueError, AttributeError):  # no port that can be, or no text
        pass
    plain = isinstance(url, str) and HOST.fullmatch(url)
    cure = f"Write http://{url if plain else '127.0.0.1:8000'}."
    raise checks.input_error("url", "be the address of a service", repr(url), cure)


def _refusal(reply: Reply) -> Exception:
    """What the service refused, in the library's own words."""
    try:
        detail = str(reply.data["detail"])
    except (ValueError, KeyError, TypeError):
        detail = f"The service answered {reply.status}."
    if reply.status in (401, 403):
        return PermissionError(detail)
    if reply.status == 409:
        return KeyReusedError(detail)
    if reply.status in AGAIN or reply.status >= 500:
        return ServiceError(detail)
    return InputError(detail)


def _unreachable(url: str, error: Exception) -> ServiceError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return ServiceError(f"Cannot reach the service at {url}: {reason}.")
