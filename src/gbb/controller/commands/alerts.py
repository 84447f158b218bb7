"""Alerts: what somebody should look at, as far as the state and the last rounds say."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gbb.controller.commands.trials import expire
from gbb.controller.log.log import Transaction
from gbb.controller.queries.history import read_rounds
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.state import State
from gbb.diagnostics import diagnose, find_drift
from gbb.learning.radius import delta_after

FALSE_ALARMS = 0.01
"""The probability that drift is ever found where there is none, but for what the docs say of it."""

ROUNDS, NUMBERS = 1000, 4_000_000
"""The last rounds that a misfit is looked for in: so many, or fewer where they hold more numbers."""

FEWEST_ROUNDS = 20


def judge_bounds(state: State) -> str | None:
    """What the last rounds told outside the declared bounds."""
    blocks = (state.recent.current, *state.recent.blocks)
    far = sum(block.far for block in blocks)
    if not far:
        return None
    rounds = sum(block.rounds for block in blocks)
    return (
        f"{far} of the last {rounds} rounds told rewards outside the declared bounds; the history "
        "lists them as warnings."
    )


def judge_caveat(state: State) -> str | None:
    """Why predictions are unreliable; what is in force is not written anew."""
    if not state.out_of_bounds_rounds:
        return None
    alert = state.alerts.get("caveat")
    return Knowledge(state).caveat if alert is None else alert.text


def judge_stale(state: State, now: float, seconds: float | None) -> str | None:
    """Which trials have been open for longer than ``seconds``.

    Where that is not known, those that were open when the alert in force began.
    """
    alert = state.alerts.get("stale")
    if seconds is not None:
        late = [trial for trial, ask in state.open.items() if now - ask.since > seconds]
    else:
        late = [] if alert is None else [t for t, a in state.open.items() if a.since < alert.since]
    if not late:
        return None
    first, more = min(late), f" and {len(late) - 1} more" if len(late) > 1 else ""
    waits = now - state.open[first].since
    return f"Trial {first}{more} not told for too long: {waits:.0f} s since it was asked."


def judge_drift(state: State) -> str | None:
    """Whether the last rounds pay what all before them say.

    It begins at a level of its own for each time that is looked, all of them together
    :data:`FALSE_ALARMS`, and lasts until the difference would not surprise at that.
    """
    recent, alert = state.recent.whole, state.alerts.get("drift")
    if recent.record is None or not state.recent.finished:
        return None
    found = find_drift(
        state.setup.problem,
        state.record,
        recent.record,
        squares=recent.squares,
        count=recent.rewards,
        by_round=recent.excess_steps / (2.0 * recent.rounds),
        rounds=recent.rounds,
    )
    level = delta_after(state.recent.finished - 1, FALSE_ALARMS)
    if found is None or found.p >= (level if alert is None else FALSE_ALARMS):
        return None
    return (
        f"The last {recent.rounds} rounds do not pay what the rounds before them say: chi-squared "
        f"{found.statistic:.4g} with {found.freedom} degrees of freedom, p = {found.p:.1e}. Call "
        "discount() to let old rounds count less."
    )


def judge_misfit(transaction: Transaction) -> str | None:
    """Whether the pairwise model fails to predict the last rounds told on the present graph."""
    state, problem = transaction.state, transaction.state.setup.problem
    most = max(FEWEST_ROUNDS, min(ROUNDS, NUMBERS // (problem.n + problem.m)))
    start = max(state.setup.graph_seq, state.seq - 2 * most)
    events = transaction.study.events(after=start, seal=transaction.study.event(start).seal)
    told = read_rounds(events, problem)
    if len(told.played) < FEWEST_ROUNDS:
        return None
    known = told.contexts(problem)
    found = diagnose(problem, told.played, told.rewards, contexts=known, worst=0)
    return found.sentence if found.status == "poor" else None


def look_after(transaction: Transaction) -> None:
    """Close what is overdue, and keep an event of every alert that now begins or ends."""
    now = time.time()
    expire(transaction, now)
    state, before = transaction.state, transaction.before
    if state is before:
        return
    verdicts = {"bounds": judge_bounds(state), "caveat": judge_caveat(state)}
    if "stale" in state.alerts:
        verdicts["stale"] = judge_stale(state, now, None)
    if state.recent.finished != before.recent.finished:
        verdicts["drift"] = judge_drift(state)
    settle(transaction, verdicts)


def watch(transaction: Transaction, stale: float | None, misfit: str | None) -> None:
    """Judge what time alone brings about; drift is looked for when rounds are told, and only then."""
    now = time.time()
    expire(transaction, now)
    state = transaction.state
    verdicts = {"bounds": judge_bounds(state), "caveat": judge_caveat(state), "misfit": misfit}
    settle(transaction, {**verdicts, "stale": judge_stale(state, now, stale)})


def settle(transaction: Transaction, verdicts: Mapping[str, str | None]) -> None:
    """Keep an event where an alert begins or ends; ``verdicts`` are texts of those in force."""
    for kind, text in verdicts.items():
        if (text is not None) == (kind in transaction.state.alerts):
            continue
        said = {"begins": True, "text": text} if text is not None else {"begins": False}
        transaction.append("alert", {"alert": kind, **said})
