"""A new controller, from a problem by names."""

from __future__ import annotations

from typing import Any

import numpy as np

from gbb import contexts as kinds
from gbb._support import checks
from gbb._support.checks import InputError
from gbb.controller.controller import create_once
from gbb.controller.graph_spec import GraphSpec, cut_setting
from gbb.controller.messages import SetPolicyByName
from gbb.controller.types import JSON, list_of, show
from gbb.problem import Problem
from gbb.serve import fields as f
from gbb.serve.api import schemas as s
from gbb.serve.api.operations import Given, Operation
from gbb.serve.errors import Refused

MOST_NUMBERS = 20_000_000
"""Numbers in the largest table that a new problem may need."""


def _arms(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {arm: f.NUMBERS.read(name, row) for arm, row in value.items()}
    return f.MATRIX.read(name, value)


def _allowed(name: str, value: Any) -> Any:
    if not isinstance(value, list) or not all(
        isinstance(row, list) and all(isinstance(each, bool) for each in row) for row in value
    ):
        raise checks.input_error(name, "be true or false for each agent and arm", show(value))
    return value


ARMS = f.Field(
    _arms,
    "a list of numbers for each arm, by name or in order",
    {"anyOf": [f.MATRIX.schema, {"type": "object", "additionalProperties": f.NUMBERS.schema}]},
)
ALLOWED = f.Field(
    _allowed,
    "true or false for each agent and arm",
    list_of(list_of({"type": "boolean"})),
)
GRAPH = f.fields_of(GraphSpec)
PROBLEM = {
    **GRAPH,
    "arms": ARMS.must,
    "arm_names": f.LABELS,
    "sigma": f.NUMBER,
    "S": f.NUMBER,
    "L": f.NUMBER,
    "feedback": f.TEXT,
    "allowed": ALLOWED,
    "contexts": f.OBJECT,
}
CREATE = {
    "name": f.TEXT.must,
    "problem": f.OBJECT._replace(
        schema={
            "type": "object",
            "properties": {name: field.schema for name, field in PROBLEM.items()},
            "required": [name for name, field in PROBLEM.items() if field.needed],
        }
    ).must,
    "policy": f.TEXT,
    "settings": f.OBJECT,
    "cut": f.TEXT,
    "seed": f.WHOLE,
}


def read_problem(given: dict[str, Any]) -> Problem:
    """The problem that plain values describe."""
    known = f.read_fields("problem", PROBLEM, given)
    rows = {name: known.pop(name) for name in GRAPH if name in known}
    graph, links = GraphSpec.read("problem", rows, JSON).build()
    arms = known.pop("arms")
    if isinstance(arms, dict):
        known.setdefault("arm_names", list(arms))
        arms = list(arms.values())
    if len({len(row) for row in arms}) > 1:
        raise checks.input_error("arms", "have as many numbers each", "others")
    _check_size(len(arms), len(arms[0]) if arms else 0)
    if known.get("arm_names") is not None:
        known["arm_names"] = [str(name) for name in known["arm_names"]]
    if "contexts" in known:
        known["contexts"] = _contexts(known["contexts"])
    if "allowed" in known:
        known["allowed"] = _table(known["allowed"], graph.n, len(arms))
    problem = Problem(graph, arms, **links, **{"sigma": None, "S": None, **known})
    _check_size(problem.K, problem.d, problem.types)
    return problem


def _table(rows: list[list[bool]], n: int, K: int) -> Any:
    if len(rows) != n or any(len(row) != K for row in rows):
        raise checks.input_error("allowed", f"have {n} x {K} entries", "another size")
    return np.array(rows, dtype=np.bool_)


def _contexts(given: dict[str, Any]) -> kinds.Contexts:
    try:
        return kinds.from_dict(given)
    except InputError:
        raise
    except (TypeError, LookupError, ValueError):
        cure = 'Write {"kind": "regimes", "regimes": ["day", "night"]}.'
        raise checks.input_error("contexts", "be a kind of contexts", show(given), cure) from None


def _check_size(K: int, d: int, types: int = 1) -> None:
    """Refuse what a computer has no memory for."""
    numbers = max(K * K * d * d, (types * d * d) ** 2, types * K * K)
    if numbers > MOST_NUMBERS:
        rule = (
            f"need tables of at most {MOST_NUMBERS:,} numbers (K^2 d^2, and d^4 by types squared)"
        )
        raise checks.input_error("arms", rule, f"{numbers:,}")


def create(given: Given) -> dict[str, Any]:
    """Start a controller, once."""
    values = dict(given.values)
    if not given.caller.sees(values["name"]):
        raise Refused(403, f"The token {given.caller.name!r} is for another controller.")
    name = values["name"]
    if not name.isprintable() or len(name) > 200 or name in (".", ".."):
        rule = "be a text on one line of at most 200 characters that a path can hold"
        raise checks.input_error("name", rule, show(name))
    problem = read_problem(values["problem"])
    policy = values.get("policy", "ImprovedOFUL")
    named = {"policy": policy, "settings": values.get("settings"), "cut": values.get("cut")}
    known = SetPolicyByName.build(named, JSON)
    settings = {**known.settings, **cut_setting(known.cut, problem.graph)}
    status, _ = create_once(
        given.service.studies.url,
        problem,
        policy,
        checks.integer("seed", values.get("seed", 0), low=0),
        settings,
        name=values["name"],
        by=given.caller.name,
        key=given.key,
        body=given.said,
    )
    return status


OPERATIONS = [
    Operation(
        "create",
        "POST",
        "/v1/controllers",
        "Start a controller.",
        "administer",
        create,
        fields=CREATE,
        answer=s.STATUS,
        status=201,
        writes=True,
    )
]
