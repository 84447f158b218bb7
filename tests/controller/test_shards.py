"""Networks in shards: the same choices as one process, each shard counted once, late or never."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gbb
from control import replayed, same_state, url_of
from gbb.cli import main
from gbb.controller import Controller, RewardWarning
from gbb.controller.log import log
from shard_networks import split

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

KILLS = int(os.environ.get("GBB_SHARD_KILLS", "25"))
K, SHARDS = 3, 5
ARMS = {"one-hot": np.eye(K), "general": np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])}
BOUNDS = {"sigma": 1.0, "S": 8.0, "L": 1.0}
PAYS = np.array([[1.0, 4.0, 2.0], [3.0, 0.0, 5.0], [2.0, 1.0, 1.0]])


class World:
    """A network in shards, and the same one as a graph; rewards are whole numbers, so sums are exact."""

    def __init__(self, arms="one-hot", *, k=2, links="plain"):
        self.graph = gbb.Graph.random(30, p=0.25, seed=2)
        rng = np.random.default_rng(3)
        types = rng.integers(2, size=self.graph.m)[np.minimum(*self._pair)]
        weights = np.array([0.5, 1.0, 2.0])[rng.integers(3, size=self.graph.m)]
        weights = weights[np.minimum(*self._pair)]
        known = {
            "edge_types": types if links == "typed" else None,
            "edge_weights": weights if links == "weighted" else None,
        }
        self.shards, self.owned, self.parts = split(self.graph, SHARDS, K, k=k, **known)
        self.network = gbb.Network.of([shard.kinds for shard in self.shards])
        self.whole = gbb.Problem(self.graph, ARMS[arms], **BOUNDS, **known)
        self.problem = self.network.problem(ARMS[arms], **BOUNDS)
        self.cut = gbb.cuts.greedy(self.graph)
        if k > 2:
            self.cut = gbb.cuts.kcut(self.graph, k, method="greedy")

    @property
    def _pair(self):
        return np.arange(self.graph.m), self.graph.reverse

    def rewards(self, trial: int, arms) -> np.ndarray:
        """What the links of the whole graph pay in a trial."""
        noise = np.random.default_rng(trial).integers(-1, 2, size=self.graph.m)
        source, target = arms[self.parts][self.graph.edges.T]
        return self.whole.edge_weights * PAYS[source, target] + noise

    def tables(self, trial) -> dict:
        """What every shard tells of a trial."""
        rewards = self.rewards(trial.id, np.asarray(trial.arms))
        both = zip(self.shards, self.owned, strict=True)
        return {i: s.tables(trial.arms, rewards[own]) for i, (s, own) in enumerate(both)}


POLICIES = {
    "ImprovedOFUL": {},
    "ImprovedOFUL:symmetric": {"radius": "symmetric"},
    "OFUL": {},
    "ThompsonSampling": {"starts": 0},
    "KCutOFUL": {"k": 3, "radius": "complete"},
}


@pytest.mark.parametrize("links", ["plain", "typed", "weighted"])
@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("policy", POLICIES)
def test_shards_give_the_choices_of_one_process_round_by_round(policy, arms, links, tmp_path):
    world = World(arms, k=POLICIES[policy].get("k", 2), links=links)
    name, settings = policy.partition(":")[0], POLICIES[policy]
    own = gbb.policies.build(name, world.whole, cut=world.cut, **settings)
    (tmp_path / "one").mkdir()
    one = Controller.create(url_of(tmp_path / "one"), world.whole, own, seed=4)
    many = Controller.create(url_of(tmp_path), world.problem, name, seed=4, **settings)
    rng = np.random.default_rng(0)
    for round in range(12):
        alone, trial = one.ask(), many.ask()
        k = world.network.k
        assert np.array_equal(alone.arms, trial.arms[:k][world.parts])
        one.tell(alone, world.rewards(alone.id, trial.arms))
        tables = world.tables(trial)
        if round % 3:
            many.tell_all_tables(trial, tables)
        for shard in rng.permutation(SHARDS).tolist() if round % 3 == 0 else ():
            many.tell_tables(trial, shard, *tables[shard])
    ours, theirs = many._log.state, one._log.state
    assert np.array_equal(ours.record.counts, theirs.record.counts)
    assert np.array_equal(ours.record.sums, theirs.record.sums)
    assert (ours.rounds, ours.memory.rounds) == (theirs.rounds, theirs.memory.rounds)
    assert ours.rng == theirs.rng
    assert same_state(replayed(many), ours)
    (ours,), (theirs,) = (c.estimate()[:1] for c in (many, one))
    assert ours.table_width == pytest.approx(theirs.table_width, rel=1e-12)
    couple = [0, 1, 2][:k]
    first, second = many.predict(couple), one.predict(np.array(couple)[world.parts])
    assert (first.reward, first.low, first.high) == pytest.approx(
        (second.reward, second.low, second.high), rel=1e-9
    )
    one.close()
    many.close()


@pytest.fixture
def world():
    return World()


@pytest.fixture
def controller(world, tmp_path):
    with Controller.create(url_of(tmp_path), world.problem, seed=1) as controller:
        yield controller


def test_every_shard_counts_once(world, controller):
    trial = controller.ask()
    tables = world.tables(trial)
    controller.tell_tables(trial, 2, *tables[2])
    state = controller._log.state
    assert (state.rounds, state.memory.rounds) == (1, 1)
    assert controller.missing_shards(trial) == [0, 1, 3, 4]
    controller.tell_tables(trial, 2, *tables[2])
    assert same_state(controller._log.state, state)
    N, Y = tables[2]
    with pytest.raises(gbb.InputError, match="Shard 2 has already told other `tables` of trial 1"):
        controller.tell_tables(trial, 2, N, Y + (N > 0))
    controller.tell_all_tables(trial, tables)  # 2 again, and the rest
    assert controller.open_trials() == []
    state = controller._log.state
    assert state.record.weight(world.problem) == world.graph.m
    assert (state.rounds, state.memory.rounds) == (1, 1)
    controller.tell_all_tables(trial, tables)
    assert same_state(controller._log.state, state)
    assert same_state(replayed(controller), state)
    with pytest.raises(gbb.InputError, match="already told other"):
        controller.tell_tables(trial, 4, N * 0, Y * 0)
    with pytest.raises(gbb.InputError, match=r"closed by tell_tables\(\)"):
        controller.fail(trial)


def test_late_and_missing_shards(world, controller):
    first, second = controller.ask_many(2)
    tables = world.tables(first)
    controller.tell_tables(first, 0, *tables[0])
    with pytest.raises(gbb.InputError, match="have no tables told"):
        controller.abandon(first)
    controller.tell_all_tables(second, world.tables(second))
    controller.tell_tables(first, 3, *tables[3])
    before = controller._log.state.record
    controller.fail(first, "gateways 1, 2 and 4 are down")
    assert controller._log.state.record is before
    assert controller.status()["open"] == []
    assert controller.status()["rounds"] == 2
    controller.tell_tables(first, 3, *tables[3])  # again: nothing
    with pytest.raises(gbb.InputError, match="closed without shard 1"):
        controller.tell_tables(first, 1, *tables[1])
    with pytest.raises(gbb.InputError, match="be open"):
        controller.missing_shards(first)
    third = controller.ask()
    controller.abandon(third)
    assert same_state(replayed(controller), controller._log.state)


def test_snapshots_know_which_shards_have_come(world, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 3)
    url = url_of(tmp_path)
    with Controller.create(url, world.problem, "ThompsonSampling", starts=0) as controller:
        for _ in range(7):
            waiting = controller.ask_many(2)
            for trial in waiting:
                for shard in (4, 1):
                    controller.tell_tables(trial, shard, *world.tables(trial)[shard])
            with Controller.open(url) as again:
                assert same_state(again._log.state, controller._log.state)
                assert again.missing_shards(waiting[0]) == [0, 2, 3]
                again.check()
            controller.tell_all_tables(waiting[0], world.tables(waiting[0]))
        assert same_state(replayed(controller), controller._log.state)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda N, Y: (N + 1, Y), "`N` to be "),
        (lambda N, Y: (-N, Y), "be at least 0"),
        (lambda N, Y: (N - 0.5 * (N > 0), Y), "be a whole number"),
        (lambda N, Y: (2 * N, Y), "all links that play it"),
        (lambda N, Y: (N, Y + 1.0), "be 0 where N is 0"),
        (lambda N, Y: (N, Y * np.nan), "finite"),
        (lambda N, Y: (N, Y[:2]), r"`Y` to have shape \(1, 3, 3\), by the arms"),
    ],
)
def test_tables_that_cannot_be_are_refused(change, words, world, controller):
    trial = controller.ask()
    state = controller._log.state
    N, Y = world.tables(trial)[1]
    with pytest.raises(gbb.InputError, match=words):
        controller.tell_tables(trial, 1, *change(N, Y))
    with pytest.raises(gbb.InputError, match="`shard`"):
        controller.tell_tables(trial, 5, N, Y)
    with pytest.raises(gbb.InputError, match="unknown trial 9"):
        controller.tell_tables(9, 1, N, Y)
    with pytest.raises(gbb.InputError, match="tell_tables"):
        controller.tell(trial, np.zeros(world.problem.m))
    with pytest.raises(gbb.InputError, match="tell_tables"):
        controller.attach([0, 1], {("V1", "V2"): 1.0})
    with pytest.raises(gbb.InputError, match="hold the tables"):
        controller.tell_all_tables(trial, {})
    for refused in (controller.diagnose, lambda: controller.retract(trial)):
        with pytest.raises(gbb.InputError, match="at hand"):
            refused()
    assert same_state(controller._log.state, state)


def test_tables_of_a_graph_at_hand_are_refused(world, tmp_path):
    with Controller.create(url_of(tmp_path), world.whole) as controller:
        trial = controller.ask()
        with pytest.raises(gbb.InputError, match="be of a network in shards"):
            controller.tell_tables(trial, 0, np.zeros((K, K)), np.zeros((K, K)))


def test_sums_beyond_the_bounds_are_kept_with_a_warning(world, controller):
    trial = controller.ask()
    N, _ = world.tables(trial)[0]
    with pytest.warns(RewardWarning, match=r"outside \+-.* of shard 0; they are kept"):
        controller.tell_tables(trial, 0, N, 1e3 * N)
    assert controller.history("warning")[0].content["shard"] == 0
    assert controller.recommend().caveat is not None
    assert same_state(replayed(controller), controller._log.state)


def test_what_it_knows_and_would_do(world, controller):
    for _ in range(40):
        trial = controller.ask()
        controller.tell_all_tables(trial, world.tables(trial))
    advice = controller.recommend()
    couples = [(a, b) for a in range(K) for b in range(K)]
    (m1, m12), (m21, m2) = world.network.counts.tolist()
    worth = {
        (a, b): m12 * PAYS[a, b] + m21 * PAYS[b, a] + m1 * PAYS[a, a] + m2 * PAYS[b, b]
        for a, b in couples
    }
    assert tuple(advice.arms[:2].tolist()) == max(worth, key=worth.get)
    assert advice.low <= max(worth.values()) <= advice.high <= advice.upper_bound
    status = controller.status()
    assert (status["parts"], status["shards"], status["edges"]) == (2, SHARDS, world.graph.m)
    assert status["edge_rewards"] == 40 * world.graph.m
    assert controller.history("create")[0].content["graph"]["m"] == world.graph.m
    assert controller.history("tables")[0].content["shards"] == list(range(SHARDS))


def test_forbidden_arms_are_forbidden_to_a_whole_part(world, controller):
    controller.forbid("V1", 0)
    controller.forbid(None, 1)
    for _ in range(6):
        trial = controller.ask()
        assert trial.allocation["V1"] == 2
        assert np.array_equal(trial.arms, trial.arms[:2][world.network.parts])
        controller.tell_all_tables(trial, world.tables(trial))
    assert same_state(replayed(controller), controller._log.state)


def test_another_network_takes_its_place(world, controller):
    old = controller.ask()
    controller.tell_tables(old, 0, *world.tables(old)[0])
    graph = gbb.Graph.grid(4, 3)
    shards, owned, _ = split(graph, 2, K)
    network = gbb.Network.of([shard.kinds for shard in shards])
    merged = {"edge_counts": network.edge_counts, "parts": network.parts}
    controller.replace_graph(network.graph, **merged)
    new = controller.ask()
    controller.tell_all_tables(old, world.tables(old))  # on the network that it was asked on
    state = controller._log.state
    assert state.memory.rounds >= state.record.weight(network.problem(np.eye(K))) / graph.m
    zeros = {
        i: s.tables(new.arms, np.zeros(own.shape))
        for i, (s, own) in enumerate(zip(shards, owned, strict=True))
    }
    controller.tell_all_tables(new, zeros)
    assert controller.open_trials() == []
    assert same_state(replayed(controller), controller._log.state)


def test_one_direction_alone_is_learnt_in_all_dimensions(world, tmp_path):
    url = url_of(tmp_path)
    with Controller.create(url, world.problem, "ThompsonSampling", starts=0) as controller:
        for _ in range(8):
            trial = controller.ask()
            tables = world.tables(trial)
            N, Y = tables[1]
            tables[1] = np.triu(N), np.triu(Y)
            controller.tell_all_tables(trial, tables)
        state = controller._log.state
        part = state.record.two_way_part
        assert part.two_way
        assert part.weight(world.problem) < state.record.weight(world.problem)
        assert same_state(replayed(controller), state)


def test_gateways_that_tell_at_the_same_time(world, controller, tmp_path):
    """Four at once tell all shards of the same trials, in orders of their own; each counts once."""
    trials = controller.ask_many(3)
    tables = {trial.id: world.tables(trial) for trial in trials}

    def gateway(seed):
        rng = np.random.default_rng(seed)
        with Controller.open(url_of(tmp_path)) as own:
            for trial in rng.permutation(list(tables)).tolist():
                for shard in rng.permutation(SHARDS).tolist():
                    own.tell_tables(trial, shard, *tables[trial][shard])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(gateway, range(4)))
    assert controller.open_trials() == []
    state = controller._log.state
    assert state.rounds == 3
    assert state.record.weight(world.problem) == 3 * world.graph.m
    assert len(controller.history("tables")) == 3 * SHARDS
    assert same_state(replayed(controller), state)


def test_killed_while_shards_report(world, tmp_path):
    """After SIGKILL at any point the rest is told again, and the log is that of a run without kills."""
    url = url_of(tmp_path)
    (tmp_path / "calm").mkdir()
    Controller.create(url, world.problem, seed=6).close()
    calm = Controller.create(url_of(tmp_path / "calm"), world.problem, seed=6)
    rng = np.random.default_rng(1)
    for _ in range(KILLS):
        ready, start = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with Controller.open(url) as controller:
                    os.write(start, b"x")
                    while True:
                        _step(controller, world)
            finally:
                os._exit(1)
        os.close(start)
        os.read(ready, 1)
        os.close(ready)
        time.sleep(rng.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
    with Controller.open(url) as controller:
        while controller.open_trials():
            _step(controller, world)
        while calm.status()["trials"] < controller.status()["trials"] or calm.open_trials():
            _step(calm, world)
        ours, theirs = controller._log.state, calm._log.state
        assert np.array_equal(ours.record.counts, theirs.record.counts)
        assert np.array_equal(ours.record.sums, theirs.record.sums)
        assert (ours.rounds, ours.trials, ours.rng) == (theirs.rounds, theirs.trials, theirs.rng)
        assert same_state(replayed(controller), ours)
    calm.close()


def _step(controller, world) -> None:
    """Tell the first missing shard of the open trial, all others again; else ask for one."""
    waiting = controller.open_trials()
    if not waiting:
        controller.ask()
        return
    tables, (missing, *_) = world.tables(waiting[0]), controller.missing_shards(waiting[0])
    for shard in range(missing + 1):
        controller.tell_tables(waiting[0], shard, *tables[shard])


def test_the_same_on_postgresql(world, postgres_url):
    with Controller.create(postgres_url, world.problem, seed=1) as controller:
        for _ in range(3):
            trial = controller.ask()
            tables = world.tables(trial)
            controller.tell_tables(trial, 1, *tables[1])
            controller.tell_all_tables(trial, tables)
            controller.tell_tables(trial, 1, *tables[1])
        assert controller.open_trials() == []
        assert same_state(replayed(controller), controller._log.state)


def test_from_the_shell(world, controller, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*args, code=0):
        with pytest.raises(SystemExit) as stop:
            main(["control", *map(str, args)])
        captured = capsys.readouterr()
        assert stop.value.code == code, captured.err
        return captured.err if code else captured.out

    trial = controller.ask()
    tables = {i: {"N": N.tolist(), "Y": Y.tolist()} for i, (N, Y) in world.tables(trial).items()}
    one, several = tmp_path / "one.json", tmp_path / "all.json"
    one.write_text(json.dumps(tables[1]))
    several.write_text(json.dumps({i: tables[i] for i in (0, 1)}))
    assert "1 told, 4 shards to come" in run("tell-tables", "control.db", 1, 1, one)
    assert "2 told, 3 shards to come" in run("tell-tables", "control.db", 1, "all", several)
    np.savez(tmp_path / "two.npz", **tables[2])
    assert "1 told, 2 shards to come" in run("tell-tables", "control.db", 1, 2, "two.npz")
    stacked = {name: np.stack([tables[i][name] for i in range(SHARDS)]) for name in ("N", "Y")}
    np.savez(tmp_path / "all.npz", **stacked)
    assert "5 told, closed" in run("tell-tables", "control.db", 1, "all", "all.npz")
    for args, words in (
        (("x", one), "`SHARD` to be a number"),
        ((9, one), "`SHARD` to be a whole number"),
        ((1, "none.json"), "none.json"),
        ((1, several), "`TABLES` to hold N and Y"),
        ((2, one), "already told other"),
    ):
        error = run("tell-tables", "control.db", 1, *args, code=2)
        assert words in error
        assert len(error.strip().splitlines()) == 1


def test_the_next_trial_is_asked_once_though_shards_are_missing(world, controller):
    trial = controller.ask()
    tables = world.tables(trial)
    some = {shard: tables[shard] for shard in (0, 2)}
    following = controller.next(trial, some)
    events = controller.status()["events"]
    again = controller.next(trial, some)
    assert (again.id, controller.status()["events"]) == (following.id, events)
    controller.tell_all_tables(trial, {shard: tables[shard] for shard in (1, 3, 4)})
    assert controller.status()["open"] == [following.id]


def test_a_trial_of_shards_is_not_taken_back_on_another_graph_either(world, controller):
    trial = controller.ask()
    controller.tell_all_tables(trial, world.tables(trial))
    plain = gbb.Graph.complete(3)
    controller.replace_graph(plain)
    with pytest.raises(gbb.InputError, match="which shards tell in tables"):
        controller.retract(trial)
    told = controller.ask()
    controller.tell(told, np.zeros(plain.m))
    controller.retract(told)
    assert controller.status()["open"] == [told.id]
