"""The next allocation: the policy's, within the arms that are allowed."""

from __future__ import annotations

import numpy as np

from gbb.controller.answers.knowledge import Knowledge
from gbb.controller.state.allowed import repair
from gbb.controller.state.learn import playing
from gbb.controller.state.state import State
from gbb.controller.storage.bytes import pack_allocation, pack_rng, unpack_rng
from gbb.controller.storage.events import Draft


def draft_ask(state: State, timeout: float | None = None) -> Draft:
    """The ask that follows from ``state`` and nothing else; it may time out after some seconds."""
    setup, problem, allowed = state.setup, state.setup.problem, state.setup.allowed
    rng = unpack_rng(setup.seed, state.rng)
    policy = playing(state)
    if allowed is None or setup.knows_allowed:
        choice = policy.select(state.memory, rng)
    else:
        choice = policy.select_within(state.memory, rng, allowed)
    arms, moved = choice.allocation, 0
    if allowed is not None and not allowed[np.arange(problem.n), arms].all():
        arms, moved = repair(problem, Knowledge(state).optimistic, arms, allowed)
    content: dict[str, object] = {}
    if choice.couple is not None and not moved:
        content["couple"] = list(choice.couple)
    if moved:
        content["repaired"] = moved
    if timeout is not None:
        content["timeout"] = timeout
    data = pack_allocation(problem.allocation(arms), problem.K)
    if choice.substituted:
        content["substituted"] = True
    if choice.target is not None:
        content["heading"] = True
        data += pack_allocation(choice.target, problem.K)
    data += pack_rng(rng)
    return Draft("ask", content, state.trials + 1, data)
