"""``gbb serve``: controllers over HTTP, with a page to watch them on; and who may use it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gbb._cli.control.options import Storage
from gbb._cli.on_demand import Places, add_commands
from gbb._support.checks import InputError

TokensFile = Annotated[
    Path, typer.Option(metavar="FILE", help="The file of tokens, which keeps hashes only.")
]
TokenName = Annotated[str, typer.Argument(metavar="NAME", help="The token's name.")]

MISSING = "Install what it needs with: pip install 'graphical-bilinear-bandits[serve]'."


def start(
    url: Storage,
    *,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8000,
    tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What each token may do; without, only this machine can connect."
        ),
    ] = None,
    most_bytes: Annotated[int, typer.Option(help="The largest body of a request.")] = 1 << 25,
    rate: Annotated[float, typer.Option(help="Requests a second of one caller.")] = 2000.0,
) -> None:
    """Serve the controllers of a storage over HTTP, with a page, until it is stopped.

    `gbb serve URL` is short for `gbb serve start URL`. The page is at /, the
    documentation of the API at /docs. A storage that does not exist is created.
    """
    from gbb._support import checks

    try:
        from gbb.serve.access.limits import Limits
        from gbb.serve.access.tokens import Tokens
        from gbb.serve.run import serve as run
    except ModuleNotFoundError as error:
        raise InputError(f"gbb serve needs the package {error.name}. {MISSING}") from None
    limits = Limits(
        bytes=checks.integer("most_bytes", most_bytes, low=1024),
        rate=checks.real("rate", rate, low=1.0),
    )
    known = None if tokens is None else Tokens(tokens)
    run(url, host, port, tokens=known, limits=limits, say=typer.echo)


def create(
    name: TokenName,
    tokens: TokensFile,
    scope: Annotated[str, typer.Option(help="read, operate or administer.")] = "read",
    controller: Annotated[
        str | None, typer.Option(help="The only controller that it is good for.")
    ] = None,
) -> None:
    """Make a token, and print its secret: this once."""
    from gbb.serve.access.tokens import create_token

    typer.echo(create_token(tokens, name, scope, controller))


def list_(tokens: TokensFile) -> None:
    """The tokens of a file: their names, scopes and controllers."""
    from gbb.serve.access.tokens import read_tokens

    for token in read_tokens(tokens):
        since = datetime.fromtimestamp(token.created, UTC).strftime("%Y-%m-%d")
        where = "all controllers" if token.controller is None else token.controller
        typer.echo(f"{token.name}\t{token.scope}\t{where}\tsince {since}")


def revoke(name: TokenName, tokens: TokensFile) -> None:
    """Take a token out of the file: a running server refuses it at once."""
    from gbb.serve.access.tokens import revoke_token

    revoke_token(tokens, name)
    typer.echo(f"revoked {name!r}")


class _Serve(TyperGroup):
    """A group whose first command need not be said."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What is no command is what is to be served."""
        named = not args or args[0] in self.commands or args[0] in ctx.help_option_names
        rest: list[str] = super().parse_args(ctx, args if named else ["start", *args])
        return rest


TOKEN: Places = {
    "create": ("commands.serve", "Make a token, and print its secret: this once."),
    "list": ("commands.serve", "The tokens of a file: their names, scopes and controllers."),
    "revoke": (
        "commands.serve",
        "Take a token out of the file: a running server refuses it at once.",
    ),
}
PLACES: Places = {
    "start": (
        "commands.serve",
        "Serve the controllers of a storage over HTTP. `gbb serve URL` is short for it, and takes its "
        "--host, --port and --tokens.",
    ),
    "token": ("commands.serve", "Access by tokens: make them, list them and revoke them."),
}

token = add_commands(TyperGroup(name="token", no_args_is_help=True), TOKEN)
serve = add_commands(_Serve(name="serve", no_args_is_help=True), PLACES)
