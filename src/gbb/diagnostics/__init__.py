"""Does the pairwise model fit? Held-out diagnostics for the history of any controlled system."""

from __future__ import annotations

from gbb.diagnostics._diagnose import diagnose
from gbb.diagnostics._diagnosis import Diagnosis
from gbb.diagnostics._drift import Drift, find_drift
from gbb.diagnostics._margin import GOOD
from gbb.diagnostics._residuals import Residuals

__all__ = ["GOOD", "Diagnosis", "Drift", "Residuals", "diagnose", "find_drift"]
