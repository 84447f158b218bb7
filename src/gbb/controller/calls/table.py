"""What can be said to a controller: each verb with its fields, and the call that it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from gbb import cuts
from gbb._support import checks
from gbb.controller._controller import Controller
from gbb.controller.calls import fields as f
from gbb.controller.calls.fields import Field
from gbb.controller.calls.graph import read_graph
from gbb.controller.queries import plain
from gbb.controller.verbs.rows import read_json_rewards
from gbb.graph import Graph

Answer = dict[str, Any]


class Call(NamedTuple):
    """A verb.

    Attributes
    ----------
    run
        The call: a controller and the fields that were given, to an answer of plain values.
    fields
        The fields it has, by name.
    writes
        Whether it changes anything.
    """

    run: Callable[..., Answer]
    fields: Mapping[str, Field] = {}
    writes: bool = True


def respond(controller: Controller, request: Mapping[str, Any]) -> Answer:
    """Do what ``request`` says, ``{"do": verb, field: value, ...}``; an error names the field."""
    given = dict(request)
    verb = checks.choice("do", given.pop("do", None), CALLS)
    call = CALLS[verb]
    return call.run(controller, **f.read_fields(verb, call.fields, given))


def _ask(controller: Controller, count: int | None = None, **given: Any) -> Answer:
    if count is None and "contexts" not in given:
        return plain.plain_trial(controller.ask(**given))
    trials = controller.ask_many(len(given["contexts"]) if count is None else count, **given)
    return {"trials": [plain.plain_trial(trial) for trial in trials]}


def _tell(controller: Controller, trial: int, rewards: Any) -> Answer:
    controller.tell(trial, _rewards(controller, rewards))
    return _closed(controller, trial)


def _next(controller: Controller, trial: int, rewards: Any, context: Any = None) -> Answer:
    return plain.plain_trial(controller.next(trial, _rewards(controller, rewards), context))


def _close(verb: Callable[[Controller, int, str], None]) -> Callable[..., Answer]:
    """What closes a trial without rewards."""

    def run(controller: Controller, trial: int, reason: str = "") -> Answer:
        verb(controller, trial, reason)
        return _closed(controller, trial)

    return run


def _retract(controller: Controller, **given: Any) -> Answer:
    controller.retract(**given)
    return _closed(controller, *([given["trial"]] if "trial" in given else []))


def _watch(controller: Controller, **stale: float) -> Answer:
    return {"alerts": [plain.plain_alert(alert) for alert in controller.watch(**stale)]}


def _attach(controller: Controller, allocation: Any, rewards: Any, **given: Any) -> Answer:
    controller.attach(allocation, _rewards(controller, rewards), **given)
    return _closed(controller)


def _closed(controller: Controller, *trial: int) -> Answer:
    """The trial, and how many rounds are told and trials open; nothing is read again for it."""
    now = controller._log.state
    about = {"trial": trial[0]} if trial else {}
    return {**about, "rounds": now.rounds, "open": len(now.open)}


def _rewards(controller: Controller, rewards: Any) -> Any:
    return read_json_rewards(
        "rewards", rewards, controller.problem.feedback, lambda: f.show(rewards)
    )


def _open(controller: Controller, trial: int | None = None) -> Answer:
    if trial is not None:
        return plain.plain_trial(controller.trial(trial))
    return {"trials": [plain.plain_trial(each) for each in controller.open_trials()]}


def _recommend(controller: Controller, **given: Any) -> Answer:
    return plain.plain_recommendation(controller.recommend(**given))


def _table(controller: Controller, contexts: Any, **seconds: float) -> Answer:
    table = controller.recommend_table(contexts, **seconds)
    return {"rows": [plain.plain_recommendation(best) for best in table.recommendations]}


def _predict(controller: Controller, allocation: Any, context: Any = None) -> Answer:
    return plain.plain_prediction(controller.predict(allocation, context))


def _estimate(controller: Controller) -> Answer:
    return {"estimates": [plain.plain_estimate(each) for each in controller.estimate()]}


def _history(controller: Controller, kind: Any = None, last: int | None = None) -> Answer:
    return {"events": [plain.plain_entry(each) for each in controller.history(kind, last=last)]}


def _diagnose(controller: Controller, **worst: int) -> Answer:
    return asdict(controller.diagnose(**worst))


def _check(controller: Controller) -> Answer:
    return asdict(controller.check())


def _change(verb: Callable[..., None]) -> Callable[..., Answer]:
    """What changes who may play which arm."""

    def run(controller: Controller, **who: Any) -> Answer:
        verb(controller, **who)
        return {"forbidden": controller.status()["forbidden"]}

    return run


def _discount(controller: Controller, factor: float) -> Answer:
    controller.discount(factor)
    return {"factor": factor}


def _set_policy(
    controller: Controller, policy: str, settings: Mapping[str, Any] | None = None, cut: str = ""
) -> Answer:
    given = read_settings(settings)
    controller.set_policy(policy, **given, **cut_setting(cut, controller.problem.graph))
    return {"policy": controller.policy.name}


def read_settings(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings of a policy, but for those that are fields of their own."""
    for name in ("self", "url", "problem", "policy", "seed", "name", "cut", "by", "key", "body"):
        if name in (settings or {}):
            cure = "`cut` is a field of its own." if name == "cut" else ""
            raise checks.conflict(f"`settings` cannot hold {name!r} here. {cure}".rstrip())
    return dict(settings or {})


def _replace_graph(controller: Controller, cut: str = "", **given: Any) -> Answer:
    graph, links = read_graph(**given)
    controller.replace_graph(graph, **links, **cut_setting(cut, graph))
    return {"agents": graph.n, "edges": graph.m}


def cut_setting(method: str, graph: Graph) -> dict[str, Any]:
    """The setting for a cut by the named method; the controller's own where there is no name."""
    return {"cut": cuts.find(method, argument="cut")(graph, seed=0)} if method else {}


_CLOSE = {"trial": f.WHOLE.must, "reason": f.TEXT}
_TOLD = {"trial": f.WHOLE.must, "rewards": f.REWARDS.must}
GRAPH = {
    "edges": f.PAIRS.must,
    "undirected": f.FLAG,
    "agents": f.WHOLE,
    "names": f.LABELS,
    "types": f.NUMBERS,
    "weights": f.NUMBERS,
    "features": f.MATRIX,
    "positions": f.MATRIX,
}
"""The fields of a graph."""


CALLS: dict[str, Call] = {
    "ask": Call(
        _ask,
        {"count": f.WHOLE, "context": f.CONTEXT, "contexts": f.CONTEXTS, "timeout": f.NUMBER},
    ),
    "tell": Call(_tell, _TOLD),
    "next": Call(_next, {**_TOLD, "context": f.CONTEXT}),
    "fail": Call(_close(Controller.fail), _CLOSE),
    "abandon": Call(_close(Controller.abandon), _CLOSE),
    "retract": Call(
        _retract, {"trial": f.WHOLE, "key": f.TEXT, "event": f.WHOLE, "reason": f.TEXT}
    ),
    "attach": Call(
        _attach,
        {
            "allocation": f.ALLOCATION.must,
            "rewards": f.REWARDS.must,
            "context": f.CONTEXT,
            "key": f.TEXT,
        },
    ),
    "open": Call(_open, {"trial": f.WHOLE}, writes=False),
    "recommend": Call(_recommend, {"context": f.CONTEXT, "seconds": f.NUMBER}, writes=False),
    "table": Call(_table, {"contexts": f.CONTEXTS.must, "seconds": f.NUMBER}, writes=False),
    "predict": Call(
        _predict, {"allocation": f.ALLOCATION.must, "context": f.CONTEXT}, writes=False
    ),
    "estimate": Call(_estimate, writes=False),
    "status": Call(Controller.status, writes=False),
    "watch": Call(_watch, {"stale": f.NUMBER}),
    "history": Call(_history, {"kind": f.TEXTS, "last": f.WHOLE}, writes=False),
    "diagnose": Call(_diagnose, {"worst": f.WHOLE}, writes=False),
    "check": Call(_check, writes=False),
    "forbid": Call(_change(Controller.forbid), {"agents": f.LABELS.must, "arms": f.LABELS.must}),
    "pin": Call(_change(Controller.pin), {"agents": f.LABELS.must, "arm": f.LABEL.must}),
    "allow": Call(_change(Controller.allow), {"agents": f.LABELS.must, "arms": f.LABELS}),
    "discount": Call(_discount, {"factor": f.NUMBER.must}),
    "set-policy": Call(_set_policy, {"policy": f.TEXT.must, "settings": f.OBJECT, "cut": f.TEXT}),
    "replace-graph": Call(_replace_graph, {**GRAPH, "cut": f.TEXT}),
}
"""The verbs, by name."""
