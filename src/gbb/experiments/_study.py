"""What all experiments share: settings for two switches, parts computed or found, one result."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import xarray as xr

import gbb
from gbb._support import checks
from gbb._support.progress import Advance, ignore
from gbb.simulation.result import read_dataset, write_dataset
from gbb.sweep import executors
from gbb.sweep.finish import MakeExecutor, gather

Where = Callable[[str], Path]
"""Where the part with a name is kept."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The constants of an experiment, and what they are.

    Attributes
    ----------
    as_released
        Whether they follow the released code instead of the paper's text.
    quick
        Whether they are the smaller version for a first look.
    """

    as_released: bool = False
    quick: bool = False


S = TypeVar("S", bound=Settings)


class Part(NamedTuple):
    """A part of a result that is kept by itself, of so many steps; it may go to another process."""

    name: str
    steps: int
    compute: Callable[[], xr.Dataset]


@dataclass(frozen=True)
class Experiment(Generic[S]):
    """An experiment of the paper.

    Attributes
    ----------
    name
        What its files are called.
    paper, released, quick, quick_released
        Its settings: as in the paper's text, as in the released code, and smaller versions of both.
    parts
        Given settings and a seed, the parts of the result.
    along
        The dimension that joins the parts; None where there is only one part.
    """

    name: str
    paper: S
    released: S
    quick: S
    quick_released: S
    parts: Callable[[S, int], Iterator[Part]]
    along: str | None = "matrix"

    def choose(self, *, quick: bool = False, as_released: bool = False) -> S:
        """The settings for the two switches."""
        if as_released:
            return self.quick_released if quick else self.released
        return self.quick if quick else self.paper

    def run(
        self,
        settings: S | None = None,
        *,
        seed: int = 0,
        progress: Advance = ignore,
        where: Where | None = None,
        make_executor: MakeExecutor = executors.here,
    ) -> xr.Dataset:
        """Compute the result, which the module of the experiment describes.

        Parameters
        ----------
        settings
            The constants, the paper's when left out; change one with :func:`dataclasses.replace`.
        seed
            Where all randomness comes from: a whole number, because it names the stored parts.
        progress
            Called with the number of steps done since the last call.
        where
            Where finished parts are kept, and found again; they are not kept when left out.
        make_executor
            What parts are handed to, as those of :func:`gbb.sweep.run`.
        """
        chosen = self.paper if settings is None else settings
        seed = checks.integer("seed", seed, low=0)
        results = _compute(list(self.parts(chosen, seed)), where, make_executor, progress)
        whole = results[0] if self.along is None else xr.concat(results, dim=self.along)
        about = {"experiment": self.name, "settings": to_json(chosen), "seed": seed}
        return whole.assign_attrs(about, gbb_version=gbb.__version__)

    def steps(self, settings: S) -> int:
        """How many steps :meth:`run` reports."""
        return sum(part.steps for part in self.parts(settings, 0))

    def settings_of(self, dataset: xr.Dataset) -> S:
        """The settings a dataset was made with."""
        if "settings" not in dataset.attrs:
            raise checks.input_error(
                "dataset", "come from this experiment's run()", "one without settings"
            )
        return type(self.paper)(**json.loads(dataset.attrs["settings"]))

    def label(self, settings: S) -> str:
        """Whose setting it is, with every field in which it differs."""
        whose = "as released" if settings.as_released else "the paper's setting"
        base = self._base(settings)
        changed = [
            f"{name} = {value} instead of {getattr(base, name)}"
            for name, value in self._changes(settings).items()
        ]
        if settings.quick:
            return f"QUICK, a smaller version of {whose}: " + ", ".join(changed)
        return f"{whose}, but with " + ", ".join(changed) if changed else whose

    def short_label(self, settings: S) -> str:
        """What a figure's title must warn of; empty for the paper's own setting."""
        words = ["QUICK"] if settings.quick else []
        words += ["as released"] if settings.as_released else []
        if not settings.quick:
            few = [f"{name} = {value}" for name, value in self._changes(settings).items()]
            words += few if len(few) <= 2 else ["changed setting"]
        return ", ".join(words)

    def _base(self, settings: S) -> S:
        return self.released if settings.as_released else self.paper

    def _changes(self, settings: S) -> dict[str, Any]:
        """The fields in which ``settings`` differ from the full ones, apart from the two switches."""
        base = dataclasses.asdict(self._base(settings))
        given = dataclasses.asdict(settings).items()
        switches = ("quick", "as_released")
        return {
            name: value for name, value in given if name not in switches and value != base[name]
        }


def _compute(
    parts: list[Part], where: Where | None, make_executor: MakeExecutor, progress: Advance
) -> list[xr.Dataset]:
    """All parts in order; the first error, once all others are done."""
    places = [None if where is None else where(part.name) for part in parts]
    calls = [partial(_find, part.compute, place) for part, place in zip(parts, places, strict=True)]
    return gather(calls, make_executor, lambda i: progress(parts[i].steps), patient=True)


def _find(compute: Callable[[], xr.Dataset], path: Path | None) -> xr.Dataset:
    """The part that is kept at ``path``, or computed, and then kept there."""
    if path is None:
        return compute()
    try:
        return read_dataset(path, sealed=True)
    except checks.InputError:
        result = compute()
        write_dataset(result, path)
        return result


def to_json(settings: Settings) -> str:
    """The settings as one line, the same for equal settings."""
    return json.dumps(dataclasses.asdict(settings), sort_keys=True)
