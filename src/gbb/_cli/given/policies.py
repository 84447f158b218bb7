"""Policies as the command line names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from gbb import policies
from gbb._cli.options import LEARNER, RUN, option
from gbb._support import checks
from gbb.learning.radius import RADII


@dataclass(frozen=True, kw_only=True)
class Learner:
    """Settings that most policies have."""

    panel: ClassVar[str] = LEARNER

    lam: Annotated[float | None, option("Ridge regulariser, > 0.", 1, "--lam", "--lambda")] = None
    delta: Annotated[float | None, option("Failure probability of the bound, (0, 1].", 0.001)] = (
        None
    )

    def settings(self, **more: Any) -> dict[str, Any]:
        """Those that are given, with ``more`` of which the same holds."""
        given = {"lam": self.lam, "delta": self.delta, **more}
        return {key: value for key, value in given.items() if value is not None}


RadiusName = Annotated[
    str | None,
    option(f"Confidence radius: {', '.join(RADII)}.", "the policy's own", panel=LEARNER),
]


def policies_option(default: Sequence[str], *, metavar: str = "NAME", note: str = "") -> Any:
    """The option that names one policy or more."""
    help = f"A policy{note}, once or more. Names: {', '.join(policies.classes())}."
    return option(help, ", ".join(default), metavar=metavar, panel=RUN)


def class_name(name: str) -> str:
    """The policy's own spelling of ``name``; small and capital letters are alike."""
    return {each.lower(): each for each in policies.classes()}.get(name.lower(), name)


class Spec(NamedTuple):
    """A policy with settings of its own, as ``NAME:KEY=VALUE,...`` gives them.

    Another package's may be named as ``package.module:Class``.
    """

    label: str
    name: str
    settings: dict[str, Any]


def parse(text: str) -> Spec:
    """Read ``NAME`` or ``NAME:KEY=VALUE,...``."""
    name, _, rest = text.partition(":")
    name = class_name(name)
    kind, _, more = rest.partition(":")
    if kind.isidentifier() and name not in policies.classes():
        name, rest = f"{name}:{kind}", more
    settings: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, sign, value = item.partition("=")
        if not sign or not key or not value:
            raise checks.input_error("--policy", "be NAME or NAME:KEY=VALUE,...", repr(text))
        key = policies.check_setting(name, key.strip())
        settings[key] = _value(value.strip())
    label = name.rpartition(":")[2]
    return Spec(f"{label}, {rest}" if rest else label, name, settings)


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
