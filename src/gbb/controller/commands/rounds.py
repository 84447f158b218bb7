"""Many rounds of a table, in long form (a row for each reward) or wide form (a row for each round).

They are read column by column, since there may be millions of rewards; messages name the line of a file.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gbb._support import checks, csv_files
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.contexts import Regimes
from gbb.controller.commands.attach import Round, find_unknown
from gbb.controller.log.codec import Observed
from gbb.controller.queries.history import LoggedRounds
from gbb.controller.state.context_cells import context_columns
from gbb.controller.state.report import WORDS, names_of
from gbb.graph import find
from gbb.problem import LARGEST, Problem

if TYPE_CHECKING:
    import pandas as pd

NAME = "log"
"""What messages call the table."""

KEYS = ("key", "round", "trial")
"""Columns that tell rounds apart, the first that is there."""

OTHERS = {"trial", "time", "round", "key", "event"}
"""Columns that say nothing of what was played and paid."""

ARM_COLUMNS = {
    "source": ("source_arm", "arm_source"),
    "target": ("target_arm", "arm_target"),
    "agent": ("arm",),
}
"""What a column of arms is called, by whose they are."""

ARROW = "->"
SHOWN = 8


class Cells:
    """The cells of a table.

    Parameters
    ----------
    log
        A pandas table or a CSV file; rows of another length than the header are refused.
    """

    def __init__(self, log: Any) -> None:
        self._path, self._text = None, ""
        if hasattr(log, "columns"):
            self._frame = log.copy(deep=False)
            header = list(map(str, log.columns))
        elif isinstance(log, str | Path):
            self._path = Path(log)
            self._text = csv_files.read_text(NAME, self._path)
            header = self._read_header()
            self._frame = self._read_body(len(header))
        else:
            raise checks.input_error(NAME, "be a CSV file or a pandas table", type(log).__name__)
        self.columns = csv_files.name_columns(header)
        names = Counter(name for name in self.columns if name)
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise self.unfit(f"it has the column {twice!r} twice")
        self._frame.columns = self.columns
        self.rows = len(self._frame)

    def _read_header(self) -> list[str]:
        try:
            rows = csv_files.number_lines(self._text)
            header = next((row for row in rows if any(row)), None)
        except csv.Error as error:
            raise self.unfit(f"it is no CSV ({error})") from None
        if header is None:
            raise self.unfit("it is no CSV (it has no header)")
        return header

    def _read_body(self, width: int) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415  (slow to load)

        try:
            rows = csv.reader(io.StringIO(self._text, newline=""), strict=True)
            lengths = set(map(len, rows))
        except csv.Error:
            lengths = set()
        if lengths - {0} != {width}:  # row by row, to say which; pandas would fill or shift them
            csv_files.read_rows(NAME, self._path or "", self._text)
        # As objects: pandas' own parser of floats is not exact.
        return pd.read_csv(
            io.StringIO(self._text),
            dtype=object,
            keep_default_na=False,
            na_values=[],
            skipinitialspace=True,
            index_col=False,
        )

    def codes(self, column: str) -> tuple[list[Any], IntArray]:
        """Return the different values of a column, and which of them each row has, -1 for a blank.

        Blanks around names do not count.
        """
        import pandas as pd  # noqa: PLC0415  (slow to load)

        try:
            codes, values = pd.factorize(self._frame[column].to_numpy(), use_na_sentinel=True)
        except TypeError:
            raise self.unfit(
                f"its column {column!r} holds what is neither text nor a number"
            ) from None
        # What differs by blanks alone is the same, and blanks alone are nothing.
        places: dict[Any, int] = {"": -1}
        plain = (_plain(value) for value in values.tolist())
        same = [places.setdefault(value, len(places) - 1) for value in plain]
        merged = np.array([*same, -1], dtype=np.int64)[codes]
        return [_as_written(value) for value in places if places[value] >= 0], merged

    def required(self, column: str) -> tuple[list[Any], IntArray]:
        """Return the same of a column without blanks."""
        values, codes = self.codes(column)
        if (codes < 0).any():
            raise self.wrong(int(np.argmax(codes < 0)), f"has no {column!r}")
        return values, codes

    def translated(
        self, column: str, read: Callable[[Any], Any], *, required: bool = False
    ) -> IntArray:
        """Return a column of names as numbers, -1 for blanks."""
        values, codes = (self.required if required else self.codes)(column)
        numbers = [-1]
        for place, value in enumerate(values):
            try:
                numbers.append(read(value))
            except InputError as error:
                why = f"is wrong in {column!r}: {str(error).rstrip('.')}"
                raise self.wrong(int(np.argmax(codes == place)), why) from None
        return np.array(numbers, dtype=np.int64)[codes + 1]

    def numbers(self, column: str) -> FloatArray:
        """Return a column of rewards, NaN where a cell is blank."""
        cells = self._frame[column].to_numpy()
        if cells.dtype.kind in "fiu":
            numbers: FloatArray = cells.astype(np.float64)
            missing = np.isnan(numbers)
        else:
            numbers, missing = _parse(cells.tolist())
        for wrong, rule in (
            (~np.isfinite(numbers) & ~missing, "a finite number"),
            (np.abs(numbers) > LARGEST, f"a number of at most {LARGEST:g}"),
        ):
            if wrong.any():
                row = int(np.argmax(wrong))
                cure = "; leave the cell blank where a reward is missing"
                raise self.wrong(row, f"holds {cells[row]!r} as {column!r}, not {rule}{cure}")
        return numbers + 0.0  # no -0.0: a round that is attached again is compared by its bytes

    def wrong(self, row: int, why: str) -> InputError:
        """Return the error for a row."""
        return self._error(f"{'row' if self._path is None else 'line'} {self.line(row)} {why}")

    def line(self, row: int) -> int:
        """Return the line of the file that a row starts on; the number of a row of a table."""
        if self._path is None:
            return row + 1
        rows = (each for each in csv_files.number_lines(self._text) if each)
        return next(itertools.islice(rows, row + 1, None)).line

    def unfit(self, why: str) -> InputError:
        """Return the error for the whole table."""
        return self._error(why)

    def _error(self, why: str) -> InputError:
        if self._path is None:
            return InputError(f"Cannot read `{NAME}`: {why}.")
        return csv_files.cannot_read(NAME, self._path, why)


def _parse(cells: list[Any]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the numbers of text, as Python reads them, and which cells are blank."""
    try:
        if "_" in "".join(cells):  # 1_000 is no number
            raise ValueError
        numbers = np.array([float(cell) if cell else math.nan for cell in cells])
        missing = np.array([not cell for cell in cells], dtype=bool)
    except (TypeError, ValueError):
        plain = [_plain(cell) for cell in cells]
        missing = np.array([checks.is_missing(cell) or cell == "" for cell in plain])
        found = [checks.number_in(cell) for cell in plain]
        numbers = np.array([math.nan if one is None else one for one in found])
    return numbers, missing


def _plain(value: Any) -> Any:
    """Return a cell as a file has it, where a number is a name like any other."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


def _as_written(value: Any) -> Any:
    """Return a number or a name; pandas makes 1.0 of 1 in a column with blanks."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True, eq=False)
class Rounds:
    """Many rounds of one problem, none of which contradicts itself.

    Attributes
    ----------
    problem
        What they are rounds of.
    cells
        The table that they come from.
    keys
        Their keys, in the order in which they come up; those of rounds without any reward, too.
    played
        An arm index per agent, a row per key; -1 where nobody knows it.
    rows, rounds, places, rewards
        The table's row of each reward, its round, its place in the report and itself.
    missing
        How many cells for a reward are blank.
    contexts
        The context of each key, a row of numbers; None where there are none.
    """

    problem: Problem
    cells: Cells
    keys: list[str]
    played: NDArray[Any]
    rows: IntArray
    rounds: IntArray
    places: IntArray
    rewards: FloatArray
    missing: int
    contexts: FloatArray | None = None

    def _part(self, number: int) -> slice:
        """Return where the rewards of a round are, which are sorted by round."""
        start, end = np.searchsorted(self.rounds, [number, number + 1]).tolist()
        return slice(start, end)

    def first_row(self, number: int) -> int:
        """Return the row of the table where round ``number`` first pays something."""
        return int(self.rows[self._part(number)].min())

    def told(self) -> list[int]:
        """Return the rounds that have a reward, in the table's order."""
        told: list[int] = np.unique(self.rounds).tolist()
        return told

    def round(self, number: int) -> Round:
        """Return one of them."""
        places, rewards = self.places[self._part(number)], self.rewards[self._part(number)]
        full = len(places) == self.problem.observations
        row = None if self.contexts is None else self.contexts[number]
        seen = Observed(None if full else places, rewards)
        return Round(self.problem, self.played[number].astype(np.int64), seen, row)

    def logged(self) -> LoggedRounds:
        """Return what was played and paid in the rounds that have a reward, NaN where one is missing."""
        paid = np.full((len(self.keys), self.problem.observations), np.nan)
        paid[self.rounds, self.places] = self.rewards
        told = self.told()
        rows = None if self.contexts is None else self.contexts[told]
        return LoggedRounds(self.played[told].astype(np.int64), paid[told], rows)


def read_log(problem: Problem, cells: Cells, key: str | None, prefix: str) -> Rounds:
    """Return the rounds of a table; ``key`` is the column that tells them apart."""
    problem.check_agents(NAME)
    column = _key_column(cells, key)
    values, codes = cells.required(column)
    keys = [f"{prefix}{value}" for value in values]
    words = WORDS[problem.feedback].columns
    is_long = {*(words or ("allocation",)), "reward"} <= set(cells.columns)
    arms, paid, rewards, missing, known = (_read_long if is_long else _read_wide)(
        problem, cells, codes
    )
    contexts = _read_contexts(problem, cells, codes, len(values))
    _warn_unread(cells, {*known, column, *context_columns(problem, NAME), *OTHERS})
    if not cells.rows:
        raise cells.unfit("it holds a header only")
    played = _gather_arms(problem, cells, keys, arms)
    order = np.lexsort(paid[:0:-1])  # by round, then by place
    (rows, rounds, places), rewards = paid[:, order], rewards[order]
    _refuse_repeats(problem, cells, rows, rounds * problem.observations + places)
    unknown = find_unknown(problem, played, rounds, Observed(places, rewards))
    if unknown is not None:
        number, agent = unknown
        name, round = problem.graph.label(agent), keys[int(rounds[number])]
        raise cells.wrong(
            int(rows[number]),
            f"has a reward that depends on the arm of {name!r}, which round {round!r} does not say",
        )
    return Rounds(problem, cells, keys, played, rows, rounds, places, rewards, missing, contexts)


def _key_column(cells: Cells, key: str | None) -> str:
    """Return the column that tells rounds apart."""
    if key is not None and not isinstance(key, str):
        raise checks.input_error("key", "be the name of a column", repr(key))
    if key is not None and key not in cells.columns:
        rule = "name a column of the table"
        raise checks.input_error("key", rule, repr(key), checks.suggest(key, cells.columns))
    column = next((name for name in KEYS if name in cells.columns), None) if key is None else key
    if column is None:
        raise cells.unfit(
            "it has no column key, round or trial that tells its rounds apart, only "
            f"{', '.join(cells.columns[:SHOWN])}; name the one that does (key=, or --key)"
        )
    return column


def _warn_unread(cells: Cells, read: set[str]) -> None:
    more = [name for name in cells.columns if name not in read]
    if more:
        left = ", ".join(map(repr, more[:SHOWN])) + (", ..." if len(more) > SHOWN else "")
        warnings.warn(f"Left out the columns {left} of `{NAME}`.", stacklevel=2)


Read = tuple[IntArray, IntArray, FloatArray, int, set[str]]
"""What either form says: arms (four rows: of the table, rounds, agents, arms), rewards (three: of the
table, rounds, places in the report) and their values, how many are blank, and the columns read."""


def _read_long(problem: Problem, cells: Cells, rounds: IntArray) -> Read:
    words, rows = WORDS[problem.feedback].columns, np.arange(cells.rows)
    rewards = cells.numbers("reward")
    if words:
        index = problem.graph.index
        agents = [cells.translated(name, index, required=True) for name in words]
        arms = np.concatenate(
            [
                np.stack([rows, rounds, whose, _read_arms(problem, cells, name)])
                for name, whose in zip(words, agents, strict=True)
            ],
            axis=1,
        )
        places = _find_places(problem, cells, agents)
    else:
        arms = _read_allocations(problem, cells, rounds)
        places = np.zeros(cells.rows, dtype=np.int64)
    told = ~np.isnan(rewards)
    paid = np.stack([rows, rounds, places])[:, told]
    known = {*(words or ("allocation",)), "reward"}
    known |= {name for whose in words for name in ARM_COLUMNS[whose]}
    missing = int(np.count_nonzero(~told))
    return arms[:, arms[3] >= 0], paid, rewards[told], missing, known


def _read_arms(problem: Problem, cells: Cells, whose: str) -> IntArray:
    """Return the arms of a column's agents, -1 where the cell is blank."""
    column = next((name for name in ARM_COLUMNS[whose] if name in cells.columns), None)
    if column is None:
        raise cells.unfit(f"it has no column {ARM_COLUMNS[whose][0]!r}")
    return cells.translated(column, problem.arm)


def _find_places(problem: Problem, cells: Cells, agents: list[IntArray]) -> IntArray:
    """Return where in a round's report each row's number stands."""
    if len(agents) == 1:
        return agents[0]
    graph, named = problem.graph, problem.report.agents
    keys = named[0].astype(np.int64) * graph.n + named[1]
    order = np.argsort(keys, kind="stable")
    known, places = np.zeros(cells.rows, dtype=bool), np.zeros(cells.rows, dtype=np.int64)
    # Only where every direction reports by itself does the order of the two ends matter.
    for one, two in (agents,) if problem.feedback == "edge" else (agents, agents[::-1]):
        wanted = one * graph.n + two
        found = order[np.minimum(np.searchsorted(keys[order], wanted), keys.size - 1)]
        places = np.where(known, places, found)
        known |= keys[found] == wanted
    if not known.all():
        row = int(np.argmin(known))
        pair = tuple(graph.label(int(each[row])) for each in agents)
        raise cells.wrong(row, f"names {pair}, which is no link of the graph")
    return places


def _read_allocations(problem: Problem, cells: Cells, rounds: IntArray) -> IntArray:
    """Return the arms of a column of allocations, each as JSON ``{agent: arm}``."""
    values, codes = cells.required("allocation")
    played = np.empty((len(values), problem.n), dtype=np.int64)
    for place, text in enumerate(values):
        try:
            played[place] = problem.allocation(json.loads(text) if isinstance(text, str) else text)
        except (ValueError, TypeError) as error:
            why = f"has no allocation: {str(error).rstrip('.')}"
            raise cells.wrong(int(np.argmax(codes == place)), why) from None
    each = (np.repeat(np.arange(cells.rows), problem.n), np.repeat(rounds, problem.n))
    agents = np.tile(np.arange(problem.n), cells.rows)
    return np.stack([*each, agents, played[codes].ravel()])


def _read_wide(problem: Problem, cells: Cells, rounds: IntArray) -> Read:
    labels, places = [str(label) for label in problem.graph.labels], _reward_columns(problem)
    columns, rows = set(cells.columns), np.arange(cells.rows)
    again = np.flatnonzero(np.bincount(rounds, minlength=1)[rounds] > 1)
    if again.size:
        why = "is another row of the same round; wide rows are whole rounds"
        raise cells.wrong(int(again[1]), why)
    arms, paid, rewards = [], [], []
    for agent, label in enumerate(labels):
        if label in columns:
            played = cells.translated(label, problem.arm)
            arms.append(np.stack([rows, rounds, np.full_like(rows, agent), played]))
    for name, place in places.items():
        if name in columns:
            paid.append(np.stack([rows, rounds, np.full_like(rows, place)]))
            rewards.append(cells.numbers(name))
    for name in cells.columns:
        if ARROW in name and name not in places:
            cure = checks.suggest(name, sorted(places))
            raise cells.unfit(f"its column {name!r} is no link of the graph. {cure}".rstrip(" .?"))
    if not rewards or not arms:
        words = WORDS[problem.feedback].columns or ("allocation",)
        arm = (ARM_COLUMNS[name][0] for name in words if name in ARM_COLUMNS)
        long, wide = ", ".join((*words, *arm, "reward")), f"{labels[0]}, {next(iter(places))}"
        raise cells.unfit(
            f"it has neither a row for each reward (columns {long}) nor one for each round "
            f"(columns such as {wide})"
        )
    known, all_paid = np.concatenate(arms, axis=1), np.concatenate(paid, axis=1)
    values = np.concatenate(rewards)
    told = ~np.isnan(values)
    missing = int(np.count_nonzero(~told))
    return known[:, known[3] >= 0], all_paid[:, told], values[told], missing, {*labels, *places}


def _reward_columns(problem: Problem) -> dict[str, int]:
    """Return the places of the numbers that a wide table's columns name; links by either end."""
    labels = [str(label) for label in problem.graph.labels]
    named = [each.tolist() for each in problem.report.agents]
    if len(named) == 2:
        ends = [(labels[i], labels[j]) for i, j in zip(*named, strict=True)]
        found = {ARROW.join(pair): place for place, pair in enumerate(ends)}
        back = {ARROW.join(pair[::-1]): place for place, pair in enumerate(ends)}
        return {**back, **found} if problem.feedback == "link" else found
    names = [f"reward {label}" for label in labels] if named else ["reward"]
    return {name: place for place, name in enumerate(names)}


def _read_contexts(
    problem: Problem, cells: Cells, rounds: IntArray, count: int
) -> FloatArray | None:
    """Return the context of each of ``count`` rounds as a row; all rows of a round must agree."""
    columns = context_columns(problem, NAME)
    if not columns:
        return None
    if missing := [name for name in columns if name not in cells.columns]:
        raise cells.unfit(f"it has no column {missing[0]!r}, the context of its rounds")
    if taken := [name for name in columns if name in set(map(str, problem.graph.labels))]:
        raise cells.unfit(f"its column {taken[0]!r} is a context, and an agent is called so too")
    if isinstance(problem.contexts, Regimes):
        values, codes = cells.required(columns[0])
    else:
        table = np.stack([cells.numbers(name) for name in columns], axis=1)
        if (lost := np.argwhere(np.isnan(table))).size:
            row, place = lost[0].tolist()
            raise cells.wrong(row, f"has no {columns[place]!r}")
        different, codes = np.unique(table, axis=0, return_inverse=True)
        values, codes = list(different), codes.ravel()
    read = []
    for place, value in enumerate(values):
        assert problem.contexts is not None
        try:
            read.append(problem.contexts.read(problem.graph, value))
        except InputError as error:
            why = f"has no context: {str(error).rstrip('.')}"
            raise cells.wrong(int(np.argmax(codes == place)), why) from None
    first = np.zeros(count, dtype=np.int64)
    first[rounds[::-1]] = np.arange(len(rounds))[::-1]
    apart = np.flatnonzero(codes != codes[first[rounds]])
    if apart.size:
        other = cells.line(int(first[rounds[apart[0]]]))
        raise cells.wrong(int(apart[0]), f"has another context than line {other}, the same round")
    return np.stack(read)[codes[first]] if read else np.empty((0, len(columns)))


def _gather_arms(problem: Problem, cells: Cells, keys: list[str], found: IntArray) -> NDArray[Any]:
    """Return what each agent played in each round; all rows must agree."""
    rows, rounds, agents, arms = found
    # A signed type: -1 stands for what nobody knows.
    played = np.full((len(keys), problem.n), -1, dtype=np.min_scalar_type(-problem.K))
    played[rounds, agents] = arms
    other = played[rounds, agents] != arms
    if other.any():
        place = int(np.argmax(other))
        names = problem.arm_names or range(problem.K)
        agent, key = problem.graph.label(int(agents[place])), keys[int(rounds[place])]
        one, two = names[int(arms[place])], names[int(played[rounds[place], agents[place]])]
        why = f"lets {agent!r} play {one!r} in round {key!r}, and another line lets it play {two!r}"
        raise cells.wrong(int(rows[place]), why)
    return played


def _refuse_repeats(problem: Problem, cells: Cells, rows: IntArray, codes: IntArray) -> None:
    """Refuse a reward that is told twice; ``codes`` has its round and its place."""
    twice = find.first_repeat(codes)
    if twice is None:
        return
    (names,) = names_of(problem, np.array([codes[twice[1]] % problem.observations]))
    first, second = sorted(int(rows[each]) for each in twice)
    whose = f" of {names if len(names) > 1 else names[0]!r}" if names else ""
    raise cells.wrong(
        second, f"has the reward{whose} of a round that line {cells.line(first)} has as well"
    )
