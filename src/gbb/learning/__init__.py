"""Learning: the record, the estimate from it, and how far off that may be."""

from gbb.learning import radius
from gbb.learning.confidence import Confidence
from gbb.learning.design import Design, g_optimal
from gbb.learning.estimator import Record, Ridge
from gbb.learning.low_rank import LowRank

__all__ = ["Confidence", "Design", "LowRank", "Record", "Ridge", "g_optimal", "radius"]
