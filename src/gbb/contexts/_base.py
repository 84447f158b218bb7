"""What a kind of contexts is: from what is known before a round to the features of its edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.graph import Graph
from gbb.graph.entries import Entries
from gbb.graph.lookup import find_edges

KINDS: dict[str, type[Contexts]] = {}
"""The kinds by name."""


class Contexts(ABC):
    """How a context becomes the features of all edges.

    A context is *read* into a row of numbers, which is what logs keep and what says whether two contexts
    are the same.
    """

    kind: ClassVar[str]
    """How the kind is called."""

    one_each: bool
    """Whether every edge has one feature a round that is not 0, at most: tables can be kept."""

    keeps_alike: bool
    """Whether links whose directions are alike stay so in every round."""

    weighs: bool
    """Whether features are other numbers than 0 and the edges' own weights."""

    apart: ClassVar[bool] = False
    """Whether two contexts have all their matrices in common, or none."""

    reach: float
    """No edge of weight 1 has features of a larger norm."""

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        KINDS[cls.kind] = cls

    @abstractmethod
    def count_matrices(self, types: int) -> int:
        """How many matrices there are, where edges have so many types of their own."""

    @abstractmethod
    def read(self, graph: Graph, context: Any) -> FloatArray:
        """Check a context, and say it in a row of numbers."""

    @abstractmethod
    def entries(self, own: Entries, types: int, row: FloatArray) -> Entries:
        """The features of a round, where edges have types and weights of their own."""

    def name(self, row: FloatArray) -> Any:
        """The context that a row stands for, as a person would write it."""
        return row.tolist()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """What its constructor was given, with its kind, as plain values."""

    def read_all(self, graph: Graph, contexts: Iterable[Any]) -> FloatArray:
        """Check a sequence of contexts: a row each."""
        rows = []
        for place, context in enumerate(listed(contexts)):
            try:
                rows.append(self.read(graph, context))
            except checks.InputError as error:
                raise checks.InputError(f"Round {place + 1}: {error}") from None
        if not rows:
            raise checks.input_error("contexts", "hold at least one context", "none")
        return np.stack(rows)

    def __repr__(self) -> str:
        given = {key: value for key, value in self.to_dict().items() if key != "kind"}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items())})"


def listed(contexts: Any) -> Iterable[Any]:
    """A sequence of contexts, or whatever gives them one by one; refuses a single one."""
    try:
        if isinstance(contexts, str | Mapping):
            raise TypeError
        one_by_one: Iterable[Any] = iter(contexts)
    except TypeError:
        rule = "be a list of contexts"
        raise checks.input_error("contexts", rule, repr(contexts)) from None
    return one_by_one


def from_dict(content: dict[str, Any]) -> Contexts:
    """The contexts whose ``to_dict`` is ``content``."""
    given = dict(content)
    return KINDS[checks.choice("kind", given.pop("kind"), list(KINDS))](**given)


def count_or_names(name: str, given: Any) -> tuple[int, tuple[str, ...] | None]:
    """How many there are, and what they are called if names are given."""
    if isinstance(given, str) or np.ndim(given) == 0:
        return checks.integer(name, given, low=1), None
    listed = list(given)
    names = checks.names(name, listed, length=len(listed))
    if not names:
        raise checks.input_error(name, "be a number or a list of names", repr(given))
    if blank := next((each for each in names if each != each.strip()), None):
        rule = "hold names with no blanks around them"
        raise checks.input_error(name, rule, repr(blank))
    return len(names), tuple(names)


def check_most(most: float) -> float:
    """A bound on the size of what a context says: 1 unless it is another."""
    return checks.real("most", most, low=0.0, low_open=True, high=1e50)


def check_within(name: str, values: FloatArray, most: float) -> FloatArray:
    """Refuse numbers beyond the bound that was declared; -0.0 is 0.0, so that equal rows are one."""
    high = float(np.abs(values).max(initial=0.0))
    if high > most:
        cure = "Declare a larger `most`, or measure in other units."
        raise checks.input_error(name, f"hold numbers of at most {most:g} in size", high, cure)
    return checks.frozen(values + 0.0)


def find_named(
    graph: Graph, context: Mapping[Any, Any], *, alike: bool
) -> tuple[IntArray, list[Any]]:
    """The edges that a context names by their ends, and what it says of each.

    Where directions are ``alike``, what is said of one holds for the other, if nothing is said of it.
    """
    pairs = list(context)
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        odd = next(p for p in pairs if not (isinstance(p, tuple) and len(p) == 2))
        raise checks.input_error("context", "name edges as (source, target)", repr(odd))
    sources, targets = ([pair[end] for pair in pairs] for end in (0, 1))
    places, said = find_edges("context", graph, sources, targets), list(context.values())
    if alike:
        back = graph.reverse[places]
        new = np.flatnonzero(~np.isin(back, places))
        places, said = np.append(places, back[new]), said + [said[each] for each in new.tolist()]
    return places, said


def read_numbers(
    context: Mapping[Any, Any], names: tuple[str, ...] | None, size: int
) -> list[float]:
    """Numbers by name in their order; every name once."""
    known = names or tuple(map(str, range(size)))
    for name in context:
        checks.choice("context", str(name), known)
    given = {str(name): value for name, value in context.items()}
    if len(given) < len(context):
        twice, _ = Counter(map(str, context)).most_common(1)[0]
        raise checks.input_error("context", "name every number once", f"{twice!r} twice")
    if missing := [name for name in known if name not in given]:
        raise checks.input_error("context", f"have all of {', '.join(known)}", f"no {missing[0]}")
    return [checks.real(name, given[name]) for name in known]


def check_no_types(types: int, kind: str) -> None:
    """Refuse edge types of the problem's own where every round says them."""
    if types > 1:
        cure = "What an edge pays by comes with every round."
        raise checks.input_error("edge_types", f"be left out with {kind}", types, cure)


def check_alike(graph: Graph, values: FloatArray) -> None:
    """Refuse edges (rows of ``values``) that differ from those back, where they were to be alike."""
    apart = np.flatnonzero((values != values[graph.reverse]).any(axis=1))
    if apart.size:
        edge = int(apart[0])
        ends = graph.label(int(graph.sources[edge])), graph.label(int(graph.indices[edge]))
        cure = "Say alike=False where directions differ."
        got = f"others for {ends[0]} - {ends[1]}"
        raise checks.input_error("context", "be the same in both directions of a link", got, cure)
