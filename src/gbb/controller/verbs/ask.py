"""The next allocation: the policy's, within the arms that are allowed."""

from __future__ import annotations

import numpy as np

from gbb._support.checks import FloatArray
from gbb.controller.log.codec import pack_allocation, pack_rng, unpack_rng
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.allowed import repair
from gbb.controller.state.context import problem_in, say_row


def append_ask(
    turn: Transaction,
    timeout: float | None = None,
    context: FloatArray | None = None,
    after: int | None = None,
) -> Event:
    """Append the ask that follows from the state and the round's context, and nothing else.

    It may time out after some seconds. The context is a row of numbers. It comes ``after`` the trial
    that was told with it.
    """
    state = turn.state
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
    if after is not None:
        content["after"] = after
    return turn.append("ask", content, trial=state.trials + 1, data=data)
