"""Networks too large for one process: shards at their gateways, and what a coordinator knows of them."""

from gbb.shards._network import Network
from gbb.shards._shard import Kind, Shard

__all__ = ["Kind", "Network", "Shard"]
