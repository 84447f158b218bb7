"""The one loop over rounds: any policy in any system, every edge, every round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support import seeds as seeding
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb._support.progress import Advance, ignore
from gbb._support.seeds import Seed
from gbb.environment import System, problem_at
from gbb.policies import AnyPolicy, Choice
from gbb.simulation.trace import Trace

if TYPE_CHECKING:
    from gbb.simulation.engine import Task

Generators = tuple[np.random.Generator, np.random.Generator]
"""Those of the noise and of the policy's own randomness."""


class Round(NamedTuple):
    """One round of a run.

    Attributes
    ----------
    t
        Its number, counted from 1.
    choice
        What the policy played.
    rewards
        The numbers that it reported.
    expected
        Its expected global reward.
    state
        The policy's state after it.
    """

    t: int
    choice: Choice
    rewards: FloatArray
    expected: float
    state: Any


def play(
    system: System, policy: AnyPolicy, rounds: int, seed: Seed | Generators = 0
) -> Iterator[Round]:
    """Play ``policy`` in ``system``, round by round.

    The seed is split in two: the first child draws the noise, the second the policy's own
    randomness, so that two policies with the same seed face the same noise. Two generators are taken
    as they are.
    """
    if isinstance(seed, tuple):
        noise_rng, policy_rng = seed
    else:
        noise_rng, policy_rng = map(np.random.default_rng, seeding.spawn(seed, 2))
    state = policy.init()
    for t in range(1, rounds + 1):
        current = policy.on(problem_at(system, t))
        choice = _checked(current, t, current.select(state, policy_rng))
        rewards = system.draw(t, choice.allocation, noise_rng)
        expected = system.expected(t, choice.allocation)
        before, state = state, current.update(state, choice, rewards)
        if state is None and before is not None:
            cure = f"Let {type(policy).__name__}.update return it."
            raise checks.input_error("update", "give the state after the round", "None", cure)
        yield Round(t, choice, rewards, expected, state)


def _checked(policy: AnyPolicy, t: int, choice: object) -> Choice:
    """What a policy chose in round ``t``, with one arm for each agent."""
    if not isinstance(choice, Choice):
        cure = f"Let {type(policy).__name__}.select return gbb.policies.Choice(allocation)."
        raise checks.input_error("select", "give a Choice", type(choice).__name__, cure)
    try:
        arms = policy.problem.allocation(choice.allocation)
    except InputError as error:
        raise InputError(f"{policy.name} in round {t}: {error}") from None
    return choice if isinstance(choice.allocation, np.ndarray) else choice._replace(allocation=arms)


def run_reference(
    system: System,
    policy: AnyPolicy,
    rounds: int,
    recorded: IntArray,
    seed: np.random.SeedSequence,
    *,
    keep_allocations: bool = False,
    on_rounds: Advance = ignore,
) -> Trace:
    """Play one run of one policy by :func:`play` and keep the ``recorded`` rounds."""
    total, wanted, kept = 0.0, set(recorded.tolist()), []
    for played in play(system, policy, rounds, seed):
        choice = played.choice
        total += played.expected
        if played.t in wanted:
            arms = choice.allocation if keep_allocations else ()
            kept.append((played.expected, total, choice.couple or (-1, -1), arms))
        on_rounds(1)
    reward, cumulative, couple, allocation = map(np.array, zip(*kept, strict=True))
    return Trace(reward, cumulative, couple, allocation if keep_allocations else None)


def run_batch(system: System, policy: AnyPolicy, task: Task) -> list[Trace]:
    """Play the runs of a task, one after the other."""
    rounds, recorded, seeds, keep, _, step = task
    how: dict[str, Any] = {"keep_allocations": keep, "on_rounds": step}
    return [run_reference(system, policy, rounds, recorded, seed, **how) for seed in seeds]
