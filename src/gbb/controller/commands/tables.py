"""Telling a round shard by shard: gateways sum their own links, and each counts once."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbb._support import checks
from gbb._support.checks import FloatArray, InputError, IntArray
from gbb.controller.commands.trials import find_closing
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.state.fold import read_arms
from gbb.controller.state.replay import problem_at
from gbb.controller.state.report import FAR, ROUNDING
from gbb.controller.state.state import State
from gbb.controller.state.tables import Told, pack_tables, unpack_tables
from gbb.learning.record import places_of, played
from gbb.problem import LARGEST, Problem

Tables = Mapping[int, tuple[ArrayLike, ArrayLike]]
"""``(N, Y)`` of each shard."""

SHARE = 1e-9
"""The share by which sums of squared weights may differ by rounding."""


def tell_tables(transaction: Transaction, trial: int, tables: Tables) -> None:
    """Keep the tables of some shards of ``trial``; the same again changes nothing."""
    problem, arms, closing = _find_round(transaction, trial)
    told = _read(problem, arms, tables)
    before = _told_before(transaction, trial, problem, arms)
    fresh = np.array([shard not in before for shard in told.shards], dtype=np.bool_)
    for row in np.flatnonzero(~fresh).tolist():
        _check_same(trial, told, row, before[told.shards[row]])
    if not fresh.any():
        return
    new = told.only(fresh)
    if closing is not None:
        got = f"trial {trial}, which was closed without shard {new.shards[0]}"
        raise checks.input_error("trial", "be open", got)
    transaction.append("tables", {"shards": new.shards}, trial=trial, data=pack_tables(new))
    _warn_out_of_bounds(transaction, problem, new, trial)


def missing_shards(state: State, trial: int) -> list[int]:
    """The shards that have not told their tables of an open trial."""
    ask = state.open[trial]
    counts = state.problem_on(ask.graph).edge_counts
    return sorted(set(range(0 if counts is None else len(counts))) - ask.shards)


def _find_round(transaction: Transaction, trial: int) -> tuple[Problem, IntArray, Event | None]:
    """The problem and the arms of a trial, and the event that closed it."""
    ask = transaction.state.open.get(trial)
    if ask is not None:
        problem, arms, closing = transaction.state.problem_on(ask.graph), ask.allocation, None
    else:
        asked, closing = find_closing(transaction, trial)
        problem = problem_at(transaction, asked.seq)
        arms = read_arms(asked, problem)
    if problem.parts is None:
        cure = "Call tell() with the rewards of its links."
        raise checks.input_error("trial", "be of a network in shards", f"trial {trial}", cure)
    return problem, arms, closing


def _told_before(
    transaction: Transaction, trial: int, problem: Problem, arms: IntArray
) -> dict[int, tuple[bytes, bytes]]:
    """The tables that shards have told of a trial, as bytes."""
    before: dict[int, tuple[bytes, bytes]] = {}
    ask = transaction.state.open.get(trial)
    if ask is not None and not ask.shards:
        return before
    places = played(problem, arms)
    for event in transaction.study.events_of(trial):
        if event.kind == "tables":
            shards, counts, paid = unpack_tables(event, problem, places)
            rows = zip(shards, counts, paid, strict=True)
            before |= {shard: (n.tobytes(), y.tobytes()) for shard, n, y in rows}
    return before


def _check_same(trial: int, told: Told, row: int, before: tuple[bytes, bytes]) -> None:
    if (told.counts[row].tobytes(), told.paid[row].tobytes()) != before:
        raise InputError(
            f"Shard {told.shards[row]} has already told other `tables` of trial {trial}. Nothing was "
            "changed."
        )


def _read(problem: Problem, arms: IntArray, tables: Tables) -> Told:
    """The tables by shard, in increasing order, where the allocation can have played anything."""
    assert problem.edge_counts is not None
    if not isinstance(tables, Mapping) or not tables:
        cure = "Write {shard: (N, Y)}."
        raise checks.input_error("tables", "hold the tables of a shard", repr(tables), cure)
    most = len(problem.edge_counts) - 1
    shards = sorted(checks.integer("shard", shard, low=0, high=most) for shard in tables)
    pairs = [_read_pair(tables[shard], shard) for shard in shards]
    counts, paid = (
        _read_tables(problem, name, [pair[place] for pair in pairs], shards)
        for place, name in enumerate(("N", "Y"))
    )
    places = played(problem, arms)
    _check_counts(problem, arms, shards, counts)
    wrong = np.argwhere((counts == 0.0) & (paid != 0.0))
    if wrong.size:
        row, place = wrong[0].tolist()
        got = f"{paid[row, place]:g}{_where(problem, place)} of shard {shards[row]}"
        raise checks.input_error("Y", "be 0 where N is 0", got)
    kept: Any = counts[:, places] if problem.weighted else counts[:, places].astype(np.int64)
    return Told(shards, kept, paid[:, places])


def _read_pair(pair: Any, shard: int) -> tuple[Any, Any]:
    try:
        N, Y = pair
    except (TypeError, ValueError):
        got = f"{type(pair).__name__} for shard {shard}"
        raise checks.input_error("tables", "hold two tables, N and Y, for each", got) from None
    return N, Y


def _read_tables(problem: Problem, name: str, given: list[Any], shards: list[int]) -> FloatArray:
    """A table of each shard, flat; looked at together, as there may be many, and one by one if wrong."""
    size, plain = problem.types * problem.K**2, (problem.types, problem.K, problem.K)
    with suppress(ValueError):  # of different shapes
        together = np.asarray(given)
        fits = together.shape[1:] in (plain, plain[1:]) and together.dtype.kind in "iuf"
        if fits and together[0].size == size and (np.abs(together) <= LARGEST).all():
            return together.reshape(-1, size).astype(np.float64) + 0.0  # turns -0.0 into 0.0
    both = zip(given, shards, strict=True)
    return np.stack([_read_table(plain, name, table, shard) for table, shard in both]) + 0.0


def _read_table(shape: tuple[int, int, int], name: str, table: Any, shard: int) -> FloatArray:
    """A table of a shard, flat; it may have links of the first types only."""
    by_type = np.asarray(table)[None] if np.ndim(table) == 2 else table
    few = min(shape[0], len(by_type)) if np.ndim(by_type) == 3 else shape[0]
    meaning = f"by the arms at both ends, of shard {shard}"
    checked = checks.array(name, by_type, shape=(few, *shape[1:]), meaning=meaning)
    if (high := float(np.abs(checked).max())) > LARGEST:
        raise checks.input_error(name, f"hold numbers of at most {LARGEST:g}", high)
    full = np.zeros(shape)
    full[:few] = checked
    return full.ravel()


def _check_counts(problem: Problem, arms: IntArray, shards: list[int], counts: FloatArray) -> None:
    """Refuse counts of more links than a shard has, or of arms that the round did not play."""
    assert problem.edge_counts is not None
    each = problem.edge_counts[shards] * problem.edge_weights**2
    most = np.zeros_like(counts)
    for edge, place in enumerate(places_of(problem, arms).tolist()):
        most[:, place] += each[:, edge]
    low, high = counts < 0.0, counts > most * (1.0 + SHARE)
    split = np.zeros_like(low) if problem.weighted else counts != np.floor(counts)
    wrong = low | split | high
    if wrong.any():
        row, place = np.argwhere(wrong)[0].tolist()
        limit = most[row, place]
        rule = f"be at most {limit:.15g}, all links that play it" if limit else "be 0"
        if not high[row, place]:
            rule = "be at least 0" if low[row, place] else "be a whole number"
        got = f"{counts[row, place]:.15g}{_where(problem, place)} of shard {shards[row]}"
        cure = "" if limit else "The trial plays other arms."
        raise checks.input_error("N", rule, got, cure)


def _where(problem: Problem, place: int) -> str:
    """How a message says which entry of a table it means."""
    kind, pair = divmod(place, problem.K**2)
    a, b = divmod(pair, problem.K)
    return f" at arms ({a}, {b})" + (f" of type {kind}" if problem.types > 1 else "")


def _warn_out_of_bounds(transaction: Transaction, problem: Problem, told: Told, trial: int) -> None:
    """Keep a warning event about sums of rewards far outside the declared bounds."""
    counts = told.counts.astype(np.float64)
    limits = counts * (problem.L * problem.S) + FAR * problem.sigma * np.sqrt(counts)
    far = np.argwhere(np.abs(told.paid) > limits * (1.0 + ROUNDING))
    if not far.size:
        return
    row, place = far[0].tolist()
    value, limit, shard = float(told.paid[row, place]), float(limits[row, place]), told.shards[row]
    text = (
        f"{len(far)} of {told.paid.size} sums of rewards lie outside their bounds, first {value:g} "
        f"outside +-{limit:g} (N L S + {FAR:g} sigma sqrt N) of shard {shard}; they are kept."
    )
    content = {"message": text, "shard": shard, "reward": value, "limit": limit}
    transaction.append("warning", content, trial=trial)
    transaction.warnings.append(text)
