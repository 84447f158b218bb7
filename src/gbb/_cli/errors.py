"""What goes wrong becomes one line on standard error and an exit code."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

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
    "Pass them to Problem as edge_weights.": LINKS,
    "undirected=True": "--undirected",
    "Pass contexts=... to gbb.Problem.": "`gbb control create` takes them, `--contexts`.",
    'method="reference"': "--reference",
    'record="log"': "--record log",
    "Give each policy its own name=...": "Name each policy once.",
}
"""What the library's messages call things, and what the command line calls them.

A command's own options are added by :func:`gbb._cli.options.expand`.
"""

WORD = re.compile("|".join(map(re.escape, WORDS)))


def exit_code_of(command: Callable[[], object], bad_input: int = BAD_INPUT) -> int:
    """Run ``command``; its exit code, after one line on standard error if it failed."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: warn(str(message))
            code = command()
        if code == INTERRUPTED:  # typer turns the interrupt into this code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return _say(GOODBYE, INTERRUPTED)
    except typer.TyperException as error:
        text = error.format_message()
        # A group of commands called without one has printed its help and has no more to say.
        return _say(f"error: {text}{_value(error)}", bad_input) if text else 0
    except InputError as error:
        return _say(f"error: {in_options(error)}", bad_input)
    except OSError as error:
        where = "" if error.filename is None else f": {error.filename!r}"
        return _say(f"error: {error.strerror or type(error).__name__}{where}", bad_input)
    except MemoryError as error:
        return _say(f"error: Not enough memory. {error}", bad_input)


def _value(error: Exception) -> str:
    """The value that could not be converted, which the message of a usage error leaves out."""
    wrong: list[dict[str, object]] = getattr(error.__cause__, "errors", list)()
    return f" (got {wrong[0]['input']!r})." if wrong and "input" in wrong[0] else ""


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
