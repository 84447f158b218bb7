"""What closes a trial: rewards, a failure or giving up; and rewards that no trial asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import InputError, IntArray
from gbb.controller._log import Turn
from gbb.controller._rewards import Rewards, far_outside, limit_text, limits_of, observed
from gbb.controller.state.network import Network, problem_from
from gbb.controller.storage.bytes import Observed, pack_allocation, pack_rewards, unpack_allocation
from gbb.controller.storage.events import Draft, Event
from gbb.graph import Graph
from gbb.problem import Problem

CLOSING = ("tell", "fail", "abandon")


def tell(turn: Turn, trial: int, rewards: Rewards) -> None:
    """Close ``trial`` with its rewards; the same again changes nothing."""
    ask = turn.state.open.get(trial)
    if ask is not None:
        problem = _problem(turn, turn.state.networks[ask.graph])
        draft, seen = _draft(problem, trial, rewards)
        turn.append(draft)
        flag(turn, problem, seen, trial)
        return
    asked, closing = _closed(turn, trial)
    if closing.kind != "tell":
        rule = "be open"
        raise checks.input_error(
            "trial", rule, f"trial {trial}, which was closed by {closing.kind}()"
        )
    draft, _ = _draft(_problem(turn, turn.network_at(asked.seq)), trial, rewards)
    if (draft.content, draft.data) != (closing.content, closing.data):
        raise InputError(
            f"Expected `rewards` of trial {trial} to be those told before, as it is closed, "
            "but got others. Nothing was changed."
        )


def close(turn: Turn, trial: int, kind: str, reason: str) -> None:
    """Close ``trial`` without rewards; the same again changes nothing."""
    if trial in turn.state.open:
        turn.append(Draft(kind, {"reason": reason} if reason else {}, trial))
        return
    _, closing = _closed(turn, trial)
    if closing.kind != kind:
        raise checks.input_error(
            "trial", "be open", f"trial {trial}, which was closed by {closing.kind}()"
        )


def attach(turn: Turn, allocation: Any, rewards: Rewards, key: str | None) -> None:
    """Learn from a round that was played elsewhere; the same again under its key changes nothing."""
    place = None if key is None else turn.state.keys.get(key)
    now = turn.state.setup.problem
    problem = now if place is None else _problem(turn, turn.network_at(place))
    told, seen = _draft(problem, None, rewards)
    content = told.content if key is None else {**told.content, "key": key}
    data = pack_allocation(problem.allocation(allocation), problem.K) + told.data
    if place is None:
        turn.append(Draft("attach", content, None, data))
        flag(turn, problem, seen, None)
        return
    before = turn.event(place)
    if (content, data) != (before.content, before.data):
        raise InputError(
            f"Expected what is attached as `key` {key!r} to be what was attached before, but got "
            "another round. Nothing was changed."
        )


def flag(turn: Turn, problem: Problem, seen: Observed, trial: int | None) -> None:
    """Keep a warning event about rewards far outside the declared bounds."""
    far = far_outside(problem, seen)
    if not far.size:
        return
    place = int(far[0])
    position = place if seen.positions is None else int(seen.positions[place])
    graph, where = problem.graph, ""
    whose: dict[str, Any] = {}
    if problem.feedback == "edge":
        link = [graph.label(int(i)) for i in graph.edges[position]]
        whose, where = {"link": link}, f" on {link[0]!r} -> {link[1]!r}"
    elif problem.feedback == "agent":
        agent = graph.label(position)
        whose, where = {"agent": agent}, f" at {agent!r}"
    value, limit = float(seen.values[place]), float(limits_of(problem)[position])
    text = (
        f"{far.size} of {seen.values.size} rewards lie outside +-{limit:g} "
        f"({limit_text(problem)}), first {value:g}{where}; they are kept."
    )
    content = {"message": text, **whose, "reward": value, "limit": limit}
    turn.append(Draft("warning", content, trial))
    turn.notices.append(text)


def _draft(problem: Problem, trial: int | None, rewards: Rewards) -> tuple[Draft, Observed]:
    seen = observed(problem, rewards)
    what = "edges" if problem.feedback == "edge" else "agents"
    content = {} if seen.positions is None else {what: int(seen.positions.size)}
    return Draft("tell", content, trial, pack_rewards(seen, problem.observations)), seen


def _problem(turn: Turn, network: Network) -> Problem:
    """The problem on the network that a trial was asked on."""
    setup = turn.state.setup
    here = network is turn.state.network
    return setup.problem if here else problem_from(setup.base, network)


def check_own(turn: Turn, trial: int, arms: IntArray, graph: Graph) -> None:
    """Refuse a trial of another controller: its rewards would be learnt as those of other arms."""
    known_trial(turn, trial)
    ask = turn.state.open.get(trial)
    if ask is not None:
        own, played = turn.state.networks[ask.graph].graph, ask.allocation
    else:
        asked = next(event for event in turn.events_of(trial) if event.kind == "ask")
        own = turn.network_at(asked.seq).graph
        played = unpack_allocation(asked.data, own.n, turn.state.setup.problem.K)
    same_agents = own is graph or (own.n == graph.n and own.labels == graph.labels)
    if not same_agents or not np.array_equal(played, arms):
        raise InputError(
            f"Expected `trial` to be one of this controller, but trial {trial} of this controller "
            "played something else. Nothing was changed."
        )


def _closed(turn: Turn, trial: int) -> tuple[Event, Event]:
    """The events that asked for and closed ``trial``."""
    known_trial(turn, trial)
    events = turn.events_of(trial)
    return next(event for event in events if event.kind == "ask"), closing_of(events)


def closing_of(events: list[Event]) -> Event:
    """The event that closed a trial, of all that the log says of it."""
    return next(event for event in reversed(events) if event.kind in CLOSING)


def known_trial(turn: Turn, trial: int) -> None:
    """Refuse the number of a trial that was never asked."""
    if not 1 <= trial <= turn.state.trials:
        most = turn.state.trials
        rule = f"be one of the {most} trials asked so far" if most else "be a trial asked before"
        raise checks.input_error("trial", rule, f"unknown trial {trial}")
