"""Radio cells choose their channels: ``gbb demo radio``, against the simulator CRRM.

Agents are hexagonal cells, arms three channels, links join neighbouring cells. The reward of edge (i, j)
is the share of its rate that cell i keeps under the interference of cell j, from the powers that a few
of its users report. What counts is the throughput, in Mb/s, which CRRM computes from the interference of
all cells and the policies never see.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb import cuts, policies
from gbb._support import checks, seeds
from gbb.applications._outcome import Advance, Outcome, ignore
from gbb.applications._require import require
from gbb.applications.radio.network import CHANNELS, Network
from gbb.applications.radio.outcome import POLICIES, THREE, Played, outcome_of
from gbb.applications.radio.search import best_found
from gbb.policies import AnyPolicy
from gbb.problem import Problem

USERS = {19: 500, 37: 1000}
"""Users of each layout, by its number of cells."""

SIGMA = 0.5
"""Reports are shares, between 0 and 1, and so 1/2-sub-Gaussian whatever their law (Hoeffding)."""

LEARNT = 0.2
"""Share of the rounds, the last ones, over which a policy's throughput is averaged."""

PLANS = 100
"""Random plans, to see what no plan at all earns and whether the rewards tell."""


class Effort(NamedTuple):
    """How many rounds each policy plays, and from how many plans the best is searched for."""

    rounds: int
    restarts: int


FULL, QUICK = Effort(300, 30), Effort(150, 6)


def steps(*, cells: int = 19, rounds: int | None = None, quick: bool = False) -> int:
    """How many steps :func:`run` tells of; checks that it can run."""
    require("radio", "CRRM", "CRRM")
    if cells not in USERS:
        raise checks.input_error("cells", f"be {' or '.join(map(str, USERS))}", cells)
    effort = effort_of(rounds, quick)
    return len(POLICIES) * effort.rounds + 2 * effort.restarts


def effort_of(rounds: int | None, quick: bool) -> Effort:
    """The demo's own number of rounds, or that which is asked for."""
    effort = QUICK if quick else FULL
    if rounds is None:
        return effort
    return effort._replace(rounds=checks.integer("rounds", rounds, low=1))


def problem_of(network: Network) -> Problem:
    """What a learner knows: who neighbours whom, three channels, and that shares are at most 1."""
    names = [f"channel {number}" for number in range(1, CHANNELS + 1)]
    bound = float(CHANNELS)  # CHANNELS^2 entries of at most 1
    return Problem(network.graph, np.eye(CHANNELS), sigma=SIGMA, S=bound, arm_names=names)


def contenders(problem: Problem) -> list[AnyPolicy]:
    """The paper's two arms over a cut, its extension to three parts, and two over whole allocations."""
    cut = cuts.best(problem.graph, seed=0)
    parts = cuts.refine(cut, CHANNELS)
    settings = {"k": CHANNELS, "radius": "symmetric"}
    return [
        policies.build(name, problem, cut=parts if name == THREE else cut, **settings)
        for name in POLICIES
    ]


def play(
    network: Network,
    policy: AnyPolicy,
    rounds: int,
    rng: np.random.Generator,
    advance: Advance = ignore,
) -> Played:
    """Let ``policy`` choose the channels for so many rounds."""
    choices, noise = rng.spawn(2)
    plans = np.empty((rounds, network.cells), dtype=np.int64)
    rewards, throughput = np.empty(rounds), np.empty(rounds)
    state = policy.init()
    for t in range(rounds):
        choice = policy.select(state, choices)
        reports = network.reports(choice.allocation, noise)
        state = policy.update(state, choice, reports)
        plans[t], rewards[t] = choice.allocation, reports.mean()
        throughput[t] = network.throughput(choice.allocation)
        advance(1)
    return Played(plans, rewards, throughput)


def run(
    *,
    cells: int = 19,
    rounds: int | None = None,
    seed: int = 0,
    quick: bool = False,
    advance: Advance = ignore,
) -> Outcome:
    """Let every policy run one network, and compare what CRRM says each earns.

    Parameters
    ----------
    cells
        19 or 37, whole hexagons.
    rounds
        Rounds that each policy plays; 300 when left out, 150 when ``quick``.
    seed
        Where the users stand, what they report, and how ties are broken.
    quick
        Fewer rounds, and fewer restarts of the search for the best plan.
    advance
        Told how many steps were done since the last call, :func:`steps` in all.
    """
    steps(cells=cells, rounds=rounds, quick=quick)
    effort = effort_of(rounds, quick)
    network = Network(cells, users=USERS[cells], seed=seed)
    rng, *streams = seeds.generator(seed).spawn(1 + len(POLICIES))
    played = {
        policy.name: play(network, policy, effort.rounds, stream, advance)
        for policy, stream in zip(contenders(problem_of(network)), streams, strict=True)
    }
    numbers = yardsticks(network, effort.restarts, rng, advance)
    seen = max(float(each.throughput.max()) for each in played.values())
    numbers["best_found"] = max(numbers["best_found"], seen)
    last = max(1, round(LEARNT * effort.rounds))
    for name, each in played.items():
        numbers[name] = float(each.throughput[-last:].mean())
    return outcome_of(network, played, numbers, seed)


def yardsticks(
    network: Network, restarts: int, rng: np.random.Generator, advance: Advance = ignore
) -> dict[str, float]:
    """What plans that nobody learnt earn, in Mb/s, and whether rewards and throughput agree.

    The best found is that of local search on CRRM's throughput from the 3-cut and from random plans.
    """
    plans = rng.integers(CHANNELS, size=(PLANS, network.cells))
    throughput = [network.throughput(plan) for plan in plans]
    reports = [network.reports(plan, rng).sum() for plan in plans]
    three = cuts.kcut(network.graph, CHANNELS, seed=0).parts
    seeded = best_found(network, [three], CHANNELS, rng, advance)
    alone = best_found(network, plans[: restarts - 1], CHANNELS, rng, advance)
    pairs = rng.integers(2, size=(restarts, network.cells))
    return {
        "best_found": max(seeded, alone),
        "three_cut": network.throughput(three),
        "local_search_alone": alone,
        "best_two_channels": best_found(network, pairs, 2, rng, advance),
        "random_channels": float(np.mean(throughput)),
        "agreement": float(np.corrcoef(reports, throughput)[0, 1]),
    }
