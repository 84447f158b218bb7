"""Real systems under control, each against a simulator that other people wrote.

One application a file; each needs an extra of its own, which is imported only when the application runs.
"""

from __future__ import annotations

from gbb.applications._outcome import Outcome, save
from gbb.applications._require import require

__all__ = ["Outcome", "require", "save"]
