"""Small networks in shards, and the same networks as one graph."""

from __future__ import annotations

import numpy as np

import gbb


def split(graph, count, K, *, k=2, edge_types=None, edge_weights=None):
    """A graph's agents in ``count`` shards, in agent order, and the edges that each shard owns."""
    bounds = np.linspace(0, graph.n, count + 1).astype(int)
    owner = np.searchsorted(bounds, np.arange(graph.n), side="right") - 1
    shards, owned, parts = [], [], np.full(graph.n, -1)
    for number in range(count):
        agents = range(bounds[number], bounds[number + 1])
        source, target = graph.sources, graph.indices
        # Each link once, from its end in the later shard (or with the larger number).
        mine = np.flatnonzero((owner[source] == number) & (target < source))
        links = graph.edges[mine]
        both = np.stack([mine, graph.reverse[mine]], axis=1)
        outside = np.unique(links[owner[links] != number])
        shard = gbb.Shard(
            agents,
            links,
            K=K,
            k=k,
            border=(outside, parts[outside]),
            edge_types=None if edge_types is None else edge_types[both],
            edge_weights=None if edge_weights is None else edge_weights[both],
        )
        parts[agents] = shard.parts
        shards.append(shard)
        owned.append(both)
    return shards, owned, parts
