"""Tokens: who may do what, kept as hashes in a file."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gbb._support import checks
from gbb._support.checks import InputError
from gbb._support.json_text import as_json, parse_json

if sys.platform != "win32":
    import fcntl

SCOPES = ("read", "operate", "administer")
"""What a token is good for; each holds those before it."""

SECRET = 32
"""Random bytes of a secret."""

LOCAL = "local"
"""What the history calls whoever needs no token; no token is called so."""

HASH = re.compile(r"[0-9a-f]{64}")

CURE = "Make one with: gbb serve token create NAME --scope read --tokens FILE."


class Token(NamedTuple):
    """A token but for its secret.

    Attributes
    ----------
    name
        Whose it is: the history says so of what was done with it.
    hash
        SHA-256 of the secret, in hexadecimal digits.
    scope
        One of :data:`SCOPES`.
    controller
        The only controller that it is good for; all when None.
    created
        When it was made, in seconds since 1970.
    """

    name: str
    hash: str
    scope: str
    controller: str | None = None
    created: float = 0.0

    def may(self, scope: str) -> bool:
        """Whether it is good for ``scope``."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Tokens:
    """The tokens of a file, which is read anew whenever it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp, self._tokens = _stamp(path), read_tokens(path)

    def read(self) -> list[Token]:
        """The tokens as the file has them now."""
        stamp = _stamp(self.path)
        if stamp != self._stamp:
            self._tokens = read_tokens(self.path)
            self._stamp = stamp
        return self._tokens

    def find(self, secret: str) -> Token | None:
        """The token with this secret; how long it takes says nothing of the others'."""
        given = hash_secret(secret)
        found = None
        for token in self.read():
            if hmac.compare_digest(token.hash, given):
                found = token
        return found


def hash_secret(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def create_token(path: Path, name: str, scope: str, controller: str | None = None) -> str:
    """Add a token to the file, which is made if it is not there; its secret, which nothing keeps."""
    checks.choice("scope", scope, SCOPES)
    if not name or name != name.strip() or not name.isprintable() or len(name) > 100:
        rule = "be a text on one line, of at most 100 characters, with no blanks around it"
        raise checks.input_error("name", rule, repr(name))
    if name == LOCAL:
        rule = "be another, as the history calls whoever needs no token so"
        raise checks.input_error("name", rule, repr(name))
    if controller == "":
        raise checks.input_error("controller", "be the name of a controller", "''")
    if not path.parent.is_dir():
        rule = "name a file in a folder"
        raise checks.input_error("tokens", rule, f"no folder {str(path.parent)!r}")
    secret = secrets.token_urlsafe(SECRET)
    new = Token(name, hash_secret(secret), scope, controller, round(time.time(), 3))
    with _alone(path):
        known = read_tokens(path) if path.exists() else []
        if name in {token.name for token in known}:
            raise checks.input_error("name", "be new", f"{name!r}, which is there already")
        write_tokens(path, [*known, new])
    return secret


def revoke_token(path: Path, name: str) -> None:
    """Take a token out of the file."""
    with _alone(path):
        known = read_tokens(path)
        checks.choice("name", name, [token.name for token in known])
        write_tokens(path, [token for token in known if token.name != name])


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let nobody else change the file meanwhile: what they write would be lost, or come back."""
    if sys.platform == "win32" or not path.parent.is_dir():
        yield
        return
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def read_tokens(path: Path) -> list[Token]:
    """The tokens of a file that only its owner can write."""
    try:
        text = path.read_bytes()
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise checks.input_error("tokens", "be a file", f"no file {str(path)!r}", CURE) from None
    if mode & 0o022:
        raise InputError(f"Others may write {str(path)!r}. Say: chmod 600 {path}.")
    try:
        return [_read_token(each) for each in parse_json(text.decode())["tokens"]]
    except (ValueError, TypeError, KeyError):
        rule = "be a file of tokens"
        raise checks.input_error("tokens", rule, f"{str(path)!r}, something else", CURE) from None


def _read_token(given: dict[str, Any]) -> Token:
    token = Token(**given)
    texts = (
        isinstance(token.name, str) and isinstance(token.hash, str) and HASH.fullmatch(token.hash)
    )
    rest = isinstance(token.controller, str | None) and isinstance(token.created, float | int)
    if not texts or not rest or token.scope not in SCOPES:
        raise ValueError
    return token


def write_tokens(path: Path, tokens: list[Token]) -> None:
    """Put a file in the place of the one before, whole or not at all; others may not read it."""
    text = as_json({"tokens": [token._asdict() for token in tokens]}, indent=2)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 600
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
