"""Taking back how a trial was closed, or an attached round: the log keeps both, the record neither.

The log is replayed while others go on writing; only what they wrote meanwhile is folded while they wait.
"""

from __future__ import annotations

from typing import Any

from gbb._support import checks
from gbb.controller.log.codec import pack_allocation
from gbb.controller.log.events import Event
from gbb.controller.log.log import Log, Transaction
from gbb.controller.messages import Trial
from gbb.controller.state.context import say_row
from gbb.controller.state.fold import LEARNT
from gbb.controller.state.replay import problem_at
from gbb.controller.state.report import PARTIAL
from gbb.controller.state.specs import encode_graph
from gbb.controller.state.state import Ask, State
from gbb.controller.verbs.trials import find_closing, find_trial
from gbb.controller.verbs.without import LogWithout
from gbb.policies import AccountingPolicy

FEW = 50
"""Events that may be left to fold while others wait."""


def prepare(
    log: Log, what: Trial | int | None, key: str | None, event: int | None
) -> LogWithout | None:
    """The log without what is to be taken back, read while others write; None if it is back already."""
    if (what is not None) + (key is not None) + (event is not None) != 1:
        raise checks.conflict("Give exactly one of `trial`, `key` and `event`.")
    with log.read() as turn:
        if what is not None:
            found = _find_told(turn, find_trial(turn, what))
        else:
            found = _find_attached(turn, key, event)
        if found is None:
            return None
        left = found.go_on(turn.study)
    while left > FEW:
        with log.read() as turn:
            left = found.go_on(turn.study)
    return found


def finish(turn: Transaction, replay: LogWithout, reason: str) -> bool:
    """Take it back, unless others took back something meanwhile: then nothing is done."""
    closing = replay.closing
    replay.go_on(turn.study)
    if replay.outdated or (closing.kind not in LEARNT and not _stands(turn, closing)):
        return False
    if closing.trial is not None:
        content, data = _encode_ask(turn, replay)
    else:
        content, data = {"of": closing.seq, "closed_by": closing.kind}, b""
        if "key" in closing.content:
            content["key"] = closing.content["key"]
    if reason:
        content["reason"] = reason
    if closing.trial is not None and replay.ask.graph not in _graphs(turn.state):
        content["ask_graph"] = encode_graph(replay.state.problem_on(replay.ask.graph))
    if closing.kind in LEARNT:
        content |= _encode_rest(replay)
    turn.append("retract", content, trial=closing.trial, data=data)
    return True


def _find_told(turn: Transaction, trial: int) -> LogWithout | None:
    """The replay without how ``trial`` was closed; None if it is open again."""
    if problem_at(turn, turn.study.events_of(trial)[0].seq).parts is not None:
        rule = "be of a graph that is at hand"
        raise checks.input_error("trial", rule, f"trial {trial}, which shards tell in tables")
    if trial in turn.state.open:
        if any(event.kind == "retract" for event in turn.study.events_of(trial)):
            return None
        raise checks.input_error("trial", "be closed", f"trial {trial}, which is open")
    asked, closing = find_closing(turn, trial)
    return LogWithout(closing, asked.seq, _find_gone(turn), _count_warnings(turn, closing))


def _find_attached(turn: Transaction, key: str | None, event: int | None) -> LogWithout | None:
    """The replay without a round that was attached; None if it was taken back."""
    back = turn.study.events_of_kind("retract")
    if key is not None:
        place = turn.state.keys.get(key)
        if place is None and any(each.content.get("key") == key for each in back):
            return None
        if place is None:
            raise checks.input_error("key", "be that of an attached round", repr(key))
    else:
        place = checks.integer("event", event, low=1)
        if any(each.content["of"] == place and each.trial is None for each in back):
            return None
    found = turn.study.event(place) if place <= turn.state.seq else None
    if found is None or found.kind != "attach":
        got = f"{place}, which is {'none' if found is None else 'one of kind ' + repr(found.kind)}"
        raise checks.input_error("event", "be that of an attached round", got)
    return LogWithout(found, 0, _find_gone(turn), _count_warnings(turn, found))


def _stands(turn: Transaction, closing: Event) -> bool:
    """Whether a trial is still closed as it was given up."""
    trial = closing.trial or 0
    return trial not in turn.state.open and find_closing(turn, trial)[1].seq == closing.seq


def _find_gone(turn: Transaction) -> set[int]:
    """All that was taken back, and the events that took it back."""
    back = turn.study.events_of_kind("retract")
    return {place for event in back for place in (event.seq, event.content["of"])}


def _graphs(state: State) -> set[int]:
    return {state.setup.graph_seq, *state.past_problems}


def _encode_ask(turn: Transaction, replay: LogWithout) -> tuple[dict[str, Any], bytes]:
    """What the trial was asked to play, as the fold reads it."""
    ask, closing = replay.ask, replay.closing
    content = {
        "of": closing.seq,
        "closed_by": closing.kind,
        "ask": [ask.round, ask.setup, ask.graph, ask.couple],
        **say_row(ask.context),
    }
    data = pack_allocation(ask.allocation, turn.state.setup.problem.K)
    if ask.substituted:
        content["substituted"] = True
    if _is_counted(turn.state, ask):
        content["counted"] = "all" if PARTIAL.isdisjoint(closing.content) else "some"
        data += closing.data
    return content, data


def _is_counted(state: State, ask: Ask) -> bool:
    """Whether the policy keeps accounts that hold what was told of a trial."""
    return ask.setup >= state.setup.policy_since and isinstance(
        state.setup.policy, AccountingPolicy
    )


def _encode_rest(replay: LogWithout) -> dict[str, Any]:
    """What is known without what is taken back, as the fold reads it."""
    return {**replay.state.record.to_dict(), "far": replay.warnings}


def _count_warnings(turn: Transaction, closing: Event) -> int:
    """How many warnings there are about what was told: an attached round's comes right after it."""
    if closing.trial is None:
        following = closing.seq + 1
        after = turn.study.event(following) if following <= turn.state.seq else None
        return int(after is not None and after.kind == "warning" and after.trial is None)
    events = turn.study.events_of(closing.trial)
    return sum(event.kind == "warning" and event.seq > closing.seq for event in events)
