"""What a task does, wherever it runs: from a sweep as plain values to a part on disk."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbb.environment import Environment
from gbb.optimum import solve_deterministic
from gbb.policies import AnyPolicy
from gbb.simulation import cuda
from gbb.simulation.baseline import alpha_of
from gbb.simulation.simulate import SlowPolicyWarning, trace_runs
from gbb.sweep import parts
from gbb.sweep.instances import RUNS, make_environment, make_policies, seed_of
from gbb.sweep.spec import Sweep
from gbb.sweep.tasks import Block, Task

Arrays = dict[str, NDArray[Any]]


def do(content: dict[str, Any], task: Task, folder: str) -> str:
    """Do a task of the sweep with this ``content`` unless its part is there; returns its name."""
    place = Path(folder)
    if not parts.is_done(place, task.name):
        sweep = Sweep.of(content)
        compute = {"play": _play, "optima": _solve}[task.kind]
        arrays: Arrays = {}
        for number, found in enumerate(compute(sweep, task.blocks, task.policies)):
            arrays |= {f"{name}_{number}": values for name, values in found.items()}
        parts.write(place, task.name, arrays)
    return task.name


def _play(sweep: Sweep, blocks: Sequence[Block], names: tuple[str, ...]) -> Iterator[Arrays]:
    """Rewards and their totals at the recorded rounds (matrix x policy x run x round)."""
    together = None
    if sweep.method == "cuda":  # all instances of the task in one launch
        together = iter(
            cuda.trace_instances(list(_instances(sweep, blocks, names)), sweep.recorded)
        )
    for block in blocks:
        reward, total = [], []
        for env, policies, children in _instances(sweep, [block], names):
            if together is not None:
                traces = next(together)
            else:
                traces = trace_runs(env, policies, sweep.recorded, children, workers=1)
            reward.append([[trace.reward for trace in runs] for runs in traces])
            total.append([[trace.cumulative for trace in runs] for runs in traces])
        yield {"reward": np.array(reward), "total": np.array(total)}


def _instances(
    sweep: Sweep, blocks: Sequence[Block], names: tuple[str, ...]
) -> Iterator[tuple[Environment, list[AnyPolicy], list[np.random.SeedSequence]]]:
    """The instances of some blocks, their policies, and the seeds of their runs."""
    for block in blocks:
        for matrix in range(block.start, block.stop):
            env = make_environment(sweep, sweep.cells[block.cell], matrix)
            children = seed_of(sweep, RUNS, matrix).spawn(sweep.runs)
            with warnings.catch_warnings():  # a sweep says once which policies are slow
                warnings.simplefilter("ignore", SlowPolicyWarning)
                yield env, make_policies(sweep, env.problem, names), children


def _solve(sweep: Sweep, blocks: Sequence[Block], names: tuple[str, ...]) -> Iterator[Arrays]:
    """The optimum of every instance, and the alpha of every policy's theorem on it."""
    for block in blocks:
        yield _solve_block(sweep, block, names)


def _solve_block(sweep: Sweep, block: Block, names: tuple[str, ...]) -> Arrays:
    cell, rows, alphas = sweep.cells[block.cell], [], []
    for matrix in range(block.start, block.stop):
        env = make_environment(sweep, cell, matrix)
        best = solve_deterministic(env.problem, env.M_star)
        rows.append((best.value, best.upper_bound, float(best.proven), float(env.problem.m)))
        alphas.append(
            [alpha_of(each, env, best) for each in make_policies(sweep, env.problem, names)]
        )
    value, upper, proven, edges = np.array(rows).T
    return {
        "optimum": value,
        "optimum_upper_bound": upper,
        "optimum_proven": proven,
        "edges": edges,
        "alpha": np.array(alphas),
    }
