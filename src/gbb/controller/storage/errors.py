"""What goes wrong below the controller: the storage, not the caller."""

from __future__ import annotations

import errno

CURE = "Nothing was changed; restore the storage from a copy."


class StorageError(OSError):
    """The log cannot be read or written; what was acknowledged before is untouched."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EIO, text)

    def __str__(self) -> str:
        return str(self.strerror)


class RewardWarning(UserWarning):
    """A reward lies far outside what the problem declares possible; it is kept."""
