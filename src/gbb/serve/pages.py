"""What is no operation: the page, its files, the documentation, and whether all is well."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from importlib import resources
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from starlette.responses import Response

from gbb._support.json_text import as_json
from gbb.controller.log.events import StorageError
from gbb.serve.errors import Refused, busy
from gbb.serve.metrics import KIND
from gbb.serve.service import Service

T = TypeVar("T")

log = logging.getLogger("gbb.serve")

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
"""The types of the files that are given out; others are not."""


class Files:
    """The files of the page, read once, and found by name only."""

    def __init__(self, *folders: str) -> None:
        self.files: dict[str, tuple[bytes, str, str]] = {}
        for folder in folders:
            self._read(resources.files("gbb.serve") / folder, "")

    def _read(self, folder: Any, prefix: str) -> None:
        for each in folder.iterdir() if folder.is_dir() else ():
            name = f"{prefix}{each.name}"
            if each.is_dir():
                self._read(each, f"{name}/")
            elif (kind := KINDS.get("." + each.name.rpartition(".")[2])) is not None:
                content = each.read_bytes()
                tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
                self.files[name] = (content, kind, tag)

    def respond(self, name: str, known: str) -> Response:
        """A file, unless the browser has it."""
        if name not in self.files:
            raise Refused(404, "There is nothing here. The documentation is at /docs.")
        content, kind, tag = self.files[name]
        headers = {"etag": tag, "cache-control": "no-cache"}
        if tag in known:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=kind)


def add_pages(app: FastAPI, service: Service, describe: Callable[[], dict[str, Any]]) -> None:
    """Add all of it to the application."""
    files = Files("page")
    text: list[str] = []

    def file(name: str) -> Callable[..., Any]:
        async def give(request: Request) -> Response:
            service.guard.admit(request, None, None)
            return files.respond(name, request.headers.get("if-none-match", ""))

        return give

    async def static(request: Request) -> Response:
        service.guard.admit(request, None, None)
        name = request.path_params["file"]
        return files.respond(name, request.headers.get("if-none-match", ""))

    async def openapi(request: Request) -> Response:
        service.guard.admit(request, None, None)
        if not text:
            text.append(as_json(describe()))
        return Response(text[0], media_type="application/json")

    async def healthy(_: Request) -> Response:
        return Response('{"status": "alive"}', media_type="application/json")

    async def look(act: Callable[[], T]) -> T:
        """Read from the storage; where that is stays in the log, since anybody may ask."""
        try:
            return await service.in_thread(act)
        except StorageError as error:
            log.warning("the storage does not answer: %s", error)
            raise busy("The storage does not answer now.", 5) from None

    async def ready(_: Request) -> Response:
        await look(service.studies.names)
        return Response('{"status": "ready"}', media_type="application/json")

    async def metrics(request: Request) -> Response:
        caller = service.guard.admit(request, "read", None)
        if caller.controller is not None:
            raise Refused(403, "The metrics are of all controllers; the token is for one.")
        return Response(await look(service.metrics.text), media_type=KIND)

    pages: dict[str, Callable[..., Any]] = {
        "/": file("index.html"),
        "/docs": file("docs.html"),
        "/favicon.ico": file("icon.svg"),
        "/static/{file:path}": static,
        "/openapi.json": openapi,
        "/healthz": healthy,
        "/readyz": ready,
        "/metrics": metrics,
    }
    for path, page in pages.items():
        app.add_api_route(path, page, methods=["GET"], include_in_schema=False)
