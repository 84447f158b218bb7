"""Every reward that counts, with its arms, in the long form that an import reads back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.messages import Entry
from gbb.controller.queries.history import find_events, read_history
from gbb.controller.state.context import read_row
from gbb.controller.state.context_cells import context_cells, context_columns
from gbb.controller.state.report import Label
from gbb.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

KINDS = {"ask", "tell", "attach"}

WHOSE = {
    "agent": ("agent", "arm"),
    "global": ("allocation",),
}
"""What a row says of whose its reward is, by feedback; the ends of a link unless it is one of these."""

ENDS = ("source", "source_arm", "target", "target_arm")


def identify(first: Event) -> str:
    """What tells the rounds of one controller, and of its copies, from those of others."""
    return f"{first.seal:08x}"


def export_rounds(view: Transaction) -> pd.DataFrame:
    """Return every reward that counts, with its arms."""
    import pandas as pd  # noqa: PLC0415  (slow to load)

    columns = list(_columns(view.state.setup.problem))
    # As objects: a blank cell must not make floats of whole numbers.
    return pd.DataFrame(list(_rows_of(view)), columns=columns, dtype=object)


def _columns(problem: Problem) -> tuple[str, ...]:
    """The columns of :func:`export_rounds`."""
    whose = WHOSE.get(problem.feedback, ENDS)
    return ("key", "trial", "time", *context_columns(problem, "controller"), *whose, "reward")


def _rows_of(view: Transaction) -> Iterator[tuple[Any, ...]]:
    """A row for each reward; of agents that report, one for each arm, with a blank for a reward.

    A round has the key that it was attached under. One without is called after its trial, or its event,
    and its controller.
    """
    study, problem = view.study, view.state.setup.problem
    own = identify(study.event(1))
    gone = {event.content["of"] for event in study.events_of_kind("retract")}
    asked: dict[int | None, Entry] = {}  # until it is told for good
    for entry in read_history(view, find_events(study, KINDS, None)):
        if entry.kind == "ask":
            asked[entry.trial_id] = entry
        if entry.kind not in ("tell", "attach") or entry.seq in gone:
            continue
        ask = (entry if entry.kind == "attach" else asked.pop(entry.trial_id)).content
        known = context_cells(problem, read_row(problem, ask.get("context")))
        head = (_key(entry, own), entry.trial_id, entry.time.isoformat(), *known)
        for *whose, reward in _rows(entry, ask["allocation"], problem.feedback):
            yield (*head, *whose, reward)


def _key(entry: Entry, own: str) -> str:
    place = f"event {entry.seq}" if entry.trial_id is None else f"trial {entry.trial_id}"
    return str(entry.content.get("key", f"{place}@{own}"))


def _rows(entry: Entry, arms: dict[Label, Label], feedback: str) -> Iterator[list[Any]]:
    """Agents with their arms and a reward; all of them, as JSON, for one that is the sum of all."""
    rewards = entry.content["rewards"]
    if feedback == "global":
        return ([json.dumps(arms), *row] for row in rewards)
    if feedback == "agent":
        paid = dict(rewards)
        return ([agent, arm, paid.get(agent)] for agent, arm in arms.items())
    return (
        [source, arms[source], target, arms[target], reward] for source, target, reward in rewards
    )
