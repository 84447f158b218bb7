"""Rounds a second on a GPU, kernels alone, by events of the device. Prints Markdown.

python benchmarks/gpu.py            all rows: one instance, then 1,000 instances of 32 runs each
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import gbb
from gbb.policies._compiled import CompiledPolicy, compile_policy
from gbb.simulation._trace import recorded_rounds
from gbb.simulation.cuda import couples, joint, launch, random_play

P = gbb.policies
INSTANCES, RUNS = 1000, 32
ROWS: list[tuple[str, str, int, bool, int, int]] = [
    ("ImprovedOFUL", "paper", 5, False, 1 << 18, 4000),
    ("ImprovedOFUL", "symmetric", 5, False, 1 << 18, 4000),
    ("OFUL", "paper", 5, False, 1 << 18, 4000),
    ("ImprovedOFUL", "paper", 10, False, 1 << 17, 2000),
    ("ImprovedOFUL", "paper", 5, True, 1 << 16, 2000),
    ("ImprovedOFUL", "symmetric", 5, True, 1 << 16, 2000),
    ("OFUL", "paper", 5, True, 1 << 16, 2000),
    ("ImprovedOFUL", "paper", 10, True, 1 << 13, 1000),
    ("ThompsonSampling", "", 5, False, 1 << 17, 1000),
    ("JointOFUL", "", 5, False, 1 << 17, 1000),
    ("EpsilonGreedy", "", 5, False, 1 << 17, 1000),
    ("UniformRandom", "", 5, False, 1 << 18, 2000),
    ("ExploreThenCommit", "", 5, False, 1 << 18, 2000),
]
"""Policy, radius, d = K, whether arms are general, runs, rounds."""


class Clocked(launch.CupyLauncher):
    """Adds up how long kernels take."""

    def __init__(self, cupy: Any) -> None:
        super().__init__(cupy)
        self.seconds = 0.0

    def compile(self, source: str, name: str, options: tuple[str, ...]) -> launch.Kernel:
        """The kernel, which waits until it is done."""
        kernel = super().compile(source, name, options)

        def clocked(*given: Any) -> None:
            start, end = (self._cupy.cuda.Event() for _ in range(2))
            start.record()
            kernel(*given)
            end.record()
            end.synchronize()
            self.seconds += self._cupy.cuda.get_elapsed_time(start, end) / 1e3

        return clocked


def job(row: tuple[Any, ...], number: int, runs: int) -> tuple[gbb.Environment, Any, np.ndarray]:
    name, radius, K, general, _, rounds = row
    rng = np.random.default_rng(number)
    arms = np.eye(K)
    if general:
        arms = rng.normal(size=(K, K))
        arms /= np.linalg.norm(arms, axis=1)[:, None]
    M = np.abs(rng.normal(size=(K, K)))
    problem = gbb.Problem(gbb.Graph.complete(5), arms, sigma=1.0, S=4.0)
    settings: dict[str, Any] = {"cut": gbb.cuts.greedy(problem.graph), "horizon": 3 * rounds}
    if radius:
        settings["radius"] = radius
    env = gbb.Environment(problem, 4.0 * M / np.linalg.norm(M))
    keys = rng.integers(0, 2**32, size=(runs, 4), dtype=np.uint32)
    policy = P.build(name, problem, **settings)
    return env, compile_policy(policy) or policy, keys


def play(device: Clocked, jobs: Sequence[Any], rounds: int) -> None:
    policy: Any = jobs[0][1]
    recorded = recorded_rounds(rounds, "log")
    if not isinstance(policy, CompiledPolicy):
        random_play.play_random(device, random_play.shape_of(policy, rounds, False), jobs, recorded)
    elif policy.starts:
        joint.play_joint(device, joint.shape_of(policy, False), jobs, recorded)
    else:
        couples.play_couples(device, couples.shape_of(policy, False), jobs, recorded)


def rate(device: Clocked, jobs: Sequence[Any], rounds: int) -> float:
    """The best of three."""
    rates = []
    for _ in range(3):
        device.seconds = 0.0
        play(device, jobs, rounds)
        rates.append(sum(len(keys) for *_, keys in jobs) * rounds / device.seconds)
    return max(rates)


def main() -> None:
    launch.launcher()  # says what is missing
    import cupy  # noqa: PLC0415

    device = Clocked(cupy)
    print("| policy | arms | d = K | one instance | 1,000 instances x 32 runs |")
    print("| --- | --- | ---: | ---: | ---: |")
    for row in ROWS:
        name, radius, K, general, runs, rounds = row
        alone = rate(device, [job(row, 0, runs)], rounds)
        many = rate(device, [job(row, i, RUNS) for i in range(INSTANCES)], rounds)
        title = f"{name}, {radius} radius" if radius else name
        arms = "general" if general else "one-hot"
        print(f"| {title} | {arms} | {K} | {alone / 1e9:.2f} G/s | {many / 1e9:.2f} G/s |")


if __name__ == "__main__":
    main()
