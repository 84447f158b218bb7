"""The fold: one event and the state before it give the state after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from gbb.controller.state.allowed import change_allowed, move_allowed
from gbb.controller.state.learn import learn, relearn
from gbb.controller.state.network import decode_network, refuse_unknown
from gbb.controller.state.report import PARTIAL
from gbb.controller.state.state import Ask, State
from gbb.controller.storage.bytes import (
    RNG_SIZE,
    allocation_size,
    unpack_allocation,
    unpack_rewards,
)
from gbb.controller.storage.errors import StorageError
from gbb.controller.storage.events import Event
from gbb.learning import Record
from gbb.learning.record import from_dict

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


def read_ask(event: Event, *, setup: int, graph: int, round: int, n: int, K: int) -> Ask:
    """What an ask event says."""
    couple = event.content.get("couple")
    arms = unpack_allocation(event.data, n, K)
    return Ask(arms, None if couple is None else (couple[0], couple[1]), round, setup, graph)


def is_partial(event: Event) -> bool:
    """Whether some of a round's rewards are missing."""
    return not PARTIAL.isdisjoint(event.content)


def _ask(state: State, event: Event) -> State:
    setup, trial = state.setup, cast(int, event.trial)
    ask = read_ask(
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
    problem = state.problem_on(state.networks[ask.graph])
    observed = unpack_rewards(event.data, problem.observations, partial=is_partial(event))
    # A choice of another policy, or on another graph, is no choice of this one.
    choice = ask.choice if ask.setup == state.setup.seq else None
    return _close(learn(state, choice, problem, ask.allocation, observed), event)


def _attach(state: State, event: Event) -> State:
    refuse_unknown("an attached round", event.content, ATTACH_KEYS)
    problem = state.setup.problem
    rest = event.data[allocation_size(problem.n, problem.K) :]
    observed = unpack_rewards(rest, problem.observations, partial=is_partial(event))
    arms = unpack_allocation(event.data, problem.n, problem.K)
    if "key" in event.content:
        state = replace(state, keys=state.keys.plus(event.content["key"], event.seq))
    return learn(state, None, problem, arms, observed)


def _close(state: State, event: Event) -> State:
    left = {trial: ask for trial, ask in state.open.items() if trial != event.trial}
    return _prune(replace(state, open=left))


def _prune(state: State) -> State:
    """Forget the networks that no open trial needs."""
    if len(state.networks) == 1:
        return state
    needed = {ask.graph for ask in state.open.values()} | {state.setup.graph_seq}
    return replace(state, networks={key: state.networks[key] for key in sorted(needed)})


def _arms(state: State, event: Event) -> State:
    setup = state.setup
    allowed = change_allowed(setup.problem, setup.allowed, event.kind, event.content)
    if not setup.knows_allowed:
        return replace(state, setup=replace(setup, allowed=allowed))
    new = setup.change(state.network, allowed=allowed)
    if new.policy.learns_two_way == setup.policy.learns_two_way:
        return replace(state, setup=new)
    return relearn(replace(new, seq=event.seq), state)


def _policy(state: State, event: Event) -> State:
    # Whether the problem holds the allowed arms depends on the policy.
    setup = state.setup.change(state.network, seq=event.seq, spec=event.content["policy"])
    return relearn(setup, state)


def _graph(state: State, event: Event) -> State:
    old, network = state.setup, decode_network(event.content["graph"])
    allowed = move_allowed(old.problem.graph, old.allowed, network.graph, old.problem.K)
    setup = old.change(
        network,
        seq=event.seq,
        graph_seq=event.seq,
        spec=event.content["policy"],
        allowed=allowed,
    )
    networks = {**state.networks, event.seq: network}
    return _prune(relearn(setup, replace(state, networks=networks)))


def _discount(state: State, event: Event) -> State:
    factor, two_way = event.content["factor"], state.own_two_way_record
    state = state.replace_records(
        state.record.discount(factor), None if two_way is None else two_way.discount(factor)
    )
    return relearn(replace(state.setup, seq=event.seq), state)


def _retract(state: State, event: Event) -> State:
    content, trial = event.content, cast(int, event.trial)
    round, made, place, couple = content["ask"]
    networks = dict(state.networks)
    if place not in networks:
        networks[place] = decode_network(content["ask_graph"])
    arms = unpack_allocation(event.data, networks[place].graph.n, state.setup.problem.K)
    ask = Ask(arms, None if couple is None else (couple[0], couple[1]), round, made, place)
    state = replace(state, open={**state.open, trial: ask}, networks=networks)
    if content["closed_by"] != "tell":
        return state
    state = replace(
        state,
        rounds=state.rounds - 1,
        out_of_bounds_rounds=state.out_of_bounds_rounds - content["far"],
    ).replace_records(
        from_dict(content), Record(*content["paired"]) if "paired" in content else None
    )
    return relearn(replace(state.setup, seq=event.seq), state)


def _warning(state: State, event: Event) -> State:  # noqa: ARG001
    return replace(state, out_of_bounds_rounds=state.out_of_bounds_rounds + 1)


STEPS: dict[str, Step] = {
    "ask": _ask,
    "tell": _tell,
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
