"""Settings travel with their data: stamped on a dataset, read back, and described."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, ClassVar, Protocol, TypeVar

import xarray as xr

from gbb._support import checks


class HasFields(Protocol):
    """A frozen dataclass of constants with at least these."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def as_released(self) -> bool:
        """Whether it follows the released code instead of the paper's text."""
        ...

    @property
    def quick(self) -> bool:
        """Whether it is the smaller version for a first look."""
        ...


S = TypeVar("S", bound=HasFields)


def to_json(settings: HasFields) -> str:
    """The settings as one line, the same for equal settings."""
    return json.dumps(dataclasses.asdict(settings), sort_keys=True)


def stamp(dataset: xr.Dataset, experiment: str, settings: HasFields, seed: int) -> xr.Dataset:
    """``dataset`` with what made it: experiment, settings, seed and version."""
    import gbb

    about = {"experiment": experiment, "settings": to_json(settings), "seed": seed}
    return dataset.assign_attrs(about, gbb_version=gbb.__version__)


def of(dataset: xr.Dataset, kind: type[S]) -> S:
    """The settings a dataset was made with."""
    if "settings" not in dataset.attrs:
        raise checks.input_error(
            "dataset", "come from this experiment's run()", "one without settings"
        )
    return kind(**json.loads(dataset.attrs["settings"]))


def check_seed(seed: int) -> int:
    """A whole number, because it names the stored parts of a run."""
    return checks.integer("seed", seed, low=0)


def label(settings: HasFields, paper: HasFields, released: HasFields) -> str:
    """Whose setting it is, with every field in which it differs."""
    base = released if settings.as_released else paper
    whose = "as released" if settings.as_released else "the paper's setting"
    changed = [
        f"{name} = {value} instead of {getattr(base, name)}"
        for name, value in _changes(settings, base).items()
    ]
    if settings.quick:
        return f"QUICK, a smaller version of {whose}: " + ", ".join(changed)
    return f"{whose}, but with " + ", ".join(changed) if changed else whose


def short_label(settings: HasFields, paper: HasFields, released: HasFields) -> str:
    """What a figure's title must warn of; empty for the paper's own setting."""
    words = ["QUICK"] if settings.quick else []
    words += ["as released"] if settings.as_released else []
    changed = _changes(settings, released if settings.as_released else paper)
    if not settings.quick:
        few = [f"{name} = {value}" for name, value in changed.items()]
        words += few if len(few) <= 2 else ["changed setting"]
    return ", ".join(words)


def _changes(settings: HasFields, base: HasFields) -> dict[str, Any]:
    """The fields in which ``settings`` differ from ``base``, apart from the two switches."""
    fields = [field.name for field in dataclasses.fields(settings)]
    return {
        name: getattr(settings, name)
        for name in fields
        if name not in ("quick", "as_released") and getattr(settings, name) != getattr(base, name)
    }
