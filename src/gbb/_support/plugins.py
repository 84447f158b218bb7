"""Plug-ins: policies, cuts, solvers and noise laws, by name, of gbb and of installed packages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

from gbb._support import checks
from gbb._support.checks import InputError

T = TypeVar("T")
Accepts = Callable[[Any], bool]


def members(group: str, builtin: Mapping[str, T], accepts: Accepts = callable) -> dict[str, T]:
    """Return all members of a family by name: gbb's own and those of installed packages.

    A package offers a member as an entry point of ``group``. One that cannot be loaded, or whose name
    is taken, is left out with a warning, so that a broken package disables nothing else.
    """
    from importlib.metadata import entry_points

    found = dict(builtin)
    for entry in entry_points(group=group):
        try:
            if entry.name in found:
                raise checks.conflict(f"The name {entry.name!r} is taken.")
            found[entry.name] = _import(entry.value, group, accepts, entry.name)
        except InputError as error:
            package = entry.dist.name if entry.dist else entry.value
            # Warned of here, not at the caller: Python then shows it once, however often it is listed.
            warnings.warn(
                f"{group}: {entry.name!r} of {package} is left out. {error}", stacklevel=1
            )
    return found


def load(
    group: str,
    name: str,
    builtin: Mapping[str, T],
    accepts: Accepts = callable,
    *,
    argument: str,
) -> T:
    """Return the member called ``name``, or the object at ``package.module:Name``.

    Errors call it ``argument``.
    """
    if isinstance(name, str) and ":" in name:
        member: T = _import(name, group, accepts, argument)
        return member
    # Installed packages are looked through only for a name that gbb does not know.
    known = (
        builtin if isinstance(name, str) and name in builtin else members(group, builtin, accepts)
    )
    return known[checks.choice(argument, name, known)]


def _import(path: str, group: str, accepts: Accepts, argument: str) -> Any:
    module, _, name = path.partition(":")
    try:
        found: Any = import_module(module)
    except Exception as error:  # whatever another package's code raises when it is imported
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"Cannot import {path!r} for `{argument}`: {reason}.") from error
    for part in name.split("."):
        if not hasattr(found, part):
            rule = f"name something in {module!r}"
            raise checks.input_error(argument, rule, repr(path), checks.suggest(part, dir(found)))
        found = getattr(found, part)
    if not accepts(found):
        got = f"{path!r} ({type(found).__name__})"
        raise checks.input_error(argument, f"name a member of the family {group}", got)
    return found
