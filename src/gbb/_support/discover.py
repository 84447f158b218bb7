"""Discovery: members are found by existing, in a family's folder or in an installed package."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from gbb._support import checks
from gbb._support.checks import InputError

T = TypeVar("T")


def modules(package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    """The public modules of ``package`` (no leading underscore), with their short names.

    A file that cannot be imported is an :class:`gbb.InputError` that names it and the cause.
    """
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda item: item.name):
        if not info.name.startswith("_"):
            yield info.name, _import(package, info)


def _import(package: ModuleType, info: pkgutil.ModuleInfo) -> ModuleType:
    try:
        return importlib.import_module(f"{package.__name__}.{info.name}")
    except Exception as error:
        folder = Path(getattr(info.module_finder, "path", package.__path__[0]))
        found = folder / f"{info.name}.py"
        path = found if found.is_file() else folder / info.name
        raise InputError(f"Cannot import {str(path)!r}: {_reason(error)}") from error


@dataclass(frozen=True)
class Family(Generic[T]):
    """Things of one kind: gbb's own, and those of whatever other package is installed.

    Another package's member goes by the name of an entry point, or by ``package.module:Name``.

    Attributes
    ----------
    group
        The group of entry points; the package of gbb's own members is called so too.
    argument
        What errors call a member's name, unless they are told otherwise.
    rule
        What a member has to be, to complete "Expected it to ...".
    accepts
        Whether an object is that.
    offers
        gbb's own members by name; when left out, every public module of the package offers one under
        the module's name.
    cure
        What to do about an object that is not accepted.
    """

    group: str
    argument: str
    rule: str
    accepts: Callable[[Any], bool]
    offers: Callable[[], Mapping[str, T]] | None = None
    cure: Callable[[Any], str] = lambda _: ""

    def own(self) -> Mapping[str, T]:
        """Gbb's own members by name."""
        if self.offers is not None:
            return self.offers()
        package = importlib.import_module(self.group)
        return {name: getattr(module, name) for name, module in modules(package)}

    def members(self) -> dict[str, T]:
        """All members by name.

        An entry point that cannot be loaded is left out with a warning. A name that two packages
        offer is an error.
        """
        from importlib.metadata import entry_points

        found = dict(self.own())
        offered = dict.fromkeys(found, "gbb")
        for entry in entry_points(group=self.group):
            package = entry.dist.name if entry.dist else entry.value
            if (other := offered.setdefault(entry.name, package)) != package:
                who = f"Both {other} and {package} offer {entry.name!r} as an entry point"
                raise InputError(f"{who} of the group {self.group!r}. Uninstall one of them.")
            try:
                found[entry.name] = self._load(entry.name, entry.value)
            except InputError as error:
                text = (
                    f"{package} offers {entry.name!r} in {self.group!r}, which is left out: {error}"
                )
                _warn_once(text)
        return found

    def find(self, name: str, *, argument: str | None = None) -> T:
        """The member called ``name``, or the object that ``package.module:Name`` stands for.

        Errors call it ``argument``.
        """
        argument = self.argument if argument is None else argument
        if isinstance(name, str) and ":" in name:
            return self._load(argument, name)
        own = self.own()
        known = own if isinstance(name, str) and name in own else self.members()
        return known[checks.choice(argument, name, known)]

    def name_of(self, member: T) -> str:
        """The name by which :meth:`find` finds ``member`` again."""
        names = [name for name, each in self.members().items() if each is member]
        item: Any = member
        return names[0] if names else f"{item.__module__}:{item.__qualname__}"

    def check(self, argument: str, item: Any, shown: str) -> T:
        """``item``, if it is a member of the family; ``shown`` is what an error calls it."""
        if not self.accepts(item):
            raise checks.input_error(argument, self.rule, shown, self.cure(item))
        member: T = item
        return member

    def _load(self, argument: str, path: str) -> T:
        module, _, name = path.partition(":")
        what = f"Cannot load {path!r} for `{argument}`:"
        try:
            found: Any = importlib.import_module(module)
        except Exception as error:
            raise InputError(f"{what} {_reason(error)}.{_cure(error, module)}") from error
        for part in name.split("."):
            if not hasattr(found, part):
                place = getattr(found, "__file__", None) or getattr(found, "__name__", module)
                members = [each for each in dir(found) if self.accepts(getattr(found, each, None))]
                known = checks.suggest(part, members)
                raise InputError(f"{what} {place!r} has no {part!r}. {known}".rstrip())
            found = getattr(found, part)
        return self.check(argument, found, f"{path!r}, a {type(found).__name__}")


@lru_cache
def _warn_once(text: str) -> None:
    """Warn, but not every time that somebody lists the members."""
    warnings.warn(text, stacklevel=4)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(".")


def _cure(error: Exception, module: str) -> str:
    """What to do where ``module`` itself is not there, rather than something that it imports."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name is None or not f"{module}.".startswith(f"{name}."):
        return ""
    return " Install its package, or add the folder that it is in to PYTHONPATH."
