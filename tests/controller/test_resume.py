"""Asks are those of the simulation, and closing, killing or replaying changes none of them."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import gbb
from control import drive, environment, noise_of, replayed, same_state, small, url_of
from gbb._support.threads import one_thread
from gbb.controller import Controller, StorageError
from gbb.controller.commands import trials
from gbb.controller.commands.trials import append_ask, tell
from gbb.controller.log import codec, log, store
from gbb.controller.log.codec import pack_rng, unpack_rng
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state import fold, replay, state

ROUNDS = 60


@pytest.mark.parametrize(
    "name", [name for name in gbb.policies.names() if gbb.policies.find(name).controllable]
)
@pytest.mark.parametrize("seed", [0, 7])
def test_driving_it_gives_the_choices_of_simulate(name, seed, tmp_path):
    problem = small()
    policy = gbb.policies.build(
        name, problem, cut=gbb.cuts.greedy(problem.graph), horizon=ROUNDS, radius="paper"
    )
    env = environment(problem)
    expected = gbb.simulate(
        env, policy, rounds=ROUNDS, seed=seed, method="reference", keep_allocations=True
    )
    url = url_of(tmp_path)
    rng = noise_of(seed)
    played = []
    Controller.create(url, problem, policy, seed).close()
    for _ in range(3):
        with Controller.open(url) as controller:
            played.append(drive(controller, env, rng, ROUNDS // 3))
    allocations = expected["allocation"].isel(policy=0, run=0).to_numpy()
    assert np.array_equal(np.concatenate(played), allocations)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", ["KCutOFUL", "JointOFUL", "ThompsonSampling", "EpsilonGreedy"])
def test_policies_over_k_parts_come_back_with_their_parts(name, k, tmp_path):
    problem = gbb.Problem(gbb.Graph.random(7, p=0.5, seed=3), np.eye(3), sigma=0.5, S=3.0)
    parts = gbb.cuts.kcut(problem.graph, k, seed=1)
    policy = gbb.policies.build(name, problem, cut=parts, k=k)
    env = environment(problem)
    expected = gbb.simulate(
        env, policy, rounds=30, seed=4, method="reference", keep_allocations=True
    )
    url, rng = url_of(tmp_path), noise_of(4)
    Controller.create(url, problem, policy, 4).close()
    played = []
    for _ in range(3):
        with Controller.open(url) as controller:
            back = controller.policy
            assert np.array_equal(back.cut.parts, parts.parts)
            assert back.cut.k == k
            played.append(drive(controller, env, rng, 10))
    allocations = expected["allocation"].isel(policy=0, run=0).to_numpy()
    assert np.array_equal(np.concatenate(played), allocations)


def test_discounting_every_round_is_the_discounted_policy(tmp_path):
    """What docs/controller.md offers in place of DiscountedOFUL."""
    problem = small()
    cut, gamma = gbb.cuts.greedy(problem.graph), 0.9
    env = environment(problem)
    faded = gbb.policies.DiscountedOFUL(problem, cut=cut, gamma=gamma)
    expected = gbb.simulate(
        env, faded, rounds=40, seed=2, method="reference", keep_allocations=True
    )
    controller = Controller.create(url_of(tmp_path), problem, "JointOFUL", 2)
    rng, played = noise_of(2), []
    for _ in range(40):
        trial = controller.ask()
        played.append(trial.arms)
        controller.discount(gamma)
        controller.tell(trial, env.draw(1, trial.arms, rng))
    allocations = expected["allocation"].isel(policy=0, run=0).to_numpy()
    assert np.array_equal(np.array(played), allocations)


@pytest.mark.parametrize("every", [1, 7, 10_000])
def test_snapshots_change_nothing(every, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", every)
    problem = small(named=True)
    url = url_of(tmp_path)
    controller = Controller.create(url, problem, "ExploreThenCommit", 3, exploration=9)
    drive(controller, environment(problem), np.random.default_rng(0), 12)
    controller.ask_many(2)
    controller.replace_graph(gbb.Graph.path(3))
    controller.forbid(1, "tilt-2")
    controller.ask()
    again = Controller.open(url)
    assert same_state(again._log.state, controller._log.state)
    assert same_state(replayed(controller), controller._log.state)
    assert np.array_equal(again.ask().arms, next_arms(replayed(controller)))


def next_arms(state):
    """What the state, whose last ask was just made, holds."""
    return state.open[state.trials].allocation


@pytest.mark.parametrize("damage", ['{"format":99}', "no json", '{"format":1,"seq":2,"seal":0}'])
def test_a_bad_snapshot_only_costs_time(damage, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 5)
    url = url_of(tmp_path)
    controller = Controller.create(url, small())
    drive(controller, environment(small()), np.random.default_rng(0), 6)
    with controller._log.store.database.write(1) as connection:
        connection.execute("UPDATE gbb_snapshots SET content = ?", (damage.encode(),))
    assert same_state(Controller.open(url)._log.state, controller._log.state)


def test_a_snapshot_with_any_byte_changed_only_costs_time(tmp_path, monkeypatch):
    """Damage that is still JSON of the right form must be noticed, and so must what is no text."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 5)
    url = url_of(tmp_path)
    controller = Controller.create(url, small())
    drive(controller, environment(small()), np.random.default_rng(0), 6)
    state, rng = controller._log.state, np.random.default_rng(1)
    with controller._log.store.database.read() as connection:
        (whole,) = connection.execute("SELECT content FROM gbb_snapshots").fetchone()
    folded = []
    monkeypatch.setattr(replay, "fold", lambda s, e: folded.append(e) or fold.fold(s, e))
    Controller.open(url)
    assert len(folded) == state.seq - 11  # what is after the snapshot
    places = [0, 8, 9, len(whole) - 1, *rng.integers(len(whole), size=60)]
    for place, flip in zip(places, rng.integers(1, 256, size=len(places)), strict=True):
        damaged = bytearray(whole)
        damaged[place] ^= flip
        with controller._log.store.database.write(1) as connection:
            connection.execute("UPDATE gbb_snapshots SET content = ?", (bytes(damaged),))
        folded.clear()
        assert same_state(Controller.open(url)._log.state, state)
        assert len(folded) == state.seq - 1


def test_events_that_a_snapshot_knows_are_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 5)
    url = url_of(tmp_path)
    controller = Controller.create(url, small())
    drive(controller, environment(small()), np.random.default_rng(0), 5)
    with controller._log.store.database.write(1) as connection:
        connection.execute("DELETE FROM gbb_events WHERE seq > 8")
    with pytest.raises(StorageError, match="log is damaged: event 11 or the one before it is miss"):
        Controller.open(url)


def test_a_long_log_is_small_and_opens_from_its_end(tmp_path, monkeypatch):
    """The paper's Figure 2 sizes: under 1,000 bytes a round, and under 1,000 events to replay."""
    rounds = 1700
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)
    env, rng = environment(problem), np.random.default_rng(0)
    controller = Controller.create(url_of(tmp_path), problem)
    for _ in range(rounds // 100):
        with controller._log.write() as turn:
            for _ in range(100):
                trial = append_ask(turn).trial
                tell(turn, trial, env.draw(1, turn.state.open[trial].allocation, rng))
    state = controller._log.state
    controller.close()
    assert (tmp_path / "control.db").stat().st_size < 600 * rounds
    folded = []
    monkeypatch.setattr(replay, "fold", lambda s, e: folded.append(e) or fold.fold(s, e))
    assert same_state(Controller.open(url_of(tmp_path))._log.state, state)
    assert len(folded) < log.SNAPSHOT_EVENTS


def test_large_events_are_snapshot_by_size(tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_BYTES", 500)
    controller = Controller.create(url_of(tmp_path), small())
    drive(controller, environment(small()), np.random.default_rng(0), 10)
    assert controller._log._snapshot_seq > 10


def test_a_changed_event_is_noticed(tmp_path):
    url = url_of(tmp_path)
    controller = Controller.create(url, small())
    drive(controller, environment(small()), np.random.default_rng(0), 4)
    with controller._log.store.database.write(1) as connection:
        (data,) = connection.execute("SELECT data FROM gbb_events WHERE seq = 5").fetchone()
        bad = bytes([data[0] ^ 1]) + data[1:]
        connection.execute("UPDATE gbb_events SET data = ? WHERE seq = 5", (bad,))
    with pytest.raises(StorageError, match="log is damaged: event 5 is missing or is not what was"):
        Controller.open(url)
    with controller._log.store.database.write(1) as connection:
        connection.execute("DELETE FROM gbb_events WHERE seq = 5")
    with pytest.raises(StorageError, match="log is damaged: event 5"):
        controller.history()


def test_a_newer_storage_is_refused(tmp_path, monkeypatch):
    url = url_of(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(store, "VERSION", 9)
        Controller.create(url, small())
    with pytest.raises(StorageError, match="has version 9 and was written by a newer gbb"):
        Controller.open(url)
    with pytest.raises(StorageError, match="Install a newer gbb"):
        Controller.create(url, small(), name="second")


def test_everything_is_computed_on_one_thread(tmp_path, monkeypatch):
    """Folding, making policies and asking: the last bit must not depend on the number of cores."""
    threads = []

    def looked(function):
        def wrapper(*args, **kwargs):
            blas = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
            threads.append((function.__name__, max(blas)))
            return function(*args, **kwargs)

        return wrapper

    monkeypatch.setattr(state, "decode_policy", looked(state.decode_policy))
    monkeypatch.setattr(fold, "learn", looked(fold.learn))
    monkeypatch.setattr(trials, "append_ask", looked(trials.append_ask))
    monkeypatch.setattr(Knowledge, "predict", looked(Knowledge.predict))
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 5)
    with one_thread():
        pass  # loads every library whose threads are limited below
    with threadpool_limits(limits=2, user_api="blas"):
        controller = Controller.create(
            url_of(tmp_path), small(), "ExploreThenCommit", exploration=2
        )
        drive(controller, environment(small()), np.random.default_rng(0), 4)
        controller.set_policy("OFUL")
        controller.replace_graph(gbb.Graph.path(3))
        controller.recommend()
        Controller.open(url_of(tmp_path)).predict([0, 0, 0])
        blas = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
        assert set(blas) == {2}
    assert {name for name, _ in threads} == {"decode_policy", "learn", "append_ask", "predict"}
    assert {count for _, count in threads} == {1}


def test_what_compiled_loops_load_later_computes_on_one_thread_too():
    script = """
import gbb
from gbb._support.threads import one_thread
from threadpoolctl import threadpool_info
with one_thread():
    import scipy.linalg.cython_blas
    print({lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"})
"""
    threads = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=threads, capture_output=True, text=True, check=True
    )
    assert done.stdout == "{1}\n"


def test_an_unknown_event_says_who_can_read_it(tmp_path, monkeypatch):
    url = url_of(tmp_path)
    controller = Controller.create(url, small())
    with monkeypatch.context() as patch:
        patch.setitem(fold.STEPS, "dream", lambda state, _: state)
        with controller._log.write() as turn:
            turn.append("dream", {})
    with pytest.raises(StorageError, match="kind 'dream', which this version of gbb does not know"):
        Controller.open(url)


def child_asks(controller, queue):
    queue.put([controller.ask().id for _ in range(5)])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_may_go_on_with_it(tmp_path):
    controller = Controller.create(url_of(tmp_path), small())
    controller.ask()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=child_asks, args=(controller, queue))
    child.start()
    own = [controller.ask().id for _ in range(5)]
    ids = own + queue.get(timeout=60)
    child.join(60)
    assert sorted(ids) == list(range(2, 12))
    assert same_state(replayed(controller), controller._log.refresh() or controller._log.state)


def test_generators_round_trip_anywhere_on_their_stream():
    seed = np.random.SeedSequence(5)
    rng = np.random.default_rng(seed)
    for draw in (lambda g: g.random(3), lambda g: g.integers(9, size=3, dtype=np.int32)):
        draw(rng)
        copy = unpack_rng(np.random.SeedSequence(5), pack_rng(rng))
        assert np.array_equal(draw(rng), draw(copy))


def test_the_codec_gives_back_what_it_was_given():
    record = gbb.Record(np.zeros((2, 2)), np.zeros((2, 2)))
    value = {
        "array": [1, 2.5, None, True],
        "x": (float("inf"), ("a", 2)),
        "r": record,
        "only": {"tuple": 3},
    }
    back = codec.loads(codec.dumps(value), {"Record": gbb.Record})
    assert isinstance(back["r"], gbb.Record)
    assert np.array_equal(back["r"].N, record.N)
    assert (back["array"], back["x"], back["only"]) == (value["array"], value["x"], {"tuple": 3})
    with pytest.raises(TypeError, match="a set cannot be written as JSON"):
        codec.dumps({1, 2})
    with pytest.raises(KeyError):
        codec.loads(codec.dumps(record))
