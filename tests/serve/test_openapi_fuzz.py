"""A fuzzer over every operation: whatever is sent, the answer is one that the document describes."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from test_service import PROBLEM, REWARDS

from gbb.serve.api.table import OPERATIONS
from serving import place_of

load_all_checks()
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
REQUESTS = int(os.environ.get("GBB_FUZZ", "400"))
"""How many requests are sent in all; 5,000 and more in the long version."""

EACH = max(2, REQUESTS // len(OPERATIONS))
NAME = "fuzzed one"
answered: Counter[tuple[str, int]] = Counter()


@pytest.fixture(scope="module")
def fuzzed(server):
    """A server with a controller that has been used, and its document."""
    made = server.post("/v1/controllers", {"name": NAME, "problem": PROBLEM})
    assert made.status == 201
    place = place_of(NAME)
    for trial in range(1, 13):
        server.post(f"{place}/ask")
        server.post(f"{place}/tell", {"trial": trial, "rewards": REWARDS})
    server.post(f"{place}/ask", {"count": 3})
    return schemathesis.openapi.from_dict(server.get("/openapi.json").data)


def test_every_operation_is_documented(server):
    paths = server.get("/openapi.json").data["paths"]
    found = {(method.upper(), path) for path, some in paths.items() for method in some}
    assert found == {(operation.method, operation.path) for operation in OPERATIONS}


def mutate(body: object, seed: int) -> dict:
    """Most of a problem that can be, with some of a body that was made up."""
    rng = random.Random(seed)
    made_up = body if isinstance(body, dict) else {}
    strange = made_up.get("problem")
    kept = dict(PROBLEM)
    if isinstance(strange, dict):
        kept |= {name: strange[name] for name in strange if rng.random() < 0.1}
    some = {name: made_up[name] for name in made_up if rng.random() < 0.2}
    return {"name": f"made {seed}", **some, "problem": kept}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_whatever_is_sent_the_answer_is_in_the_schema(server, fuzzed, operation):
    documented = fuzzed[operation.path][operation.method]
    modes = [
        documented.as_strategy(generation_mode=mode)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    ]

    @settings(
        max_examples=EACH,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(modes), seed=st.integers(0, 1 << 30))
    def send(case, seed):
        parts = dict(case.path_parameters or {})
        if "name" in parts and seed % 8:
            parts["name"] = NAME
        if "agent" in parts and seed % 3:
            parts["agent"] = random.Random(seed).choice("abcd")
        case.path_parameters = parts
        if isinstance(case.body, dict) and "trial" in case.body and seed % 2:
            case.body["trial"] = 1 + seed % 16
        if operation.id == "create" and seed % 4 and case.media_type == "application/json":
            case.body = mutate(case.body, seed)
        told = case.as_transport_kwargs(base_url=server.url)
        with requests.Session() as session:
            session.trust_env = False
            answer = session.request(**told, stream=operation.id == "events", timeout=60)
            answered[operation.id, answer.status_code] += 1
            if operation.id == "events":
                assert answer.status_code in (200, 404, 422)
                answer.close()
                return
        case.validate_response(answer, checks=CHECKS)

    send()


def test_nothing_broke(server):
    """After all of it the log is in order, and the service goes on."""
    assert server.get("/readyz").status == 200
    place = place_of(NAME)
    assert server.get(f"{place}/check").status == 200
    asked = server.post(f"{place}/ask")
    assert asked.status in (200, 409, 422), asked.data
    assert answered.total() >= REQUESTS // 2
    # What is made up differs with what else was imported, so which writes pass is chance.
    done = {id for id, status in answered if status < 400}
    assert len(done) >= len(OPERATIONS) // 2, sorted(answered.items())
    assert done >= {"controllers", "controller", "network"}, sorted(answered.items())
