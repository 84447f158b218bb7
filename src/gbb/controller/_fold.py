"""The fold: one event and the state before it give the state after it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from gbb._checks import IntArray
from gbb.controller._allowed import carried, changed
from gbb.controller._bytes import (
    RNG_SIZE,
    Observed,
    allocation_size,
    unpack_allocation,
    unpack_rewards,
)
from gbb.controller._errors import StorageError
from gbb.controller._events import Event
from gbb.controller._pairs import both_ways, needs_both_ways
from gbb.controller._spec import graph_from, policy_from, problem_from
from gbb.controller._state import Ask, Setup, State
from gbb.estimator import Record
from gbb.graph import Graph
from gbb.policies import Choice

Step = Callable[[State, Event], State]


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
    graph = state.graphs[ask.graph]
    observed = unpack_rewards(event.data, graph.m, partial="edges" in event.content)
    # A choice of another policy, or on another graph, is no choice of this one.
    choice = ask.choice if ask.setup == state.setup.seq else None
    return _closed(_learnt(state, choice, graph, ask.allocation, observed), event)


def _attach(state: State, event: Event) -> State:
    problem = state.setup.problem
    n, K, graph = problem.n, problem.K, problem.graph
    rest = event.data[allocation_size(n, K) :]
    observed = unpack_rewards(rest, graph.m, partial="edges" in event.content)
    arms = unpack_allocation(event.data, n, K)
    if "key" in event.content:
        state = replace(state, keys={**state.keys, event.content["key"]: event.seq})
    return _learnt(state, None, graph, arms, observed)


def _learnt(
    state: State, choice: Choice | None, graph: Graph, arms: IntArray, observed: Observed
) -> State:
    K, policy = state.setup.problem.K, state.setup.policy
    seen = paired = Record.of(graph, arms, observed.values, K, edges=observed.edges)
    if observed.edges is not None:
        both = both_ways(graph, observed)
        paired = Record.of(graph, arms, both.values, K, edges=both.edges)
    memory = policy.absorb(state.memory, choice, paired if needs_both_ways(policy) else seen)
    record = state.record.merge(seen)
    same = paired is seen and state.paired is state.record
    return replace(
        state,
        memory=memory,
        record=record,
        paired=record if same else state.paired.merge(paired),
        rounds=state.rounds + 1,
    )


def _closed(state: State, event: Event) -> State:
    left = {trial: ask for trial, ask in state.open.items() if trial != event.trial}
    return _pruned(replace(state, open=left))


def _pruned(state: State) -> State:
    """Forget the graphs that no open trial needs."""
    if len(state.graphs) == 1:
        return state
    needed = {ask.graph for ask in state.open.values()} | {state.setup.graph_seq}
    return replace(state, graphs={key: state.graphs[key] for key in sorted(needed)})


def _arms(state: State, event: Event) -> State:
    setup = state.setup
    allowed = changed(setup.problem, setup.allowed, event.kind, event.content)
    return replace(state, setup=replace(setup, allowed=allowed))


def _policy(state: State, event: Event) -> State:
    spec = event.content["policy"]
    policy = policy_from(spec, state.setup.problem)
    return _relearnt(replace(state.setup, seq=event.seq, policy=policy, spec=spec), state)


def _graph(state: State, event: Event) -> State:
    old = state.setup
    graph, spec = graph_from(event.content["graph"]), event.content["policy"]
    problem = problem_from(old.base, graph)
    setup = replace(
        old,
        seq=event.seq,
        graph_seq=event.seq,
        problem=problem,
        policy=policy_from(spec, problem),
        spec=spec,
        allowed=carried(old.problem.graph, old.allowed, graph, problem.K),
    )
    return _pruned(_relearnt(setup, replace(state, graphs={**state.graphs, event.seq: graph})))


def _discount(state: State, event: Event) -> State:
    factor = event.content["factor"]
    record = state.record.discount(factor)
    paired = record if state.paired is state.record else state.paired.discount(factor)
    setup = replace(state.setup, seq=event.seq)
    return _relearnt(setup, replace(state, record=record, paired=paired))


def _relearnt(setup: Setup, state: State) -> State:
    """The state under ``setup``, whose policy learns the whole record at once."""
    # Radii that count rounds count m rewards for each: never fewer than there are.
    rounds = max(state.rounds, math.ceil(np.sum(state.record.N) / setup.problem.m))
    record = state.paired if needs_both_ways(setup.policy) else state.record
    memory = setup.policy.absorb(setup.policy.init(), None, record, rounds=rounds)
    return replace(state, setup=setup, memory=memory)


def _retract(state: State, event: Event) -> State:
    content, trial = event.content, cast(int, event.trial)
    round, made, place, couple = content["ask"]
    graphs = dict(state.graphs)
    if place not in graphs:
        graphs[place] = graph_from(content["ask_graph"])
    arms = unpack_allocation(event.data, graphs[place].n, state.setup.problem.K)
    ask = Ask(arms, None if couple is None else (couple[0], couple[1]), round, made, place)
    state = replace(state, open={**state.open, trial: ask}, graphs=graphs)
    if content["closed_by"] != "tell":
        return state
    record, far = Record(content["N"], content["Y"]), state.far - content["far"]
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
