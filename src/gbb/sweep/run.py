"""A sweep in a folder: what it is, what is done of it, and doing the rest."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gbb._support import checks, files
from gbb.sweep import executors, parts, work
from gbb.sweep.finish import Job, MakeExecutor, finish
from gbb.sweep.instances import rehearse
from gbb.sweep.spec import Sweep
from gbb.sweep.tasks import Task, plan

SPEC = "sweep.json"


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

    Attributes
    ----------
    tasks, done
        How many there are, and how many are there.
    seconds_left
        About how much work is left, on one core.
    failures
        The errors of tasks that failed when they were last tried, by task.
    """

    tasks: int
    done: int
    seconds_left: float
    failures: dict[str, str]

    @property
    def complete(self) -> bool:
        """Whether everything is there."""
        return self.done == self.tasks


def run(
    sweep: Sweep,
    out: str | Path,
    *,
    make_executor: MakeExecutor | None = None,
    only: str | None = None,
    begin: Callable[[list[Task]], None] = lambda _tasks: None,
    advance: Callable[[Task, str | None], None] = lambda _task, _error: None,
) -> Status:
    """Do what is missing of ``sweep`` in the folder ``out``.

    Parameters
    ----------
    sweep
        What is to be played; a folder holds one sweep.
    out
        The folder, which all workers must see.
    make_executor
        Makes what tasks go to, any :class:`concurrent.futures.Executor`; called again if that breaks,
        as a pool of processes does when one of them is killed. What it made is shut down at the end.
        Processes of this machine when left out.
    only
        The name of the one task to do.
    begin
        Called with the tasks that are to be done, before any is.
    advance
        Called with every task that ends, and its error if it failed.

    Notes
    -----
    A task that is done twice writes the same file twice. Ctrl-C leaves everything that is done.
    """
    tasks = {task.name: task for task in plan(sweep)}
    if only is not None:
        tasks = {only: tasks[checks.choice("only", only, tasks)]}
    rehearse(sweep)
    folder = prepare(sweep, out)
    missing = [task for task in tasks.values() if not parts.is_done(folder, task.name)]
    begin(missing)
    content, place = sweep.to_dict(), str(folder)
    jobs = [Job(task.name, work.do, (content, task, place)) for task in missing]

    failures: dict[str, str] = {}

    def ended(job: Job, _: object, error: BaseException | None) -> None:
        text = None if error is None else f"{type(error).__name__}: {error}"
        if text is not None:
            failures[job.name] = text
        with suppress(OSError):  # the disk may be full: then the caller hears it all the same
            _note(folder, job.name, text)
        advance(tasks[job.name], text)

    finish(jobs, executors.local() if make_executor is None else make_executor, ended)
    found = status(folder)
    return replace(found, failures=found.failures | failures)


def _note(folder: Path, task: str, error: str | None) -> None:
    """Keep the error of a task, or forget the one it had."""
    path = folder / "failures" / f"{task}.json"
    if error is not None:
        files.write_text(path, json.dumps({"task": task, "error": error, "at": time.time()}))
    else:
        path.unlink(missing_ok=True)


def _error_in(path: Path) -> str:
    """The error that was kept."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["error"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return f"{path} cannot be read"


def prepare(sweep: Sweep, out: str | Path) -> Path:
    """The folder of a sweep, which says what it is."""
    folder = Path(out)
    path, text = folder / SPEC, json.dumps(sweep.to_dict(), indent=1)
    if not path.exists():
        # Another run may have begun in this moment, or was killed while it did.
        listed = folder.iterdir() if folder.exists() else ()
        found = {each.name for each in listed if not each.name.startswith(files.HIDDEN)}
        if found and SPEC not in found:
            raise checks.input_error("out", "be a new folder or a sweep's", f"{str(folder)!r}")
        if not found:
            files.write_text(path, text)
    if path.read_bytes() != text.encode():
        cure = "Choose another folder, or delete this one."
        raise checks.input_error("out", "hold this sweep", f"another in {str(folder)!r}", cure)
    return folder


def sweep_in(out: str | Path) -> Sweep:
    """The sweep that a folder holds."""
    path = Path(out) / SPEC
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise TypeError("no table")
        return Sweep.of(content)
    except checks.InputError:
        raise
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise checks.input_error("DIR", "hold a sweep", f"{str(out)!r} ({error})") from None


def status(out: str | Path) -> Status:
    """How far the sweep in ``out`` is, by listing what is there."""
    folder, tasks = Path(out), plan(sweep_in(out))
    missing = [task for task in tasks if not parts.is_done(folder, task.name)]
    names, failures = {task.name for task in missing}, {}
    for path in sorted((folder / "failures").glob("*.json")):
        if path.stem in names:
            with suppress(FileNotFoundError):  # another run has just done it
                failures[path.stem] = _error_in(path)
    left = sum(task.seconds for task in missing)
    return Status(len(tasks), len(tasks) - len(missing), left, failures)
