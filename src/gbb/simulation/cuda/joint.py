"""Policies that search over whole allocations, on a device: orthogonal arms, a thread a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.policies._compiled import CompiledPolicy
from gbb.simulation._trace import Trace, couples_of
from gbb.simulation.cuda.couples import orthogonal_prior, record_of
from gbb.simulation.cuda.launch import Kernel, Launcher, rows_of, source_of
from gbb.simulation.cuda.stretches import (
    Keys,
    Schedules,
    lots,
    most_kept,
    numbered,
    stretches,
)

MOST_ARMS = 10
MOST_AGENTS = 1000

THREADS = 64
NEAR = 1 << 16
"""The most bytes of shared memory that the agents of a block of runs may take."""


class Shape(NamedTuple):
    """What decides how the kernel is compiled; jobs that agree in it are played in one launch."""

    K: int
    optimistic: bool
    adaptive: bool
    draws: bool
    allocations: bool


class Played(NamedTuple):
    """The recorded rounds (rounds x runs), and the record by pair (pairs x runs)."""

    couple: IntArray
    reward: FloatArray
    cumulative: FloatArray
    allocation: IntArray | None
    weight: FloatArray
    paid: FloatArray


def shape_of(policy: CompiledPolicy, allocations: bool) -> Shape:
    """The shape of the launch that plays ``policy``, if there is one."""
    problem = policy.problem
    few = policy.samples == 1 and not policy.guarded
    plain = few and policy.cut.k == 2 and policy.weights == policy.cut.weights
    if not plain or not policy.symmetric:
        rule = (
            'learn from links in both directions and draw once, over two parts, for method="cuda"'
        )
        raise checks.input_error("policies", rule, policy.name)
    if not problem.orthogonal or not np.any(problem.arms, axis=1).all():
        rule = 'be orthogonal and not 0 for policies that search, with method="cuda"'
        raise checks.input_error("arms", rule, "others")
    for name, found, most in (("K", problem.K, MOST_ARMS), ("n", problem.n, MOST_AGENTS)):
        if found > most:
            rule = f'be at most {most} for policies that search, with method="cuda"'
            raise checks.input_error(name, rule, found)
    optimistic = policy.bonus is not None
    return Shape(problem.K, optimistic, policy.adaptive and optimistic, policy.v > 0.0, allocations)


class Layout(NamedTuple):
    """The shared memory of a block, and whether what agents need stands elsewhere."""

    shared: int
    far: bool


def kernel_of(device: Launcher, shape: Shape, agents: int, starts: int) -> tuple[Kernel, Layout]:
    """The compiled kernel, and how it is launched."""
    wide = shape.K**2 if shape.optimistic else shape.K * (shape.K + 1) // 2
    by_agent = THREADS * agents * (2 * shape.K + 2)
    layout = Layout(THREADS * 8 * (shape.K**2 + 2 * wide), by_agent > NEAR)
    if not layout.far:
        layout = layout._replace(shared=layout.shared + by_agent)
    flags = {
        "OPTIMISTIC": shape.optimistic,
        "ADAPTIVE": shape.adaptive,
        "DRAWS": shape.draws,
        "ALLOCATIONS": shape.allocations,
        "FAR": layout.far,
    }
    defines = {"K": shape.K, "BLOCK": THREADS, "WIDE": wide, "MOST_STARTS": starts}
    defines |= {name: 1 for name, on in flags.items() if on}
    return device.compile(source_of(["common", "joint"], defines), "play_joint", ()), layout


def play_joint(
    device: Launcher,
    shape: Shape,
    jobs: Sequence[tuple[Environment, CompiledPolicy, Keys]],
    recorded: IntArray,
) -> Played:
    """All runs of all jobs, side by side, in the order of ``jobs``."""
    policies = [policy for _, policy, _ in jobs]
    agents = max(policy.problem.n for policy in policies)
    starts = max(1, *(policy.starts for policy in policies))
    kernel, layout = kernel_of(device, shape, agents, starts)
    which = np.repeat(np.arange(len(jobs), dtype=np.int32), [len(keys) for *_, keys in jobs])
    keys = np.concatenate([keys for *_, keys in jobs])
    schedules = Schedules(policies)
    about = [(policy.problem.arms.tobytes(), policy.lam) for policy in policies]
    form, prior = numbered(about, lambda j: orthogonal_prior(policies[j]))
    graphs, places = _networks(policies)
    table = np.stack(
        [
            _game(env, policy, schedules.of[j], form[j], places[j])
            for j, (env, policy, _) in enumerate(jobs)
        ]
    )
    runs, pairs, size = len(which), shape.K * (shape.K + 1) // 2, len(recorded)
    kept_agents = agents if shape.allocations else 0
    played = Played(
        np.zeros((size, runs), dtype=np.int16),
        np.zeros((size, runs)),
        np.zeros((size, runs)),
        np.zeros((size, kept_agents, runs), dtype=np.uint8) if shape.allocations else None,
        np.zeros((pairs, runs)),
        np.zeros((pairs, runs)),
    )
    far = agents * (2 * shape.K + 2) if layout.far else 0
    room = 16 * pairs + 40 + (18 + kept_agents) * most_kept(recorded) + far
    constant = [device.put(each) for each in (table, prior, *graphs)]
    for lot in lots(runs, room, device.memory):
        count = lot.stop - lot.start
        own = [device.put(each[lot]) for each in (which, keys)]
        load, paid = (device.zeros((pairs, count), np.float64) for _ in range(2))
        carried = device.zeros((2, count), np.float64)
        wide = count if layout.far else 1
        scratch = [
            device.zeros((2 * agents, wide), np.uint8),
            device.zeros((agents * shape.K, wide), np.uint16),
        ]
        for stretch in stretches(recorded):
            kept = stretch.kept.stop - stretch.kept.start
            books = [device.zeros((max(kept, 1), count), np.int16)]
            books += [device.zeros((max(kept, 1), count), np.float64) for _ in range(2)]
            books += [device.zeros((max(kept, 1), max(kept_agents, 1), count), np.uint8)]
            arguments = [
                *(constant[0], *own, np.int64(count)),
                *(np.int64(stretch.first), np.int32(stretch.size)),
                device.put(schedules.radii(stretch)),
                np.int32(kept),
                device.put(np.append(recorded[stretch.kept], 0).astype(np.int64)),
                *(*constant[1:], np.int32(agents), *scratch),
                *(load, paid, carried, *books),
            ]
            kernel(-(-count // THREADS), THREADS, layout.shared, arguments)
            for to, book in zip(played[:4], books, strict=True):
                if kept and to is not None:
                    to[stretch.kept, ..., lot] = device.get(book)
        played.weight[:, lot], played.paid[:, lot] = device.get(load), device.get(paid)
    played.weight[:] = np.rint(played.weight - prior[form.astype(np.int64)[which]].T)
    return played


def trace_of(env: Environment, policy: CompiledPolicy, played: Played, run: int) -> Trace:
    """What one run leaves."""
    problem = env.problem
    arms = None
    if played.allocation is not None:
        arms = played.allocation[:, : problem.n, run].astype(np.int64)
    return Trace(
        reward=played.reward[:, run].copy(),
        cumulative=played.cumulative[:, run].copy(),
        couple=couples_of(played.couple[:, run].astype(np.int64), problem.K, policy.cut.k),
        allocation=arms,
        record=record_of(problem.K, played.weight[:, run], played.paid[:, run]),
    )


def link_pays(env: Environment) -> FloatArray:
    """What a link of each pair of arms pays in both directions."""
    R = np.asarray(env.reward_tables[0])
    pays: FloatArray = (R + R.T)[np.triu_indices(env.problem.K)]
    return pays


def _game(
    env: Environment, policy: CompiledPolicy, schedule: float, form: float, place: FloatArray
) -> FloatArray:
    """The numbers of ``Game`` in ``text/joint.cu``."""
    cut, constants = policy.cut, policy.constants
    noise = 0.0 if env.noise == "none" else env.sigma
    names = ("sigma", "spread", "offset", "shrinking", "v", "explore", "starts")
    numbers: list[Any] = [cut.m12, cut.m1, cut.m2, noise, *(constants[name] for name in names)]
    return rows_of([np.array([*numbers, schedule, form], dtype=np.float64), place, link_pays(env)])


def _networks(policies: Sequence[CompiledPolicy]) -> tuple[list[Any], list[FloatArray]]:
    """Rows, neighbours, these in either part, and parts, of all distinct cuts; where each starts."""
    known: dict[Any, FloatArray] = {}
    lists: list[list[Any]] = [[] for _ in range(5)]
    at = row = entries = 0
    places = []
    for policy in policies:
        graph, sides = policy.problem.graph, policy.cut.sides
        key = (id(graph), sides.tobytes())
        if key not in known:
            known[key] = np.array([graph.n, at, row, entries], dtype=np.float64)
            far = np.bincount(graph.sources, weights=sides[graph.indices], minlength=graph.n)
            near = np.diff(graph.indptr) - far
            for to, new in zip(lists, (graph.indptr, graph.indices, near, far, sides), strict=True):
                to.append(new)
            at, row, entries = at + graph.n, row + graph.n + 1, entries + graph.m
        places.append(known[key])
    kinds = (np.int32, np.int16, np.int16, np.int16, np.uint8)
    joined = [np.concatenate(each).astype(kind) for each, kind in zip(lists, kinds, strict=True)]
    order = [joined[0], joined[1], joined[2], joined[3], joined[4]]
    return order, places
