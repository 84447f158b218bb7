"""Diagnostics of any history: does the pairwise model predict it, and has the system changed?"""

from gbb.diagnostics._diagnose import Diagnosis, diagnose
from gbb.diagnostics._drift import Drift, find_drift
from gbb.diagnostics._statistics import GOOD, Residuals

__all__ = ["GOOD", "Diagnosis", "Drift", "Residuals", "diagnose", "find_drift"]
