"""Index policies: what they share, and the policies that forget."""

from gbb.policies._index.policy import STARTS, IndexPolicy, Weights

__all__ = ["STARTS", "IndexPolicy", "Weights"]
