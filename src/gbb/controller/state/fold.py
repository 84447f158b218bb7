"""The fold: one event and the state before it give the state after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from gbb._support.checks import IntArray
from gbb.controller.state.allowed import carried, changed
from gbb.controller.state.network import (
    graph_from,
    knows_allowed,
    only_known,
    played,
    problem_from,
)
from gbb.controller.state.records import fitted, record_from, rounds_of, seen_in
from gbb.controller.state.spec import policy_from
from gbb.controller.state.state import Ask, Setup, State
from gbb.controller.state.two_way import both_ways, needs_both_ways
from gbb.controller.storage.bytes import (
    RNG_SIZE,
    Observed,
    allocation_size,
    unpack_allocation,
    unpack_rewards,
)
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Event
from gbb.learning.estimator import Record
from gbb.policies import Choice
from gbb.policies._base import merged
from gbb.problem import Problem

Step = Callable[[State, Event], State]

ATTACH_KEYS = frozenset({"edges", "agents", "key"})
"""All that an attach event says besides its numbers."""


def fold(state: State, event: Event) -> State:
    """The state after ``event``."""
    if event.kind not in STEPS:
        raise StorageError(
            f"Event {event.seq} has the kind {event.kind!r}, which this version of gbb does not "
            "know. Use the version that wrote it, or a newer one."
        )
    return replace(STEPS[event.kind](state, event), seq=event.seq, seal=event.seal)


def ask_of(event: Event, *, setup: int, graph: int, round: int, n: int, K: int) -> Ask:
    """What an ask event says."""
    couple = event.content.get("couple")
    arms = unpack_allocation(event.data, n, K)
    return Ask(arms, None if couple is None else (couple[0], couple[1]), round, setup, graph)


def _ask(state: State, event: Event) -> State:
    setup, trial = state.setup, cast(int, event.trial)
    ask = ask_of(
        event,
        setup=setup.seq,
        graph=setup.graph_seq,
        round=state.rounds + 1,
        n=setup.problem.n,
        K=setup.problem.K,
    )
    rng = event.data[-RNG_SIZE:]
    return replace(state, rng=rng, trials=trial, open={**state.open, trial: ask})


def _tell(state: State, event: Event) -> State:
    ask = state.open[cast(int, event.trial)]
    problem = problem_at(state, ask.graph)
    observed = unpack_rewards(event.data, problem.observations, partial=is_partial(event))
    # A choice of another policy, or on another graph, is no choice of this one.
    choice = ask.choice if ask.setup == state.setup.seq else None
    return _closed(_learnt(state, choice, problem, ask.allocation, observed), event)


def _attach(state: State, event: Event) -> State:
    only_known("an attached round", event.content, ATTACH_KEYS)
    problem = state.setup.problem
    rest = event.data[allocation_size(problem.n, problem.K) :]
    observed = unpack_rewards(rest, problem.observations, partial=is_partial(event))
    arms = unpack_allocation(event.data, problem.n, problem.K)
    if "key" in event.content:
        state = replace(state, keys=state.keys.plus(event.content["key"], event.seq))
    return _learnt(state, None, problem, arms, observed)


def _learnt(
    state: State, choice: Choice | None, problem: Problem, arms: IntArray, observed: Observed
) -> State:
    policy, now = state.setup.policy, state.setup.problem
    seen = paired = fitted(seen_in(problem, arms, observed), now)
    both = both_ways(problem, observed)
    if both is not observed:
        paired = fitted(seen_in(problem, arms, both), now)
    memory = policy.absorb(state.memory, choice, paired if needs_both_ways(policy) else seen)
    record = merged(state.record, seen)
    same = paired is seen and state.paired is state.record
    return replace(
        state,
        memory=memory,
        record=record,
        paired=record if same else merged(state.paired, paired),
        rounds=state.rounds + 1,
    )


def _closed(state: State, event: Event) -> State:
    left = {trial: ask for trial, ask in state.open.items() if trial != event.trial}
    return _pruned(replace(state, open=left))


def _pruned(state: State) -> State:
    """Forget the networks that no open trial needs."""
    if len(state.networks) == 1:
        return state
    needed = {ask.graph for ask in state.open.values()} | {state.setup.graph_seq}
    return replace(state, networks={key: state.networks[key] for key in sorted(needed)})


def _arms(state: State, event: Event) -> State:
    setup = state.setup
    allowed = changed(setup.problem, setup.allowed, event.kind, event.content)
    if not knows_allowed(setup.base, state.network, setup.spec):
        return replace(state, setup=replace(setup, allowed=allowed))
    problem = played(setup.base, state.network, setup.spec, allowed)
    policy = policy_from(setup.spec, problem)
    new = replace(setup, allowed=allowed, problem=problem, policy=policy)
    if problem.is_paper_problem == setup.problem.is_paper_problem:
        return replace(state, setup=new)
    # It turns into the paper's problem, or out of it, where records have another shape.
    return _relearnt(replace(new, seq=event.seq), state)


def _policy(state: State, event: Event) -> State:
    setup, spec = state.setup, event.content["policy"]
    # Whether the problem holds the allowed arms depends on the policy.
    problem = played(setup.base, state.network, spec, setup.allowed)
    policy = policy_from(spec, problem)
    new = replace(setup, seq=event.seq, problem=problem, policy=policy, spec=spec)
    return _relearnt(new, state)


def _graph(state: State, event: Event) -> State:
    old = state.setup
    network, spec = graph_from(event.content["graph"]), event.content["policy"]
    allowed = carried(old.problem.graph, old.allowed, network.graph, old.problem.K)
    problem = played(old.base, network, spec, allowed)
    setup = replace(
        old,
        seq=event.seq,
        graph_seq=event.seq,
        problem=problem,
        policy=policy_from(spec, problem),
        spec=spec,
        allowed=allowed,
    )
    networks = {**state.networks, event.seq: network}
    return _pruned(_relearnt(setup, replace(state, networks=networks)))


def _discount(state: State, event: Event) -> State:
    factor = event.content["factor"]
    record = state.record.discount(factor)
    paired = record if state.paired is state.record else state.paired.discount(factor)
    setup = replace(state.setup, seq=event.seq)
    return _relearnt(setup, replace(state, record=record, paired=paired))


def _relearnt(setup: Setup, state: State) -> State:
    """The state under ``setup``, whose policy learns the whole record at once."""
    policy, problem = setup.policy, setup.problem
    record = fitted(state.record, problem)
    paired = record if state.paired is state.record else fitted(state.paired, problem)
    rounds = rounds_of(record, problem, state.rounds)
    seen = paired if needs_both_ways(policy) else record
    memory = policy.absorb(policy.init(), None, seen, rounds=rounds)
    return replace(state, setup=setup, memory=memory, record=record, paired=paired)


def problem_at(state: State, place: int) -> Problem:
    """The problem on the network that event ``place`` holds."""
    setup = state.setup
    if place == setup.graph_seq:
        return setup.problem
    return problem_from(setup.base, state.networks[place])


def is_partial(event: Event) -> bool:
    """Whether some of a round's rewards are missing."""
    return "edges" in event.content or "agents" in event.content


def _retract(state: State, event: Event) -> State:
    content, trial = event.content, cast(int, event.trial)
    round, made, place, couple = content["ask"]
    networks = dict(state.networks)
    if place not in networks:
        networks[place] = graph_from(content["ask_graph"])
    arms = unpack_allocation(event.data, networks[place].graph.n, state.setup.problem.K)
    ask = Ask(arms, None if couple is None else (couple[0], couple[1]), round, made, place)
    state = replace(state, open={**state.open, trial: ask}, networks=networks)
    if content["closed_by"] != "tell":
        return state
    record, far = record_from(content), state.far - content["far"]
    paired = Record(*content["paired"]) if "paired" in content else record
    state = replace(state, record=record, paired=paired, rounds=state.rounds - 1, far=far)
    return _relearnt(replace(state.setup, seq=event.seq), state)


def _warning(state: State, event: Event) -> State:  # noqa: ARG001
    return replace(state, far=state.far + 1)


STEPS: dict[str, Step] = {
    "ask": _ask,
    "tell": _tell,
    "retract": _retract,
    "fail": _closed,
    "abandon": _closed,
    "attach": _attach,
    "forbid": _arms,
    "pin": _arms,
    "allow": _arms,
    "policy": _policy,
    "graph": _graph,
    "discount": _discount,
    "warning": _warning,
}
"""What each kind of event does; ``create`` begins a log and is none of them."""

KINDS = ("create", *STEPS)
"""All kinds of events."""
