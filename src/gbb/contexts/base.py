"""The base class of all kinds of contexts, and what they share in reading a context."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.graph import Graph
from gbb.problem.edges import EdgeFeatures

KINDS: dict[str, type[Contexts]] = {}
"""The kinds by name."""


class Contexts(ABC):
    """How a context becomes the features of all edges.

    A context is *read* into a row of numbers, which is what logs keep and what decides whether two
    contexts are the same.
    """

    kind: ClassVar[str]
    """The name of the kind."""

    one_hot: ClassVar[bool] = False
    """Whether every edge has at most one nonzero feature in each round, however many there are."""

    symmetric: bool
    """Whether links whose directions are alike stay so in every round."""

    disjoint: ClassVar[bool] = False
    """Whether a context only chooses matrices: those of two have none or all in common, and edges keep
    their weights."""

    def __init__(self, argument: str, value: Any, max_size: float = 1.0) -> None:
        self.size, self.names = count_or_names(argument, value)
        # `to_dict` finds the constructor's arguments in attributes of their names.
        setattr(self, argument, self.names or self.size)
        self.max_size = checks.real("max_size", max_size, low=0.0, low_open=True, high=1e50)

    @property
    def single(self) -> bool:
        """Whether an edge has one nonzero feature in each round at most: tables can be kept."""
        return self.one_hot or self.size == 1

    @property
    def max_norm(self) -> float:
        """No edge of weight 1 has features of a larger norm."""
        return self.max_size * math.sqrt(1 if self.single else self.size)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "kind" in vars(cls):  # not of a base class that several kinds share
            KINDS[cls.kind] = cls

    def count_matrices(self, types: int) -> int:
        """Return the number of matrices, if the edges of the problem have so many types."""
        return self.size * types

    @abstractmethod
    def read(self, graph: Graph, context: Any) -> FloatArray:
        """Check a context and return it as a row of numbers."""

    @abstractmethod
    def edges(self, declared: EdgeFeatures, types: int, row: FloatArray) -> EdgeFeatures:
        """Return the features of a round; ``declared`` are the problem's, of so many types."""

    def name(self, row: FloatArray) -> Any:
        """Return the context that was read into ``row``, as a person would write it."""
        return row.tolist()

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the arguments of the constructor (attributes) as plain values."""
        arguments = inspect.signature(type(self)).parameters
        plain = {name: np.asarray(getattr(self, name)).tolist() for name in arguments}
        return {"kind": self.kind, **plain}

    def read_all(self, graph: Graph, contexts: Iterable[Any]) -> FloatArray:
        """Check a sequence of contexts and return a row for each."""
        rows = []
        for t, context in enumerate(as_iterable(contexts), start=1):
            try:
                rows.append(self.read(graph, context))
            except checks.InputError as error:
                raise checks.InputError(f"Round {t}: {error}") from None
        if not rows:
            raise checks.input_error("contexts", "hold at least one context", "none")
        return np.stack(rows)

    def __repr__(self) -> str:
        _, *arguments = self.to_dict().items()
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in arguments)})"


def as_iterable(contexts: Any) -> Iterable[Any]:
    """Return a sequence of contexts, or whatever yields them one by one; refuse a single one."""
    if isinstance(contexts, str | Mapping) or not isinstance(contexts, Iterable):
        raise checks.input_error("contexts", "be a list of contexts", repr(contexts))
    return contexts


def from_dict(content: dict[str, Any]) -> Contexts:
    """Return the contexts whose ``to_dict`` is ``content``."""
    arguments = dict(content)
    return KINDS[checks.choice("kind", arguments.pop("kind"), list(KINDS))](**arguments)


def from_json(name: str, value: Any) -> Any:
    """Return the context in a JSON value: numbers, in order or by name, or types and weights.

    Text and truth values among them are refused, as they would be taken for numbers.
    """
    if isinstance(value, dict) and value.keys() == {"types", "weights"}:
        return from_json(name, value["types"]), from_json(name, value["weights"])
    cells = value.values() if isinstance(value, dict) else value
    for cell in cells if isinstance(value, dict | list) else ():
        if isinstance(cell, list):
            from_json(name, cell)
        elif isinstance(cell, bool) or not isinstance(cell, int | float):
            raise checks.input_error(name, "hold numbers", repr(cell))
    return value


def count_or_names(name: str, value: Any) -> tuple[int, tuple[str, ...] | None]:
    """Return how many there are, and their names if names are given."""
    if np.ndim(value) == 0:
        return checks.integer(name, value, low=1), None
    names = checks.names(name, list(value), length=len(value))
    if not names or any(word != word.strip() for word in names):
        rule = "be a number or a list of names with no blanks around them"
        raise checks.input_error(name, rule, repr(value))
    return len(names), names


def read_array(
    value: Any, max_size: float, shape: tuple[int, ...], meaning: str, cure: str = ""
) -> FloatArray:
    """Check numbers of a context; -0.0 becomes 0.0, so that equal rows are one."""
    values = checks.array("context", value, shape=shape, meaning=meaning, cure=cure)
    if (high := float(np.abs(values).max(initial=0.0))) > max_size:
        rule = f"hold numbers of at most {max_size:g} in size"
        cure = "Declare a larger `max_size`, or measure in other units."
        raise checks.input_error("context", rule, high, cure)
    return checks.frozen(values + 0.0)


def read_numbers(
    context: Mapping[Any, Any], names: tuple[str, ...] | None, size: int
) -> list[float]:
    """Return the numbers that a context has by name, in the order of the names; each exactly once."""
    names = names or tuple(map(str, range(size)))
    words = list(map(str, context))  # 0 and "0" are one number
    checks.known_names("`context`", "number", words, names)
    if sorted(words) != sorted(names):
        missing = ", ".join(name for name in names if name not in words)
        got = f"no {missing}" if missing else "one of them twice"
        raise checks.input_error("context", f"have all of {', '.join(names)}", got)
    values = dict(zip(words, context.values(), strict=True))
    return [checks.real(name, values[name]) for name in names]
