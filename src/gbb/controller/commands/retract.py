"""Taking back how a trial was closed, or an attached round: the log keeps both, the record neither.

The log is replayed while others go on writing; only what they wrote meanwhile is folded while they wait.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from gbb._support import checks
from gbb.controller.commands.trials import find_closing, find_trial
from gbb.controller.log.codec import pack_allocation
from gbb.controller.log.events import Event
from gbb.controller.log.log import Log, Transaction
from gbb.controller.log.store import Study
from gbb.controller.messages import Trial
from gbb.controller.state.context import say_row
from gbb.controller.state.fold import LEARNT, fold
from gbb.controller.state.replay import problem_at
from gbb.controller.state.report import PARTIAL
from gbb.controller.state.specs import encode_graph
from gbb.controller.state.state import Ask, State, begin
from gbb.policies import AccountingPolicy

FEW = 50
"""Events that may be left to fold while others wait."""


class ReplayWithout:
    """The state that a log gives without some of its events, as far as it was read.

    Parameters
    ----------
    closing
        What is taken back: the event that closed a trial, or attached a round.
    asked
        The number of the event that asked for the trial; 0 for an attached round.
    gone
        The events that are left out: all that was taken back before, with the retractions.
    warnings
        How many there are about what is taken back.
    """

    def __init__(self, closing: Event, asked: int, gone: Set[int], warnings: int) -> None:
        self.closing, self.asked, self.gone = closing, asked, gone | {closing.seq}
        self.warnings = warnings
        self.round = 1  # the one that the trial was asked in, of which what went later is a part
        self.outdated = False
        self._state: State | None = None
        self._seq = self._seal = 0

    @property
    def state(self) -> State:
        """The state without these events."""
        assert self._state is not None
        return self._state

    @property
    def ask(self) -> Ask:
        """What the trial was asked to play."""
        found = self.state.open[self.closing.trial or 0]
        return found if self.closing.kind not in LEARNT else found._replace(round=self.round)

    def go_on(self, study: Study) -> int:
        """Fold what was not read yet, and say how many events it was.

        How a trial was given up teaches nothing: the log up to there says how it was asked. Another
        retraction leaves out more than was left out here, and all of this is outdated.
        """
        given_up, count = self.closing.kind not in LEARNT, 0
        for event in study.events(after=self._seq, seal=self._seal):
            if given_up and event.seq >= self.closing.seq:
                break
            count += 1
            self._seq, self._seal = event.seq, event.seal
            self.outdated |= event.kind == "retract" and event.seq not in self.gone and not given_up
            if event.seq < self.asked:
                back = event.kind == "retract" and event.content["closed_by"] in LEARNT
                self.round += (event.kind in LEARNT) - back
            if given_up or event.seq not in self.gone:
                self._state = begin(event) if self._state is None else fold(self._state, event)
        return count


def prepare(
    log: Log, what: Trial | int | None, key: str | None, event: int | None
) -> ReplayWithout | None:
    """The log without what is to be taken back, read while others write; None if it is back already."""
    if (what is not None) + (key is not None) + (event is not None) != 1:
        raise checks.conflict("Give exactly one of `trial`, `key` and `event`.")
    with log.read() as transaction:
        if what is not None:
            found = _find_told(transaction, find_trial(transaction, what))
        else:
            found = _find_attached(transaction, key, event)
        if found is None:
            return None
        left = found.go_on(transaction.study)
    while left > FEW:
        with log.read() as transaction:
            left = found.go_on(transaction.study)
    return found


def finish(transaction: Transaction, replay: ReplayWithout, reason: str) -> bool:
    """Take it back, unless others took back something meanwhile: then nothing is done."""
    closing = replay.closing
    replay.go_on(transaction.study)
    if replay.outdated or (closing.kind not in LEARNT and not _stands(transaction, closing)):
        return False
    if closing.trial is not None:
        content, data = _encode_ask(transaction, replay)
    else:
        content, data = {"of": closing.seq, "closed_by": closing.kind}, b""
        if "key" in closing.content:
            content["key"] = closing.content["key"]
    if reason:
        content["reason"] = reason
    if closing.trial is not None and replay.ask.graph not in _graphs(transaction.state):
        content["ask_graph"] = encode_graph(replay.state.problem_on(replay.ask.graph))
    if closing.kind in LEARNT:
        content |= _encode_rest(replay)
    transaction.append("retract", content, trial=closing.trial, data=data)
    return True


def _find_told(transaction: Transaction, trial: int) -> ReplayWithout | None:
    """The replay without how ``trial`` was closed; None if it is open again."""
    if problem_at(transaction, transaction.study.events_of(trial)[0].seq).parts is not None:
        rule = "be of a graph that is at hand"
        raise checks.input_error("trial", rule, f"trial {trial}, which shards tell in tables")
    if trial in transaction.state.open:
        if any(event.kind == "retract" for event in transaction.study.events_of(trial)):
            return None
        raise checks.input_error("trial", "be closed", f"trial {trial}, which is open")
    asked, closing = find_closing(transaction, trial)
    return ReplayWithout(
        closing, asked.seq, _find_gone(transaction), _count_warnings(transaction, closing)
    )


def _find_attached(
    transaction: Transaction, key: str | None, event: int | None
) -> ReplayWithout | None:
    """The replay without a round that was attached; None if it was taken back."""
    back = transaction.study.events_of_kind("retract")
    if key is not None:
        place = transaction.state.keys.get(key)
        if place is None and any(each.content.get("key") == key for each in back):
            return None
        if place is None:
            raise checks.input_error("key", "be that of an attached round", repr(key))
    else:
        place = checks.integer("event", event, low=1)
        if any(each.content["of"] == place and each.trial is None for each in back):
            return None
    found = transaction.study.event(place) if place <= transaction.state.seq else None
    if found is None or found.kind != "attach":
        got = f"{place}, which is {'none' if found is None else 'one of kind ' + repr(found.kind)}"
        raise checks.input_error("event", "be that of an attached round", got)
    return ReplayWithout(found, 0, _find_gone(transaction), _count_warnings(transaction, found))


def _stands(transaction: Transaction, closing: Event) -> bool:
    """Whether a trial is still closed as it was given up."""
    trial = closing.trial or 0
    return (
        trial not in transaction.state.open
        and find_closing(transaction, trial)[1].seq == closing.seq
    )


def _find_gone(transaction: Transaction) -> set[int]:
    """All that was taken back, and the events that took it back."""
    back = transaction.study.events_of_kind("retract")
    return {place for event in back for place in (event.seq, event.content["of"])}


def _graphs(state: State) -> set[int]:
    return {state.setup.graph_seq, *state.past_problems}


def _encode_ask(transaction: Transaction, replay: ReplayWithout) -> tuple[dict[str, Any], bytes]:
    """What the trial was asked to play, as the fold reads it."""
    ask, closing = replay.ask, replay.closing
    content = {
        "of": closing.seq,
        "closed_by": closing.kind,
        "ask": [ask.round, ask.setup, ask.graph, ask.couple],
        **say_row(ask.context),
    }
    data = pack_allocation(ask.allocation, transaction.state.setup.problem.K)
    if ask.substituted:
        content["substituted"] = True
    if _is_counted(transaction.state, ask):
        content["counted"] = "all" if PARTIAL.isdisjoint(closing.content) else "some"
        data += closing.data
    return content, data


def _is_counted(state: State, ask: Ask) -> bool:
    """Whether the policy keeps accounts that hold what was told of a trial."""
    return ask.setup >= state.setup.policy_since and isinstance(
        state.setup.policy, AccountingPolicy
    )


def _encode_rest(replay: ReplayWithout) -> dict[str, Any]:
    """What is known without what is taken back, as the fold reads it."""
    return {**replay.state.record.to_dict(), "far": replay.warnings}


def _count_warnings(transaction: Transaction, closing: Event) -> int:
    """How many warnings there are about what was told: an attached round's comes right after it."""
    if closing.trial is None:
        following = closing.seq + 1
        after = transaction.study.event(following) if following <= transaction.state.seq else None
        return int(after is not None and after.kind == "warning" and after.trial is None)
    events = transaction.study.events_of(closing.trial)
    return sum(event.kind == "warning" and event.seq > closing.seq for event in events)
