"""Shards at their gateways: cut, played and summed as one graph is."""

import numpy as np
import pytest

import gbb
from gbb.learning import observe
from gbb.learning.record import weigh
from shard_networks import split

GRAPHS = [gbb.Graph.random(40, p=0.2, seed=seed) for seed in range(3)] + [gbb.Graph.grid(6, 7)]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("count", [1, 2, 5, 13])
def test_cutting_shard_by_shard_is_the_greedy_cut(graph, count):
    shards, _, parts = split(graph, count, 3)
    cut = gbb.cuts.greedy(graph)
    assert np.array_equal(parts, cut.sides)
    network = gbb.Network.of([shard.kinds for shard in shards])
    assert network.m == graph.m
    assert network.counts.tolist() == [[cut.m1, cut.m12], [cut.m21, cut.m2]]
    assert network.rho == pytest.approx(cut.rho, abs=1e-12)
    assert network.rho >= 0.5


@pytest.mark.parametrize("k", [3, 4])
def test_cutting_shard_by_shard_in_k_parts_is_greedy_too(k):
    graph = GRAPHS[0]
    shards, _, parts = split(graph, 5, 3, k=k)
    whole = gbb.cuts.kcut(graph, k, method="greedy")
    assert np.array_equal(parts, whole.parts)
    network = gbb.Network.of([shard.kinds for shard in shards])
    assert np.array_equal(network.counts, whole.counts)


def test_agents_need_not_be_numbered_in_a_row():
    ring = [(70, 3), (3, 12), (12, 70)]
    shard = gbb.Shard([70, 3, 12], ring, K=2)
    assert shard.part_of([70, 3, 12]).tolist() == [0, 1, 0]
    assert shard.allocation([4 - 4, 1]).tolist() == [0, 1, 0]


def typed(graph, rng, *, alike):
    types, weights = rng.integers(3, size=graph.m), rng.choice([0.5, 1.0, 2.0], size=graph.m)
    if alike:
        low = np.minimum(np.arange(graph.m), graph.reverse)
        types, weights = types[low], weights[low]
    return types, weights


@pytest.mark.parametrize("links", ["plain", "alike", "typed"])
@pytest.mark.parametrize("missing", [False, True])
def test_tables_of_shards_sum_to_the_record_of_the_graph(links, missing):
    rng = np.random.default_rng(5)
    graph, K = GRAPHS[1], 4
    types, weights = (None, None) if links == "plain" else typed(graph, rng, alike=links == "alike")
    shards, owned, parts = split(graph, 5, K, edge_types=types, edge_weights=weights)
    network = gbb.Network.of([shard.kinds for shard in shards])
    known = {"edge_types": types, "edge_weights": weights}
    whole = gbb.Problem(graph, np.eye(K), **known)
    small = network.problem(np.eye(K))
    assert small.link_count == graph.m
    assert small.gram_growth_per_round == pytest.approx(whole.gram_growth_per_round, rel=1e-12)
    for couple in [(0, 1), (2, 2), (3, 0)]:
        arms = np.array(couple)[parts]
        for shard in shards:
            assert np.array_equal(shard.allocation(couple), arms[shard.agents])
        sums = weigh(small, small.allocation(couple))
        assert sums == pytest.approx(weigh(whole, arms), rel=1e-12)
        rewards = rng.integers(-8, 9, size=graph.m).astype(float)
        if missing:
            rewards[rng.random(graph.m) < 0.2] = np.nan
        tables = [s.tables(couple, rewards[own]) for s, own in zip(shards, owned, strict=True)]
        seen = ~np.isnan(rewards)
        if missing and links != "typed":
            seen &= seen[graph.reverse]
        elif missing:
            alike = (types == types[graph.reverse]) & (weights == weights[graph.reverse])
            seen &= seen[graph.reverse] | ~alike
        expected = observe(whole, arms, np.where(seen, rewards, np.nan))
        N, Y = (sum(np.reshape(pair[i], (-1, K, K)) for pair in tables) for i in range(2))
        assert expected.counts == pytest.approx(N, rel=1e-12)
        assert expected.sums == pytest.approx(Y, rel=1e-12)
        if links == "plain":
            assert N.dtype == np.int64


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"links": [(0, 9)]}, "lead to agents of the shard"),
        ({"links": [(8, 9)], "border": {8: 0, 9: 1}}, "have an end in the shard"),
        ({"links": [(1, 1)]}, "join different agents"),
        ({"links": [(0, 1), (1, 0)]}, "hold each link once"),
        ({"links": [(0, 9)], "border": {9: 2}}, "from 0 to 1"),
        ({"links": [(0.5, 1)]}, "hold whole numbers"),
        ({"k": 1}, "`k`"),
        ({"edge_types": [-1]}, "whole numbers from 0 on"),
        ({"edge_weights": [1.0, 2.0]}, "one a link, or there and back"),
    ],
)
def test_wrong_shards_are_refused(change, words):
    with pytest.raises(gbb.InputError, match=words):
        gbb.Shard(**{"agents": range(3), "links": [(0, 1)], "K": 2, **change})


def test_wrong_rewards_are_refused():
    shard = gbb.Shard(range(3), [(0, 1), (1, 2)], K=2)
    with pytest.raises(gbb.InputError, match="two for each link"):
        shard.tables((0, 1), [1.0, 2.0])
    with pytest.raises(gbb.InputError, match="finite"):
        shard.tables((0, 1), [[1.0, np.inf], [0.0, 0.0]])
    with pytest.raises(gbb.InputError, match="`arms`"):
        shard.tables((0, 2), np.zeros((2, 2)))
    with pytest.raises(gbb.InputError, match="be of the shard"):
        shard.part_of([5])


def test_what_needs_agents_refuses_a_network_in_shards():
    shards, _, _ = split(GRAPHS[0], 3, 3)
    network = gbb.Network.of([[list(kind) for kind in shard.kinds] for shard in shards])
    problem = network.problem(np.eye(3))
    for refused in (
        lambda: gbb.Environment(problem, np.eye(3)),
        lambda: gbb.optimum.solve(problem, np.eye(3)),
        lambda: gbb.policies.JointOFUL(problem, cut=network.cut),
        lambda: gbb.policies.EpsilonGreedy(problem, cut=network.cut),
        lambda: gbb.policies.UniformRandom(problem),
        lambda: gbb.policies.ImprovedOFUL(problem, cut=gbb.cuts.greedy(problem.graph)),
        lambda: network.problem(np.eye(3), feedback="agent"),
        lambda: gbb.Network.of([[], []]),
        lambda: gbb.Network.of([[(0, 1, 0)]]),
    ):
        with pytest.raises(gbb.InputError):
            refused()
