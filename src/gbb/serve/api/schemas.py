"""What the service answers with, as JSON schemas."""

from __future__ import annotations

from typing import Any

from gbb.controller.types import list_of

Schema = dict[str, Any]

INTEGER: Schema = {"type": "integer"}
REAL: Schema = {"type": "number"}
MAYBE: Schema = {"type": ["number", "null"]}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NOTE: Schema = {"type": ["string", "null"]}
WHICH: Schema = {"type": ["integer", "null"]}
LABEL: Schema = {"type": ["string", "integer"]}
LABELS: Schema = list_of(LABEL)
ANY: Schema = {}
TIME: Schema = {"type": "string", "format": "date-time"}
ROWS: Schema = list_of(list_of(REAL))
ALLOCATION: Schema = {"type": "object", "additionalProperties": LABEL}


def shape(*, needs: str | None = None, **properties: Any) -> Schema:
    """The schema of an object, which has all of these fields, or those that ``needs`` names."""
    needed = list(properties) if needs is None else needs.split()
    return {"type": "object", "properties": properties, "required": needed}


TRIAL = shape(
    needs="trial round allocation", trial=INTEGER, round=INTEGER, allocation=ALLOCATION, context=ANY
)
TRIALS = shape(trials=list_of(TRIAL))
CLOSED = shape(needs="rounds open", trial=INTEGER, rounds=INTEGER, open=INTEGER)
ALERT = shape(kind=TEXT, severity=TEXT, since=TIME, text=TEXT)
PREDICTION = shape(reward=REAL, low=REAL, high=REAL, caveat=NOTE)
RECOMMENDATION = shape(
    needs="allocation reward low high upper_bound gap proven caveat",
    allocation=ALLOCATION,
    reward=REAL,
    low=REAL,
    high=REAL,
    upper_bound=REAL,
    gap=REAL,
    proven=FLAG,
    caveat=NOTE,
    context=ANY,
)
ESTIMATE = shape(
    needs="edge_type M_hat M_width table table_width caveat",
    edge_type=INTEGER,
    matrix=TEXT,
    M_hat=ROWS,
    M_width=ROWS,
    table=ROWS,
    table_width=ROWS,
    N=ANY,
    Y=ANY,
    caveat=NOTE,
)
STATUS = shape(
    needs="name policy edges arms rounds trials open events forbidden alerts",
    name=TEXT,
    policy=TEXT,
    agents=INTEGER,
    edges=INTEGER,
    arms=INTEGER,
    rounds=INTEGER,
    trials=INTEGER,
    open=list_of(INTEGER),
    events=INTEGER,
    forbidden=INTEGER,
    alerts=list_of(ALERT),
)
ENTRY = shape(seq=INTEGER, time=TIME, kind=TEXT, trial=WHICH, by=NOTE, content={"type": "object"})
FORBIDDEN = shape(forbidden=INTEGER)
CHECK = shape(events=INTEGER, rounds=INTEGER, snapshot=WHICH, pages=FLAG)
RESIDUALS: Schema = {"type": "object"}
DIAGNOSIS = shape(
    status=TEXT,
    sentence=TEXT,
    rounds=INTEGER,
    allocations=INTEGER,
    covered=MAYBE,
    within=MAYBE,
    total=MAYBE,
    ceiling=MAYBE,
    total_ceiling=MAYBE,
    sigma_hat=MAYBE,
    noise_source=TEXT,
    by_type=list_of(RESIDUALS),
    worst=list_of(RESIDUALS),
)

VERBS: dict[str, Schema] = {
    "ask": {"anyOf": [TRIAL, TRIALS]},
    "tell": CLOSED,
    "next": TRIAL,
    "fail": CLOSED,
    "abandon": CLOSED,
    "retract": CLOSED,
    "attach": CLOSED,
    "open": {"anyOf": [TRIAL, TRIALS]},
    "recommend": RECOMMENDATION,
    "table": shape(rows=list_of(RECOMMENDATION)),
    "predict": PREDICTION,
    "estimate": shape(estimates=list_of(ESTIMATE)),
    "status": STATUS,
    "watch": shape(alerts=list_of(ALERT)),
    "diagnose": DIAGNOSIS,
    "check": CHECK,
    "forbid": FORBIDDEN,
    "pin": FORBIDDEN,
    "allow": FORBIDDEN,
    "discount": shape(factor=REAL),
    "set-policy": shape(policy=TEXT),
    "replace-graph": shape(agents=INTEGER, edges=INTEGER),
}
"""The answers of the verbs, by name."""

PROBLEM = shape(type=TEXT, title=TEXT, status=INTEGER, detail=TEXT)
"""An error."""
