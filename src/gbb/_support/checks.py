"""Argument checks: every message names the argument, the rule and the value, and the cure."""

from __future__ import annotations

import difflib
import itertools
import math
import operator
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


FEW = 6
"""Values that an error shows of an array."""


LONG = 400
"""Characters of a value that an error shows."""


MANY = 50
"""Names that an error lists."""


class InputError(ValueError):
    """What the caller passed breaks a stated rule."""


def input_error(name: str, rule: str, value: object, cure: str = "") -> InputError:
    """The error ``Expected `name` to be rule, but got value. cure``, to be raised by the caller."""
    text = f"Expected `{name}` to {rule}, but got {_in_few_words(str(value))}."
    return InputError(f"{text} {cure}" if cure else text)


def _in_few_words(text: str) -> str:
    """A value on one line, of which a long one is cut short."""
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= LONG else f"{line[: LONG // 2]}... ({len(line)} characters)"


def conflict(sentence: str) -> InputError:
    """The error for arguments that do not go together, to be raised by the caller.

    >>> conflict("`--all` can only be combined with `--allow`.")
    InputError('`--all` can only be combined with `--allow`.')
    """
    return InputError(sentence)


def real(
    name: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    low_open: bool = False,
    cure: str = "",
) -> float:
    """A finite number in [low, high], or in (low, high] when ``low_open``."""
    left = f"> {low:g}" if low_open else f">= {low:g}"
    limits = [left] if low > -math.inf else []
    limits += [f"<= {high:g}"] if high < math.inf else []
    rule = "be a finite number " + " and ".join(limits)
    number = number_in(value)
    if number is None:
        raise input_error(name, rule.strip(), repr(value), cure)
    below = number <= low if low_open else number < low
    if not math.isfinite(number) or below or number > high:
        raise input_error(name, rule.strip(), number, cure)
    return number


def integer(
    name: str, value: object, *, low: int | None = None, high: int | None = None, cure: str = ""
) -> int:
    """A whole number in [low, high]."""
    limits = [f">= {low}"] if low is not None else []
    limits += [f"<= {high}"] if high is not None else []
    rule = ("be a whole number " + " and ".join(limits)).strip()
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool | np.bool_):
        raise input_error(name, rule, repr(value), cure)
    if (low is not None and number < low) or (high is not None and number > high):
        raise input_error(name, rule, number, cure)
    return number


def truth(name: str, value: object) -> bool:
    """``value``, which must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise input_error(name, "be True or False", repr(value))
    return bool(value)


def array(
    name: str,
    value: ArrayLike,
    *,
    ndim: int | None = None,
    shape: tuple[int, ...] | None = None,
    meaning: str = "",
    cure: str = "",
    missing: bool = False,
) -> FloatArray:
    """Return a read-only float64 copy of ``value`` with finite entries and the given shape.

    Truth values are not 0 and 1, and what is masked is not what lies under the mask. NaN is refused
    unless it stands for what is ``missing``.
    """
    unmasked(name, value)
    rule, kind = "be an array of numbers", type(value).__name__
    try:
        raw = np.asarray(value)
        if raw.dtype.kind in "bc":  # numpy would drop an imaginary part with a warning
            kind = f"{kind} of {raw.dtype}"
            raise TypeError
        result = np.array(raw, dtype=np.float64)
    except OverflowError:
        raise input_error(name, "hold finite numbers only", "one of over 308 digits") from None
    except (TypeError, ValueError):
        raise input_error(name, rule, kind, cure) from None
    about = f", {meaning}" if meaning else ""
    if ndim is not None and result.ndim != ndim:
        raise input_error(name, f"have {ndim} dimensions{about}", f"shape {result.shape}", cure)
    if shape is not None and result.shape != shape:
        raise _wrong_shape(name, shape, about, result, cure)
    finite(name, result, missing=missing)
    result.flags.writeable = False
    return result


def _wrong_shape(
    name: str, shape: tuple[int, ...], about: str, found: NDArray[Any], cure: str = ""
) -> InputError:
    """The error for another shape, with the values where they are few."""
    shown = f": {found.tolist()}" if found.size <= FEW else ""
    cure = cure or f"Pass {' x '.join(map(str, shape))} numbers."
    return input_error(name, f"have shape {shape}{about}", f"{found.shape}{shown}", cure)


def unmasked(name: str, value: object) -> None:
    """Refuse masked entries, whose values would be taken for what they hide."""
    if np.ma.is_masked(value):
        count = int(np.ma.count_masked(value))  # type: ignore[no-untyped-call]
        cure = "Leave out what is missing."
        raise input_error(name, "hold no masked entries", f"{count} of them", cure)


def finite(name: str, values: FloatArray, *, missing: bool = False) -> None:
    """Refuse infinite entries, and NaN unless it stands for what is ``missing``, naming the first."""
    bad = ~np.isfinite(values)
    if missing:
        bad &= ~np.isnan(values)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = where[0] if len(where) == 1 else where
        raise input_error(name, "hold finite numbers only", f"{values[where]} at position {place}")


def indices(
    name: str, value: ArrayLike, *, length: int, high: int, meaning: str, cure: str = ""
) -> IntArray:
    """A read-only int64 copy of ``value``: ``length`` whole numbers in 0..high-1."""
    unmasked(name, value)
    raw = np.asarray(value)
    if raw.shape != (length,):
        raise _wrong_shape(name, (length,), f", {meaning}", raw)
    if raw.dtype.kind not in "iu":
        whole = "Make them whole: .astype(int)." if raw.dtype.kind == "f" else ""
        raise input_error(name, f"hold whole numbers, {meaning}", f"dtype {raw.dtype}", whole)
    result = raw.astype(np.int64)
    bad = (result < 0) | (result >= high)
    if bad.any():
        where = int(np.argmax(bad))
        found = f"{result[where]} at position {where}"
        raise input_error(name, f"hold numbers from 0 to {high - 1}", found, cure)
    result.flags.writeable = False
    return result


def is_number(value: object) -> bool:
    """Whether it is a number; text may be one."""
    return number_in(value) is not None


def number_in(value: object) -> float | None:
    """The number that a cell holds; None for what is none, as truth values and 1_000 are."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, str) and "_" in value):
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


def is_missing(value: object) -> bool:
    """Whether it stands for a cell that holds nothing: None, NaN, and what pandas calls NA."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def choice(name: str, value: object, options: Iterable[str], *, cure: str = "") -> str:
    """Return ``value`` if it is one of ``options``; the error has the nearest of them."""
    allowed = sorted(options)
    if isinstance(value, str) and value in allowed:
        return value
    rule = f"be one of {_list([repr(option) for option in allowed])}"
    raise input_error(name, rule, repr(value), cure or suggest(str(value), allowed))


def known_names(owner: str, kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error for the first of ``names`` that is not ``known``, with the nearest names.

    Meant for keywords, settings and columns, which come as many names at once.

    >>> known_names("OFUL", "setting", ["lan"], ["delta", "lam"])
    Traceback (most recent call last):
    gbb._support.checks.InputError: OFUL has no setting 'lan'; it has delta, lam. Did you mean 'lam'?
    """
    allowed = sorted(known)
    for name in names:
        if name not in allowed:
            text = f"{owner} has no {kind} {name!r}; it has {_list(allowed) or 'none'}."
            raise InputError(f"{text} {suggest(str(name), allowed)}".rstrip())


def _list(names: Sequence[str]) -> str:
    """List names in an error: all of them, or the first of very many."""
    more = f", ... ({len(names):,} in all)" if len(names) > MANY else ""
    return ", ".join(names[:MANY]) + more


def suggest(word: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """Return ``Did you mean ...?`` with the known words nearest to ``word``, or an empty text.

    Known words that start with ``word`` are nearer than any other.
    """
    # difflib takes 5 microseconds a word: 20,000 of them are the most that an error may wait for.
    by_lower = {option.lower(): option for option in itertools.islice(known, 20_000)}
    start = word.lower()
    close = sorted((option for option in by_lower if option.startswith(start)), key=len)[:1]
    if not close or len(start) < 3:
        # Several names are shown only where all are so near that each may be meant.
        close = difflib.get_close_matches(start, by_lower, n=3, cutoff=0.75)
        close = close or difflib.get_close_matches(start, by_lower, n=1, cutoff=cutoff)
    return (
        f"Did you mean {' or '.join(repr(by_lower[option]) for option in close)}?" if close else ""
    )


def require_memory(name: str, size: float, *, cure: str = "") -> None:
    """Raise an error if the argument ``name`` asks for more bytes than this machine has.

    Called before anything large is allocated: being killed by the system is not an error message.
    """
    if size > (total := total_memory()):
        rule = f"fit into this machine's memory of {total / 2**30:,.0f} GiB"
        text = f"Expected `{name}` to {rule}, but it needs about {size / 2**30:,.0f} GiB."
        raise InputError(f"{text} {cure}".rstrip())


def total_memory() -> float:
    """Return the bytes of memory of this machine; infinity if the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def names(name: str, value: Sequence[Any] | None, *, length: int) -> tuple[str, ...] | None:
    """``length`` distinct, non-empty names as strings, or None."""
    if value is None:
        return None
    if isinstance(value, str):
        raise input_error(name, "be a list of names", repr(value))
    for place, item in enumerate(value):
        if is_missing(item):
            raise input_error(name, "hold a name each", f"{item!r} at position {place}")
    result = tuple(str(item) for item in value)
    if len(result) != length:
        raise input_error(name, f"hold {length} names", len(result))
    if len(set(result)) != length:
        twice, _ = Counter(result).most_common(1)[0]
        raise input_error(name, "hold distinct names", f"{twice!r} more than once")
    if "" in result:
        raise input_error(
            name, "hold names that are not empty", f"'' at position {result.index('')}"
        )
    return result


def frozen(values: NDArray[Any]) -> NDArray[Any]:
    """The same array, made read-only."""
    values.flags.writeable = False
    return values
