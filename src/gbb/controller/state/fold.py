"""The fold: one event and the state before it give the state after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from gbb._support.checks import IntArray
from gbb.controller.state.allowed import change_allowed, move_allowed
from gbb.controller.state.learn import learn, relearn
from gbb.controller.state.problem import decode_problem, refuse_unknown
from gbb.controller.state.report import PARTIAL
from gbb.controller.state.state import Ask, State
from gbb.controller.state.tables import learn_tables
from gbb.controller.storage.bytes import (
    RNG_SIZE,
    Observed,
    allocation_size,
    unpack_allocation,
    unpack_rewards,
)
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Event
from gbb.learning import Record
from gbb.learning.record import from_dict
from gbb.problem import Problem

Step = Callable[[State, Event], State]

ATTACH_KEYS = PARTIAL | {"key"}
"""All that an attach event says besides its numbers."""


def fold(state: State, event: Event) -> State:
    """The state after ``event``."""
    if event.kind not in STEPS:
        raise StorageError(
            f"Event {event.seq} has the kind {event.kind!r}, which this version of gbb does not "
            "know. Use the version that wrote it, or a newer one."
        )
    return replace(STEPS[event.kind](state, event), seq=event.seq, seal=event.seal)


def read_arms(event: Event, problem: Problem) -> IntArray:
    """The allocation that an event on ``problem`` asks for, attaches or opens again."""
    return unpack_allocation(event.data, problem.n, problem.K)


def read_told(event: Event, problem: Problem) -> Observed:
    """The rewards of a round of ``problem`` that an event tells or attaches."""
    start = allocation_size(problem.n, problem.K) if event.kind == "attach" else 0
    partial = not PARTIAL.isdisjoint(event.content)
    return unpack_rewards(event.data[start:], problem.observations, partial=partial)


def _ask(state: State, event: Event) -> State:
    setup, trial = state.setup, cast(int, event.trial)
    arms, couple = read_arms(event, setup.problem), event.content.get("couple")
    ask = Ask.of(arms, couple, state.rounds + 1, setup.seq, setup.graph_seq)
    rng = event.data[-RNG_SIZE:]
    return replace(state, rng=rng, trials=trial, open={**state.open, trial: ask})


def _tell(state: State, event: Event) -> State:
    ask = state.open[cast(int, event.trial)]
    problem = state.problem_on(ask.graph)
    # A choice of another policy, or on another graph, is no choice of this one.
    choice = ask.choice if ask.setup == state.setup.seq else None
    return _close(learn(state, choice, problem, ask.allocation, read_told(event, problem)), event)


def _tables(state: State, event: Event) -> State:
    trial = cast(int, event.trial)
    ask = state.open[trial]
    problem = state.problem_on(ask.graph)
    choice = ask.choice if ask.setup == state.setup.seq else None
    state = learn_tables(state, choice, problem, ask, event)
    ask = ask._replace(shards=ask.shards.union(event.content["shards"]))
    if problem.parts is not None and len(ask.shards) == problem.parts.shards:
        return _close(state, event)
    return replace(state, open={**state.open, trial: ask})


def _attach(state: State, event: Event) -> State:
    refuse_unknown("an attached round", event.content, ATTACH_KEYS)
    problem = state.setup.problem
    if "key" in event.content:
        state = replace(state, keys=state.keys.plus(event.content["key"], event.seq))
    return learn(state, None, problem, read_arms(event, problem), read_told(event, problem))


def _close(state: State, event: Event) -> State:
    left = {trial: ask for trial, ask in state.open.items() if trial != event.trial}
    return _prune(replace(state, open=left))


def _prune(state: State) -> State:
    """Forget the problems that no open trial needs."""
    if not state.past_problems:
        return state
    needed = {ask.graph for ask in state.open.values()} - {state.setup.graph_seq}
    past = {graph: state.past_problems[graph] for graph in sorted(needed)}
    return replace(state, past_problems=past)


def _arms(state: State, event: Event) -> State:
    setup = state.setup
    allowed = change_allowed(setup.problem, setup.allowed, event.kind, event.content)
    if not setup.knows_allowed:
        return replace(state, setup=replace(setup, allowed=allowed))
    new = setup.change(allowed=allowed)
    if new.policy.learns_two_way == setup.policy.learns_two_way:
        return replace(state, setup=new)
    return relearn(replace(new, seq=event.seq), state)


def _policy(state: State, event: Event) -> State:
    # Whether the problem holds the allowed arms depends on the policy.
    return relearn(state.setup.change(seq=event.seq, spec=event.content["policy"]), state)


def _graph(state: State, event: Event) -> State:
    old, problem = state.setup, decode_problem(state.setup.base, event.content["graph"])
    setup = old.change(
        problem,
        seq=event.seq,
        graph_seq=event.seq,
        spec=event.content["policy"],
        allowed=move_allowed(old.problem.graph, old.allowed, problem.graph, problem.K),
    )
    past = {**state.past_problems, old.graph_seq: old.problem}
    graphs = (*state.graphs, event.seq)
    return _prune(relearn(setup, replace(state, past_problems=past, graphs=graphs)))


def _discount(state: State, event: Event) -> State:
    factor, two_way = event.content["factor"], state.own_two_way_record
    state = replace(
        state,
        record=state.record.discount(factor),
        own_two_way_record=None if two_way is None else two_way.discount(factor),
    )
    discounts = state.setup.discounts + (factor < 1.0)
    return relearn(state.setup.change(seq=event.seq, discounts=discounts), state)


def _retract(state: State, event: Event) -> State:
    content, trial = event.content, cast(int, event.trial)
    round, made, graph, couple = content["ask"]
    if "ask_graph" in content:
        problem = decode_problem(state.setup.base, content["ask_graph"])
        state = replace(state, past_problems={**state.past_problems, graph: problem})
    ask = Ask.of(read_arms(event, state.problem_on(graph)), couple, round, made, graph)
    state = replace(state, open={**state.open, trial: ask})
    if content["closed_by"] != "tell":
        return state
    state = replace(
        state,
        rounds=state.rounds - 1,
        out_of_bounds_rounds=state.out_of_bounds_rounds - content["far"],
        record=from_dict(content),
        own_two_way_record=Record(*content["paired"]) if "paired" in content else None,
    )
    return relearn(replace(state.setup, seq=event.seq), state)


def _warning(state: State, event: Event) -> State:  # noqa: ARG001
    return replace(state, out_of_bounds_rounds=state.out_of_bounds_rounds + 1)


STEPS: dict[str, Step] = {
    "ask": _ask,
    "tell": _tell,
    "tables": _tables,
    "retract": _retract,
    "fail": _close,
    "abandon": _close,
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
