"""Warnings point at the caller's line, however deep within gbb they arise."""

from __future__ import annotations

import sys
import warnings


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the line outside gbb that led here, so that one line is told one thing once."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and f"{frame.f_globals.get('__name__')}.".startswith("gbb."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
