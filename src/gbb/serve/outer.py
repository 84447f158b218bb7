"""Around the application: paths as they were sent, headers that keep browsers in check."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gbb.serve.errors import problem

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
MOST_HEADERS = 1 << 15
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Outer:
    """The application, to which names in paths come as they were sent: a %2F is part of a name."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = {name for name, _ in message.get("headers", ())}
                more = [] if b"cache-control" in kept else [(b"cache-control", b"no-cache")]
                headers = [*message.get("headers", ()), *HEADERS, *more]
                message = {**message, "headers": headers}
            await send(message)

        if sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEADERS:
            said = f"The headers may have at most {MOST_HEADERS:,} bytes."
            await problem(431, said)(scope, receive, pass_on)
            return
        raw = scope.get("raw_path") or scope["path"].encode()
        path = raw.partition(b"?")[0].decode("latin-1")
        await self.app({**scope, "path": path, "root_path": ""}, receive, pass_on)
