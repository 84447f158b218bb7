"""Jobs handed to an executor until all of them ended; what fails is told and ends nothing else."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

MakeExecutor = Callable[[], Executor]
"""Makes what jobs go to; called again when that breaks."""

T = TypeVar("T")

IN_FLIGHT = 20_000
"""How many jobs an executor holds at once, unless it has a number of its own as ``in_flight``."""

TRIES = 3
"""How often a job is tried that breaks executors while they hold no other."""


class Job(NamedTuple):
    """A call, which may go to another process or machine."""

    name: str
    call: Callable[..., object]
    given: tuple[Any, ...] = ()


Ended = Callable[[Job, Any, BaseException | None], None]
"""Told of a job that ended, what it returned, and its error if it failed."""


def finish(jobs: Iterable[Job], make_executor: MakeExecutor, ended: Ended) -> None:
    """Do all ``jobs``, and tell how each ended, as it does; an interrupt cancels what is left.

    When an executor breaks, nobody knows which of the jobs that it held broke it: all of them go to
    another, fewer at a time, until one that breaks executors alone is known and given up.
    """
    shift = _Shift(deque(jobs), ended)
    while shift.waiting:
        executor = make_executor()
        try:
            shift.work(executor)
        finally:
            for future in shift.flying:
                future.cancel()
            executor.shutdown(wait=True, cancel_futures=True)


def gather(
    calls: Sequence[Callable[[], T]],
    make_executor: MakeExecutor,
    ended: Callable[[int], None] = lambda _: None,
    *,
    patient: bool = False,
) -> list[T]:
    """What ``calls`` return, in their order; the first error ends them all.

    Parameters
    ----------
    calls
        Functions without arguments, such as :func:`functools.partial` makes. For processes and clusters
        they must be of the kind that can be pickled.
    make_executor
        What they are handed to, of :mod:`gbb.sweep.executors` or one's own.
    ended
        Told the number of each call that ended, as it does.
    patient
        Whether all other calls are made before an error is raised, because they keep what they find.
    """
    found: dict[int, T] = {}
    errors: list[BaseException] = []

    def keep(job: Job, result: Any, error: BaseException | None) -> None:
        if error is None:
            found[int(job.name)] = result
        elif patient:
            errors.append(error)
        else:
            raise error
        ended(int(job.name))

    finish([Job(str(i), call) for i, call in enumerate(calls)], make_executor, keep)
    if errors:
        raise errors[0]
    return [found[i] for i in range(len(calls))]


class _Shift:
    """Jobs that wait and jobs that an executor holds."""

    def __init__(self, waiting: deque[Job], ended: Ended) -> None:
        self.waiting, self.ended = waiting, ended
        self.flying: dict[Future[Any], Job] = {}
        self.over: SimpleQueue[Future[Any]] = SimpleQueue()
        self.window = self.most = IN_FLIGHT
        self.alone: Counter[str] = Counter()
        self.refused = 0

    def work(self, executor: Executor) -> None:
        """Hand out jobs until none is left or the executor is broken and has given all back."""
        self.most = getattr(executor, "in_flight", IN_FLIGHT)
        self.window = min(self.window, self.most)
        refuses = lost = False
        while self.flying or (self.waiting and not (refuses or lost)):
            while self.waiting and len(self.flying) < self.window and not (refuses or lost):
                refuses = not self._submit(executor)
            if self.flying:
                lost |= not self._take(self.over.get(), first=not lost)

    def _submit(self, executor: Executor) -> bool:
        job = self.waiting[0]
        try:
            future = executor.submit(job.call, *job.given)
        except BrokenExecutor:
            self.refused += 1
            if self.refused > TRIES:
                raise
            return False
        self.refused = 0
        self.flying[future] = self.waiting.popleft()
        future.add_done_callback(self.over.put)
        return True

    def _take(self, future: Future[Any], *, first: bool) -> bool:
        """What came of a job; False where the executor lost it, ``first`` if it had lost none before."""
        alone = len(self.flying) == 1
        job, error = self.flying.pop(future), _error_of(future)
        if not isinstance(error, BrokenExecutor | CancelledError):
            self.window = min(self.window + 1, self.most)
            self.ended(job, None if error else future.result(), error)
            return True
        if first:
            self.window = max(1, self.window // 4)
            self.alone[job.name] += alone
        if self.alone[job.name] < TRIES:
            self.waiting.append(job)
        else:
            self.ended(job, None, error)
        return False


def _error_of(future: Future[Any]) -> BaseException | None:
    """What a job raised; ``CancelledError`` where the executor lost it."""
    try:
        return future.exception()
    except CancelledError as error:
        return error
