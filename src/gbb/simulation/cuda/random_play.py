"""Random play on a device, and explore-then-commit, which plays one couple for good after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.policies import AnyPolicy, ExploreThenCommit
from gbb.policies.explore_then_commit import COMMITS
from gbb.problem import Problem
from gbb.simulation.cuda.joint import link_pays
from gbb.simulation.cuda.launch import Kernel, Launcher, rows_of, source_of
from gbb.simulation.cuda.philox import NOISE, TIES, normals, uniforms
from gbb.simulation.cuda.stretches import Keys, lots, most_kept, stretches
from gbb.simulation.trace import Trace

MOST_ARMS = 28
MOST_AGENTS = 1000
THREADS = 64
TIE = 1e-12

MOST_SOLVED = 512
"""How many runs' estimates are solved for at once."""


class Shape(NamedTuple):
    """What decides how the kernel is compiled; jobs that agree in it are played in one launch."""

    K: int
    learn: bool
    rounds: int
    allocations: bool


class Played(NamedTuple):
    """The recorded rounds (rounds x runs), and links by pair (pairs x runs)."""

    reward: FloatArray
    cumulative: FloatArray
    allocation: IntArray | None
    links: FloatArray


def shape_of(policy: AnyPolicy, rounds: int, allocations: bool) -> Shape:
    """The shape of the launch that plays ``policy``: so many random rounds."""
    problem = policy.problem
    for name, found, most in (("K", problem.K, MOST_ARMS), ("n", problem.n, MOST_AGENTS)):
        if found > most:
            rule = f'be at most {most} for random play with method="cuda"'
            raise checks.input_error(name, rule, found)
    if isinstance(policy, ExploreThenCommit):
        return Shape(problem.K, True, min(policy.exploration, rounds), allocations)
    return Shape(problem.K, False, rounds, allocations)


def kernel_of(device: Launcher, shape: Shape, agents: int) -> tuple[Kernel, int, int]:
    """The compiled kernel, how many threads a block has, and its shared memory."""
    each, threads = 4 * shape.K * (shape.K + 1) + agents, THREADS
    while threads > 1 and threads * each > device.shared:
        threads //= 2
    defines = {"K": shape.K, "BLOCK": threads}
    flags = {"LEARN": shape.learn, "ALLOCATIONS": shape.allocations}
    defines |= {name: 1 for name, on in flags.items() if on}
    kernel = device.compile(source_of(["common", "random"], defines), "play_random", ())
    return kernel, threads, threads * each


def play_random(
    device: Launcher,
    shape: Shape,
    jobs: Sequence[tuple[Environment, AnyPolicy, Keys]],
    recorded: IntArray,
) -> Played:
    """All runs of all jobs, side by side, in the order of ``jobs``."""
    agents = max(policy.problem.n for _, policy, _ in jobs)
    kernel, threads, shared = kernel_of(device, shape, agents)
    which = np.repeat(np.arange(len(jobs), dtype=np.int32), [len(keys) for *_, keys in jobs])
    keys = np.concatenate([keys for *_, keys in jobs])
    known: dict[int, int] = {}
    ends: list[NDArray[np.integer]] = []
    rows, total = [], 0
    for env, policy, _ in jobs:
        graph = env.problem.graph
        links = graph.edges[graph.edges[:, 0] < graph.edges[:, 1]]
        if id(graph) not in known:
            known[id(graph)] = total
            ends.append(links)
            total += len(links)
        weights = (
            policy.design.weights if isinstance(policy, ExploreThenCommit) else np.ones(shape.K)
        )
        place = np.array([graph.n, len(links), known[id(graph)]], dtype=np.float64)
        rows.append(rows_of([np.cumsum(weights), link_pays(env), place]))
    runs, pairs, size = len(which), shape.K * (shape.K + 1) // 2, len(recorded)
    kept_agents = agents if shape.allocations else 0
    played = Played(
        np.zeros((size, runs)),
        np.zeros((size, runs)),
        np.zeros((size, kept_agents, runs), dtype=np.uint8) if shape.allocations else None,
        np.zeros((pairs, runs)),
    )
    room = 8 * pairs + 32 + (16 + kept_agents) * most_kept(recorded)
    games, listed = device.put(np.stack(rows)), device.put(np.concatenate(ends).astype(np.int16))
    for lot in lots(runs, room, device.memory):
        count = lot.stop - lot.start
        own = [device.put(each[lot]) for each in (which, keys)]
        counts = device.zeros((pairs, count), np.float64)
        carried = device.zeros((1, count), np.float64)
        for stretch in stretches(recorded):
            kept = stretch.kept.stop - stretch.kept.start
            books = [device.zeros((max(kept, 1), count), np.float64) for _ in range(2)]
            books += [device.zeros((max(kept, 1), max(kept_agents, 1), count), np.uint8)]
            arguments = [
                *(games, *own, np.int64(count), np.int64(stretch.first), np.int32(stretch.size)),
                np.int32(kept),
                device.put(np.append(recorded[stretch.kept], 0).astype(np.int64)),
                *(listed, np.int32(agents), counts, carried, *books),
            ]
            kernel(-(-count // threads), threads, shared, arguments)
            for to, book in zip(played[:3], books, strict=True):
                if kept and to is not None:
                    to[stretch.kept, ..., lot] = device.get(book)
        played.links[:, lot] = device.get(counts)
    return played


def commit_all(
    env: Environment, policy: ExploreThenCommit, links: FloatArray, keys: Keys
) -> IntArray:
    """The couples that runs with so many links of each pair (pairs x runs) commit to.

    The sum of the noise over the edges of an edge-arm is drawn here, once, from each run's own key.
    """
    K, runs = env.problem.K, len(keys)
    a, b = np.triu_indices(K)
    N = np.zeros((runs, K, K))
    N[:, a, b] = N[:, b, a] = links.T * np.where(a == b, 2.0, 1.0)
    drawn = normals(keys, policy.exploration, NOISE, K * K).reshape(runs, K, K)
    sigma = 0.0 if env.noise == "none" else env.sigma
    Y = N * np.asarray(env.reward_tables[0]) + sigma * np.sqrt(N) * drawn
    means = _means(env.problem, policy.lam, N, Y)
    own = np.diagonal(means, axis1=1, axis2=2)
    w12, w21, w1, w2 = COMMITS[policy.commit]
    values = w12 * means + w21 * means.transpose(0, 2, 1)
    values = (values + w1 * own[:, :, None] + w2 * own[:, None, :]).reshape(runs, -1)
    near = values >= (values.max(axis=1) - TIE * np.abs(values).max(axis=1))[:, None]
    u = uniforms(keys, policy.exploration, TIES, 1)[:, 0]
    chosen = np.floor(u * near.sum(axis=1)).astype(np.int64)
    best: IntArray = np.argmax(np.cumsum(near, axis=1) > chosen[:, None], axis=1)
    return best


def _means(problem: Problem, lam: float, N: FloatArray, Y: FloatArray) -> FloatArray:
    """What every edge-arm is estimated to pay (runs x K x K): ``z' A^-1 b``."""
    z = problem.edge_arms
    if problem.orthogonal:
        norm2 = np.sum(z**2, axis=1).reshape(problem.K, problem.K)
        found: FloatArray = norm2 * Y / (lam + norm2 * N)
        return found
    means = np.empty_like(Y)
    for at in range(0, len(N), MOST_SOLVED):
        n, y = (each[at : at + MOST_SOLVED].reshape(-1, len(z)) for each in (N, Y))
        A = np.einsum("ri,ij,ik->rjk", n, z, z, optimize=True) + lam * np.eye(z.shape[1])
        theta = np.linalg.solve(A, (y @ z)[:, :, None])[:, :, 0]
        means[at : at + MOST_SOLVED] = (theta @ z.T).reshape(-1, problem.K, problem.K)
    return means


def traces_of(
    job: tuple[Environment, AnyPolicy, Keys],
    played: Played,
    runs: range,
    recorded: IntArray,
    shape: Shape,
) -> list[Trace]:
    """What the runs of a job leave."""
    env, policy, keys = job
    K, n = env.problem.K, env.problem.n
    random = np.flatnonzero(recorded <= shape.rounds)
    late = recorded[recorded > shape.rounds]
    committed = None
    if isinstance(policy, ExploreThenCommit) and len(late):
        committed = commit_all(env, policy, played.links[:, runs.start : runs.stop], keys)
        payoff = policy.cut.couple_values(np.asarray(env.reward_tables[0])).ravel()
    traces = []
    for place, run in enumerate(runs):
        reward = played.reward[: len(random), run]
        cumulative = played.cumulative[: len(random), run]
        couple = np.full((len(recorded), 2), -1, dtype=np.int64)
        arms = np.zeros((len(recorded), n), dtype=np.int64)
        if played.allocation is not None:
            arms[: len(random)] = played.allocation[: len(random), :n, run]
        if committed is not None and isinstance(policy, ExploreThenCommit):
            p = int(committed[place])
            couple[len(random) :] = divmod(p, K)
            arms[len(random) :] = policy.cut.allocation(divmod(p, K))
            so_far = played.cumulative[-1, run]
            reward = np.append(reward, np.full(len(late), payoff[p]))
            cumulative = np.append(cumulative, so_far + payoff[p] * (late - shape.rounds))
        kept = arms if played.allocation is not None else None
        traces.append(Trace(reward.copy(), cumulative.copy(), couple, kept, None))
    return traces
