"""What is known before a round: which matrices each edge pays by in it, and how much of each.

In round t edge e = (i, j) has known features ``f_e`` and pays ``sum_k f_e[k] x_i' M_k x_j + noise``. A
kind of contexts says how what is known, a context, becomes the features of all edges.
"""

from gbb.contexts._base import Contexts, from_dict
from gbb.contexts.edge_features import EdgeFeatures
from gbb.contexts.edge_types import EdgeTypes
from gbb.contexts.regimes import Regimes
from gbb.contexts.vector import Vector

__all__ = ["Contexts", "EdgeFeatures", "EdgeTypes", "Regimes", "Vector", "from_dict"]
