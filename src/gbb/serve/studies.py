"""The controllers of one storage, each opened once and kept."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from gbb._support import checks
from gbb.controller import Controller
from gbb.controller.log.store import Store, list_studies
from gbb.serve.errors import Refused, not_found

Sees = Callable[[str], bool]


def _nobody(_: str) -> bool:
    return False


FEW = 8
"""So many controllers are listed where a name is unknown."""


class Studies:
    """Controllers by name.

    Parameters
    ----------
    url
        The storage; it is made if it is not there.
    """

    def __init__(self, url: str | Path) -> None:
        self.store = Store(url, create=True)
        self.url = self.store.url
        self._opened: dict[str, Controller] = {}
        self._locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """The names of all controllers there are, in order."""
        with self.store.database.read() as connection:
            return sorted(list_studies(connection))

    def find(self, name: str, sees: Sees = _nobody) -> Controller:
        """The controller, which is opened on first use, for someone who sees some of them."""
        found = self._opened.get(name)
        if found is not None:
            return found
        with self._lock:
            own = self._locks[name]
        with own:
            if name not in self._opened:
                self.check(name, sees)
                self._opened[name] = Controller.open(self.url, name)
            return self._opened[name]

    def check(self, name: str, sees: Sees = _nobody) -> None:
        """Refuse a name that no controller has."""
        known = self.names()
        if name not in known:
            self.forget(name)
            raise unknown(name, [each for each in known if sees(each)])

    def forget(self, name: str) -> None:
        """Close a controller that is not there any more, or is called otherwise now."""
        found = self._opened.pop(name, None)
        self._locks.pop(name, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """Close all of them."""
        for name in list(self._opened):
            self.forget(name)
        self.store.close()


def unknown(name: str, known: list[str]) -> Refused:
    """There is no such controller."""
    shown = name if len(name) <= 60 else f"{name[:60]}..."
    hint = checks.suggest(name, known) if len(name) <= 200 else ""
    if not hint and 0 < len(known) <= FEW:
        hint = f"There {'is' if len(known) == 1 else 'are'} {', '.join(map(repr, known))}."
    return not_found(f"There is no controller {shown!r}. {hint}".rstrip())
