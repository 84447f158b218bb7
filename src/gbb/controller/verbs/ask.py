"""The next allocation: the policy's, within the arms that are allowed."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import FloatArray
from gbb.controller.answers.knowledge import Knowledge
from gbb.controller.state.allowed import repair
from gbb.controller.state.context import problem_in, say_row
from gbb.controller.state.state import State
from gbb.controller.storage.bytes import pack_allocation, pack_rng, unpack_rng
from gbb.controller.storage.events import Draft


def draft_ask(
    state: State, timeout: float | None = None, context: FloatArray | None = None
) -> Draft:
    """The ask that follows from ``state`` and the round's context, and nothing else.

    It may time out after some seconds. The context is a row of numbers.
    """
    setup, allowed = state.setup, state.setup.allowed
    problem, rng = problem_in(setup.problem, context), unpack_rng(setup.seed, state.rng)
    choice = setup.policy.on(problem).select(state.memory, rng)
    arms, moved = choice.allocation, 0
    if allowed is not None and not allowed[np.arange(problem.n), arms].all():
        arms, moved = repair(problem, Knowledge(state, context).optimistic, arms, allowed)
    content: dict[str, object] = {}
    if choice.couple is not None and not moved:
        content["couple"] = list(choice.couple)
    if moved:
        content["repaired"] = moved
    if timeout is not None:
        content["timeout"] = timeout
    content |= say_row(context)
    data = pack_allocation(problem.allocation(arms), problem.K)
    if choice.substituted:
        content["substituted"] = True
    if choice.target is not None:
        content["heading"] = True
        data += pack_allocation(choice.target, problem.K)
    data += pack_rng(rng)
    return Draft("ask", content, state.trials + 1, data)
