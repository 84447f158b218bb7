"""Many rounds attached in one transaction, each under its key and once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from gbb.controller.commands.attach import Round, append_attach, are_same, read_attached
from gbb.controller.commands.rewards import warn_out_of_bounds
from gbb.controller.commands.rounds import Rounds
from gbb.controller.log.events import Event
from gbb.controller.log.log import Transaction
from gbb.controller.messages import Imported, name_arms
from gbb.controller.queries.export import identify
from gbb.controller.state.context import name_row
from gbb.controller.state.replay import problem_at
from gbb.controller.state.report import limits_of, names_of

OWN = re.compile(r"(trial|event) (\d+)@([0-9a-f]{8})")
"""The key under which ``gbb control export`` writes a round that has none."""


def import_rounds(transaction: Transaction, rounds: Rounds, *, dry_run: bool = False) -> Imported:
    """Attach all rounds that are not there yet; refuse another round under a key that is taken."""
    told = rounds.told()
    known = _find_known(transaction, [rounds.keys[number] for number in told])
    fresh = []
    for number in told:
        key = rounds.keys[number]
        if key not in known:
            fresh.append(number)
            continue
        before = known[key]
        if before is None or not are_same(rounds.round(number), before):
            raise rounds.cells.wrong(
                rounds.first_row(number),
                f"begins another round under the key {key!r} than the one that the controller has; "
                "nothing was changed; give every round a key of its own",
            )
    if dry_run:
        return summarise(rounds, len(fresh))
    far = _far_rounds(rounds)
    said = len(transaction.warnings)
    for number in fresh:
        round = rounds.round(number)
        append_attach(transaction, round, rounds.keys[number])
        if number in far:
            warn_out_of_bounds(transaction, round.own_problem, round.seen, None)
    texts = transaction.warnings[said:]
    if len(texts) > 1:
        transaction.warnings[said:] = [f"{texts[0]} So do rewards of {len(texts) - 1} more rounds."]
    return summarise(rounds, len(fresh))


def summarise(rounds: Rounds, new: int) -> Imported:
    """What was understood."""
    told, played = rounds.told(), rounds.played
    kept = played[told]
    first: dict[str, Any] = {}
    if told:
        round, problem = rounds.round(told[0]), rounds.problem
        names = names_of(problem, round.seen.positions)
        context = name_row(problem, round.context)
        first = {
            "key": rounds.keys[told[0]],
            **({} if context is None else {"context": context}),
            "allocation": name_arms(problem.graph, round.arms, problem.arm_names),
            "rewards": [
                [*whose, value]
                for whose, value in zip(names, round.seen.values.tolist(), strict=True)
            ],
        }
    return Imported(
        rounds=len(told),
        new=new,
        rewards=int(rounds.rewards.size),
        missing=rounds.missing,
        agents=int((kept >= 0).any(axis=0).sum()),
        arms=int(np.unique(kept[kept >= 0]).size),
        unknown=int(np.count_nonzero(kept < 0)),
        empty=len(rounds.keys) - len(told),
        first=first,
    )


def _far_rounds(rounds: Rounds) -> set[int]:
    """The rounds with rewards far outside the declared bounds."""
    if rounds.contexts is None:
        limits = limits_of(rounds.problem)[rounds.places]
    else:
        each = (limits_of(rounds.problem.at_row(row)) for row in rounds.contexts)
        limits = np.stack(list(each))[rounds.rounds, rounds.places]
    far = np.abs(rounds.rewards) > limits
    return set(rounds.rounds[far].tolist())


def _find_known(transaction: Transaction, keys: Iterable[str]) -> dict[str, Round | None]:
    """The rounds that the log has under ``keys``; None for a trial that was not told."""
    own = identify(transaction.study.event(1))
    events: dict[int, str] = {}
    trials: dict[int, str] = {}
    for key in keys:
        if key in transaction.state.keys:
            events[transaction.state.keys[key]] = key
        elif (found := OWN.fullmatch(key)) and found[3] == own:
            (trials if found[1] == "trial" else events)[int(found[2])] = key
    known: dict[str, Round | None] = dict.fromkeys([*events.values(), *trials.values()])
    if not known:
        return known
    asked: dict[int, Event] = {}
    for event in transaction.study.events():
        if event.seq in events and event.kind == "attach":
            problem = problem_at(transaction, event.seq)
            known[events[event.seq]] = read_attached(problem, event)
        if event.kind == "retract":  # what was taken back may be told anew
            known.pop(events.get(event.content["of"], ""), None)
        trial = event.trial
        if trial is None or trial not in trials:
            continue
        if event.kind == "ask":
            asked[trial] = event
        elif event.kind == "tell":
            problem = problem_at(transaction, asked[trial].seq)
            known[trials[trial]] = read_attached(problem, asked[trial], event)
        elif event.kind == "retract":
            known[trials[trial]] = None
    return known
