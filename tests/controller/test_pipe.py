"""``gbb control run``: lines of JSON in and out; nothing but the end of input ends it."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gbb
from control import drive, environment, noise_of, replayed, same_state, small, url_of
from gbb._cli.control.run import run
from gbb._support.json_text import as_json
from gbb.cli import main
from gbb.controller import Controller, pipe
from gbb.controller.messages import REQUESTS
from gbb.controller.pipe import serve_line

START = "import gbb.cli; gbb.cli.main()"


@pytest.fixture
def url(tmp_path):
    Controller.create(url_of(tmp_path), small(named=True), seed=3).close()
    return url_of(tmp_path)


@pytest.fixture
def controller(url):
    with Controller.open(url) as opened:
        yield opened


@pytest.fixture
def say(controller):
    """Say something to a controller as a line of the pipe, and hear what is answered."""

    def call(verb=None, **fields):
        line = json.dumps(fields if verb is None else {"do": verb, **fields})
        return json.loads(as_json(serve_line(controller, line.encode())))

    return call


def everything(value=0.5, problem=None):
    labels = (problem or small(named=True)).graph.labels
    return [[i, j, value] for i in labels for j in labels if i != j]


def start(url, *more):
    source = str(Path(gbb.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-c", START, "control", "run", url, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": source},
    )


def exchange(pipe, request):
    pipe.stdin.write(json.dumps(request).encode() + b"\n")
    pipe.stdin.flush()
    return json.loads(pipe.stdout.readline())


def test_rounds_over_the_pipe_are_those_of_python(url, tmp_path):
    (tmp_path / "other").mkdir()
    env, rng, pipe = environment(small(named=True)), noise_of(3), start(url)
    played = []
    answered = exchange(pipe, {"do": "ask"})
    for _ in range(10):
        arms = list(answered["allocation"].values())
        played.append([int(arm[-1]) for arm in arms])
        told = env.draw(1, np.array(played[-1]), rng).tolist()
        more = {"trial": answered["trial"], "rewards": told}
        answered = exchange(pipe, {"do": "next", **more})
    out, err = pipe.communicate()
    assert (out, err, pipe.returncode) == (b"", b"", 0)
    with Controller.create(url_of(tmp_path / "other"), small(named=True), seed=3) as own:
        assert drive(own, env, noise_of(3), 10).tolist() == played
        with Controller.open(url) as kept:
            assert kept.estimate()[0].Y.tolist() == own.estimate()[0].Y.tolist()
            assert same_state(kept._log.state, replayed(kept))


def test_every_verb_is_answered(say):
    plan = dict.fromkeys(small(named=True).graph.labels, "tilt-1")
    answers = {
        "ask": say("ask"),
        "tell": say("tell", trial=1, rewards=everything()),
        "retract": say("retract", trial=1, reason="typo"),
        "next": say("next", trial=1, rewards=everything(0.25)),
        "fail": say("fail", trial=2, reason="storm"),
        "attach": say("attach", allocation=plan, rewards=everything(), key="may-1"),
        "forbid": say("forbid", agents="cell-0", arms=["tilt-0"]),
        "pin": say("pin", agents=["cell-1"], arm="tilt-2"),
        "allow": say("allow", agents=None),
        "discount": say("discount", factor=0.5),
        "set-policy": say("set-policy", policy="JointOFUL", settings={"delta": 0.1}, cut="greedy"),
        "replace-graph": say(
            "replace-graph",
            edges=[["cell-0", "cell-1"], ["cell-1", "new"]],
            undirected=True,
            weights=[1, 2],
        ),
        "abandon": say("abandon", trial=say("ask")["trial"]),
        "open": say("open"),
        "recommend": say("recommend", seconds=0.5),
        "predict": say("predict", allocation=[0, 1, 2]),
        "estimate": say("estimate"),
        "status": say("status"),
        "watch": say("watch", stale=60),
        "history": say("history", last=3, kind=["tell", "retract"]),
        "check": say("check"),
        "diagnose": say("diagnose", worst=1),
        "table": say("table", contexts=["noon"]),
    }
    assert answers.keys() == REQUESTS.keys()
    assert "there are no contexts" in answers.pop("table")["error"]
    assert answers.pop("diagnose")["error"].startswith("No round was told on the present graph")
    assert not [each for each in answers.values() if "error" in each]
    assert answers["tell"] == {"trial": 1, "rounds": 1, "open": 0}
    assert answers["retract"] == {"trial": 1, "rounds": 0, "open": 1}
    assert answers["next"]["trial"] == 2
    assert set(answers["next"]["allocation"]) == set(plan)
    assert answers["pin"] == {"forbidden": 3}
    assert answers["allow"] == {"forbidden": 0}
    assert answers["set-policy"] == {"policy": "JointOFUL"}
    assert answers["replace-graph"] == {"agents": 3, "edges": 4}
    assert answers["status"]["policy"] == "JointOFUL"
    assert answers["watch"] == {"alerts": answers["status"]["alerts"]}
    assert answers["predict"].keys() == {"reward", "low", "high", "caveat"}
    assert [event["kind"] for event in answers["history"]["events"]] == ["tell", "retract", "tell"]


def test_every_verb_and_field_is_documented():
    page = (Path(__file__).parents[2] / "docs/controller.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    listed = {verb: fields for verbs, fields in rows for verb in re.findall(r"`([\w-]+)`", verbs)}
    for verb, request in REQUESTS.items():
        shown = re.findall(r"(\[?)`(\w+)`", listed[verb])
        assert {name: not optional for optional, name in shown} == {
            name: field.is_required() for name, field in request.json_fields().model_fields.items()
        }, verb
        assert re.search(rf"\b{verb}\b", run.__doc__)


@pytest.mark.parametrize(
    "rewards",
    [
        everything(0.25),
        [{"source": i, "target": j, "reward": r, "time": "noon"} for i, j, r in everything(0.25)],
        {f"cell-{i}": {f"cell-{j}": 0.25 for j in range(4) if j != i} for i in range(4)},
        [0.25] * 12,
    ],
)
def test_rewards_come_by_name_or_in_order(say, controller, rewards):
    say("ask")
    assert say("tell", trial=1, rewards=rewards) == {"trial": 1, "rounds": 1, "open": 0}
    assert controller.estimate()[0].Y.sum() == 0.25 * 12


def test_agents_without_names_go_by_number(tmp_path):
    with Controller.create(url_of(tmp_path), small()) as controller:

        def say(request):
            return serve_line(controller, json.dumps(request).encode())

        asked = json.loads(as_json(say({"do": "ask"})))
        assert list(asked["allocation"]) == ["0", "1", "2", "3"]
        told = say({"do": "tell", "trial": 1, "rewards": [[0, 1, 0.5], ["1", "0", 0.5]]})
        assert told["rounds"] == 1
        assert "reward" in say({"do": "predict", "allocation": asked["allocation"]})


@pytest.mark.parametrize(("feedback", "rewards"), [("agent", {"cell-0": 1.0}), ("global", 1.5)])
def test_rewards_in_sums(tmp_path, feedback, rewards):
    known = small(named=True)
    problem = gbb.Problem(known.graph, known.arms, S=3.0, feedback=feedback)
    with Controller.create(url_of(tmp_path), problem, "ThompsonSampling") as controller:
        controller.ask()
        line = json.dumps({"do": "tell", "trial": 1, "rewards": rewards}).encode()
        assert serve_line(controller, line) == {"trial": 1, "rounds": 1, "open": 0}


def test_an_id_comes_back_and_warnings_stand_in_the_answer(say):
    assert say("ask", id="a-1")["id"] == "a-1"
    told = say("tell", id=7, trial=1, rewards=everything(1e9))
    assert told["id"] == 7
    assert len(told["warnings"]) == 1
    assert told["warnings"][0].startswith("12 of 12 rewards lie outside")
    assert "caveat" in say("predict", allocation=[0, 0, 0, 0])
    assert say("tell", id=8, trial=99, rewards=[1])["id"] == 8


MISTAKES = [
    (b"", "Cannot read this line: it is not JSON"),
    (b"ask", "Cannot read this line: it is not JSON"),
    (b"\xff", "it is not text in UTF-8"),
    (b"[1]", '`line` to be an object, but got list. Write {"do": "ask"}.'),
    (b"[" * 100_000, "it is not JSON"),
    (b'{"do": "ask", "do": "tell"}', "it has 'do' twice"),
    (b'{"do": "discount", "factor": NaN}', "NaN is no number"),
    (b"{}", "`do` to be one of 'abandon', 'allow', "),
    (b'{"do": "asks"}', "Did you mean 'ask'?"),
    (b'{"do": ["ask"]}', "`do` to be one of"),
    (b'{"do": "ask", "id": []}', "`id` to be text or a number"),
    (
        b'{"do": "ask", "number": 3}',
        "'ask' has no field 'number'; it has count, context, contexts, timeout.",
    ),
    (b'{"do": "status", "x": 1}', "'status' has no field 'x'; it has none."),
    (b'{"do": "ask", "context": true}', "`context` to be what is known before the round"),
    (b'{"do": "ask", "context": [0.5, true]}', "`context` to hold numbers, but got True"),
    (b'{"do": "ask", "context": {"wind": "1"}}', "`context` to hold numbers, but got '1'"),
    (b'{"do": "ask", "contexts": [[["1"]]]}', "`contexts` to hold numbers, but got '1'"),
    (b'{"do": "ask", "count": 0}', "`count` to be a whole number >= 1 and <= 1000, but got 0"),
    (b'{"do": "ask", "count": "3"}', "`count` to be a whole number"),
    (b'{"do": "ask", "count": true}', "`count` to be a whole number"),
    (b'{"do": "tell"}', "'tell' needs the field 'trial' (whole number)."),
    (b'{"do": "tell", "trial": 1}', "'tell' needs the field 'rewards'"),
    (b'{"do": "tell", "trial": 9, "rewards": [1]}', "unknown trial 9"),
    (b'{"do": "tell", "trial": 1, "rewards": [1]}', "`rewards` to have shape (12,)"),
    (b'{"do": "tell", "trial": 1, "rewards": null}', "`rewards` to be JSON rows"),
    (b'{"do": "tell", "trial": 1, "rewards": {"cell-0": 1}}', "{source: {target: reward}}"),
    (b'{"do": "tell", "trial": 1, "rewards": []}', "`rewards` to have shape"),
    (b'{"do": "tell", "trial": 1, "rewards": [["cell-0", "cell-9", 1]]}', "but got 'cell-9'"),
    (
        b'{"do": "tell", "trial": 1, "rewards": [["cell-0", "cell-1", 1e999]]}',
        "hold finite numbers only",
    ),
    (
        b'{"do": "tell", "trial": 1, "rewards": '
        b'[["cell-0", "cell-1", 1], ["cell-0", "cell-1", 1]]}',
        "('cell-0', 'cell-1') again",
    ),
    (b'{"do": "fail", "trial": 1, "reason": 3}', "`reason` to be text, but got 3"),
    (b'{"do": "predict", "allocation": "x"}', "`allocation` to be an arm for every agent"),
    (b'{"do": "predict", "allocation": {"cell-0": true}}', "be a name or a number"),
    (b'{"do": "predict", "allocation": [0, [1], 2]}', "be an arm for every agent"),
    (b'{"do": "forbid", "arms": "tilt-0"}', "'forbid' needs the field 'agents'"),
    (b'{"do": "forbid", "agents": 1.5, "arms": "tilt-0"}', "`agents` to be a name or a numb"),
    (b'{"do": "forbid", "agents": null, "arms": null}', "leave every agent an arm"),
    (b'{"do": "pin", "agents": "cell-0", "arm": ["tilt-0"]}', "`arm` to be a name or a num"),
    (b'{"do": "discount", "factor": 2}', "`factor` to be a finite number > 0 and <= 1"),
    (b'{"do": "discount", "factor": "0.5"}', "`factor` to be a finite number"),
    (b'{"do": "set-policy", "policy": "Joint"}', "`policy` to be one of"),
    (b'{"do": "set-policy", "policy": "OFUL", "settings": {"lan": 1}}', "no setting 'lan'"),
    (b'{"do": "set-policy", "policy": "OFUL", "settings": []}', "`settings` to be an object"),
    (b'{"do": "set-policy", "policy": "OFUL", "cut": "worst"}', "`cut` to be one of"),
    (b'{"do": "replace-graph", "edges": [["a"]]}', "`edges` to be a list of pairs"),
    (b'{"do": "replace-graph", "edges": [["a", "b"]]}', "undirected"),
    (
        b'{"do": "replace-graph", "edges": [["a", "b"]], "undirected": true, "types": [1, 2]}',
        "`types` to have one number for each of 1 edges, but got 2",
    ),
    (
        b'{"do": "replace-graph", "edges": [["a", "b"]], "undirected": true, "types": [0.5]}',
        "`types` to hold whole numbers",
    ),
    (b'{"do": "history", "last": 0}', "`last` to be a whole number >= 1"),
    (b'{"do": "history", "kind": "asks"}', "Did you mean 'ask'?"),
    (b'{"do": "recommend", "seconds": -1}', "`seconds` to be"),
]


def test_mistakes_are_answers_and_change_nothing(controller):
    controller.ask()
    for line, said in MISTAKES:
        found = serve_line(controller, line)
        assert found.keys() == {"error"}, line[:80]
        assert said in found["error"]
        assert "\n" not in found["error"]
    assert controller.status()["events"] == 2


def test_what_nobody_thought_of_is_an_answer(controller, monkeypatch):
    def broken(*_):
        raise RuntimeError("a\nbug")

    monkeypatch.setattr(Controller, "execute", broken)
    found = serve_line(controller, b'{"do": "status", "id": 1}')
    assert found == {
        "id": 1,
        "error": "gbb could not answer this (RuntimeError: a bug); please report it.",
    }


def test_the_pipe_goes_on_after_mistakes_and_long_lines(url, monkeypatch, capsys):
    monkeypatch.setattr(pipe, "MOST_BYTES", 100)
    lines = [b"nonsense", b"x" * 1000, b"", b'{"do": "ask"}', b'{"do": "ask", "count": 2, "id": 5}']
    stream = io.TextIOWrapper(io.BytesIO(b"\n".join(lines)))  # the last line has no end
    monkeypatch.setattr("sys.stdin", stream)
    with pytest.raises(SystemExit) as stop:
        main(["control", "run", url])
    assert stop.value.code == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [set(each) for each in answers[:3]] == [{"error"}] * 3
    assert answers[1]["error"].startswith("Expected `line` to have at most 100 bytes")
    assert answers[3]["trial"] == 1
    assert answers[4]["id"] == 5
    assert [trial["trial"] for trial in answers[4]["trials"]] == [2, 3]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_pipe_and_what_was_answered_is_kept(url, number, code):
    pipe = start(url)
    assert exchange(pipe, {"do": "ask"})["trial"] == 1
    assert exchange(pipe, {"do": "tell", "trial": 1, "rewards": everything()})["rounds"] == 1
    pipe.send_signal(number)
    out, err = pipe.communicate(timeout=30)
    assert (out, pipe.returncode) == (b"", code)
    assert err.count(b"\n") == (code != 0)
    assert b"Traceback" not in err
    with Controller.open(url) as controller:
        assert controller.status()["rounds"] == 1


def test_a_killed_pipe_is_resumed_by_saying_the_same_again(url):
    pipe = start(url)
    exchange(pipe, {"do": "ask"})
    for trial in (1, 2, 3):
        assert exchange(pipe, {"do": "next", "trial": trial, "rewards": everything()})["trial"]
    last = {"do": "next", "trial": 4, "rewards": everything(0.25)}
    pipe.stdin.write(json.dumps(last).encode() + b"\n")
    pipe.stdin.flush()
    pipe.kill()  # whether it had heard, nobody knows
    pipe.communicate()
    with Controller.open(url) as controller:
        assert controller.status()["rounds"] in (3, 4)
        assert serve_line(controller, json.dumps(last).encode())["trial"] == 5
        assert [trial.id for trial in controller.open_trials()] == [5]
        assert controller.status()["rounds"] == 4
        assert same_state(controller._log.state, replayed(controller))


def test_a_closed_output_ends_the_pipe(url):
    pipe = start(url)
    assert exchange(pipe, {"do": "ask"})["trial"] == 1
    pipe.stdout.close()
    pipe.stdin.write(b'{"do": "ask"}\n' * 3)
    pipe.stdin.flush()
    assert pipe.wait(timeout=30) == 0
    assert pipe.stderr.read() == b""
    pipe.stderr.close()
    pipe.stdin.close()
    with Controller.open(url) as controller:
        assert len(controller.open_trials()) == 2  # that one was asked, though nobody heard


def test_a_controller_that_is_not_there_is_one_line(tmp_path):
    pipe = start(str(tmp_path / "no.db"))
    out, err = pipe.communicate(timeout=30)
    assert (out, pipe.returncode) == (b"", 2)
    assert err.startswith(b"gbb: error: ")
    assert err.count(b"\n") == 1
