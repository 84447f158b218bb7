"""A log replayed without some of its events, bit by bit, while others go on writing."""

from __future__ import annotations

from collections.abc import Set

from gbb.controller.log.events import Event
from gbb.controller.log.store import Study
from gbb.controller.state.fold import LEARNT, fold
from gbb.controller.state.state import Ask, State, begin


class LogWithout:
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
