"""A page of the reference for every public name: a new name has one by existing.

Public is what a room lists in ``__all__``, or defines without a leading underscore where it lists
nothing. A name that several rooms list has one page, under the first of them; a name without a
docstring fails the build.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOMS = {
    "What is played": "gbb graph problem contexts environment adversary instances",
    "What learns": "policies cuts learning shards",
    "What is run": "simulation sweep identification controller client",
    "What is known": "optimum theory diagnostics plotting experiments",
    "For packages of your own": "testing",
}
"""The rooms by what they are for, in the order of the index."""

FOLDER = "api"


def listed(names: str) -> list[str]:
    """The full names of rooms, separated by blanks."""
    return [name if name == "gbb" else f"gbb.{name}" for name in names.split()]


class Page(NamedTuple):
    """A public name, its object, and whether this room is where it is documented."""

    name: str
    item: Any
    is_here: bool


def pages() -> dict[str, list[Page]]:
    """The public names of every room, modules among them being rooms of their own."""
    found: dict[str, list[Page]] = {}
    seen: dict[int, str] = {}
    for names in ROOMS.values():
        for room in listed(names):
            _collect(room, found, seen)
    return found


def _collect(room: str, found: dict[str, list[Page]], seen: dict[int, str]) -> None:
    module = import_module(room)
    found[room] = []
    for name in sorted(_public(module), key=str.lower):
        item = getattr(module, name)
        if isinstance(item, ModuleType):
            if room != "gbb" and item.__name__ not in found:
                _collect(item.__name__, found, seen)
        elif _is_plain(item):
            found[room].append(Page(f"{room}.{name}", item, True))
        else:
            full = seen.setdefault(id(item), f"{room}.{name}")
            found[room].append(Page(full, item, full == f"{room}.{name}"))


def _public(module: ModuleType) -> list[str]:
    """What ``__all__`` lists; without it, the functions and classes of the module or its files."""
    defined = [
        name
        for name, item in vars(module).items()
        if not name.startswith("_")
        and f"{getattr(item, '__module__', None)}.".startswith(f"{module.__name__}.")
    ]
    return list(getattr(module, "__all__", defined))


def _is_plain(item: Any) -> bool:
    """Numbers, tables and aliases of types, whose text stands in the module."""
    return not (inspect.isclass(item) or inspect.isroutine(item))


def undocumented(found: dict[str, list[Page]]) -> list[str]:
    """Public names without a text of their own."""
    return [
        page.name
        for each in found.values()
        for page in each
        if not _is_plain(page.item) and not (getattr(page.item, "__doc__", None) or "").strip()
    ]


def write(folder: Path) -> None:
    """The pages of all rooms and names; what is up to date stays untouched."""
    found = pages()
    if missing := undocumented(found):
        raise ValueError(f"These public names have no docstring: {', '.join(missing)}.")
    texts = {f"{room}.rst": _room(room, each) for room, each in found.items()}
    for each in found.values():
        texts |= {f"{page.name}.rst": _name(page) for page in each if page.is_here}
    texts["index.rst"] = _index(found)
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.rst"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _titled(title: str, *lines: str) -> str:
    return "\n".join([title, "=" * len(title), "", *lines, ""])


def _room(room: str, each: list[Page]) -> str:
    inner = [f"   {page.name} <{page.name}>" for page in each if page.is_here]
    table = [f"   {page.name.removeprefix(f'{room}.')}" for page in each]
    return _titled(
        room,
        f".. automodule:: {room}",
        "   :no-index:" if room == "gbb" else "",
        "",
        ".. autosummary::",
        "   :nosignatures:",
        "",
        *table,
        "",
        ".. toctree::",
        "   :hidden:",
        "",
        *inner,
    )


def _name(page: Page) -> str:
    kind, options = _directive(page.item)
    return _titled(page.name, f".. {kind}:: {page.name}", *(f"   {line}" for line in options))


def _directive(item: Any) -> tuple[str, Iterator[str]]:
    if inspect.isclass(item):
        if issubclass(item, Exception):
            return "autoexception", iter(())
        return "autoclass", iter(
            (":members:", ":inherited-members: tuple, Protocol, ABC, Executor, ProcessPoolExecutor")
        )
    if inspect.isroutine(item):
        return "autofunction", iter(())
    return "autodata", iter(())


def _index(found: dict[str, list[Page]]) -> str:
    lines = ["Every public name, by module; those of ``gbb`` are the ones typed first."]
    rooms = {room for names in ROOMS.values() for room in listed(names)}
    for title, names in ROOMS.items():
        lines += ["", title, "-" * len(title), "", ".. toctree::", "   :maxdepth: 1", ""]
        for room in listed(names):
            inner = [each for each in found if each.startswith(f"{room}.") and each not in rooms]
            lines += [f"   {each}" for each in [room, *(inner if room != "gbb" else [])]]
    return _titled("Python names", *lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for pages."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / FOLDER), priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
