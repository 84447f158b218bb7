"""The same on a real PostgreSQL server, which the tests start themselves."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pytest
from test_processes import check_linearisable, check_processes, check_race

import gbb
from control import (
    CONTEXTS,
    context_for,
    drive,
    environment,
    pay,
    plain,
    replayed,
    same_state,
    small,
    url_of,
)
from gbb.cli import main
from gbb.controller import Controller, StorageError
from gbb.controller.commands.retract import finish, prepare
from gbb.controller.commands.trials import append_ask
from gbb.controller.log import database, log

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.no_cover  # long
def test_eight_processes_on_one_postgresql_server(postgres_url):
    check_processes(postgres_url)


def test_racing_for_the_same_thing_has_one_winner(postgres_url):
    check_race(postgres_url)


def test_five_processes_see_one_order_of_events(postgres_url):
    check_linearisable(postgres_url)


def test_a_rehearsal_refuses_what_create_refuses_and_leaves_no_table(postgres_url):
    Controller.rehearse(postgres_url, small())
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute("SELECT * FROM pg_tables WHERE tablename LIKE 'gbb%'")
        assert found.fetchall() == []
    Controller.create(postgres_url, small()).close()
    for check in (Controller.rehearse, Controller.create):
        with pytest.raises(gbb.InputError, match="'default', which is there already"):
            check(postgres_url, small())
    Controller.rehearse(postgres_url, small(), name="second")
    with Controller.open(postgres_url) as controller:
        assert controller.name == "default"


def test_both_databases_give_the_same_asks(tmp_path, postgres_url):
    env = environment(small())
    controllers = [
        Controller.create(url, small(), seed=9) for url in (url_of(tmp_path), postgres_url)
    ]
    for round in range(30):
        trials = [controller.ask() for controller in controllers]
        assert np.array_equal(trials[0].arms, trials[1].arms)
        rewards = env.draw(1, trials[0].arms, np.random.default_rng(round))
        for controller, trial in zip(controllers, trials, strict=True):
            controller.tell(trial, rewards)
    one, other = (Controller.open(url)._log.state for url in (url_of(tmp_path), postgres_url))
    assert np.array_equal(one.record.Y, other.record.Y)
    assert one.rng == other.rng


def test_everything_goes_through_the_server(postgres_url, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 10)
    problem = small(named=True)
    with Controller.create(postgres_url, problem, seed=2) as controller:
        drive(controller, environment(problem), np.random.default_rng(0), 12)
        late = controller.ask()
        controller.forbid("cell-1", "tilt-0")
        controller.discount(0.5)
        controller.replace_graph(gbb.Graph.path(3))
        controller.tell(late, {("cell-0", "cell-1"): 1.0})
        controller.fail(controller.ask(), "no wind\x00 at all")
        controller.retract(3, "typo")  # asked on the graph before
        controller.attach([0, 1, 2], np.ones(4), key="k é")
        state = controller._log.state
        assert same_state(replayed(controller), state)
    with Controller.open(postgres_url) as again:
        assert same_state(again._log.state, state)
        again.attach([0, 1, 2], np.ones(4), key="k é")
        assert again.status()["rounds"] == 13
        assert again.open_trials()[0].graph.n == 4
        assert again.recommend().upper_bound >= again.recommend().reward
        assert again.history("fail")[0].content["reason"] == "no wind\x00 at all"


@pytest.mark.no_cover  # long
def test_eight_processes_with_contexts(postgres_url):
    check_processes(postgres_url, tells=80, contexts="regimes")


@pytest.mark.parametrize("kind", CONTEXTS)
def test_contexts_go_through_the_server(kind, tmp_path, postgres_url, monkeypatch):
    """Every kind, late and across graphs, as in a file: to the last bit, with snapshots and without."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 7)
    problem, states = small(named=True, n=5, contexts=kind), []
    for url in (postgres_url, url_of(tmp_path)):
        with Controller.create(url, problem, "ThompsonSampling", seed=2) as controller:
            rng, env = np.random.default_rng(0), environment(problem)
            drive(controller, env, rng, 6)
            late = controller.ask(context_for(problem, 3))
            controller.discount(0.5)
            controller.replace_graph(small(named=True, n=4).graph)
            drive(controller, environment(controller.problem), rng, 3)
            controller.tell(late, pay(env, late, rng))
            known = context_for(controller.problem, 1)
            controller.attach([0, 1, 2, 0], np.ones(12), context=known, key="k")
            controller.retract(2, "typo")
            controller.retract(key="k")
        with Controller.open(url) as again:
            states.append(again._log.state)
            assert same_state(replayed(again), again._log.state)
            states[-1] = (plain(states[-1].record), again.ask(known).arms.tolist(), states[-1].rng)
    assert states[0] == states[1]


def test_a_broken_connection_is_made_again(postgres, postgres_url):
    with Controller.create(postgres_url, small()) as controller:
        controller.ask()
        with psycopg.connect(postgres, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test_%'"
            )
        assert controller.ask().id == 2


def test_our_sessions_wait_for_the_disk_whatever_the_database_says(postgres, postgres_url):
    name = urlsplit(postgres_url).path[1:]
    with psycopg.connect(postgres, autocommit=True) as admin:
        for setting in (
            "synchronous_commit = off",
            "lock_timeout = 0",
            "statement_timeout = '1min'",
            "default_transaction_read_only = on",
        ):
            admin.execute(f"ALTER DATABASE {name} SET {setting}")
    controller = Controller.create(postgres_url, small())
    with controller._log.store.database.write(1) as connection:
        names = (
            "synchronous_commit",
            "lock_timeout",
            "idle_in_transaction_session_timeout",
            "statement_timeout",
            "transaction_read_only",
        )
        shown = [connection.execute(f"SHOW {name}").fetchone()[0] for name in names]
    assert shown == ["on", "2min", "10min", "0", "off"]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_writers_take_turns_whatever_isolation_the_database_says(level, postgres, postgres_url):
    name = urlsplit(postgres_url).path[1:]
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")
    Controller.create(postgres_url, small()).close()
    controllers = [Controller.open(postgres_url) for _ in range(2)]

    def work(controller):
        for _ in range(15):
            controller.tell(controller.ask(), np.zeros(12))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, controllers))
    assert controllers[0].status()["rounds"] == 30


def test_a_writer_that_stands_still_is_waited_for_and_then_cut_off(postgres_url, monkeypatch):
    monkeypatch.setattr(database, "WAIT", 1)
    monkeypatch.setattr(database, "IDLE", 8)
    Controller.create(postgres_url, small()).close()
    stuck, other = Controller.open(postgres_url), Controller.open(postgres_url)

    def stand_still():
        with stuck._log.write() as turn:
            append_ask(turn)
            with pytest.raises(StorageError, match="Another process has held it for over 1 s; not"):
                other.ask()
            assert other.status()["events"] == 1  # readers never wait
            time.sleep(8)

    with pytest.raises(StorageError, match="stood still for over 8 s; nothing of it was kept"):
        stand_still()
    assert stuck._log.state.seq == 1
    assert other.ask().id == 1
    assert stuck.ask().id == 2  # on a new connection


def test_a_server_that_is_not_there_is_said_without_the_password():
    url = "postgresql://me:secret@127.0.0.1:9/none?password=secret"
    with pytest.raises(StorageError, match=r"Cannot use .*127.0.0.1:9/none") as caught:
        Controller.open(url)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        gbb.InputError, match=r"pip install 'graphical-bilinear-bandits\[postgres\]'"
    ):
        Controller.open("postgresql://host/db")


def test_the_shell_drives_a_server(postgres_url, tmp_path, capsys):
    (tmp_path / "arms.csv").write_text("arm,x,y\nlow,1,0\nhigh,0,1\n")
    (tmp_path / "rewards.json").write_text("[1, 0.5]")

    def run(*args):
        with pytest.raises(SystemExit) as stop:
            main(["control", *map(str, args)])
        assert stop.value.code == 0
        return capsys.readouterr().out

    run("create", postgres_url, "path:2", "--arms", tmp_path / "arms.csv")
    assert "trial,round,agent,arm\n1,1,0," in run("ask", postgres_url, "--format", "csv")
    run("tell", postgres_url, 1, tmp_path / "rewards.json")
    assert "predicted reward" in run("recommend", postgres_url)


def test_retractions_timeouts_and_alerts(postgres_url):
    """Replayed in a read transaction, while another connection writes."""
    problem = small(named=True)
    one = Controller.create(postgres_url, problem, seed=1)
    other = Controller.open(postgres_url)
    drive(one, environment(problem), np.random.default_rng(0), 4)
    one.attach([0, 1, 2, 0], np.ones(problem.m), key="monday")
    late = one.ask(timeout=0.01)
    found = prepare(one._log, 2, None, None)
    drive(other, environment(problem), np.random.default_rng(1), 2)  # nobody waits for the replay
    assert [trial.id for trial in other.open_trials()] == []
    with one._log.write() as turn:
        assert finish(turn, found, "typo")
    one.retract(key="monday")
    assert [entry.trial_id for entry in one.history("timeout")] == [late.id]
    assert (one.status()["rounds"], one.status()["open"]) == (5, [2])
    assert [alert.kind for alert in one.watch(stale=0.0)] == ["stale"]
    assert same_state(replayed(one), one._log.state)
    assert same_state(replayed(other), one._log.state)
