"""Tokens: who may do what, made and revoked, and never to be found anywhere."""

from __future__ import annotations

import contextlib
import hmac
import http.client
import itertools
import stat
import threading

import pytest
from test_service import PROBLEM

import gbb
from control import small
from gbb.cli import main
from gbb.client import Client
from gbb.controller import Controller
from gbb.serve.access import tokens as module
from gbb.serve.access.tokens import Tokens, create_token, hash_secret, read_tokens, revoke_token
from gbb.serve.api.table import OPERATIONS

SCOPES = ("read", "operate", "administer")
DAMAGED = [
    b"",
    b"{}",
    b"[]",
    b'{"tokens": [1]}',
    b'{"tokens": [{"name": 1}]}',
    b"\xff\xfe",
    '{"tokens": [{"name": "me", "hash": "é", "scope": "read"}]}'.encode(),
]


@pytest.fixture(scope="module")
def guarded(forks, tmp_path_factory):
    """A server with a token of each scope, their secrets, and the folder of its files."""
    folder = tmp_path_factory.mktemp("guarded")
    file = folder / "tokens.json"
    secrets = {scope: create_token(file, f"the {scope}er", scope) for scope in SCOPES}
    secrets["one"] = create_token(file, "of one", "administer", "farm")
    url = f"sqlite:///{folder / 'farm.db'}"
    with forks.serving(url, tokens=str(file)) as server:
        for name in ("farm", "other"):
            said = {"name": name, "problem": PROBLEM}
            done = server.post("/v1/controllers", said, **bearer(secrets["administer"]))
            assert done.status == 201
        yield server, secrets, folder


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_operation_needs_its_scope(guarded, operation):
    server, secrets, _ = guarded
    path = operation.path.format(name="farm", agent="a")
    body = {} if operation.method == "POST" else None
    without = server.request(operation.method, path, body)
    assert without.status == 401
    assert without.headers["www-authenticate"].startswith("Bearer")
    assert "Authorization" in without.detail
    needed = SCOPES.index(operation.scope)
    for scope in SCOPES[:needed]:
        refused = server.request(operation.method, path, body, **bearer(secrets[scope]))
        assert refused.status == 403
        assert f"needs {operation.scope!r}" in refused.detail
    if operation.id != "events":
        allowed = server.request(operation.method, path, body, **bearer(secrets[SCOPES[needed]]))
        assert allowed.status not in (401, 403)


def test_a_token_for_one_controller_sees_no_other(guarded):
    server, secrets, _ = guarded
    mine = bearer(secrets["one"])
    found = server.get("/v1/controllers", **mine).data["controllers"]
    assert [each["name"] for each in found] == ["farm"]
    assert server.get("/v1/controllers/farm", **mine).status == 200
    assert server.get("/v1/controllers/other", **mine).status == 403
    assert server.get("/v1/controllers/nobody", **mine).status == 403
    assert server.post("/v1/controllers/other/ask", **mine).status == 403
    assert server.get("/metrics", **mine).status == 403
    said = {"name": "third", "problem": PROBLEM}
    assert server.post("/v1/controllers", said, **mine).status == 403


def test_a_token_for_one_controller_hears_of_no_other(guarded):
    server, secrets, folder = guarded
    mine = create_token(folder / "tokens.json", "of nothing", "read", "othe")
    gone = server.get("/v1/controllers/othe", **bearer(mine))
    assert gone.status == 404
    assert gone.detail == "There is no controller 'othe'."
    assert "'other'" in server.get("/v1/controllers/othe", **bearer(secrets["read"])).detail


def test_what_needs_no_token(guarded):
    server, _, _ = guarded
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert server.get(path).status == 200
    assert server.get("/metrics").status == 401


WRONG = [
    {"Authorization": "Bearer nonsense"},
    {"Authorization": "Bearer "},
    {"Authorization": "Basic dXNlcjpwYXNz"},
    {"Authorization": "Bearer é".encode().decode("latin-1")},
    {"X_Token": "SECRET"},
    {"Cookie": "token=SECRET"},
]


@pytest.mark.parametrize("headers", WRONG, ids=str)
def test_wrong_tokens_are_refused(guarded, headers):
    server, secrets, _ = guarded
    given = {k: v.replace("SECRET", secrets["administer"]) for k, v in headers.items()}
    before = server.get("/v1/controllers/farm", **bearer(secrets["read"])).headers["etag"]
    assert server.post("/v1/controllers/farm/ask", **given).status == 401
    in_query = f"/v1/controllers/farm?token={secrets['administer']}"
    assert server.get(in_query).status == 401
    assert server.get("/v1/controllers/farm", **bearer(secrets["read"])).headers["etag"] == before


def test_guessing_is_slowed_down(forks, tmp_path):
    file = tmp_path / "tokens"
    secret = create_token(file, "me", "read")
    limits = {"failures": 3.0}
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    with forks.serving(url, tokens=str(file), limits=limits) as server:
        found = [server.get("/v1/controllers", **bearer("x")).status for _ in range(60)]
        assert set(found) == {401, 429}
        slowed = server.get("/v1/controllers", **bearer("x"))
        if slowed.status == 429:
            assert slowed.headers["retry-after"] == "1"
        assert server.get("/v1/controllers", **bearer(secret)).status == 200  # others are not


@pytest.mark.parametrize("scope", SCOPES)
def test_answers_say_what_the_token_is_good_for(guarded, scope):
    server, secrets, _ = guarded
    for path in ("/v1/controllers", "/v1/controllers/farm"):
        found = server.get(path, **bearer(secrets[scope]))
        assert found.headers["gbb-scope"] == scope
    tag = {"If-None-Match": found.headers["etag"]}
    again = server.get(path, **bearer(secrets[scope]), **tag)
    assert (again.status, again.headers["gbb-scope"]) == (304, scope)


def test_others_guesses_keep_nobody_out(guarded):
    server, secrets, _ = guarded
    found = {server.get("/v1/controllers", **bearer("x")).status for _ in range(40)}
    assert 429 in found
    assert server.get("/v1/controllers", **bearer(secrets["read"])).status == 200


def test_requests_have_a_rate(forks, tmp_path):
    limits = {"rate": 5.0}
    with forks.serving(f"sqlite:///{tmp_path / 'farm.db'}", limits=limits) as server:
        found = [server.get("/v1/controllers").status for _ in range(40)]
        assert set(found) == {200, 429}


def test_a_revoked_token_is_refused_at_once_and_a_new_one_taken(guarded):
    server, _, folder = guarded
    file = folder / "tokens.json"
    secret = create_token(file, "guest", "read")
    assert server.get("/v1/controllers", **bearer(secret)).status == 200
    revoke_token(file, "guest")
    assert server.get("/v1/controllers", **bearer(secret)).status == 401


@pytest.mark.parametrize("text", DAMAGED)
def test_a_file_that_is_damaged_lets_nobody_in_until_it_is_mended(guarded, text):
    server, secrets, folder = guarded
    file = folder / "tokens.json"
    before = file.read_bytes()
    file.write_bytes(text)
    refused = server.get("/v1/controllers", **bearer(secrets["administer"]))
    file.write_bytes(before)
    assert (refused.status, refused.detail) == (503, "The file of tokens cannot be read.")
    assert server.get("/v1/controllers", **bearer(secrets["administer"])).status == 200


def test_a_revoked_token_hears_no_more(guarded):
    server, secrets, folder = guarded
    file = folder / "tokens.json"
    secret = create_token(file, "listener", "read")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", "/v1/controllers/farm/events", headers=bearer(secret))
        answer = connection.getresponse()
        server.post("/v1/controllers/farm/ask", **bearer(secrets["operate"]))
        assert [answer.readline() for _ in range(4)][3] == b"event: ask\n"
        revoke_token(file, "listener")
        create_token(file, "listener", "read")  # of the same name, with another secret
        server.post("/v1/controllers/farm/ask", **bearer(secrets["operate"]))
        assert answer.read().count(b"event: ") == 0


def test_the_history_says_whose_token_it_was(guarded):
    server, secrets, folder = guarded
    with Client(server.url, "farm", secrets["operate"]) as client:
        client.fail(client.ask())
        assert {entry.by for entry in client.history(last=2)} == {"the operateer"}
        with pytest.raises(PermissionError, match="needs 'administer'"):
            client.set_policy("OFUL")
    with Client(server.url, "farm", "nonsense") as client, pytest.raises(PermissionError):
        client.ask()
    with Controller.open(f"sqlite:///{folder / 'farm.db'}", "farm") as controller:
        assert controller.history("create")[0].by == "the administerer"


def test_the_same_key_of_another_token_is_another_request(guarded):
    server, secrets, _ = guarded
    found = [
        server.post("/v1/controllers/farm/ask", Idempotency_Key="k", **bearer(secrets[scope]))
        for scope in ("operate", "administer", "operate")
    ]
    trials = [each.data["trial"] for each in found]
    assert trials[0] == trials[2] != trials[1]


def test_secrets_are_nowhere(guarded, forks):
    server, secrets, folder = guarded
    server.get(f"/v1/controllers/farm?x={secrets['read']}", **bearer(secrets["read"]))
    said = [server.get(path, **bearer(secrets["administer"])).body for path in ("/metrics", "/")]
    kept = [path.read_bytes() for path in folder.iterdir() if path.is_file()]
    kept.append(forks.errors.read_bytes())
    for secret, text in itertools.product(secrets.values(), [*kept, *said]):
        assert secret.encode() not in text


def test_the_file_is_its_owners(tmp_path):
    file = tmp_path / "tokens"
    secret = create_token(file, "me", "operate", "farm")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret not in file.read_text()
    (token,) = read_tokens(file)
    assert (token.name, token.scope, token.controller) == ("me", "operate", "farm")
    assert token.hash == hash_secret(secret)
    assert len(secret) >= 43  # 32 random bytes
    file.chmod(0o666)
    with pytest.raises(gbb.InputError, match="chmod 600"):
        Tokens(file)


def test_secrets_are_compared_with_all_in_constant_time(tmp_path, monkeypatch):
    file = tmp_path / "tokens"
    secrets = [create_token(file, name, "read") for name in "abc"]
    compared = []
    same = hmac.compare_digest
    monkeypatch.setattr(
        module.hmac, "compare_digest", lambda a, b: compared.append(a) or same(a, b)
    )
    found = Tokens(file)
    for secret in (*secrets, "nonsense"):
        compared.clear()
        token = found.find(secret)
        assert len(compared) == 3
        assert (token is None) == (secret == "nonsense")


@pytest.mark.parametrize(
    ("name", "scope", "words"),
    [
        ("", "read", "`name`"),
        ("a\nb", "read", "`name`"),
        ("x", "all", "`scope`"),
        ("me", "read", "new"),
    ],
)
def test_tokens_that_cannot_be(tmp_path, name, scope, words):
    file = tmp_path / "tokens"
    create_token(file, "me", "read")
    before = file.read_bytes()
    with pytest.raises(gbb.InputError, match=words):
        create_token(file, name, scope)
    assert file.read_bytes() == before


@pytest.mark.parametrize("text", DAMAGED)
def test_a_file_of_something_else_is_refused(tmp_path, text):
    file = tmp_path / "tokens"
    file.write_bytes(text)
    with pytest.raises(gbb.InputError, match="be a file of tokens"):
        read_tokens(file)


def test_tokens_that_are_made_at_once_are_all_kept(tmp_path):
    file = tmp_path / "tokens"
    names = [f"number {i}" for i in range(12)]
    create_token(file, "old", "read")
    threads = [
        *(threading.Thread(target=create_token, args=(file, name, "read")) for name in names),
        threading.Thread(target=revoke_token, args=(file, "old")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(token.name for token in read_tokens(file)) == sorted(names)


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(arg) for arg in args])
    return stop.value.code


def test_tokens_from_the_shell(tmp_path, capsys):
    file = tmp_path / "tokens"
    made = ["serve", "token", "create", "lab", "--scope", "operate", "--controller", "farm"]
    assert run(*made, "--tokens", file) == 0
    secret = capsys.readouterr().out.strip()
    assert Tokens(file).find(secret).name == "lab"
    assert run("serve", "token", "list", "--tokens", file) == 0
    listed = capsys.readouterr().out
    assert listed.startswith("lab\toperate\tfarm\tsince ")
    assert secret not in listed
    assert run("serve", "token", "revoke", "lab", "--tokens", file) == 0
    assert "revoked 'lab'" in capsys.readouterr().out
    assert Tokens(file).find(secret) is None
    assert run("serve", "token", "revoke", "lab", "--tokens", file) == 2
    assert run("serve", "token", "list", "--tokens", tmp_path / "none") == 2


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("127.0.0.2", True),
        ("LOCALHOST", True),
        ("[::1]", True),
        ("a.org", False),
        ("10.0.0.1", False),
    ],
)
def test_without_tokens_only_names_of_this_machine_are_answered(server, host, answered):
    found = server.get("/v1/controllers", Host=f"{host}:{server.port}").status
    assert found == (200 if answered else 421)


def test_no_token_is_called_as_whoever_needs_none(tmp_path, capsys):
    assert run("serve", "token", "create", "local", "--tokens", tmp_path / "tokens.json") == 2
    assert "the history calls whoever needs no token so, but got 'local'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "192.168.1.1", "::", "example.org", "127.0.0.1.nip.io"]
)
def test_without_tokens_no_other_address(tmp_path, capsys, host):
    assert run("serve", tmp_path / "farm.db", "--host", host) == 2
    said = capsys.readouterr().err
    assert "`--host` to be a loopback address where there are no tokens" in said
    assert not (tmp_path / "farm.db").exists()


def test_a_new_controller_through_a_client_with_a_token(guarded):
    server, secrets, _ = guarded
    with Client.create(server.url, small(), name="mine", token=secrets["administer"]) as client:
        assert client.ask().id == 1
    with pytest.raises(PermissionError):
        Client.create(server.url, small(), name="not mine", token=secrets["read"])
