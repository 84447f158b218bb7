"""One moment of a controller, and what is known at it: computed once for all who look."""

from __future__ import annotations

import threading
import time
import weakref
import zlib
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gbb._support.checks import FloatArray, IntArray
from gbb._support.threads import one_thread
from gbb.controller import Controller, Recommendation
from gbb.controller.queries.export import identify
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.context import row_of
from gbb.controller.state.fold import read_arms
from gbb.controller.state.replay import problem_at
from gbb.controller.state.state import State

SEARCH = 0.5
"""Seconds that the best allocation is searched for where somebody only looks on."""

SHARE = 5.0
"""How many times as long as the last search took, the next one waits."""


class Played(NamedTuple):
    """The last allocation that was asked for: its trial, its arms (-1 where unknown), its context."""

    trial: int
    arms: IntArray
    context: FloatArray | None


class Moment:
    """A controller's state, and what follows from it."""

    def __init__(self, controller: Controller, state: State) -> None:
        self.controller, self.state = controller, state
        self.problem = state.setup.problem

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return self.state.seq

    @cached_property
    def played(self) -> Played | None:
        """What was asked for last; None before the first ask."""
        state, trial = self.state, self.state.trials
        if trial == 0:
            return None
        ask = state.open.get(trial)
        if ask is not None:
            graph, arms, row = ask.graph, ask.allocation, ask.context
            there = state.problem_on(graph).graph
        else:
            with self.controller._log.read() as turn:
                event = turn.study.events_of(trial)[0]
                problem = problem_at(turn, event.seq)
            arms, row, there = read_arms(event, problem), row_of(event), problem.graph
        here = self.problem.graph
        if there is not here and list(there.labels) != list(here.labels):
            known = dict(zip(there.labels, arms.tolist(), strict=True))
            arms = np.array([known.get(label, -1) for label in here.labels])
        return Played(trial, arms, row)

    @cached_property
    def where(self) -> tuple[int, bytes | None]:
        """The graph that is played on, and which arms may be played."""
        setup = self.state.setup
        return setup.graph_seq, None if setup.allowed is None else setup.allowed.tobytes()

    @property
    def row(self) -> FloatArray | None:
        """The context of the last trial."""
        return None if self.played is None else self.played.context

    @property
    def answers(self) -> bool:
        """Whether anything can be said of a round: not before the first, where there are contexts."""
        return self.problem.contexts is None or self.row is not None

    @cached_property
    def knowledge(self) -> Knowledge:
        """What is known, in the context of the last trial."""
        with one_thread():
            found = Knowledge(self.state, self.row)
            found.errors  # noqa: B018  (here, once, and not by all who look at the same time)
            return found


class Recommended(NamedTuple):
    """The best allocation by what was known at an event, of one graph and the arms allowed then."""

    seq: int
    best: Recommendation
    arms: IntArray
    where: tuple[int, bytes | None]


class Desk:
    """The last moments of one controller."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self._lock, self._searching = threading.Lock(), threading.Lock()
        self._moment: Moment | None = None
        self._best: Recommended | None = None
        self._again = 0.0

    @cached_property
    def identity(self) -> str:
        """What tells the log from all others, whatever its name."""
        with self.controller._log.read() as view:
            return identify(view.study.event(1))

    def tag(self) -> str:
        """What changes whenever the log does."""
        return f'"{self.identity}-{self.controller.refresh().seq}"'

    def problem_tag(self) -> str:
        """What changes whenever the problem does, or who may play what; as it was last looked at."""
        setup = self.controller._log.state.setup
        allowed = 0 if setup.allowed is None else zlib.crc32(setup.allowed.tobytes())
        return f'"{self.identity}-{setup.graph_seq}-{allowed:x}"'

    def now(self) -> Moment:
        """The controller as it is now."""
        state = self.controller._log.refresh()
        with self._lock:
            if self._moment is None or self._moment.seq != state.seq:
                self._moment = Moment(self.controller, state)
            return self._moment

    def recommended(self) -> Recommended | None:
        """The best allocation by what is known, or was a little while ago; it says when."""
        moment = self.now()
        if not moment.answers:
            return None
        with self._searching:
            best = self._best
            early = best is not None and best.where == moment.where
            early = early and time.monotonic() < self._again
            if best is not None and (early or best.seq == moment.seq):
                return best
            start = time.monotonic()
            with one_thread():
                found = moment.knowledge.recommend(SEARCH)
            took = time.monotonic() - start
            self._best = Recommended(moment.seq, found, found.arms, moment.where)
            self._again = time.monotonic() + SHARE * took
            return self._best


_desks: weakref.WeakKeyDictionary[Controller, Desk] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def desk_of(controller: Controller) -> Desk:
    """The desk of a controller, one for all who look."""
    with _making:
        return _desks.setdefault(controller, Desk(controller))
