"""Radio cells choose their channels: ``gbb demo radio``, against the simulator CRRM.

Agents are hexagonal cells, arms three channels, links join neighbouring cells. The reward of edge (i, j)
is the share of its rate that cell i keeps under the interference of cell j, from the powers that a few
of its users report. What counts is the throughput, in Mb/s, which CRRM computes from the interference of
all cells and the policies never see.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from gbb import cuts, policies
from gbb._support import checks, seeds
from gbb._support.progress import Advance, ignore
from gbb.applications._live import Live
from gbb.applications._outcome import Effort, Outcome, choose_effort
from gbb.applications._require import require
from gbb.applications.radio.network import CHANNELS, Network
from gbb.applications.radio.outcome import JOINT, POLICIES, THREE, ChannelHistory, make_outcome
from gbb.applications.radio.search import find_best
from gbb.applications.radio.system import RadioSystem
from gbb.policies import AnyPolicy
from gbb.problem import Problem
from gbb.simulation import play

USERS = {19: 500, 37: 1000}
"""Users of each layout, by its number of cells."""

LEARNT = 0.2
"""Share of the rounds, the last ones, over which a policy's throughput is averaged."""

PLANS = 100
"""Random plans, to see what no plan at all earns and whether the rewards tell."""


@dataclass(frozen=True)
class RadioEffort(Effort):
    """How many rounds each policy plays, and from how many plans the best is searched for."""

    restarts: int


EFFORTS = RadioEffort(300, restarts=30), RadioEffort(150, restarts=6)
"""In full, and quick."""


def steps(*, cells: int = 19, rounds: int | None = None, quick: bool = False) -> int:
    """How many steps :func:`run` tells of; checks that it can run."""
    require("radio", "CRRM", "CRRM")
    if cells not in USERS:
        raise checks.input_error("cells", f"be {' or '.join(map(str, USERS))}", cells)
    effort = choose_effort(*EFFORTS, rounds, quick)
    return len(POLICIES) * effort.rounds + 2 * effort.restarts


def make_contenders(problem: Problem) -> list[AnyPolicy]:
    """The paper's two arms over a cut, its extension to three parts, and two over whole allocations."""
    cut = cuts.best(problem.graph)
    parts = cuts.refine(cut, CHANNELS)
    settings = {"k": CHANNELS, "radius": "symmetric"}
    return [
        policies.build(name, problem, cut=parts if name == THREE else cut, **settings)
        for name in POLICIES
    ]


@contextmanager
def live(
    *, cells: int = 19, rounds: int | None = None, seed: int = 0, quick: bool = False
) -> Iterator[Live]:
    """A network whose cells may each have any channel."""
    steps(cells=cells, rounds=rounds, quick=quick)
    system = RadioSystem(Network(cells, users=USERS[cells], seed=seed))
    total = choose_effort(*EFFORTS, rounds, quick).rounds
    yield Live(system, JOINT, {"radius": "symmetric"}, total)


def control(
    system: RadioSystem,
    policy: AnyPolicy,
    rounds: int,
    rng: np.random.Generator,
    advance: Advance = ignore,
) -> ChannelHistory:
    """Let ``policy`` choose the channels for so many rounds."""
    choices, noise = rng.spawn(2)
    found = []
    for step in play(system, policy, rounds, (noise, choices)):
        found.append((step.choice.allocation, step.rewards.mean(), step.expected))
        advance(1)
    return ChannelHistory(*map(np.array, zip(*found, strict=True)))


def run(
    *,
    seed: int = 0,
    quick: bool = False,
    rounds: int | None = None,
    cells: int = 19,
    advance: Advance = ignore,
) -> Outcome:
    """Let every policy run one network, and compare what CRRM says each earns.

    Parameters
    ----------
    seed
        Where the users stand, what they report, and how ties are broken.
    quick
        Fewer rounds, and fewer restarts of the search for the best plan.
    rounds
        Rounds that each policy plays; 300 when left out, 150 when ``quick``.
    cells
        19 or 37, whole hexagons.
    advance
        Told how many steps were done since the last call, :func:`steps` in all.
    """
    steps(cells=cells, rounds=rounds, quick=quick)
    effort = choose_effort(*EFFORTS, rounds, quick)
    network = Network(cells, users=USERS[cells], seed=seed)
    rng, *streams = seeds.generator(seed).spawn(1 + len(POLICIES))
    system = RadioSystem(network)
    played = {
        policy.name: control(system, policy, effort.rounds, stream, advance)
        for policy, stream in zip(make_contenders(system.problem), streams, strict=True)
    }
    numbers = measure_yardsticks(network, effort.restarts, rng, advance)
    seen = max(float(each.throughput.max()) for each in played.values())
    numbers["best_found"] = max(numbers["best_found"], seen)
    last = max(1, round(LEARNT * effort.rounds))
    for name, each in played.items():
        numbers[name] = float(each.throughput[-last:].mean())
    return make_outcome(network, played, numbers, seed)


def measure_yardsticks(
    network: Network, restarts: int, rng: np.random.Generator, advance: Advance = ignore
) -> dict[str, float]:
    """What plans that nobody learnt earn, in Mb/s, and whether rewards and throughput agree.

    The best found is that of local search on CRRM's throughput from the 3-cut and from random plans.
    """
    plans = rng.integers(CHANNELS, size=(PLANS, network.cells))
    throughput = [network.throughput(plan) for plan in plans]
    reports = [network.reports(plan, rng).sum() for plan in plans]
    three = cuts.kcut(network.graph, CHANNELS, seed=0).parts
    seeded = find_best(network, [three], CHANNELS, rng, advance)
    alone = find_best(network, plans[: restarts - 1], CHANNELS, rng, advance)
    pairs = rng.integers(2, size=(restarts, network.cells))
    return {
        "best_found": max(seeded, alone),
        "three_cut": network.throughput(three),
        "local_search_alone": alone,
        "best_two_channels": find_best(network, pairs, 2, rng, advance),
        "random_channels": float(np.mean(throughput)),
        "agreement": float(np.corrcoef(reports, throughput)[0, 1]),
    }
