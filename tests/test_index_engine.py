"""The compiled rounds of index policies: the choices of the reference loop; kernels and naive twins."""

import sys
import zlib

import numpy as np
import pytest

import gbb
from engine_runs import run_engine
from gbb._kernels.index.buffers import new_dense_search, search_columns
from gbb._kernels.index.independent import log_of_product
from gbb._kernels.index.layout import make_layout
from gbb._kernels.index.search_counts import count_arms, improve_counts
from gbb._kernels.index.search_dense import improve_dense
from gbb._kernels.index.search_linear import fill_pay, gains_of_arms, improve_linear
from gbb._kernels.linalg import (
    DIRECTIONS,
    append_rows,
    smallest_eigenvalue,
    solve_upper,
    whiten_columns,
)
from gbb._support.arrays import WIDTH, aligned_zeros, padded
from gbb.learning.coordinates import coordinates
from gbb.simulation.reference import run_reference
from gbb.simulation.trace import recorded_rounds
from indices import Composed
from inner_kernels import from_python
from searches import searches_of

improve_counts, count_arms, improve_linear = map(
    from_python, (improve_counts, count_arms, improve_linear)
)
fill_pay, gains_of_arms, improve_dense = map(from_python, (fill_pay, gains_of_arms, improve_dense))

ROUNDS = 25


def kinds():
    """Problems of every kind, by name."""
    rng = np.random.default_rng(7)
    graph, grid = gbb.Graph.random(6, p=0.6, seed=2), gbb.Graph.grid(3, 3)
    types = (np.abs(grid.edges[:, 0] - grid.edges[:, 1]) == 1).astype(int)
    allowed = rng.random((6, 4)) < 0.6
    allowed[:, 1] = True
    weights = rng.normal(size=graph.m)
    weights[2] = 0.0
    general = rng.normal(size=(4, 3))
    arms = {
        "one-hot": np.eye(4),
        "general": general,
        "zero": np.diag([1.0, 2.0, 0.0, 3.0]),
        "twice": np.vstack([general, general[:1], np.zeros((1, 3))]),
        "d = 1": np.array([[1.0], [2.0], [-1.0]]),
        "K = 2": np.eye(2),
        "K = 9": rng.normal(size=(9, 2)),
    }
    options = {
        "own": (graph, {"edge_types": "source"}),
        "types": (grid, {"edge_types": types}),
        "weights": (graph, {"edge_weights": weights}),
        "agent": (graph, {"feedback": "agent"}),
        "global": (graph, {"feedback": "global"}),
        "link": (graph, {"feedback": "link"}),
        "link types": (grid, {"edge_types": types, "feedback": "link"}),
        "link own": (graph, {"edge_types": "source", "feedback": "link"}),
        "global own": (graph, {"feedback": "global", "edge_types": "source"}),
        "two agents": (gbb.Graph.complete(2), {"feedback": "agent"}),
        "star": (gbb.Graph.star(5), {"edge_types": "source"}),
        "allowed": (graph, {"allowed": allowed}),
        "all": (graph, {"allowed": allowed, "feedback": "agent", "edge_weights": np.abs(weights)}),
        "links": (
            graph,
            {
                "allowed": allowed,
                "edge_weights": weights,
                "edge_types": graph.edges.sum(axis=1) % 3,
            },
        ),
    }
    for what, (whose, more) in options.items():
        for name, each in arms.items():
            if "allowed" not in more or len(each) == 4:
                yield f"{what}, {name}", gbb.Problem(whose, each, sigma=0.5, S=2, **more)


KINDS = dict(kinds())


POLICIES = {
    "ThompsonSampling": {},
    "GuardedThompson": {"c": 2.0},
    "InformationDirected": {"samples": 6},
    "JointOFUL": {"radius": "complete"},
    "ImprovedOFUL": {},
    "EpsilonGreedy": {"epsilon": 0.2},
}


def check_replay(name, policy, rounds):
    """Play a policy by both loops, and put together in Python, and compare every choice."""
    problem = KINDS[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    M = rng.normal(size=(problem.types, problem.d, problem.d))
    env = gbb.Environment(problem, M if problem.types > 1 else M[0])
    cut, recorded = gbb.cuts.greedy(problem.graph), recorded_rounds(rounds, 1)
    built = gbb.policies.build(policy, problem, cut=cut, **POLICIES[policy])
    seed = [np.random.SeedSequence(5) for _ in range(3)]
    ours = run_engine(env, built, rounds, recorded, seed[0], keep_allocations=True, edge_noise=True)
    for each, other in ((built, seed[1]), (Composed.of(built), seed[2])):
        theirs = run_reference(env, each, rounds, recorded, other, keep_allocations=True)
        np.testing.assert_array_equal(ours.allocation, theirs.allocation, err_msg=policy)
        np.testing.assert_array_equal(ours.couple, theirs.couple, err_msg=policy)
        np.testing.assert_allclose(ours.cumulative, theirs.cumulative, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_rounds_choose_as_the_reference_loop_does(name):
    for policy in POLICIES:
        check_replay(name, policy, ROUNDS)


@pytest.mark.no_cover  # long
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("arms", ["one-hot", "general"])
@pytest.mark.parametrize("what", ["own", "agent", "global", "links", "link types"])
def test_long_runs_choose_as_the_reference_loop_does(what, arms, policy):
    check_replay(f"{what}, {arms}", policy, 200)


def factors(blocks, size, rng):
    """Triangular factors of ``A = lam I + rows``, with what they were made of."""
    U = aligned_zeros(blocks, size, padded(size + 1))
    U[:, np.arange(size), np.arange(size)] = np.sqrt(0.5)
    A, b = np.tile(0.5 * np.eye(size), (blocks, 1, 1)), np.zeros((blocks, size))
    for _ in range(4):
        rows = aligned_zeros(blocks, 5, padded(size + 1))
        counts = rng.integers(0, 6, size=blocks)
        for g, count in enumerate(counts):
            new = rng.normal(size=(count, size + 1))
            new[:, rng.integers(size)] = 0.0
            rows[g, :count, : size + 1] = new
            A[g] += new[:, :size].T @ new[:, :size]
            b[g] += new[:, :size].T @ new[:, size]
        append_rows(U, np.arange(blocks), rows, counts, np.zeros(max(5, size)))
    return U, A, b


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 25])
def test_factors_are_those_of_all_rows(size):
    rng = np.random.default_rng(size)
    U, A, b = factors(3, size, rng)
    theta = np.zeros((3, size))
    for g in range(3):
        upper = np.triu(U[g, :, :size])
        assert (np.diag(upper) > 0).all()
        np.testing.assert_allclose(upper.T @ upper, A[g], atol=1e-12)
        np.testing.assert_allclose(upper.T @ U[g, :, size], b[g], atol=1e-12)
        solve_upper(U, g, U[g, :, size].copy(), theta)
        np.testing.assert_allclose(theta[g], np.linalg.solve(A[g], b[g]), rtol=1e-9)
        shares = np.diag(U[g, :, :size]) ** 2 / 0.5
        assert log_of_product(shares, size) == pytest.approx(np.linalg.slogdet(A[g] / 0.5)[1])


@pytest.mark.parametrize(("size", "columns"), [(1, 8), (5, 40), (9, 24), (25, 72)])
def test_columns_are_whitened_with_what_they_pay(size, columns):
    rng = np.random.default_rng(size)
    U, A, b = factors(2, size, rng)
    V, F = aligned_zeros(2, size, columns), aligned_zeros(3, size + 1, columns)
    V[:] = rng.normal(size=V.shape)
    whiten_columns(U, 1, V, 0, F, 2, 0, columns)
    np.testing.assert_allclose(F[2, :size].T @ F[2, :size], V[0].T @ np.linalg.solve(A[1], V[0]))
    np.testing.assert_allclose(F[2, size], V[0].T @ np.linalg.solve(A[1], b[1]), atol=1e-12)
    assert not F[:2].any()


@pytest.mark.parametrize("unit", [True, False])
def test_the_smallest_eigenvalue_is_found_when_another_direction_becomes_it(unit):
    """Single coordinates decouple: what was never in the span of the iteration must still be found."""
    rng = np.random.default_rng(0)
    size = 12
    U = aligned_zeros(1, size, padded(size + 1))
    U[0, :, :size] = np.eye(size)
    towards, floor = aligned_zeros(1, size, WIDTH), np.ones(1)
    towards[0, :, :DIRECTIONS] = np.eye(size)[:, :DIRECTIONS]
    A = np.eye(size)
    turned, C = aligned_zeros(size, WIDTH), aligned_zeros(size, padded(size + 1))
    for t in range(60):
        rows = aligned_zeros(1, 1, padded(size + 1))
        q = rng.uniform(0.5, 1.5) * np.eye(size)[t % size] if unit else rng.normal(size=size)
        rows[0, 0, :size] = q
        A += np.outer(q, q)
        append_rows(U, np.arange(1), rows, np.ones(1, dtype=np.int64), np.zeros(size))
        found = smallest_eigenvalue(
            U, 0, towards, floor, turned, np.zeros((DIRECTIONS, DIRECTIONS)), C
        )
        assert found == pytest.approx(np.linalg.eigvalsh(A)[0], rel=1e-8)


def worth(problem, index, one, arms, *, radius=0.0, centre=None):
    """The value of an allocation for regressors worth ``one`` each: numbers, or vectors by block."""
    source, target = problem.graph.edges.T
    which = problem.edge_types * (int(index.max()) + 1) + index[arms[source], arms[target]]
    paid = (problem.edge_weights * one[which].T).T
    if centre is None:
        return paid.sum()
    total = np.zeros_like(centre)
    np.add.at(total, problem.edge_types if len(centre) > 1 else 0 * which, paid)
    return (total * centre).sum() + radius * np.linalg.norm(total)


@pytest.mark.parametrize(
    "name", ["own, general", "agent, K = 9", "all, general", "weights, one-hot"]
)
@pytest.mark.parametrize("optimistic", [False, True])
def test_a_search_ends_where_no_agent_gains(name, optimistic):
    problem = KINDS[name]
    rng = np.random.default_rng(3)
    policy = gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(problem.graph))
    _, layout, tuples, linear, _ = searches_of(policy)
    symmetric = policy.learner.uses_symmetric_part(problem)
    stacked = make_layout(
        tuples, coordinates(problem, symmetric=symmetric), starts=1, searches=1, dense=True
    )
    dense = layout._replace(
        **{name: getattr(stacked, name)[0] for name in ("segment", "segment_entry")},
        **{name: getattr(stacked, name)[0] for name in ("block", "column")},
    )
    index, size, radius = layout.regressor, 5, 1.5
    own, blocks = int(index.max()) + 1, problem.types if problem.tabular else 1
    ends = np.zeros((20, problem.n), dtype=np.int64)
    centre = rng.normal(size=(blocks, size)) if optimistic else None
    shape = (problem.types * own, size) if optimistic else problem.types * own
    one = rng.normal(size=shape)
    reached = []
    for found in range(len(ends)):
        ends[found] = [rng.choice(np.flatnonzero(free)) for free in problem.allowed]
        if optimistic:
            columns = search_columns(stacked, blocks, one)
            search = new_dense_search(stacked, columns[:1], blocks)
            search.tables[:, :-1] = columns
            search.tables[:, -1] = np.einsum("ij,ijk->ik", centre, columns)
            value = improve_dense(dense, search, radius, ends, found, True)
        else:
            fill_pay(layout, one, linear.pay)
            gains_of_arms(layout, linear, ends[found])
            start = worth(problem, index, one, ends[found])
            value = improve_linear(layout, linear, ends, found, start, True, 0.0)
        there = worth(problem, index, one, ends[found], radius=radius, centre=centre)
        if np.isinf(value):
            assert (ends[:found] == ends[found]).all(axis=1).any()
            continue
        reached.append(value)
        assert value == pytest.approx(there, rel=1e-9)
        for i in range(problem.n):
            for arm in np.flatnonzero(problem.allowed[i]):
                other = ends[found].copy()
                other[i] = arm
                value = worth(problem, index, one, other, radius=radius, centre=centre)
                assert value <= there + 1e-8 * abs(there)
    assert reached


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e6, 1e8])
def test_the_smallest_eigenvalue_is_found_at_any_scale(scale):
    """Many directions are seen at once, one never: what is left of lam is found all the same."""
    size, rng = 15, np.random.default_rng(7)
    U = aligned_zeros(1, size, padded(size + 1))
    U[0, :, :size] = np.eye(size)
    towards = aligned_zeros(1, size, WIDTH)
    towards[0, :, :DIRECTIONS] = rng.normal(size=(size, DIRECTIONS))
    rows = aligned_zeros(1, size - 1, padded(size + 1))
    rows[0, :, :size] = scale * rng.normal(size=(size - 1, size))
    append_rows(U, np.arange(1), rows, np.array([size - 1]), np.zeros(size))
    turned, C = aligned_zeros(size, WIDTH), aligned_zeros(size, padded(size + 1))
    found = smallest_eigenvalue(
        U, 0, towards, np.ones(1), turned, np.zeros((DIRECTIONS, DIRECTIONS)), C
    )
    assert found == pytest.approx(1.0, rel=1e-6)


def test_a_generator_is_let_go():
    """Kernels that count no references must not keep what Python hands them."""
    for name in ("paper, one-hot", "own, general"):
        problem = KINDS.get(name) or gbb.Problem(gbb.Graph.complete(4), np.eye(3))
        cut = gbb.cuts.greedy(problem.graph)
        for policy in (
            gbb.policies.ThompsonSampling(problem, cut=cut),
            gbb.policies.JointOFUL(problem, cut=cut),
            gbb.policies.ImprovedOFUL(problem, cut=cut),
        ):
            rng, state = np.random.default_rng(0), policy.init()
            policy.select(state, rng)
            before = sys.getrefcount(rng)
            for _ in range(20):
                policy.select(state, rng)
            assert sys.getrefcount(rng) == before


def test_weights_that_add_up_to_dust_do_not_overrun_a_search():
    """(0.1 + 0.2) - 0.1 - 0.2 is not 0: what nobody plays any more must not count as a neighbour."""
    graph = gbb.Graph.circle(8)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = rng.choice([0.1, 0.2, 0.3, 0.7], graph.m)
        problem = gbb.Problem(graph, np.eye(5), edge_weights=weights)
        policy = gbb.policies.JointOFUL(problem, cut=gbb.cuts.greedy(graph))
        _, layout, _, _, counts = searches_of(policy)
        for table, b, a in np.ndindex(len(counts.reverse), 5, 5):
            counts.mean[table, b, a] = np.sin(1.0 + layout.one[table, b, a])
            counts.var[table, b, a] = 0.3
        counts.level[:] = 0.3
        most = len(counts.rows)
        ends = rng.integers(0, 5, (1, 8))
        count_arms(layout, counts, ends[0])
        improve_counts(layout, counts, 1.0, ends, 0, True)
        assert counts.neighbours.sum() == len(layout.other)
        assert (counts.weights[:, :5][counts.neighbours == 0] == 0.0).all()
        for i in range(8):
            own = counts.neighbours[layout.slot_start[i] : layout.slot_start[i + 1]]
            assert (own > 0).sum() <= most


def test_weights_whose_squares_vanish_play_along():
    graph = gbb.Graph.complete(8)
    weights = np.where(np.arange(graph.m) % 3 == 0, 1.0, 1e-170)
    problem = gbb.Problem(graph, np.eye(2), edge_weights=weights)
    env = gbb.Environment(problem, np.eye(2) / 2.0)
    policy = gbb.policies.ThompsonSampling(problem, cut=gbb.cuts.greedy(graph))
    fast, slow = (
        gbb.simulate(env, policy, rounds=20, keep_allocations=True, **how)
        for how in ({"edge_noise": True}, {"method": "reference"})
    )
    np.testing.assert_array_equal(fast.allocation, slow.allocation)


@pytest.mark.parametrize(
    "policy", ["EpsilonGreedy", "JointOFUL", "ThompsonSampling", "ImprovedOFUL"]
)
@pytest.mark.parametrize("feedback", ["edge", "agent"])
@pytest.mark.parametrize("arms", [[[1.0, 0.2], [1.0, 0.2], [0.3, 0.9]], [[1.0, 0.0]]])
def test_arms_that_are_alike_or_alone_are_played_alike(arms, feedback, policy):
    graph = gbb.Graph.complete(4)
    problem = gbb.Problem(graph, arms, feedback=feedback)
    env = gbb.Environment(problem, [[0.4, -0.3], [0.2, 0.6]])
    chosen = gbb.policies.build(policy, problem, cut=gbb.cuts.greedy(graph))
    ours, theirs = (
        gbb.simulate(env, chosen, rounds=60, seed=3, workers=1, keep_allocations=True, **how)
        for how in ({"edge_noise": True}, {"method": "reference"})
    )
    assert np.array_equal(ours.allocation, theirs.allocation)
    assert np.array_equal(ours.couple, theirs.couple)
    if len(arms) == 1 and policy != "EpsilonGreedy":
        assert (theirs.couple == 0).all()
