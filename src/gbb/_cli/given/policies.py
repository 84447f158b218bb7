"""Policies as the command line names them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import typer

from gbb import policies
from gbb._cli.errors import reword
from gbb._cli.options import LEARNER, RUN, option
from gbb._support import checks
from gbb.learning.radius import RADII
from gbb.problem import Problem


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


Horizon = Annotated[int | None, typer.Option(help="Rounds to come, for policies that must know.")]

HORIZON_WORDS = {
    "Give the horizon, or the number of exploring rounds as `exploration`.": "Say how many rounds "
    "are to come."
}

SPEC = "NAME or NAME:KEY=VALUE,..."

YOURS = "One of your own goes by module:Class."


def policies_option(default: Sequence[str]) -> Any:
    """The option that names one policy or more."""
    names = ", ".join(policies.names())
    help = f"A policy ({SPEC}), once or more. {YOURS} Names: {names}."
    return option(help, ", ".join(default), metavar="SPEC", panel=RUN)


def class_name(name: str) -> str:
    """The policy's own spelling of ``name``; small and capital letters are alike."""
    return {each.lower(): each for each in policies.names()}.get(name.lower(), name)


class Spec(NamedTuple):
    """A policy with settings of its own, as ``NAME:KEY=VALUE,...`` gives them.

    Another package's may be named as ``package.module:Class``.
    """

    label: str
    name: str
    settings: dict[str, Any]

    def build(self, problem: Problem, **shared: Any) -> policies.AnyPolicy:
        """The policy, with those of the ``shared`` settings that it has and none of its own for."""
        words = {f"`{key}`": f"`--policy {self.name}:{key}`" for key in self.settings}
        with reword({**words, "`settings`": f"`--policy {self.name}:KEY=VALUE`"}):
            return policies.build(self.name, problem, **{**shared, **self.settings})


def read_own_policies(texts: Sequence[str], given: Mapping[str, Any]) -> list[Spec]:
    """As :func:`read_policies`, with modules of the current folder for what nobody needs to find again.

    They come last: no file of the folder hides a module that is installed.
    """
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    return read_policies(texts, given)


def read_policies(texts: Sequence[str], given: Mapping[str, Any]) -> list[Spec]:
    """The policies that are named; refuses options, ``given``, that are settings of none of them."""
    specs = [parse(text) for text in texts]
    for key in given:
        if not any(key in policies.setting_names(spec.name) for spec in specs):
            names = " or ".join(dict.fromkeys(spec.name for spec in specs))
            raise checks.conflict(f"`--{key}` is no setting of {names}. Leave it out.")
    return specs


def parse(text: str) -> Spec:
    """Read ``NAME`` or ``NAME:KEY=VALUE,...``; small and capital letters of names are alike."""
    name, _, rest = text.partition(":")
    if "," in name:
        cure = "Repeat it: " + " ".join(f"--policy {one.strip()}" for one in text.split(","))
        raise checks.input_error("--policy", "name one policy", repr(text), f"{cure}.")
    name, known = class_name(name), policies.names()
    kind, _, more = rest.partition(":")
    if kind.isidentifier() and name not in known:
        name, rest = f"{_module(name)}:{kind}", more
    else:
        checks.choice("--policy", name, known, cure=_spelling(name, known))
    settings: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        key, sign, value = item.partition("=")
        if not sign or not key or not value:
            raise checks.input_error("--policy", f"be {SPEC}", repr(text))
        with reword({f"{name} has": f"`--policy`: {name} has"}):
            key = key.strip()
            checks.known_names(name, "setting", [key], policies.setting_names(name))
        settings[key] = _value(value.strip())
    label = name.rpartition(":")[2]
    return Spec(f"{label}, {rest}" if rest else label, name, settings)


def _module(name: str) -> str:
    """The module that is named, also by its file in the current folder."""
    return name.removesuffix(".py").replace("/", ".") if Path(name).is_file() else name


def _spelling(name: str, known: Iterable[str]) -> str:
    """How to write a name that is not known."""
    module, _, kind = name.rpartition(".")
    if kind == "py":
        return f"Name its class, too: {name}:Class."
    return f"Write {module}:{kind}." if module else checks.suggest(name, known) or YOURS


def _value(text: str) -> int | float | str:
    if not checks.is_number(text):
        return text
    try:
        return int(text)
    except ValueError:
        return float(text)
