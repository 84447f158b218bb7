"""Contexts: what is observed before a round and decides by which matrices its edges pay.

In round t edge e = (i, j) has known features ``f_e`` and pays ``sum_k f_e[k] x_i' M_k x_j + noise``. A
kind of contexts says how a context becomes the features of all edges.
"""

from gbb.contexts.base import Contexts, from_dict
from gbb.contexts.kinds import EdgeFeatures, EdgeTypes, Regimes, Vector

__all__ = ["Contexts", "EdgeFeatures", "EdgeTypes", "Regimes", "Vector", "from_dict"]
