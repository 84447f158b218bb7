"""Couples over a cut on a device: orthogonal arms a thread a run, others a group of lanes a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gbb._support import checks, seeds
from gbb._support.checks import FloatArray, IntArray
from gbb.environment import Environment
from gbb.learning.coordinates import symmetric_edge_arms
from gbb.learning.record import Record
from gbb.policies._compiled import CompiledPolicy
from gbb.simulation._trace import Trace, couples_of
from gbb.simulation.cuda.launch import Kernel, Launcher, rows_of, source_of
from gbb.simulation.cuda.stretches import (
    Keys,
    Schedules,
    lots,
    most_kept,
    numbered,
    stretches,
)
from gbb.simulation.engine.couples import noise_of, plays_couples
from gbb.simulation.engine.noise import Blocks

MOST_ARMS = {True: 28, False: 10}
"""How many arms there may be at most, by whether they are orthogonal."""

MOST_GROWN = 1e10
"""Up to here estimates have six digits or more."""

WIDE = 7
"""From so many orthogonal arms on, what a round touches three numbers of is not in shared memory."""


class Given(NamedTuple):
    """Noise, and draws for ties, that are handed to the kernel (runs x rounds x 4, runs x rounds)."""

    noise: FloatArray
    ties: FloatArray


class Played(NamedTuple):
    """What runs leave.

    Couples and totals of the recorded rounds (rounds x runs), the record by pair (pairs x runs) and,
    where they are asked for, means and widths of all couples after the last round (2 x K^2 x runs).
    """

    couple: IntArray
    cumulative: FloatArray
    weight: FloatArray
    paid: FloatArray
    estimate: FloatArray | None


class Shape(NamedTuple):
    """What decides how a kernel is compiled; jobs that agree in it are played in one launch."""

    orthogonal: bool
    K: int
    even: bool
    adaptive: bool
    given: bool
    estimate: bool = False


def shape_of(policy: CompiledPolicy, given: bool) -> Shape:
    """The shape of the launch that plays ``policy``, if there is one."""
    problem, weights = policy.problem, policy.weights
    if not plays_couples(policy) or problem.contexts is not None:
        rule = 'play couples by optimism on the paper\'s problem, or search, for method="cuda"'
        raise checks.input_error("policies", rule, policy.name)
    most = MOST_ARMS[problem.orthogonal]
    if most < problem.K:
        kind = "orthogonal arms" if problem.orthogonal else "arms"
        raise checks.input_error("arms", f'be at most {most} {kind} for method="cuda"', problem.K)
    if problem.orthogonal and not np.any(problem.arms, axis=1).all():
        raise checks.input_error("arms", 'have no arm of norm 0 for method="cuda"', "one")
    return Shape(problem.orthogonal, problem.K, weights[2] == weights[3], policy.adaptive, given)


def check_digits(policy: CompiledPolicy, rounds: int) -> None:
    """Refuse what would leave the kernel for general arms too few digits.

    Where there are more pairs than dimensions, it renews the covariance of the pairs from the prior's,
    one pair at a time, and loses ``eps |q|^2 N / lam``, of the largest q and all N edges played.
    """
    problem = policy.problem
    if problem.orthogonal or problem.d >= problem.K:
        return
    norms = np.linalg.norm(problem.arms, axis=1)
    grown = float(norms.max()) ** 4 / policy.lam * problem.m * rounds
    if grown > MOST_GROWN:
        rule = f'have |x|^4 m rounds / lam of at most {MOST_GROWN:g} for method="cuda" where K > d'
        cure = 'Leave out method="cuda" (--cuda) to play on the processor.'
        raise checks.input_error("arms", rule, f"{grown:.3g}", cure)


class Layout(NamedTuple):
    """How many threads play a block of runs, how many runs these are, and its shared memory."""

    threads: int
    runs: int
    shared: int


def kernel_of(device: Launcher, shape: Shape) -> tuple[Kernel, Layout]:
    """The compiled kernel, and how it is launched."""
    pairs = shape.K * (shape.K + 1) // 2
    flags = {"EVEN": shape.even, "ADAPTIVE": shape.adaptive, "GIVEN": shape.given}
    flags["ESTIMATE"] = shape.estimate
    defines = {"K": shape.K} | {name: 1 for name, wanted in flags.items() if wanted}
    if shape.orthogonal:
        threads = 64 if shape.K <= 14 else 32
        defines["BLOCK"], tables = threads, 4
        if shape.K >= WIDE:
            defines["WIDE"], tables = 1, 2
        layout = Layout(threads, threads, 8 * tables * pairs * threads)
        texts = ["common", "couples", "onehot"]
    else:
        group = 16 if pairs <= 16 else 32 if pairs <= 32 else 64
        threads = max(64, group) if group == 64 else 128
        defines |= {"GROUP": group, "BLOCK": threads, "MIN_BLOCKS": 5 if group == 64 else 4}
        own = 3 * pairs + 3 + 2 * group + 4 * (group // 32 + 1)
        layout = Layout(threads, threads // group, 8 * own * (threads // group))
        texts = ["common", "couples", "pairs"]
    options = ("--fmad=false",) if shape.given else ()
    return device.compile(source_of(texts, defines), "play_couples", options), layout


def play_couples(
    device: Launcher,
    shape: Shape,
    jobs: Sequence[tuple[Environment, CompiledPolicy, Keys]],
    recorded: IntArray,
    given: Given | None = None,
) -> Played:
    """All runs of all jobs, side by side, in the order of ``jobs``."""
    kernel, layout = kernel_of(device, shape)
    which = np.repeat(np.arange(len(jobs), dtype=np.int32), [len(keys) for *_, keys in jobs])
    keys = np.concatenate([keys for *_, keys in jobs])
    policies = [policy for _, policy, _ in jobs]
    schedules = Schedules(policies)
    about = [(policy.problem.arms.tobytes(), policy.lam) for policy in policies]
    form, prior = numbered(about, lambda j: _prior(policies[j]))
    table = np.stack(
        [
            _instance(env, policy, schedules.of[j], form[j])
            for j, (env, policy, _) in enumerate(jobs)
        ]
    )
    runs, pairs, length = len(which), shape.K * (shape.K + 1) // 2, int(recorded[-1])
    played = Played(
        np.zeros((len(recorded), runs), dtype=np.int16),
        np.zeros((len(recorded), runs)),
        np.zeros((pairs, runs)),
        np.zeros((pairs, runs)),
        np.zeros((2, shape.K**2, runs)) if shape.estimate else None,
    )
    whole = {} if given is None else {"length": length}
    room = (
        16 * pairs + 40 + 10 * most_kept(recorded, **whole) + (0 if given is None else 40 * length)
    )
    instances, before = device.put(table), device.put(prior)
    for lot in lots(runs, room, device.memory):
        count = lot.stop - lot.start
        own = [device.put(each[lot]) for each in (which, keys)]
        load, paid = (device.zeros((pairs, count), np.float64) for _ in range(2))
        tables = 2 * shape.K**2 if shape.estimate else 0
        carried = device.zeros((2 + tables, count), np.float64)
        handed = [device.put(each[lot]) if given else carried for each in given or (keys, keys)]
        for stretch in stretches(recorded, **whole):
            kept = stretch.kept.stop - stretch.kept.start
            couple = device.zeros((max(kept, 1), count), np.int16)
            cumulative = device.zeros((max(kept, 1), count), np.float64)
            arguments = [
                *(
                    instances,
                    *own,
                    np.int64(count),
                    np.int64(stretch.first),
                    np.int32(stretch.size),
                ),
                device.put(schedules.radii(stretch)),
                np.int32(kept),
                device.put(np.append(recorded[stretch.kept], 0).astype(np.int64)),
                *(before, load, paid, carried, couple, cumulative, *handed),
            ]
            kernel(-(-count // layout.runs), layout.threads, layout.shared, arguments)
            if kept:
                played.couple[stretch.kept, lot] = device.get(couple)
                played.cumulative[stretch.kept, lot] = device.get(cumulative)
        played.weight[:, lot], played.paid[:, lot] = device.get(load), device.get(paid)
        if played.estimate is not None:
            played.estimate[..., lot] = device.get(carried)[2:].reshape(2, -1, count)
    if shape.orthogonal:  # the prior is in it
        played.weight[:] -= prior[form.astype(np.int64)[which]].T
    return played._replace(weight=np.rint(played.weight))


def given_noise(
    env: Environment, policy: CompiledPolicy, own: Sequence[np.random.SeedSequence], rounds: int
) -> Given:
    """Noise and draws for ties as the engine has them with ``edge_noise``."""
    noise, ties = [], []
    for seed in own:
        noise_rng, rng = map(np.random.default_rng, seeds.sequence(seed).spawn(2))
        blocks = Blocks(env, noise_rng, edge_noise=True)
        draw = noise_of(policy.cut, blocks)
        noise.append(np.concatenate([draw(size) for size in blocks.sizes(rounds)]))
        ties.append(rng.random(rounds))
    return Given(np.stack(noise), np.stack(ties))


def trace_of(
    env: Environment, policy: CompiledPolicy, played: Played, run: int, keep_allocations: bool
) -> Trace:
    """What one run leaves. Both directions of a pair have half of what they paid together each."""
    K = policy.problem.K
    couple = couples_of(played.couple[:, run].astype(np.int64), K, 2)
    payoff = policy.cut.couple_values(env.reward_tables[0]).ravel()
    return Trace(
        reward=payoff[played.couple[:, run]],
        cumulative=played.cumulative[:, run].copy(),
        couple=couple,
        allocation=couple[:, policy.cut.sides] if keep_allocations else None,
        record=record_of(K, played.weight[:, run], played.paid[:, run]),
    )


def record_of(K: int, weight: FloatArray, paid: FloatArray) -> Record:
    """The record of both directions from sums over pairs of arms."""
    a, b = np.triu_indices(K)
    N, Y = np.zeros((1, K, K), dtype=np.int64), np.zeros((1, K, K))
    share = np.where(a == b, 1.0, 0.5)
    N[0, a, b] = N[0, b, a] = (share * weight).astype(np.int64)
    Y[0, a, b] = Y[0, b, a] = share * paid
    return Record(N, Y)


def _instance(env: Environment, policy: CompiledPolicy, schedule: float, form: float) -> FloatArray:
    """The numbers of ``Instance`` in ``text/couples.cu``."""
    cut, constants = policy.cut, policy.constants
    w12, _, w1, w2 = policy.weights
    R = np.asarray(env.reward_tables[0])
    noise = 0.0 if env.noise == "none" else env.sigma
    radius = [constants[name] for name in ("sigma", "spread", "offset")]
    numbers: list[Any] = [
        2.0 * w12,
        w1,
        w2,
        cut.m12,
        cut.m1,
        cut.m2,
        noise,
        *radius,
        schedule,
        form,
    ]
    return rows_of([np.array(numbers, dtype=np.float64), R, cut.couple_values(R)])


def orthogonal_prior(policy: CompiledPolicy) -> FloatArray:
    """Lam over the squared norm of every pair ``(z_ab + z_ba) / 2`` of orthogonal arms."""
    a, b = np.triu_indices(policy.problem.K)
    size2 = np.sum(policy.problem.arms**2, axis=1)
    prior: FloatArray = policy.lam / (size2[a] * size2[b] * np.where(a == b, 1.0, 0.5))
    return prior


def _prior(policy: CompiledPolicy) -> FloatArray:
    """What is known before the first round: of every pair, or of all of them."""
    problem = policy.problem
    a, b = np.triu_indices(problem.K)
    if problem.orthogonal:
        return orthogonal_prior(policy)
    features = symmetric_edge_arms(problem.arms)[a * problem.K + b]
    covariance: FloatArray = features @ features.T / policy.lam
    return covariance
