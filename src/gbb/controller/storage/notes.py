"""Notes of requests: what was answered to one, kept in the transaction that did what it says."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from typing import Any, NamedTuple, cast

import sqlalchemy as sa

from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.storage.schema import requests

LONGEST_KEY = 200
KEPT = 3600.0
"""For so many seconds an answer is kept."""

SELDOM = 32
"""After about so many answers, those that are too old are let go."""

Answer = dict[str, Any]


class KeyReusedError(InputError):
    """A key was used before, for a request that says something else."""


class Request(NamedTuple):
    """A request that is to be done once, however often it comes.

    Attributes
    ----------
    by
        Who makes it; everybody has keys of their own.
    key
        Says that it is the same request.
    body
        What it says, in bytes.
    """

    by: str
    key: str
    body: bytes

    @property
    def digest(self) -> str:
        """What stands for the body."""
        return hashlib.sha256(self.body).hexdigest()


def make_request(by: str | None, key: str | None, body: bytes) -> Request | None:
    """The request, if it has a ``key``."""
    if key is None:
        return None
    if not (0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        rule = f"be 1 to {LONGEST_KEY} printable ASCII characters"
        raise checks.input_error("key", rule, ascii(key))
    return Request(by or "", key, body)


def find_answer(connection: sa.Connection, study: int, request: Request) -> Answer | None:
    """What was answered to the same request before, if it was made."""
    place = {"study": study, "by": request.by, "key": request.key}
    found = connection.execute(_FIND, place).first()
    if found is None:
        return None
    if found.body != request.digest:
        raise KeyReusedError(
            f"The key {request.key!r} was used for another request. Nothing was changed; take a new key."
        )
    return cast(Answer, json.loads(found.answer))


def keep_answer(connection: sa.Connection, study: int, request: Request, answer: Answer) -> None:
    """Keep what is answered; now and then let go of what is older than an hour."""
    now = time.time()
    if zlib.crc32(request.key.encode()) % SELDOM == 0:
        connection.execute(_OLD, {"study": study, "until": now - KEPT})
    row = {"study": study, "by": request.by, "key": request.key, "time": now}
    connection.execute(_KEEP, {**row, "body": request.digest, "answer": json.dumps(answer)})


# Built once: making a statement costs more than running it.
_HERE = requests.c.study == sa.bindparam("study")
_FIND = sa.select(requests.c.body, requests.c.answer).where(
    _HERE, requests.c.by == sa.bindparam("by"), requests.c.key == sa.bindparam("key")
)
_OLD = sa.delete(requests).where(_HERE, requests.c.time < sa.bindparam("until"))
_KEEP = sa.insert(requests)
