"""What is refused: a status and the one line that says why, as problem+json."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from gbb._support.json_text import as_json

PROBLEM = "application/problem+json"


class Refused(Exception):  # noqa: N818
    """A request that is answered with an error.

    Parameters
    ----------
    status
        The HTTP status.
    detail
        The one line that says why.
    headers
        More headers of the answer.
    """

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, " ".join(detail.split())
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self) -> Response:
        """The answer."""
        return problem(self.status, self.detail, self.headers)


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """An error as RFC 9457 says it."""
    said: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase}
    said |= {"status": status, "detail": detail}
    return Response(as_json(said), status, headers, media_type=PROBLEM)


def not_found(detail: str) -> Refused:
    """There is no such thing."""
    return Refused(404, detail)


def unreadable(detail: str) -> Refused:
    """The request itself cannot be read."""
    return Refused(400, detail)


def busy(detail: str, seconds: int = 1) -> Refused:
    """Not now: try again."""
    return Refused(503, detail, Retry_After=str(seconds))
