"""The service over the wire: every verb, tags, keys, pages, and what is refused."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import socket
import sqlite3
import threading
import time

import pyarrow.parquet
import pytest

import gbb
from control import small
from gbb.client import Client
from gbb.controller import Controller
from gbb.controller.messages import REQUESTS
from serving import place_of

PROBLEM = {
    "edges": [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]],
    "undirected": True,
    "arms": {"up": [1.0, 0.0], "down": [0.6, 0.8], "off": [0.0, 1.0]},
    "sigma": 0.2,
    "S": 2.0,
    "positions": [[0, 0], [0, 1], [1, 1], [1, 0]],
}
REWARDS = [["a", "b", 0.5], ["b", "a", 0.4], ["c", "d", 0.1]]

numbers = itertools.count()


@pytest.fixture
def place(server):
    """A controller of its own, by its path."""
    name = f"farm/{next(numbers)} é"
    made = server.post("/v1/controllers", {"name": name, "problem": PROBLEM, "seed": 1})
    assert made.status == 201, made
    assert made.headers["location"] == place_of(name)
    assert made.data["name"] == name
    return place_of(name)


SAID = {
    "ask": [({}, {"trial": 1, "round": 1})],
    "tell": [({"trial": 1, "rewards": REWARDS}, {"trial": 1, "rounds": 1, "open": 0})],
    "next": [({"trial": 1, "rewards": {"a": {"b": 0.5}}}, {"trial": 2, "round": 2})],
    "fail": [({"trial": 1, "reason": "storm"}, {"trial": 1, "rounds": 0, "open": 0})],
    "abandon": [({"trial": 1}, {"trial": 1, "rounds": 0, "open": 0})],
    "retract": [({"trial": 1}, None)],
    "attach": [
        (
            {"allocation": [0, 1, 2, 0], "rewards": REWARDS, "key": "k"},
            {"rounds": 1, "open": 1},
        )
    ],
    "open": [({}, None), ({"trial": 1}, {"trial": 1})],
    "recommend": [({"seconds": 1}, {"proven": True})],
    "table": [({"contexts": []}, None)],
    "predict": [({"allocation": {"a": "up", "b": "up", "c": "up", "d": "off"}}, {"caveat": None})],
    "estimate": [({}, None)],
    "status": [({}, {"agents": 4, "edges": 8, "arms": 3})],
    "watch": [({"stale": 3600}, {"alerts": []})],
    "history": [({"limit": 1}, None)],
    "diagnose": [({"worst": 2}, None)],
    "check": [({}, {"events": 2, "rounds": 0})],
    "forbid": [({"agents": ["a"], "arms": "up"}, {"forbidden": 1})],
    "pin": [({"agents": None, "arm": "up"}, {"forbidden": 8})],
    "allow": [({"agents": "a"}, {"forbidden": 0})],
    "discount": [({"factor": 0.5}, {"factor": 0.5})],
    "set-policy": [
        (
            {"policy": "JointOFUL", "settings": {"delta": 0.1}, "cut": "greedy"},
            {"policy": "JointOFUL"},
        )
    ],
    "replace-graph": [
        ({"edges": [["a", "b"], ["b", "e"]], "undirected": True}, {"agents": 3, "edges": 4})
    ],
}
"""What is said to each verb, and part of what it answers; None where that is looked at elsewhere."""

REFUSED = {"retract", "table", "diagnose"}
"""Verbs that have nothing to answer with here."""


def test_every_verb_is_said():
    assert SAID.keys() == REQUESTS.keys()


@pytest.mark.parametrize("verb", REQUESTS)
def test_each_verb(server, place, verb):
    server.post(f"{place}/ask")
    if verb == "ask":
        server.post(f"{place}/abandon", {"trial": 1})
        SAID["ask"] = [({}, {"trial": 2, "round": 1})]
    posted = REQUESTS[verb].scope != "read" or verb in ("table", "predict")
    for fields, answer in SAID[verb]:
        if posted:
            found = server.post(f"{place}/{verb}", fields)
        else:
            query = "&".join(f"{name}={value}" for name, value in fields.items())
            found = server.get(f"{place}/{verb}?{query}")
            assert verb in REFUSED or found.headers["etag"]
        if verb in REFUSED:
            assert found.status == 422
            assert found.detail
            continue
        assert found.status == 200, found
        assert (answer or {}).items() <= found.data.items()


def test_what_the_page_shows(server, place):
    server.post(f"{place}/ask")
    server.post(f"{place}/tell", {"trial": 1, "rewards": REWARDS})
    server.post(f"{place}/forbid", {"agents": "b", "arms": ["off"]})
    glance = {each["name"]: each for each in server.get("/v1/controllers").data["controllers"]}
    mine = server.get(place).data
    seen = glance[mine["name"]]
    assert seen["last_reward"] == pytest.approx(1.0)
    assert (seen["rounds"], seen["open"], seen["alerts"], seen["caveat"]) == (1, 0, [], None)
    network = server.get(f"{place}/network").data
    assert network["agents"] == ["a", "b", "c", "d"]
    assert network["edges"] == [[0, 1, 0], [0, 3, 0], [1, 2, 0], [2, 3, 0]]
    assert network["positions"] == PROBLEM["positions"]
    assert network["forbidden"] == {"b": ["off"]}
    for of in ("played", "recommended"):
        allocation = server.get(f"{place}/allocation?of={of}").data
        assert len(allocation["arms"]) == 4
        assert sum(allocation["counts"]) == 4
        assert allocation["low"] <= allocation["reward"] <= allocation["high"]
        assert allocation["high"] <= allocation["upper_bound"]
        links = server.get(f"{place}/links?of={of}&worst=2").data
        assert sum(links["reward"]) == pytest.approx(allocation["reward"])
        assert [each["reward"] for each in links["worst"]] == sorted(links["reward"])[:2]
    agents = server.get(f"{place}/agents?search=B").data
    assert agents["total"] == 1
    assert agents["agents"][0] | {"played": "", "recommended": ""} == {
        "agent": "b",
        "played": "",
        "recommended": "",
        "allowed": ["up", "down"],
        "degree": 2,
    }
    best = server.get(f"{place}/agents/b?of=recommended").data
    now = [option for option in best["options"] if option["now"]]
    assert now[0]["reward"] == pytest.approx(allocation["reward"])
    assert [option["allowed"] for option in best["options"]] == [True, True, False]
    assert server.get(f"{place}/agents/nobody").status == 404
    (round_,) = server.get(f"{place}/rewards?last=10").data["rounds"]
    assert (round_["trial"], round_["told"], round_["of"]) == (1, 3, 8)


def test_the_history_in_pages(server, place):
    for number in range(1, 6):
        server.post(f"{place}/ask")
        server.post(f"{place}/fail", {"trial": number, "reason": f"storm {number}"})

    def pages(query):
        seen, more = [], ""
        while True:
            page = server.get(f"{place}/history?limit=3&{query}{more}").data
            seen += [entry["seq"] for entry in page["entries"]]
            if page["next"] is None:
                return seen
            more = f"&{'after' if 'after' in query else 'before'}={page['next']}"
            query = "" if "after" in query else query

    assert pages("") == list(range(11, 0, -1))
    assert pages("kind=ask&kind=create") == [10, 8, 6, 4, 2, 1]
    forward = server.get(f"{place}/history?after=4&limit=3").data
    assert [entry["seq"] for entry in forward["entries"]] == [5, 6, 7]
    found = server.get(f"{place}/history?search=STORM%203").data["entries"]
    assert [(entry["kind"], entry["by"]) for entry in found] == [("fail", "local")]


def test_exports(server, place):
    server.post(f"{place}/ask")
    server.post(f"{place}/tell", {"trial": 1, "rewards": REWARDS})
    lines = server.get(f"{place}/export.csv").body.decode().splitlines()
    assert lines[0] == "key,trial,time,source,source_arm,target,target_arm,reward"
    assert len(lines) == 4
    table = pyarrow.parquet.read_table(io.BytesIO(server.get(f"{place}/export.parquet").body))
    assert table.column_names == lines[0].split(",")
    assert table["reward"].to_pylist() == [0.5, 0.4, 0.1]


def test_tags_change_with_what_they_are_of(server, place):
    server.post(f"{place}/ask")
    paths = ["", "/status", "/open", "/history", "/rewards", "/allocation", "/links", "/estimate"]
    for path in [*paths, "/problem", "/network"]:
        tag = server.get(place + path).headers["etag"]
        again = server.get(place + path, If_None_Match=tag)
        assert (again.status, again.body) == (304, b"")
        server.post(f"{place}/ask")
        changed = server.get(place + path, If_None_Match=f'"other", {tag}').status
        assert changed == (304 if path in ("/problem", "/network") else 200)
    server.post(f"{place}/forbid", {"agents": "a", "arms": "up"})
    assert server.get(f"{place}/network", If_None_Match=tag).status == 200


def test_a_request_that_comes_again_gets_the_first_answer(server, place):
    first = [server.post(f"{place}/ask", Idempotency_Key="one") for _ in range(3)]
    assert {each.body for each in first} == {first[0].body}
    assert server.get(place).data["trials"] == 1
    other = server.post(f"{place}/ask", {"count": 2}, Idempotency_Key="one")
    assert other.status == 409
    assert "'one' was used for another request" in other.detail
    assert server.post(f"{place}/fail", {"trial": 1}, Idempotency_Key="one").status == 409
    assert server.post(f"{place}/fail", {"trial": 1}, Idempotency_Key="two").status == 200
    assert server.post(f"{place}/fail", {"trial": 9}, Idempotency_Key="three").status == 422
    assert server.post(f"{place}/ask", {}, Idempotency_Key="three").status == 200
    assert server.post(f"{place}/ask", {}, Idempotency_Key="a b").status == 400
    assert server.post(f"{place}/ask", {}, Idempotency_Key="x" * 201).status == 400
    assert server.get(place).data["trials"] == 2


def test_a_controller_is_created_once_under_its_key(server):
    said = {"name": "only once", "problem": PROBLEM}
    found = [server.post("/v1/controllers", said, Idempotency_Key="mine") for _ in range(2)]
    assert [each.status for each in found] == [201, 201]
    assert found[0].body == found[1].body
    again = server.post("/v1/controllers", said)
    assert again.status == 422
    assert "'only once', which is there already" in again.detail


BODIES = {
    "no JSON": (b"{", 400, "not JSON"),
    "no object": (b"[1]", 400, "JSON object"),
    "no UTF-8": (b'{"trial": "\xff"}', 400, "UTF-8"),
    "a name twice": (b'{"trial": 1, "trial": 2}', 400, "twice"),
    "NaN": (b'{"trial": NaN}', 400, "NaN"),
    "deep": (b'{"rewards": ' + b"[" * 100_000, 400, "not JSON"),
    "a large number": (b'{"trial": ' + b"9" * 5000 + b"}", 400, "not JSON"),
    "half a character": (b'{"trial": "\\ud83d"}', 400, "half a character"),
    "half of another": (b'{"trial": 1, "\\uDE00": 2}', 400, "half a character"),
    "an unknown field": (b'{"trail": 1}', 422, "Did you mean 'trial'?"),
    "a field too few": (b'{"trial": 1}', 422, "'tell' needs the field 'rewards'"),
    "text for a number": (b'{"trial": "1", "rewards": []}', 422, "`trial`"),
    "many values": (b'{"rewards": [' + b"0," * (1 << 21) + b"0]}", 413, "values"),
}


@pytest.mark.parametrize("kind", BODIES)
def test_malformed_bodies_are_refused_in_one_line(server, place, kind):
    body, status, words = BODIES[kind]
    before = server.get(place).headers["etag"]
    found = server.post(f"{place}/tell", body, Content_Type="application/json")
    assert (found.status, words in found.detail) == (status, True), found
    assert server.get(place).headers["etag"] == before


def test_huge_bodies_are_not_read(server, place):
    found = raw(server, f"POST {place}/tell", "Content-Length: 99999999999", "")
    assert b" 413 " in found
    assert b"Connection: close" in found or b"connection: close" in found.lower()
    chunked = "Transfer-Encoding: chunked"
    piece = f"{1 << 20:x}\r\n{'x' * (1 << 20)}\r\n" * 40
    found = raw(server, f"POST {place}/tell", chunked, piece)
    assert found == b"" or b" 413 " in found


def test_who_sends_a_huge_body_hears_why(server, place):
    """Most callers listen only when they have sent all of it."""
    refused = server.post(f"{place}/tell", b" " * (40 << 20), Content_Type="application/json")
    assert refused.status == 413
    with (
        Client(server.url, server.get(place).data["name"], patience=0.0) as client,
        pytest.raises(gbb.InputError, match="at most 33,554,432 bytes"),
    ):
        client.fail(1, "x" * (40 << 20))


@pytest.mark.parametrize("name", [".", "..", "a\nb", "x" * 201])
def test_names_that_no_path_can_hold(server, name):
    found = server.post("/v1/controllers", {"name": name, "problem": PROBLEM})
    assert (found.status, "`name`" in found.detail) == (422, True)


FOREIGN = [
    ("set-policy", {"policy": "antigravity:Policy"}),
    ("set-policy", {"policy": "ImprovedOFUL", "settings": {"radius": "antigravity:radius"}}),
    ("set-policy", {"policy": "ImprovedOFUL", "cut": "types:SimpleNamespace"}),
    ("replace-graph", {"edges": [["a", "b"]], "undirected": True, "cut": "builtins:dict"}),
]


@pytest.mark.parametrize(("verb", "fields"), FOREIGN)
def test_nobody_names_what_the_server_shall_import(server, place, verb, fields):
    refused = server.post(f"{place}/{verb}", fields)
    assert (refused.status, "over the wire" in refused.detail) == (422, True)


def raw(server, line: str, header: str, body: str, host: str = "127.0.0.1") -> bytes:
    """What comes back to bytes that no library would send."""
    head = f"{line} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{header}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        found = b""
        try:
            connection.sendall((head + body).encode("latin-1"))
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(1 << 16):
                found += piece
        except (ConnectionResetError, BrokenPipeError):
            pass
        return found


PATHS = [
    "/v1/controllers/nobody",
    "/v1/controllers/",
    "/v1/controllers//ask",
    "/v1/controllers/..%2f..%2fetc%2fpasswd",
    "/v1/controllers/%00",
    "/v1/controllers/%ff",
    "/v1/controllers/nobody/ask/more",
    "/v1",
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "/static/..%2fapp.py",
    "/static//etc/passwd",
    "/etc/passwd",
    "//evil.example/",
    "/openapi.json/",
    "/" + "x" * 20_000,
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:40])
def test_path_tricks_find_nothing(server, path):
    found = server.get(path)
    assert found.status == 404
    assert found.detail


HEADERS = {
    "another site's page": ({"Origin": "https://evil.example"}, 403),
    "a page without a name": ({"Origin": "null"}, 403),
    "another site, says the browser": ({"Sec-Fetch-Site": "cross-site"}, 403),
    "a form": ({"Content-Type": "text/plain"}, 415),
    "a form of fields": ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    "a name that leads here": ({"Host": "evil.example"}, 421),
    "a name much like ours": ({"Host": "127.0.0.1.evil.example:8000"}, 421),
    "no JSON in return": ({"Accept": "text/html"}, 200),
    "another method": ({"X-HTTP-Method-Override": "GET"}, 200),
    "somebody else": ({"X-Forwarded-For": "10.0.0.1", "Forwarded": "for=10.0.0.1"}, 200),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_header_tricks(server, place, kind):
    headers, status = HEADERS[kind]
    names = {name.replace("-", "_"): value for name, value in headers.items()}
    found = server.post(f"{place}/ask", b"{}", **{"Content_Type": "application/json", **names})
    assert found.status == status, found
    kept = server.get(place).data["trials"]
    assert kept == (1 if status == 200 else 0)


def test_headers_that_no_library_sends(server, place):
    for header in ("Content-Length: -1", "Content-Length: 1\r\nContent-Length: 2"):
        found = raw(server, f"POST {place}/ask", header, "")
        assert found.startswith(b"HTTP/1.1 400"), found[:100]
    assert server.post(f"{place}/ask", X="y" * 50_000).status == 431
    assert raw(server, "BREW /", "X: y", "").startswith(b"HTTP/1.1 405")
    assert server.get(place).data["trials"] == 0


def test_what_every_answer_says_to_a_browser(server, place):
    for path in ("/v1/controllers", place, "/healthz", "/nothing", "/openapi.json", "/metrics"):
        headers = server.get(path, Origin=server.url).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
        assert not [name for name in headers if name.startswith("access-control")]


def test_other_methods_are_named(server, place):
    found = server.request("DELETE", "/v1/controllers")
    assert (found.status, found.headers["allow"]) == (405, "GET, POST")
    assert server.get(f"{place}/ask").headers["allow"] == "POST"


QUERIES = {
    "history?limit=0": "`limit`",
    "history?limit=1001": "`limit`",
    "history?limit=ten": "`limit`",
    "history?limit=1&limit=2": "twice",
    "history?after=1&before=2": "not both",
    "history?kind=tale": "`kind`",
    "history?page=1": "no field",
    "recommend?seconds=1e9": "`seconds`",
    "recommend?seconds=nan": "`seconds`",
    "recommend?context=noon": "no contexts",
    "open?trial=99": "`trial`",
    "allocation?of=other": "`of`",
    "links?worst=-1": "`worst`",
    "events?after=-1": "`after`",
    "rewards?last=0": "`last`",
}


@pytest.mark.parametrize("query", QUERIES)
def test_wrong_queries_are_refused_in_the_librarys_words(server, place, query):
    found = server.get(f"{place}/{query}")
    assert found.status == 422
    assert QUERIES[query] in found.detail


PROBLEMS = {
    "no links": ({"edges": []}, "`edges`"),
    "one direction": ({"undirected": False}, "both directions"),
    "a loop": ({"edges": [["a", "a"]]}, "self loops"),
    "ragged arms": ({"arms": [[1.0], [1.0, 2.0]]}, "`arms`"),
    "no arms": ({"arms": []}, "`arms`"),
    "too many arms": ({"arms": [[1.0] * 70] * 70}, "numbers"),
    "a far number": ({"edges": [[0, 2_000_000_000]], "positions": None}, "agents"),
    "negative noise": ({"sigma": -1}, "`sigma`"),
    "unknown contexts": ({"contexts": {"kind": "moods"}}, "`kind`"),
    "contexts without a kind": ({"contexts": {}}, "`contexts`"),
    "a policy's field": ({"policy": "OFUL"}, "no field"),
    "ragged places": ({"positions": [[0], [1, 2]]}, "`positions`"),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_problems_that_cannot_be(server, kind):
    change, words = PROBLEMS[kind]
    found = server.post("/v1/controllers", {"name": "never", "problem": PROBLEM | change})
    assert found.status == 422
    assert words in found.detail
    assert server.get(place_of("never")).status == 404


def test_metrics_say_where_controllers_stand(server, place):
    server.post(f"{place}/ask", {"count": 2})
    server.post(f"{place}/tell", {"trial": 1, "rewards": REWARDS})
    name = server.get(place).data["name"]
    text = server.get("/metrics").body.decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    label = json.dumps(name, ensure_ascii=False)
    assert values[f"gbb_asks_total{{controller={label}}}"] == "2.0"
    assert values[f"gbb_tells_total{{controller={label}}}"] == "1.0"
    assert values[f"gbb_open_trials{{controller={label}}}"] == "1.0"
    assert values[f"gbb_last_round_reward{{controller={label}}}"] == "1.0"
    assert float(values[f"gbb_confidence_radius{{controller={label}}}"]) > 0.0
    assert float(values[f"gbb_oldest_open_trial_seconds{{controller={label}}}"]) >= 0.0
    assert float(values['gbb_request_seconds_count{operation="ask"}']) >= 1.0


def test_metrics_are_of_all_controllers_there_are(forks, tmp_path):
    """Of those too that nobody has used since the server started, and of none that is gone."""
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    with forks.serving(url) as server:
        for name in ("here", "gone"):
            server.post("/v1/controllers", {"name": name, "problem": PROBLEM})
            server.post(f"/v1/controllers/{name}/ask")
        with Controller.open(url, "gone") as same:
            same.delete("gone")
        found = server.get("/metrics")
        assert found.status == 200
        assert b'gbb_open_trials{controller="gone"}' not in found.body
    with forks.serving(url) as server:
        assert b'gbb_open_trials{controller="here"} 1.0' in server.get("/metrics").body


def test_a_storage_that_does_not_answer_is_not_named(forks, tmp_path):
    folder = tmp_path / "secret"
    folder.mkdir()
    with forks.serving(f"sqlite:///{folder / 'farm.db'}") as server:
        with sqlite3.connect(folder / "farm.db") as storage:
            storage.execute("DROP TABLE gbb_studies")
        for path in ("/readyz", "/metrics"):
            found = server.get(path)
            assert (found.status, found.headers["retry-after"]) == (503, "5")
            assert found.detail == "The storage does not answer now."


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_no_path_can_hold_is_refused(server, name):
    found = server.post("/v1/controllers", {"name": name, "problem": PROBLEM})
    assert found.status == 422
    assert "`name`" in found.detail


def test_text_in_the_place_of_a_number_is_shown(server, place):
    found = server.get(f"{place}/recommend?seconds=soon")
    assert found.detail == "Expected `seconds` to be a finite number, but got 'soon'."


def test_health(server):
    assert server.get("/healthz").data == {"status": "alive"}
    assert server.get("/readyz").data == {"status": "ready"}


def test_what_other_processes_do_is_seen(forks, tmp_path):
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    with forks.serving(url) as server:
        server.post("/v1/controllers", {"name": "here", "problem": PROBLEM})
        server.post("/v1/controllers/here/ask")
        with Controller.open(url, "here") as same:
            same.fail(1)
            assert server.get("/v1/controllers/here").data["open"] == []
            same.rename("there")
        assert server.get("/v1/controllers/here").status == 404
        assert server.get("/v1/controllers/there").data["trials"] == 1
        with Controller.open(url, "there") as same:
            same.delete("there")
        metrics = server.get("/metrics")
        assert (metrics.status, b'gbb_rounds{controller="there"}' in metrics.body) == (200, False)
        gone = server.post("/v1/controllers/there/ask")
        assert gone.status == 404
        assert gone.detail == "There is no controller 'there'."
        server.post("/v1/controllers", {"name": "there", "problem": PROBLEM})
        assert server.get("/v1/controllers/there").data["trials"] == 0


def test_a_controller_that_is_damaged_hides_no_other(forks, tmp_path):
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    for name in ("well", "hurt"):
        Controller.create(url, small(), name=name).close()
    with contextlib.closing(sqlite3.connect(tmp_path / "farm.db")) as file:
        file.execute("UPDATE gbb_events SET content = '' WHERE study = 2")
        file.commit()
    with forks.serving(url) as server:
        hurt, well = server.get("/v1/controllers").data["controllers"]
        assert (well["name"], well["agents"], well["alerts"]) == ("well", small().n, [])
        assert (hurt["name"], "damaged" in hurt["alerts"][0]["text"]) == ("hurt", True)
        assert server.get("/v1/controllers/hurt").status == 503
        assert server.get("/readyz").status == 200
        (tmp_path / "farm.db").unlink()
        lost = server.get("/readyz")
        assert (lost.status, str(tmp_path) in lost.detail) == (503, False)


def test_writers_that_wait_for_the_storage_keep_no_others_waiting(forks, tmp_path):
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    with forks.serving(url) as server:
        for name in ("busy", "other"):
            server.post("/v1/controllers", {"name": name, "problem": PROBLEM})
        ask = functools.partial(server.post, "/v1/controllers/busy/ask")
        writers = [threading.Thread(target=ask) for _ in range(10)]
        with contextlib.closing(sqlite3.connect(tmp_path / "farm.db")) as file:
            file.execute("BEGIN IMMEDIATE")
            for writer in writers:
                writer.start()
            time.sleep(0.5)
            start = time.monotonic()
            assert server.get("/v1/controllers/other").status == 200
            assert server.get("/readyz").status == 200
            assert time.monotonic() - start < 5.0
            file.rollback()
        for writer in writers:
            writer.join()
        assert server.get("/v1/controllers/busy").data["trials"] == 10


def test_what_is_recommended_is_allowed(server, place):
    for _ in range(3):
        trial = server.post(f"{place}/ask").data["trial"]
        server.post(f"{place}/tell", {"trial": trial, "rewards": REWARDS})
        best = server.get(f"{place}/allocation?of=recommended").data["arms"][0]
        arms = server.get(f"{place}/network").data["arms"]
        server.post(f"{place}/forbid", {"agents": [0], "arms": [arms[best]]})
        assert server.get(f"{place}/allocation?of=recommended").data["arms"][0] != best
        server.post(f"{place}/allow", {"agents": [0]})


def test_reading_goes_on_while_one_controller_is_busy(server, place):
    """A search that takes seconds keeps nobody from being answered."""
    n = 60
    edges = [[i, j] for i in range(n) for j in range(i)]
    arms = [[(i * j) % 7 - 3.0 for j in range(6)] for i in range(1, 9)]
    name = f"large {next(numbers)}"
    problem = {"edges": edges, "undirected": True, "arms": arms}
    assert server.post("/v1/controllers", {"name": name, "problem": problem}).status == 201
    thread = threading.Thread(target=server.get, args=(f"{place_of(name)}/recommend?seconds=2",))
    thread.start()
    took = []
    while thread.is_alive():
        start = time.perf_counter()
        assert server.post(f"{place}/ask").status == 200
        took.append(time.perf_counter() - start)
    thread.join()
    assert min(took) < 1.0
