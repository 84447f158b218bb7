"""The fold: one event and the state before it give the state after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb.controller.log.codec import (
    RNG_SIZE,
    Observed,
    allocation_size,
    played_size,
    unpack_allocation,
    unpack_played,
    unpack_rewards,
)
from gbb.controller.log.events import Event, StorageError
from gbb.controller.state.allowed import change_allowed, move_allowed
from gbb.controller.state.context import problem_in, read_row_of
from gbb.controller.state.learn import learn, relearn
from gbb.controller.state.recent import RecentRounds
from gbb.controller.state.report import PARTIAL
from gbb.controller.state.specs import decode_problem
from gbb.controller.state.state import Ask, InForce, Setup, State
from gbb.controller.state.tables import learn_tables
from gbb.learning.record import from_dict
from gbb.policies import AccountingPolicy
from gbb.problem import Problem

Step = Callable[[State, Event], State]

LEARNT = ("tell", "attach")
"""The kinds of events that a round is learnt from."""


def fold(state: State, event: Event) -> State:
    """The state after ``event``."""
    if event.kind not in STEPS:
        raise StorageError(
            f"Event {event.seq} has the kind {event.kind!r}, which this version of gbb does not "
            "know. Use the version that wrote it, or a newer one."
        )
    return replace(STEPS[event.kind](state, event), seq=event.seq, seal=event.seal)


def read_arms(event: Event, problem: Problem) -> IntArray:
    """The allocation that an event on ``problem`` asks for, attaches or opens again.

    -1 for the agents of an attached round of whom nobody knows what they played.
    """
    if (known := event.content.get("played")) is not None:
        return unpack_played(event.data, problem.n, problem.K, known)
    return unpack_allocation(event.data, problem.n, problem.K)


def read_told(event: Event, problem: Problem) -> Observed:
    """The rewards of a round of ``problem`` that an event tells or attaches."""
    start, known = 0, event.content.get("played")
    if event.kind == "attach":
        n, K = problem.n, problem.K
        start = allocation_size(n, K) if known is None else played_size(n, K, known)
    partial = not PARTIAL.isdisjoint(event.content)
    return unpack_rewards(event.data[start:], problem.observations, partial=partial)


def read_ask(event: Event, problem: Problem, place: Sequence[Any]) -> Ask:
    """What an event on ``problem`` asks for; ``place`` is its round, setup, graph and times."""
    arms, row = read_arms(event, problem), read_row_of(event, problem)
    couple, substituted = event.content.get("couple"), "substituted" in event.content
    return Ask.of(arms, couple, place, substituted=substituted, context=row)


def read_counted(event: Event, problem: Problem) -> FloatArray | None:
    """What a retraction takes back of a policy's accounts; None if the round was not played."""
    closed_by, o = event.content["closed_by"], problem.observations
    if closed_by != "tell":
        return np.full(o, np.nan) if closed_by != "abandon" else None
    start, partial = allocation_size(problem.n, problem.K), event.content["counted"] == "some"
    return unpack_rewards(event.data[start:], o, partial=partial).spread(o)


def _ask(state: State, event: Event) -> State:
    setup, trial, target = state.setup, cast(int, event.trial), None
    n, K = setup.problem.n, setup.problem.K
    timeout = event.content.get("timeout")
    deadline = None if timeout is None else event.time + timeout
    place = (state.rounds + 1, setup.seq, setup.graph_seq, event.time, deadline)
    ask = read_ask(event, setup.problem, place)
    if event.content.get("heading"):
        target = unpack_allocation(event.data[allocation_size(n, K) :], n, K)
    memory, policy = state.memory, setup.policy
    if isinstance(policy, AccountingPolicy):
        memory = policy.on_ask(memory, trial, ask.choice._replace(target=target))
    rng, open = event.data[-RNG_SIZE:], {**state.open, trial: ask}
    return replace(state, rng=rng, trials=trial, open=open, memory=memory)


def _tell(state: State, event: Event) -> State:
    ask = state.open[cast(int, event.trial)]
    problem = state.problem_of(ask)
    told = read_told(event, problem)
    state = _close(state, event, told.spread(problem.observations))
    # A choice of another policy, or on another graph, is no choice of this one.
    choice = ask.choice if ask.setup == state.setup.seq else None
    return _prune(learn(state, choice, problem, ask.allocation, told))


def _fail(state: State, event: Event) -> State:
    problem = state.problem_on(state.open[cast(int, event.trial)].graph)
    return _prune(_close(state, event, np.full(problem.observations, np.nan)))


def _abandon(state: State, event: Event) -> State:
    return _prune(_close(state, event, None))


def _tables(state: State, event: Event) -> State:
    trial = cast(int, event.trial)
    ask = state.open[trial]
    problem = state.problem_on(ask.graph)
    choice = ask.choice if ask.setup == state.setup.seq else None
    state = learn_tables(state, choice, problem, ask, event)
    ask = ask._replace(shards=ask.shards.union(event.content["shards"]))
    if problem.edge_counts is not None and len(ask.shards) == len(problem.edge_counts):
        return _fail(state, event)  # closed, with nothing left to come
    return replace(state, open={**state.open, trial: ask})


def _attach(state: State, event: Event) -> State:
    problem = problem_in(state.setup.problem, read_row_of(event, state.setup.problem))
    if "key" in event.content:
        state = replace(state, keys=state.keys.plus(event.content["key"], event.seq))
    return learn(state, None, problem, read_arms(event, problem), read_told(event, problem))


def _close(state: State, event: Event, paid: FloatArray | None) -> State:
    """Without an open trial, of whose end the policy hears if it asked for it."""
    end, setup = cast(int, event.trial), state.setup
    ask, memory = state.open[end], state.memory
    left = {trial: other for trial, other in state.open.items() if trial != end}
    if isinstance(setup.policy, AccountingPolicy) and ask.setup >= setup.policy_since:
        memory = setup.policy.on_close(memory, end, ask.choice, paid)
    return replace(state, open=left, memory=memory)


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
    return replace(state, setup=setup.change(allowed=allowed))


def _policy(state: State, event: Event) -> State:
    # Whether the problem holds the allowed arms depends on the policy.
    setup = state.setup.change(seq=event.seq, policy_since=event.seq, spec=event.content["policy"])
    return relearn(setup, state, _before_first_round(setup, event))


def _before_first_round(setup: Setup, event: Event) -> Any:
    """The memory of a policy that begins on a plant in operation."""
    policy = setup.policy
    if isinstance(policy, AccountingPolicy):
        return policy.init(event.content.get("last"))
    return policy.init()


def _graph(state: State, event: Event) -> State:
    old, problem = state.setup, decode_problem(state.setup.base, event.content["graph"])
    setup = old.change(
        problem=problem,
        seq=event.seq,
        policy_since=event.seq,
        graph_seq=event.seq,
        spec=event.content["policy"],
        allowed=move_allowed(old.problem.graph, old.allowed, problem.graph, problem.K),
    )
    before = old.problem if old.allowed is None else old.problem.replace(allowed=None)
    past = {**state.past_problems, old.graph_seq: before}
    graphs = (*state.graphs, event.seq)
    state = replace(state, past_problems=past, graphs=graphs, recent=_restart(state, problem))
    return _prune(relearn(setup, state, _before_first_round(setup, event)))


def _restart(state: State, problem: Problem) -> RecentRounds:
    """Nothing is recent any more: drift is looked for in what comes."""
    return RecentRounds.begin(problem, state.recent.finished)


def _discount(state: State, event: Event) -> State:
    factor = event.content["factor"]
    state = replace(
        state,
        record=state.record.discount(factor),
        recent=_restart(state, state.setup.problem),
    )
    discounts = state.setup.discounts + (factor < 1.0)
    return relearn(state.setup.change(seq=event.seq, discounts=discounts), state)


def _retract(state: State, event: Event) -> State:
    content = event.content
    if event.trial is None:
        state = replace(state, keys=state.keys.minus(content["of"]))
    else:
        state = _reopen(state, event, event.trial)
    if content["closed_by"] not in LEARNT:
        return state
    state = replace(
        state,
        rounds=state.rounds - 1,
        out_of_bounds_rounds=state.out_of_bounds_rounds - content["far"],
        record=from_dict(content),
        recent=_restart(state, state.setup.problem),
    )
    return relearn(replace(state.setup, seq=event.seq), state)


def _reopen(state: State, event: Event, trial: int) -> State:
    """A trial is open again, and has all the time there is."""
    content = event.content
    round, made, graph, couple = content["ask"]
    if "ask_graph" in content:
        problem = decode_problem(state.setup.base, content["ask_graph"])
        state = replace(state, past_problems={**state.past_problems, graph: problem})
    problem = state.problem_on(graph)
    place, substituted = (round, made, graph, event.time), "substituted" in content
    arms, row = read_arms(event, problem), read_row_of(event, problem)
    ask = Ask.of(arms, couple, place, substituted=substituted, context=row)
    memory = state.memory
    policy = state.setup.policy
    if "counted" in content and isinstance(policy, AccountingPolicy):
        memory = policy.on_reopen(memory, trial, ask.choice, read_counted(event, problem))
    return replace(state, open={**state.open, trial: ask}, memory=memory)


def _warning(state: State, event: Event) -> State:  # noqa: ARG001
    count, in_shards = state.out_of_bounds_rounds + 1, state.setup.problem.parts is not None
    recent = state.recent if in_shards else state.recent.flag()  # rounds of shards are not in it
    return replace(state, out_of_bounds_rounds=count, recent=recent)


def _alert(state: State, event: Event) -> State:
    kind, begins = event.content["alert"], event.content["begins"]
    left = {each: alert for each, alert in state.alerts.items() if each != kind}
    if begins:
        left[kind] = InForce(event.time, event.content["text"])
    return replace(state, alerts=left)


STEPS: dict[str, Step] = {
    "ask": _ask,
    "tell": _tell,
    "tables": _tables,
    "retract": _retract,
    "fail": _fail,
    "abandon": _abandon,
    "timeout": _fail,
    "attach": _attach,
    "forbid": _arms,
    "pin": _arms,
    "allow": _arms,
    "policy": _policy,
    "graph": _graph,
    "discount": _discount,
    "warning": _warning,
    "alert": _alert,
}
"""What each kind of event does; ``create`` begins a log and is none of them."""

KINDS = ("create", *STEPS)
"""All kinds of events."""
