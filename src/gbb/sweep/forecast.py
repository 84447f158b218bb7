"""What a sweep will take: instances, rounds, bytes and, by a short measurement, time."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gbb.simulation import cuda
from gbb.simulation.simulate import SlowPolicyWarning, trace_runs
from gbb.sweep.instances import RUNS, make_environment, make_policies, seed_of
from gbb.sweep.spec import Sweep
from gbb.sweep.tasks import plan, seconds_of

SAMPLE, ROUNDS = 8, 400
"""How many cells are measured, and for how many rounds."""


class Forecast(NamedTuple):
    """What a sweep will take.

    Attributes
    ----------
    cells, instances, runs, rounds
        How many combinations, instances, runs of a policy and rounds in all.
    tasks
        How many tasks.
    bytes
        Of all parts on disk; the collected dataset is at most twice as large.
    seconds
        About how long on one core of this machine, if nobody else uses it and all is compiled; with
        ``method="cuda"``, on a GPU that is as fast as some three hundred cores.
    """

    cells: int
    instances: int
    runs: int
    rounds: int
    tasks: int
    bytes: int
    seconds: float


def forecast(sweep: Sweep) -> Forecast:
    """Measure some cells for a few rounds, and reckon the rest by the rule that cuts tasks."""
    tasks, cells = plan(sweep), len(sweep.cells)
    chosen = np.unique(np.linspace(0, cells - 1, SAMPLE).astype(np.int64))
    pairs = np.array([_measure(sweep, int(cell)) for cell in chosen])
    factor = float(pairs[:, 0].sum() / pairs[:, 1].sum())
    instances = cells * sweep.matrices
    runs = instances * len(sweep.names) * sweep.runs
    size = runs * len(sweep.recorded) * 16
    seconds = factor * sum(task.seconds for task in tasks)
    return Forecast(cells, instances, runs, runs * sweep.rounds, len(tasks), size, seconds)


def _measure(sweep: Sweep, number: int) -> tuple[float, float]:
    """What all runs on an instance of a cell take, measured and by the rule, in seconds."""
    cell, rounds = sweep.cells[number], min(ROUNDS, sweep.rounds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowPolicyWarning)
        for _ in range(2):  # the first time compiles
            start = time.process_time()
            env = make_environment(sweep, cell, 0)
            policies = make_policies(sweep, env.problem, sweep.names)
            if sweep.method == "cuda":
                cuda.check_jobs([cuda.Job(env, each, []) for each in policies], sweep.rounds)
            made = time.process_time()
            children = seed_of(sweep, RUNS, 0).spawn(1)
            trace_runs(env, policies, np.array([rounds]), children, workers=1)
            played = time.process_time() - made
    found = made - start + played * sweep.rounds / rounds * sweep.runs
    here = replace(sweep, method="engine")  # which is what was measured
    return found, seconds_of(here, cell, env.problem.m, sweep.names)
