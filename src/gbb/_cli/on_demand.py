"""Commands that are imported when they are called; listing them imports nothing."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from gbb._cli.loading import loading
from gbb._cli.options import expand

Places = Mapping[str, tuple[str, str]]
"""Commands by name: their module below ``gbb._cli``, and the line of help that lists them."""


class OnDemand(TyperCommand):
    """Stands in its group for a command or a group of commands that is not imported yet."""

    def __init__(self, name: str, place: str, help: str) -> None:
        super().__init__(name=name, help=help)
        self.place = place

    def load(self) -> Any:
        """The command itself; a group's help is that of the line that lists it."""
        with loading():
            found = getattr(import_module(f"gbb._cli.{self.place}"), _python_name(str(self.name)))
        if not isinstance(found, typer.Typer | TyperGroup):
            app = typer.Typer(add_completion=False)
            app.command(self.name)(expand(found))
            return get_command(app)
        group = found if isinstance(found, TyperGroup) else get_command(found)
        group.help = self.help
        return group

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """The context of the command itself, which is then what is invoked."""
        return self.load().make_context(info_name, args, *rest, **extra)


def _python_name(name: str) -> str:
    """What the function of a command is called: ``import`` is ``import_``, ``list`` is ``list_``."""
    plain = name.replace("-", "_")
    return f"{plain}_" if keyword.iskeyword(plain) or hasattr(builtins, plain) else plain


def add_commands(group: TyperGroup, places: Places) -> TyperGroup:
    """``group`` with these commands."""
    for name, (place, help) in places.items():
        group.add_command(OnDemand(name, place, help))
    return group
