"""The application: a route for each operation, and what is said where there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gbb.serve.api.openapi import document, route_extras
from gbb.serve.api.table import OPERATIONS
from gbb.serve.endpoint import make_endpoint
from gbb.serve.errors import Refused, problem
from gbb.serve.outer import Outer
from gbb.serve.pages import add_pages
from gbb.serve.service import Service

SILENT: dict[str, Any] = {
    "telemetry": dict.fromkeys(
        ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
    )
}
"""Nothing leaves the machine, whatever its environment says."""


def make_app(service: Service) -> Outer:
    """The application of a service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="gbb",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        **SILENT,
    )
    for operation in OPERATIONS:
        app.add_api_route(
            operation.path,
            make_endpoint(service, operation),
            methods=[operation.method],
            operation_id=operation.id,
            **route_extras(operation),
        )
    add_pages(app, service, lambda: document(app, secured=service.guard.tokens is not None))
    app.add_exception_handler(HTTPException, _say_http)
    app.add_exception_handler(Refused, _say_refused)
    return Outer(app)


async def _say_http(request: Request, error: Exception) -> Response:
    """What the router says, in our words."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem(404, "There is nothing here. The documentation is at /docs.")
    if error.status_code == 405:
        allowed = sorted(_methods(request))
        said = f"Use {' or '.join(allowed)} here, not {request.method}."
        return problem(405, said, {"allow": ", ".join(allowed)})
    return problem(error.status_code, str(error.detail))


def _methods(request: Request) -> set[str]:
    """The methods of all routes that lead here."""
    found: set[str] = set()
    for route in request.app.routes:
        match, _ = route.matches(request.scope)
        if match.value:
            found |= route.methods or set()
    return found


async def _say_refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return error.response()
