"""Learning: the record, the estimate from it, and how far off that may be."""

from gbb.learning import radius
from gbb.learning.confidence import Confidence
from gbb.learning.design import Design, g_optimal
from gbb.learning.low_rank import LowPopArt, LowRank
from gbb.learning.record import AnyRecord, Moments, Record, empty, observe
from gbb.learning.ridge import Ridge
from gbb.learning.tuples import Tuples

__all__ = [
    "AnyRecord",
    "Confidence",
    "Design",
    "LowPopArt",
    "LowRank",
    "Moments",
    "Record",
    "Ridge",
    "Tuples",
    "empty",
    "g_optimal",
    "observe",
    "radius",
]
