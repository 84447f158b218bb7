"""The next allocation: the policy's, within the arms that are allowed."""

from __future__ import annotations

from gbb.controller.answers.knowledge import Knowledge
from gbb.controller.state.allowed import repaired
from gbb.controller.state.state import State
from gbb.controller.storage.bytes import pack_allocation, pack_rng, unpack_rng
from gbb.controller.storage.events import Draft


def next_ask(state: State) -> Draft:
    """The ask that follows from ``state`` and nothing else."""
    setup = state.setup
    problem, policy, allowed = setup.problem, setup.policy, setup.allowed
    rng = unpack_rng(setup.seed, state.rng)
    if (
        allowed is None or not problem.is_paper_problem
    ):  # beyond the paper, the policy knows what is allowed
        choice, moved = policy.select(state.memory, rng), 0
        arms = choice.allocation
    else:
        choice = policy.select_within(state.memory, rng, allowed)
        optimistic = Knowledge.of(state).optimistic
        arms, moved = repaired(problem.graph, optimistic, choice.allocation, allowed)
    content: dict[str, object] = {}
    if choice.couple is not None and not moved:
        content["couple"] = list(choice.couple)
    if moved:
        content["repaired"] = moved
    data = pack_allocation(problem.allocation(arms), problem.K) + pack_rng(rng)
    return Draft("ask", content, state.trials + 1, data)
