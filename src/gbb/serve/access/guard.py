"""Who is calling, and whether they may: tokens, scopes, rates, and where a page came from."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple

from starlette.requests import Request

from gbb._support.checks import InputError
from gbb.serve.access.limits import Limits, Rate
from gbb.serve.access.tokens import LOCAL, Token, Tokens
from gbb.serve.errors import Refused, busy

PAGES = ("/", "/docs")
"""What a link on a page of another site may lead to."""


class Caller(NamedTuple):
    """Whoever sent a request: the name that the history keeps, and the only controller it may see."""

    name: str
    scope: str = "administer"
    controller: str | None = None
    token: Token | None = None

    def sees(self, controller: str) -> bool:
        """Whether it may see the controller."""
        return self.controller is None or self.controller == controller


class Guard:
    """Lets requests pass, or refuses them.

    Parameters
    ----------
    tokens
        Who may do what; None where everybody on this machine may do everything.
    limits
        How often.
    """

    def __init__(self, tokens: Tokens | None, limits: Limits) -> None:
        self.tokens = tokens
        self._rate, self._failures = Rate(limits.rate), Rate(limits.failures)

    def admit(self, request: Request, scope: str | None, controller: str | None) -> Caller:
        """Who is calling for something that needs ``scope``, of one controller or of all."""
        check_origin(request)
        if self.tokens is None:
            check_host(request)
            caller = Caller(LOCAL)
        elif scope is None:
            caller = Caller("")
        else:
            caller = self._recognise(request, scope, controller)
        who = caller.name or f"from {_address(request)}"
        if not self._rate.take(who):
            raise Refused(429, "Too many requests: slow down.", Retry_After="1")
        return caller

    def knows(self, caller: Caller) -> bool:
        """Whether a caller may still do what it was let do: its token may have been revoked."""
        if self.tokens is None or caller.token is None:
            return True
        try:
            return caller.token in self.tokens.read()
        except (InputError, OSError):
            return False

    def _recognise(self, request: Request, scope: str, controller: str | None) -> Caller:
        assert self.tokens is not None
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        token = self._find(secret.strip()) if kind.lower() == "bearer" else None
        if token is not None:  # whatever else comes from this address, which may be a proxy's
            return _check_scope(token, scope, controller)
        if secret and not self._failures.take(_address(request)):
            raise Refused(429, "Too many wrong tokens: wait a second.", Retry_After="1")
        said = "This token is not known." if secret else "A token is needed."
        raise Refused(
            401,
            f"{said} Send the header Authorization: Bearer TOKEN.",
            WWW_Authenticate='Bearer realm="gbb"',
        )

    def _find(self, secret: str) -> Token | None:
        assert self.tokens is not None
        try:
            return self.tokens.find(secret)
        except (InputError, OSError):
            raise busy("The file of tokens cannot be read.", 10) from None


def _check_scope(token: Token, scope: str, controller: str | None) -> Caller:
    if not token.may(scope):
        said = f"The token {token.name!r} has the scope {token.scope!r}; this needs {scope!r}."
        raise Refused(403, said)
    caller = Caller(token.name, token.scope, token.controller, token)
    if controller is not None and not caller.sees(controller):
        raise Refused(403, f"The token {token.name!r} is for another controller.")
    return caller


def check_origin(request: Request) -> None:
    """Refuse what a page of another site makes a browser send."""
    said = "Requests from pages of other sites are refused."
    followed = request.headers.get("sec-fetch-mode") == "navigate" and request.url.path in PAGES
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site") and not followed:
        raise Refused(403, said)
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host", ""):
        raise Refused(403, said)


def check_host(request: Request) -> None:
    """Refuse a name that somebody made lead to this machine, where there are no tokens."""
    host = request.headers.get("host", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    if not is_loopback(name.lower().removeprefix("[").removesuffix("]")):
        said = "Without tokens only localhost is answered. Start with --tokens FILE for others."
        raise Refused(421, said)


def is_loopback(host: str) -> bool:
    """Whether only this machine can be meant by the name or address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""
