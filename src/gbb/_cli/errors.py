"""What goes wrong becomes one line on standard error and an exit code."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import typer

from gbb._cli.loading import GOODBYE, INTERRUPTED
from gbb._support.checks import InputError

BAD_INPUT = 2
UNKNOWN = 3
"""Exit code of bad input where 2 says something else: to monitoring systems, that all is critical."""

LINKS = "Types and weights go to `gbb control create` in a file of their own, `--links`."

WORDS = {
    "`M_star`": "`--matrix`",
    "`S`": "`--S`",
    "`horizon`": "`--rounds`",
    "`policies`": "`--policy`",
    "Call fail() or abandon() for": "Use --fail or --abandon for",
    "Pass types and weights to Problem as edge_types and edge_weights.": LINKS,
    "Positions go with from_edges(positions=...), .json and .graphml.": "Positions go to `gbb control "
    "create` in a file of their own, `--positions`; .json and .graphml hold them too.",
    "undirected=True": "--undirected",
    "Pass contexts=... to gbb.Problem.": "`gbb control create` takes them, `--contexts`.",
    "Cannot use 'sqlite": "Cannot use `URL` 'sqlite",
    "Cannot use 'postgres": "Cannot use `URL` 'postgres",
    'record="log"': "--record log",
    "Give each policy its own name=...": "Name each policy once.",
}
"""What the library's messages call things, and what the command line calls them.

A command's own options are added by :func:`gbb._cli.options.expand`.
"""

RULES = {
    "int_parsing": "be a whole number",
    "int_from_float": "be a whole number",
    "float_parsing": "be a number",
}
"""What the values of options and arguments must be, by the kind of error."""

WORD = re.compile("|".join(map(re.escape, WORDS)))


def exit_code_of(command: Callable[[], object], bad_input: int = BAD_INPUT) -> int:
    """Run ``command``; its exit code, after one line on standard error if it failed."""
    try:
        with warnings.catch_warnings():
            once = cache(warn)
            warnings.showwarning = lambda message, *_: once(str(message))
            code = command()
        if code == INTERRUPTED:  # typer turns the interrupt into this code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return _say(GOODBYE, INTERRUPTED)
    except typer.TyperException as error:
        text = _usage(error)
        # A group of commands called without one has printed its help and has no more to say.
        return _say(f"error: {text}", bad_input) if text else 0
    except InputError as error:
        return _say(f"error: {in_options(error)}", bad_input)
    except OSError as error:
        where = "" if error.filename is None else f": {error.filename!r}"
        text = in_options(error.strerror or str(error) or type(error).__name__)
        return _say(f"error: {text}{where}", bad_input)
    except MemoryError as error:
        return _say(f"error: Not enough memory. {error}", bad_input)


def _usage(error: typer.TyperException) -> str:
    """What is wrong with a command line, as typer says it; in our words where a value has no sense.

    An argument's error has the order of all arguments, and what is missing has its help.
    """
    text, param = error.format_message(), getattr(error, "param", None)
    wrong: list[dict[str, object]] = getattr(error.__cause__, "errors", list)()
    rule = RULES.get(str(wrong[0]["type"])) if wrong else None
    if param is not None and rule is not None:
        argument = param.param_type_name == "argument"
        name = _metavar(param).strip("[]") if argument else param.opts[0]
        got = f"Expected `{name}` to {rule}, but got {wrong[0]['input']!r}."
        return f"{got}{_order(error)}" if argument else got
    about = str(getattr(param, "help", None) or "")
    if text.startswith("Missing") and about:
        return f"{text.rstrip('.')}: {about[0].lower()}{about[1:]}"
    return text


def _order(error: typer.TyperException) -> str:
    """The arguments of the command in their order."""
    command = getattr(error, "cmd", None)
    given = [each for each in getattr(command, "params", ()) if each.param_type_name == "argument"]
    return f" The order is {' '.join(map(_metavar, given))}." if len(given) > 1 else ""


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def in_options(message: object) -> str:
    """A message of the library in the words of the command line."""
    return WORD.sub(lambda found: WORDS[found[0]], str(message))


@contextmanager
def reword(words: Mapping[str, str]) -> Iterator[None]:
    """Say what goes wrong in a command's own words, where they are not those of all commands."""
    try:
        yield
    except InputError as error:
        text = str(error)
        for old, new in words.items():
            text = text.replace(old, new)
        raise InputError(text) from None


def warn(text: str) -> None:
    """Write a warning on one line."""
    _say(f"warning: {in_options(text)}", 0)


def _say(text: str, code: int) -> int:
    """Write ``text`` on one line, whatever it holds."""
    print("gbb:", " ".join(text.split()), file=sys.stderr)  # noqa: T201
    return code
