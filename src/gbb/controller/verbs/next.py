"""Telling a trial and asking for another in one turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gbb._support import checks
from gbb.controller.state.log import Turn
from gbb.controller.storage.events import Event
from gbb.controller.verbs.ask import draft_ask
from gbb.controller.verbs.tell import tell
from gbb.controller.verbs.trials import find_closing

if TYPE_CHECKING:
    from gbb.controller.verbs.rewards import Rewards


def next_trial(turn: Turn, trial: int, rewards: Rewards) -> int:
    """The number of the trial that follows ``trial``, which is told; the same again is the same trial.

    The ask says after which trial it came: told again, it is known what was asked then.
    """
    told_before = trial not in turn.state.open
    tell(turn, trial, rewards)
    following = _find_following(turn, trial) if told_before else None
    if following is None:
        draft = draft_ask(turn.state)
        turn.append(draft._replace(content={**draft.content, "after": trial}))
        return turn.state.trials
    number = following.trial or 0
    if number not in turn.state.open:
        got = f"trial {trial}, which was told before, and trial {number}, which followed, is closed"
        raise checks.input_error("trial", "be open", got, "Ask for a trial instead.")
    return number


def _find_following(turn: Turn, trial: int) -> Event | None:
    """The ask that was made when ``trial`` was told; None if that was told alone."""
    _, closing = find_closing(turn, trial)
    later = turn.study.events(after=closing.seq, seal=closing.seal)
    ask = next((event for event in later if event.kind == "ask"), None)
    return ask if ask is not None and ask.content.get("after") == trial else None
