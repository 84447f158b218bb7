"""Options that several commands share, and groups of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import OptionInfo

from gbb._cli.errors import reword

GRAPH = "The graph"
INSTANCE = "The instance"
LEARNER = "The learner"
RUN = "The run"


def option(
    help: str,
    shown: object = None,
    *names: str,
    panel: str | None = None,
    metavar: str | None = None,
) -> Any:
    """An option; ``shown`` is the default to show for one left out, ``panel`` where the help has it."""
    default = False if shown is None else str(shown)
    return typer.Option(
        *names, help=help, rich_help_panel=panel, show_default=default, metavar=metavar
    )


GraphSpec = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        show_default=False,
        help="A file (.csv, .graphml, .json, .txt or .gset) or FAMILY:SIZE, such as complete:5, "
        "random:100, grid:4x6 or regular:50.",
    ),
]
Rounds = Annotated[int, option("The horizon T.", 1000, panel=RUN)]
Cuda = Annotated[bool, option("Play on the GPU, all runs side by side.", panel=RUN)]
Json = Annotated[bool, typer.Option(help="Print JSON.")]


def expand(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose groups of options are the options of these groups, one by one.

    A parameter annotated with a dataclass of options, or of further groups, stands for one keyword
    per option; the command itself is handed the filled dataclass. Options are called as their
    parameters, and stand in the ``panel`` of their group, unless they say otherwise; errors call them
    as the user does.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters.values()
    plain = [each for parameter in parameters for each in _options(parameter, hints)]
    words = {f"`{each.name}`": f"`{_called(each)}`" for each in plain}

    @wraps(command)
    def expanded(**given: Any) -> None:
        with reword(words):
            command(**{each.name: _fill(each.name, hints, given) for each in parameters})

    expanded.__signature__ = inspect.Signature(plain)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in plain}
    return expanded


def _options(
    parameter: inspect.Parameter, hints: dict[str, Any], panel: str | None = None
) -> Iterator[inspect.Parameter]:
    """The options that a parameter stands for: itself, or those of its group."""
    kind = hints[parameter.name]
    if not is_dataclass(kind):
        yield parameter.replace(annotation=_complete(parameter.name, kind, panel))
        return
    inner = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        keyword = inspect.Parameter(field.name, parameter.KEYWORD_ONLY, default=field.default)
        yield from _options(keyword, inner, getattr(kind, "panel", None))


def _complete(name: str, kind: Any, panel: str | None) -> Any:
    """The annotation of an option, with its own name and its group's panel where it has none."""
    info = copy(kind.__metadata__[0])
    if _is_option(kind):
        info.rich_help_panel = info.rich_help_panel or panel
        if info.default is ...:  # no name was given
            info.param_decls = (f"--{name.replace('_', '-')}",)
    return Annotated[kind.__origin__, info]


def _called(parameter: inspect.Parameter) -> str:
    """What the user calls a parameter: an option by its flag, an argument by its capitals."""
    if _is_option(parameter.annotation):
        return f"--{parameter.name.replace('_', '-')}"
    metavar = parameter.annotation.__metadata__[0].metavar or parameter.name.upper()
    return str(metavar).strip("[]")


def _is_option(kind: Any) -> bool:
    return isinstance(kind.__metadata__[0], OptionInfo)


def _fill(name: str, hints: dict[str, Any], given: dict[str, Any]) -> Any:
    """The value of a parameter: what is given, or its group filled from that."""
    if not is_dataclass(kind := hints[name]):
        return given[name]
    make: Any = kind
    inner = get_type_hints(kind, include_extras=True)
    return make(**{field.name: _fill(field.name, inner, given) for field in fields(kind)})
