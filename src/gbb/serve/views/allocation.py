"""What is played, what would be best, what links pay and what an agent's options would."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb._support.threads import one_thread
from gbb.controller.types import list_of
from gbb.serve import fields as f
from gbb.serve.api import schemas as s
from gbb.serve.api.operations import HERE, Given, Operation, position
from gbb.serve.api.schemas import shape
from gbb.serve.moment import Desk, Moment, desk_of
from gbb.serve.views.network import allowed_now, arm_labels, forward

MOST_LINKS = 20_000
"""Above it only the worst and the best links are listed."""

OF = f.TEXT._replace(
    what="played or recommended", schema={"type": "string", "enum": ["played", "recommended"]}
)
NOTHING = dict.fromkeys(("reward", "low", "high", "upper_bound", "caveat"))


def _which(given: Given) -> str:
    return checks.choice("of", given.values.get("of", "played"), ("played", "recommended"))


def _arms(desk: Desk, moment: Moment, of: str) -> IntArray | None:
    """The arms that are looked at; None where there are none, or not of all agents."""
    if of == "recommended":
        best = desk.recommended()
        return None if best is None else best.arms
    return None if moment.played is None else moment.played.arms


def allocation(given: Given) -> dict[str, Any]:
    """An arm for every agent, and what it pays by what is known."""
    of, desk = _which(given), desk_of(given.controller)
    moment = desk.now()
    if of == "recommended":
        best = desk.recommended()
        if best is None:
            return {
                "of": of,
                "seq": moment.seq,
                "trial": None,
                "arms": None,
                "counts": None,
            } | NOTHING
        found = {key: getattr(best.best, key) for key in NOTHING}
        return {"of": of, "seq": best.seq, "trial": None, **_counted(moment, best.arms), **found}
    played = moment.played
    about = {"of": of, "seq": moment.seq, "trial": None if played is None else played.trial}
    if played is None:
        return {**about, "arms": None, "counts": None, **NOTHING}
    if (played.arms < 0).any() or not moment.answers:
        return {**about, **_counted(moment, played.arms), **NOTHING}
    with one_thread():
        said = moment.knowledge.predict(played.arms)
    bound = moment.knowledge.ceiling
    paid = {"reward": said.reward, "low": said.low, "high": said.high, "caveat": said.caveat}
    return {**about, **_counted(moment, played.arms), **paid, "upper_bound": bound}


def _counted(moment: Moment, arms: IntArray) -> dict[str, Any]:
    counts = np.bincount(arms[arms >= 0], minlength=moment.problem.K)
    return {"arms": arms.tolist(), "counts": counts.tolist()}


def pay(moment: Moment, arms: IntArray) -> tuple[FloatArray, FloatArray]:
    """What each link pays by what is known, both directions together, and how far off that may be."""
    known = moment.knowledge
    problem = known.problem
    ends = problem.edge_types, arms[problem.sources], arms[problem.targets]
    with one_thread():
        mean = problem.edge_totals * known.ridge.means[ends]
        width = np.abs(problem.edge_totals) * known.widths[ends]
    each = problem.edges.edge
    places = forward(problem)
    back = problem.graph.reverse[places]
    sums = [np.bincount(each, weights=of, minlength=problem.m) for of in (mean, width)]
    reward, off = ((of[places] + of[back]).astype(np.float64, copy=False) for of in sums)
    return reward, off


def links(given: Given) -> dict[str, Any]:
    """What every link pays, in the order of the network; or the worst and the best of many."""
    of, desk = _which(given), desk_of(given.controller)
    moment = desk.now()
    arms = _arms(desk, moment, of)
    worst = checks.integer("worst", given.values.get("worst", 20), low=1, high=1000)
    if arms is None or (arms < 0).any() or not moment.answers:
        return {"of": of, "reward": None, "width": None, "worst": [], "best": []}
    reward, width = pay(moment, arms)
    graph, places = moment.problem.graph, forward(moment.problem)
    order = np.argsort(reward, kind="stable")

    def named(which: IntArray) -> list[dict[str, Any]]:
        ends = [(int(graph.sources[places[k]]), int(graph.indices[places[k]])) for k in which]
        return [
            {
                "link": int(k),
                "source": graph.labels[i],
                "target": graph.labels[j],
                "reward": float(reward[k]),
                "width": float(width[k]),
            }
            for k, (i, j) in zip(which, ends, strict=True)
        ]

    few = len(reward) <= MOST_LINKS
    return {
        "of": of,
        "reward": reward.tolist() if few else None,
        "width": width.tolist() if few else None,
        "worst": named(order[:worst]),
        "best": named(order[::-1][:worst]),
    }


def agent(given: Given) -> dict[str, Any]:
    """What the network would pay if one agent played another arm."""
    of, desk = _which(given), desk_of(given.controller)
    moment, i = desk.now(), position(given, given.path["agent"])
    graph, labels = moment.problem.graph, arm_labels(moment.problem)
    arms, allowed = _arms(desk, moment, of), allowed_now(moment)
    options: list[dict[str, Any]] = []
    for a, label in enumerate(labels):
        about = {"arm": label, "allowed": bool(allowed[i, a]), "now": False}
        if arms is None or (np.delete(arms, i) < 0).any() or not moment.answers:
            options.append({**about, "reward": None, "low": None, "high": None})
            continue
        other = arms.copy()
        other[i] = a
        with one_thread():
            said = moment.knowledge.predict(other)
        paid = {"reward": said.reward, "low": said.low, "high": said.high}
        options.append({**about, **paid, "now": bool(arms[i] == a)})
    near = [graph.labels[j] for j in graph.neighbours(i)[:100]]
    degree = int(graph.degrees[i])
    return {
        "agent": graph.labels[i],
        "neighbours": degree,
        "neighbour_names": near,
        "of": of,
        "options": options,
    }


PAID: dict[str, Any] = {"reward": s.MAYBE, "low": s.MAYBE, "high": s.MAYBE}
LINK = shape(link=s.INTEGER, source=s.LABEL, target=s.LABEL, reward=s.REAL, width=s.REAL)
NUMBERS: s.Schema = {"type": ["array", "null"], "items": s.REAL}
PLACES: s.Schema = {"type": ["array", "null"], "items": s.INTEGER}
OPERATIONS = [
    Operation(
        "allocation",
        "GET",
        f"{HERE}/allocation",
        "An arm for every agent, as it is played or as it would be best, and what it pays.",
        "read",
        allocation,
        tagged="log",
        fields={"of": OF},
        answer=shape(
            of=s.TEXT,
            seq=s.INTEGER,
            trial=s.WHICH,
            arms=PLACES,
            counts=PLACES,
            **PAID,
            upper_bound=s.MAYBE,
            caveat=s.NOTE,
        ),
    ),
    Operation(
        "links",
        "GET",
        f"{HERE}/links",
        "What every link pays by what is known, and how far off that may be; the worst and the best.",
        "read",
        links,
        tagged="log",
        fields={"of": OF, "worst": f.WHOLE},
        answer=shape(
            of=s.TEXT, reward=NUMBERS, width=NUMBERS, worst=list_of(LINK), best=list_of(LINK)
        ),
    ),
    Operation(
        "agent",
        "GET",
        f"{HERE}/agents/{{agent}}",
        "What the network would pay if one agent played another arm.",
        "read",
        agent,
        tagged="log",
        fields={"of": OF},
        answer=shape(
            agent=s.LABEL,
            neighbours=s.INTEGER,
            neighbour_names=s.LABELS,
            of=s.TEXT,
            options=list_of(shape(arm=s.LABEL, **PAID, allowed=s.FLAG, now=s.FLAG)),
        ),
    ),
]
