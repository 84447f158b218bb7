"""The controller beyond the paper's problem: edge types, weights, rewards in sums, allowed arms."""

import itertools

import numpy as np
import pandas as pd
import pytest

import gbb
from control import drive, next_ask, noise_of, plain, replayed, same_state, url_of
from gbb._support.threads import one_thread
from gbb.controller import Controller, RewardWarning
from gbb.controller.log import log
from gbb.learning import Ridge, empty, observe, radius

ROUNDS = 24
NAMES = ["west", "north", "east", "south"]
PAIRS = [("west", "north"), ("north", "east"), ("east", "south"), ("south", "west")]
ARMS = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, -0.8]])


def network(pairs=(*PAIRS, ("west", "east")), names=NAMES):
    return gbb.Graph.from_edges(list(pairs), names=names, undirected=True)


def make(kind):
    """A problem of each kind that the paper's is not."""
    graph = network()
    sums = (graph.sources + graph.indices).astype(np.int64)
    symmetric, one_way = sums % 2, np.where(graph.sources < graph.indices, 1.0, 0.0)
    mixed = np.where(sums % 3 == 0, -0.5, 2.0)
    allowed = np.ones((4, 3), dtype=bool)
    allowed[1, 0] = allowed[3, 2] = False
    settings = {
        "typed": {"edge_types": symmetric},
        "own": {"edge_types": "source"},
        "weighted": {"edge_weights": mixed},
        "allowed": {"allowed": allowed},
        "agent": {
            "edge_types": symmetric,
            "edge_weights": one_way,
            "feedback": "agent",
            "allowed": allowed,
        },
        "global": {"edge_types": symmetric, "feedback": "global"},
        "link": {"feedback": "link"},
        "links, typed and weighted": {
            "edge_types": symmetric,
            "edge_weights": mixed,
            "feedback": "link",
            "allowed": allowed,
        },
        "links, one way": {"edge_weights": one_way, "feedback": "link"},
    }[kind]
    names = ["straight", "left", "right"]
    return gbb.Problem(graph, ARMS, sigma=0.3, S=3.0, arm_names=names, **settings)


KINDS = ("typed", "own", "weighted", "allowed", "agent", "global")
KINDS += ("link", "links, typed and weighted", "links, one way")
POLICIES = {
    "JointOFUL": {"radius": "complete"},
    "ThompsonSampling": {},
    "ImprovedOFUL": {},
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_policy = pytest.mark.parametrize("policy", POLICIES)


def environment(problem, seed=0):
    rng = np.random.default_rng(seed)
    d = problem.d
    shape = (problem.types, d, d) if problem.types > 1 else (d, d)
    return gbb.Environment(problem, rng.uniform(-1, 1, shape))


def create(tmp_path, kind, policy="JointOFUL", seed=3, **more):
    settings = POLICIES.get(policy, {})
    return Controller.create(url_of(tmp_path), make(kind), policy, seed, **settings, **more)


@every_kind
@every_policy
def test_driving_it_gives_the_choices_of_simulate(kind, policy, tmp_path, monkeypatch):
    """Opened anew each round, from a snapshot now and then."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 7)
    problem = make(kind)
    env = environment(problem)
    chosen = gbb.policies.build(
        policy, problem, cut=gbb.cuts.greedy(problem.graph), **POLICIES[policy]
    )
    expected = gbb.simulate(
        env, chosen, rounds=ROUNDS, seed=3, method="reference", keep_allocations=True
    )
    url, rng, played = url_of(tmp_path), noise_of(3), []
    Controller.create(url, problem, chosen, 3).close()
    for _ in range(ROUNDS):
        with Controller.open(url) as controller:
            played.append(drive(controller, env, rng, 1)[0])
            assert same_state(replayed(controller), controller._log.state)
    allocations = expected["allocation"].isel(policy=0, run=0).to_numpy()
    assert np.array_equal(np.array(played), allocations)
    assert problem.allowed[np.arange(4), np.array(played)].all()


def some_rewards(problem, arms, env, rng, share=0.6):
    """Rewards by name, of some edges or agents."""
    drawn, graph = env.draw(1, arms, rng), problem.graph
    if problem.feedback == "global":
        return drawn[0], None
    if problem.feedback == "agent":
        names = list(graph.labels)
    else:
        names = [(graph.label(int(i)), graph.label(int(j))) for i, j in graph.edges]
    if problem.feedback == "link":
        names = [names[e] for e, (i, j) in enumerate(graph.edges) if i < j]
        names = [pair[:: rng.choice([1, -1])] for pair in names]  # either order names a link
    kept = np.flatnonzero(rng.random(len(drawn)) < share)
    kept = kept if kept.size else np.array([0])
    return {names[k]: drawn[k] for k in kept[::-1]}, kept


@every_kind
@every_policy
def test_partial_rewards_out_of_order_are_what_a_loop_sums(kind, policy, tmp_path, monkeypatch):
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 5)
    controller = create(tmp_path, kind, policy)
    problem = controller.problem
    env, rng = environment(problem), np.random.default_rng(1)
    record = empty(problem)
    for _ in range(4):
        trials = controller.ask_many(3)
        for trial in (trials[2], trials[0], trials[1]):
            rewards, kept = some_rewards(problem, trial.arms, env, rng)
            controller.tell(trial, rewards)
            controller.tell(trial.id, rewards)  # the same again changes nothing
            given = np.full(problem.observations, np.nan)
            given[slice(None) if kept is None else kept] = (
                rewards if kept is None else [*rewards.values()][::-1]
            )
            record = record.merge(observe(problem, trial.arms, given))
    state = controller._log.state
    assert plain(state.record) == plain(record)
    assert state.rounds == 12
    assert same_state(replayed(controller), state)
    assert same_state(Controller.open(url_of(tmp_path))._log.state, state)


def test_halves_are_learnt_from_both_directions_only(tmp_path):
    """A link told one way says nothing of symmetric halves, and all there is of whole matrices."""
    graph = network()
    whole = {"JointOFUL complete", "ImprovedOFUL", "own"}  # learn in all dimensions
    cases = {
        "JointOFUL complete": (make("typed"), "JointOFUL", {"radius": "complete"}),
        "JointOFUL": (make("typed"), "JointOFUL", {"radius": "symmetric"}),
        "ImprovedOFUL": (make("typed"), "ImprovedOFUL", {}),
        "ImprovedOFUL symmetric": (make("typed"), "ImprovedOFUL", {"radius": "symmetric"}),
        "own": (make("own"), "ThompsonSampling", {}),
    }
    for name, (problem, policy, settings) in cases.items():
        url = url_of(tmp_path)
        controller = Controller.create(url, problem, policy, name=name, **settings)
        trial = controller.ask()
        controller.tell(trial, {("west", "north"): 1.0, ("north", "west"): 1.5, PAIRS[1]: 2.0})
        state = controller._log.state
        ridge = controller.policy.learner.posterior(controller.problem, state.memory).ridge
        assert ridge.symmetric == (name not in whole), name
        assert ridge.record.N.sum() == (3 if name in whole else 2), name
        assert state.memory.record.N.sum() == state.record.N.sum() == 3
    # Directions of different types are no halves of one matrix, even when both are told.
    own = Controller.open(url_of(tmp_path), "own")
    assert own._log.state.record.two_way_part.N.sum() == 0
    own.replace_graph(graph, edge_types=np.minimum(graph.sources, graph.indices) * 0 + 3)
    own.set_policy("JointOFUL", radius="symmetric")
    ridge = own.policy.learner.posterior(own.problem, own._log.state.memory).ridge
    assert ridge.record.N.sum() == 3  # so all of it is learnt, in all dimensions
    assert not ridge.symmetric


@every_kind
def test_forbidden_arms_are_not_chosen_and_the_memory_stays(kind, tmp_path):
    controller = create(tmp_path, kind, "ThompsonSampling")
    env, rng = environment(controller.problem), np.random.default_rng(0)
    drive(controller, env, rng, 3)
    memory = controller._log.state.memory
    controller.forbid("west", ["straight", "left"])
    controller.pin("east", "left")
    assert controller._log.state.memory is memory
    assert controller.problem.allowed[0].tolist() == [False, False, True]
    for _ in range(5):
        trial = controller.ask()
        assert trial.allocation["west"] == "right"
        assert trial.allocation["east"] == "left"
        controller.tell(trial, env.draw(1, trial.arms, rng))
    advice = controller.recommend()
    assert (advice.allocation["west"], advice.allocation["east"]) == ("right", "left")
    assert same_state(replayed(controller), controller._log.state)
    with pytest.raises(gbb.InputError, match="leave every agent an arm"):
        controller.forbid("west", "right")
    controller.allow(None)
    assert controller.problem.allowed.all()
    drive(controller, env, rng, 2)
    assert same_state(replayed(controller), controller._log.state)


def test_a_problem_with_allowed_arms_becomes_the_papers_and_comes_back(tmp_path):
    """Nothing is lost on the way."""
    for policy in ("ImprovedOFUL", "JointOFUL", "UniformRandom"):
        controller = create(tmp_path, "allowed", policy, name=policy)
        env, rng = environment(controller.problem), np.random.default_rng(0)
        drive(controller, env, rng, 3)
        first = controller._log.state.record
        controller.allow(None)
        assert controller.problem.is_paper_problem
        assert plain(controller._log.state.record.N) == plain(first.N)
        drive(controller, env, rng, 2)
        controller.forbid("north", "straight")
        assert not controller.problem.is_paper_problem
        drive(controller, env, rng, 2)
        state = controller._log.state
        assert state.record.N.sum() == 7 * controller.problem.m
        assert state.rounds == 7
        assert same_state(replayed(controller), state)
    # A policy that does not play such problems is repaired, as on the paper's.
    controller.allow(None)
    controller.set_policy("ExploreThenCommit", exploration=2)
    controller.forbid("north", ["straight", "left"])
    assert controller.ask().allocation["north"] == "right"
    assert same_state(replayed(controller), controller._log.state)


def test_a_fixed_allocation_gives_way_where_it_is_forbidden(tmp_path):
    problem = make("typed")
    policy = gbb.policies.FixedAllocation(problem, allocation=[1, 1, 2, 2])
    controller = Controller.create(url_of(tmp_path), problem, policy)
    controller.forbid("north", "left")
    assert controller.ask().arms.tolist() == [1, 0, 2, 2]
    controller.allow("north")
    assert controller.ask().arms.tolist() == [1, 1, 2, 2]


@every_kind
def test_retracting_leaves_nothing_behind(kind, tmp_path):
    """Not even the rounding of what was told by mistake."""
    stories = []
    for typo in (True, False):
        controller = create(tmp_path, kind, "ThompsonSampling", name=f"typo {typo}")
        problem = controller.problem
        env, rng = environment(problem), np.random.default_rng(0)
        drive(controller, env, rng, 3)
        trial = controller.ask()
        if typo:
            with pytest.warns(RewardWarning):
                controller.tell(trial, np.full(problem.observations, 1e60))
            assert controller.predict(trial.arms).caveat is not None
            controller.retract(trial, "a slip")
        controller.tell(trial, env.draw(1, trial.arms, rng))
        assert same_state(replayed(controller), controller._log.state)
        assert controller.predict(trial.arms).caveat is None
        stories.append((controller._log.state, controller.ask().arms.tolist()))
    (one, asked), (other, expected) = stories
    assert plain(one.record) == plain(other.record)
    assert plain(one.memory) == plain(other.memory)
    assert asked == expected


@every_kind
def test_another_network_keeps_what_was_learnt_and_may_add_types(kind, tmp_path):
    controller = create(tmp_path, kind)
    old = controller.problem
    env, rng = environment(old), np.random.default_rng(0)
    drive(controller, env, rng, 4)
    waiting = controller.ask()
    before = controller._log.state.record
    grown = network([*PAIRS, ("south", "new")], [*NAMES, "new"])
    types = np.full(grown.m, old.types)
    types[: old.types] = np.arange(old.types)
    weights = np.linspace(0.5, 2, grown.m)
    if old.symmetric_only:  # whose links stay alike in both directions
        types[grown.reverse[: old.types]] = np.arange(old.types)
        weights = weights + weights[grown.reverse]
    controller.replace_graph(grown, edge_types=types, edge_weights=weights)
    problem, record = controller.problem, controller._log.state.record
    assert (problem.types, problem.n) == (old.types + 1, 5)
    assert problem.feedback == old.feedback
    assert np.array_equal(problem.allowed[:4], old.allowed)
    assert problem.allowed[4].all()
    size, gram = old.parameters, record.gram(problem)
    assert np.array_equal(gram[:size, :size], before.gram(old))
    assert not gram[size:].any()
    assert not gram[:, size:].any()
    assert np.allclose(record.moment(problem)[:size], before.moment(old), rtol=1e-12, atol=0)
    assert not record.moment(problem)[size:].any()
    told = env.draw(1, waiting.arms, rng)  # on the network that it was asked on
    controller.tell(waiting, told)
    controller.tell(waiting, told)
    wider = environment(problem)
    drive(controller, wider, rng, 3)
    controller.retract(waiting)
    drive(controller, wider, rng, 1)
    controller.tell(waiting, told)
    state = controller._log.state
    assert state.rounds == 9
    assert same_state(replayed(controller), state)
    assert len(controller.estimate()) == problem.types
    controller.discount(0.5)
    assert same_state(replayed(controller), controller._log.state)


@every_kind
def test_radii_that_count_rounds_count_enough_of_them(kind, tmp_path):
    """As many as there were, and more where rounds on a larger network told more than one here can."""
    controller = create(tmp_path, kind, "ImprovedOFUL")
    drive(controller, environment(controller.problem), np.random.default_rng(0), 6)
    controller.set_policy("OFUL")
    assert controller._log.state.memory.rounds == 6
    types = controller.problem.types
    small, weights = network(PAIRS[:3]), np.full(6, 0.1)
    weights[0] = 0.1 if controller.problem.tabular else 0.2
    controller.replace_graph(small, edge_types=[types - 1] * 6, edge_weights=weights)
    problem, state = controller.problem, controller._log.state
    record = state.memory.record
    sums = record.tables is None
    told = np.trace(record.gram(problem)) if sums else record.N.sum() * problem.L**2
    assert state.memory.rounds * problem.gram_growth_per_round * problem.L**2 >= told
    assert state.memory.rounds > 6
    assert same_state(replayed(controller), state)


def test_the_papers_problem_may_become_another(tmp_path):
    """What was learnt of the one matrix is what is known of type 0."""
    graph = network()
    problem = gbb.Problem(graph, ARMS, sigma=0.3, S=3.0)
    controller = Controller.create(url_of(tmp_path), problem, "JointOFUL", radius="complete")
    drive(controller, environment(problem), np.random.default_rng(0), 4)
    controller.forbid("west", 0)
    before = controller._log.state.record
    controller.replace_graph(graph, edge_types=(graph.sources == 0).astype(int))
    state = controller._log.state
    assert np.array_equal(state.record.N[0], before.N)
    assert not state.record.N[1].any()
    assert not controller.problem.allowed[0, 0]
    assert controller.ask().arms[0] != 0
    assert same_state(replayed(controller), controller._log.state)


def test_what_a_new_network_must_say(tmp_path):
    graph = network()
    typed = create(tmp_path, "typed", name="typed")
    with pytest.raises(gbb.InputError, match="`edge_types` to be given for the new graph"):
        typed.replace_graph(graph)
    with pytest.raises(gbb.InputError, match="`edge_types` must keep all 2 types"):
        typed.replace_graph(graph, edge_types=np.zeros(graph.m, int))
    with pytest.raises(gbb.InputError, match="be numbers unless each agent had its own type"):
        typed.replace_graph(graph, edge_types="source")
    with pytest.raises(gbb.InputError, match="one type per directed edge"):
        typed.replace_graph(graph, edge_types=[0, 1])
    weighted = create(tmp_path, "weighted", name="weighted")
    with pytest.raises(gbb.InputError, match="`edge_weights` to be given for the new graph"):
        weighted.replace_graph(graph)
    weighted.replace_graph(graph, edge_weights=np.ones(graph.m))
    assert weighted.problem.is_paper_problem
    own = create(tmp_path, "own", name="own")
    other = network(names=["new", *NAMES])
    with pytest.raises(gbb.InputError, match="be numbers unless each agent had its own type"):
        own.replace_graph(other, edge_types="source")
    own.replace_graph(network([*PAIRS, ("south", "new")], [*NAMES, "new"]), edge_types="source")
    assert own.problem.types == 5
    for controller in (typed, own):
        with pytest.raises(gbb.InputError, match="for ExploreThenCommit"):
            controller.set_policy("ExploreThenCommit", exploration=2)
    once = create(tmp_path, "allowed", "ImprovedOFUL", name="once")
    once.set_policy("ExploreThenCommit", exploration=2)  # bans alone are left to repairs
    for trial in once.ask_many(5):
        assert make("allowed").allowed[np.arange(4), trial.arms].all()


@every_kind
def test_estimates_are_those_of_a_ridge_for_each_type(kind, tmp_path):
    controller = create(tmp_path, kind, "ImprovedOFUL")
    problem = controller.problem
    env, rng = environment(problem), np.random.default_rng(0)
    record = empty(problem)
    for _ in range(15):
        arms = np.array([rng.choice(np.flatnonzero(row)) for row in problem.allowed])
        rewards = env.draw(1, arms, rng)
        controller.attach(arms, rewards)
        record = record.merge(observe(problem, arms, rewards))
    ridge = Ridge(problem, record, 1.0)
    noise = radius.self_normalised(problem.sigma, ridge.log_det, 1e-3 / 4)
    norm = np.sqrt(problem.types) * problem.S
    # All types' parameters at once, by plain linear algebra.
    d2, z, basis = problem.d**2, problem.edge_arms, np.eye(4)
    if problem.symmetric_only:
        pairs = z.reshape(problem.K, problem.K, d2)
        z = ((pairs + pairs.transpose(1, 0, 2)) / 2).reshape(-1, d2)
        basis = (basis + basis[[0, 2, 1, 3]]) / 2
    A = np.eye(problem.parameters)
    if record.tables is None:
        A += record.gram(problem)
    else:
        for g, counts in enumerate(record.tables[0]):
            block = slice(g * d2, (g + 1) * d2)
            A[block, block] += (z * counts.reshape(-1, 1)).T @ z
    inverse = np.linalg.inv(A)

    def off(g, vectors):
        """The smaller of the two bounds, with lam = 1."""
        solved = vectors @ inverse[g * d2 : (g + 1) * d2]
        width = np.sqrt((solved[:, g * d2 : (g + 1) * d2] * vectors).sum(axis=1))
        first = noise * width + norm * np.linalg.norm(solved, axis=1)
        return np.minimum(first, np.hypot(noise, norm) * width)

    estimates = controller.estimate()
    assert [each.edge_type for each in estimates] == list(range(problem.types))
    for g, each in enumerate(estimates):
        np.testing.assert_allclose(each.M_hat, ridge.M_hats[g], atol=1e-12)
        np.testing.assert_allclose(each.table, ARMS @ ridge.M_hats[g] @ ARMS.T, atol=1e-9)
        np.testing.assert_allclose(each.M_width, off(g, basis).reshape(2, 2).T, rtol=1e-9)
        np.testing.assert_allclose(each.table_width.ravel(), off(g, z), rtol=1e-9)
        M = env.M_star if problem.types == 1 else env.M_star[g]
        M = (M + M.T) / 2 if problem.symmetric_only else M
        assert (np.abs(each.M_hat - M) <= each.M_width).all()
        assert (each.N is None) == (not problem.tabular)
        if each.N is not None:
            assert np.array_equal(problem.ways * each.N, record.tables[0][g])
            assert np.array_equal(problem.ways * each.Y, record.tables[1][g])


@every_kind
def test_predictions_and_bounds_hold(kind, tmp_path):
    """For the truth, for every allocation, from nothing told to much."""
    controller = create(tmp_path, kind, "ThompsonSampling")
    problem = controller.problem
    env, rng = environment(problem), np.random.default_rng(0)
    free = [np.flatnonzero(row) for row in problem.allowed]
    every = [np.array(arms) for arms in itertools.product(*free)]
    worth = [env.expected_reward(arms) for arms in every]
    most = np.abs(problem.edge_weights).sum() * problem.L * problem.S
    most = np.nextafter(
        most, np.inf
    )  # some arms are a little longer than 1, and bounds are rounded up
    bounds = []
    for rounds in (0, 20, 100):
        drive(controller, env, rng, rounds)
        for arms, value in zip(every, worth, strict=True):
            said = controller.predict(arms)
            assert said.low - 1e-9 <= value <= said.high + 1e-9
            assert -most <= said.low <= said.reward <= said.high <= most
        advice = controller.recommend()
        assert advice.upper_bound >= max(worth)
        assert advice.upper_bound <= most
        assert advice.low <= advice.reward <= advice.high
        bounds.append(advice.upper_bound)
    # One number a round, and few allocations played: of single links next to nothing is known.
    assert bounds[2] < bounds[0] or problem.feedback == "global"
    assert env.expected_reward(advice.arms) >= max(worth) - 0.15 * (max(worth) - min(worth))


def test_rewards_by_agent(tmp_path):
    controller = create(tmp_path, "agent")
    trial = controller.ask()
    values = {"south": 1.0, "west": 2.0}
    controller.tell(trial, values)
    table = pd.DataFrame({"agent": [" west ", "south"], "reward": ["2.0", "1"]})
    controller.tell(trial, table)  # the same, said otherwise
    path = tmp_path / "rewards.csv"
    path.write_text("agent,reward\nsouth,1\nwest,2\n")
    controller.tell(trial, path)
    (entry,) = controller.history("tell")
    assert entry.content == {"agents": 2, "rewards": [["west", 2.0], ["south", 1.0]]}
    trial = controller.ask()
    controller.tell(trial, [4.0, 3.0, 2.0, 1.0])
    controller.tell(trial, dict(zip(NAMES, [4.0, 3.0, 2.0, 1.0], strict=True)))
    last = controller.history("tell")[-1].content["rewards"]
    assert last == [[name, value] for name, value in zip(NAMES, [4, 3, 2, 1], strict=True)]
    status = controller.status()
    assert (status["feedback"], status["types"], status["rounds"]) == ("agent", 2, 2)
    assert "edge_rewards" not in status
    trial = controller.ask()
    for wrong, message in [
        ({("west", "north"): 1.0}, "have agents as keys"),
        ({"up": 1.0}, "name an agent, but got 'up'"),
        ({"west": np.nan}, "finite numbers only, but got nan for 'west'"),
        ({"west": 1e101}, "numbers of at most 1e"),
        ({}, "at least one reward"),
        ([1.0] * 10, "one per agent"),
        (pd.DataFrame({"agent": ["west", "west"], "reward": [1, 2]}), "no agent twice"),
        (pd.DataFrame({"source": [], "target": [], "reward": []}), "the columns agent, reward"),
    ]:
        with pytest.raises(gbb.InputError, match=message):
            controller.tell(trial, wrong)
    assert controller._log.refresh().rounds == 2
    # Agent 3 has edges of weight 0 only: nothing but noise is possible there.
    assert controller.problem.sigma * 8 == pytest.approx(2.4)
    with pytest.warns(RewardWarning, match=r"outside \+-2.4 .*sum \|w\| L S .* at 'south'"):
        controller.tell(trial, {"south": 2.5, "west": 2.5})
    (entry,) = controller.history("warning")
    assert entry.content["agent"] == "south"
    assert "sum |w| L S + 8 sigma" in controller.recommend().caveat


def test_rewards_in_all(tmp_path):
    controller = create(tmp_path, "global")
    for rewards in (1.5, np.float64(1.5), [1.5], np.array([1.5]), pd.DataFrame({"reward": [1.5]})):
        trial = controller.ask()
        controller.tell(trial, rewards)
        controller.tell(trial, 1.5)
    assert [entry.content["rewards"] for entry in controller.history("tell")] == [[[1.5]]] * 5
    trial = controller.ask()
    for wrong, message in [
        ([1.0, 2.0], "one in all"),
        ({"west": 1.0}, "be one number"),
        (float("inf"), "finite"),
        (pd.DataFrame({"reward": [1, 2]}), "one number in all"),
        (pd.DataFrame({"value": [1]}), "have a column reward"),
    ]:
        with pytest.raises(gbb.InputError, match=message):
            controller.tell(trial, wrong)
    with pytest.warns(RewardWarning, match="1 of 1 rewards lie outside .* first 1000; they"):
        controller.tell(trial, 1000.0)
    controller.attach(trial.arms, 2.0, key="before")
    controller.attach(trial.arms, 2.0, key="before")
    assert controller.status()["rounds"] == 7


def test_limits_follow_the_weights(tmp_path):
    controller = create(tmp_path, "weighted")
    problem = controller.problem
    edge = int(np.argmin(problem.edge_weights))
    assert problem.edge_weights[edge] == -0.5
    link = tuple(problem.graph.label(int(i)) for i in problem.graph.edges[edge])
    trial = controller.ask()
    with pytest.warns(RewardWarning, match="outside"):
        controller.tell(trial, {link: 0.5 * 3.0 + 8 * 0.3 + 0.01})
    assert "edge_rewards" not in controller.status()
    typed = create(tmp_path, "typed", name="typed")
    typed.tell(typed.ask(), {PAIRS[0]: 1.0})
    assert typed.status()["edge_rewards"] == 1


def test_the_log_of_a_plain_problem_has_nothing_new(tmp_path):
    problem = gbb.Problem(network(), ARMS)
    controller = Controller.create(url_of(tmp_path), problem)
    (event,) = controller._log.events()
    assert set(event.content["problem"]) == {"arms", "sigma", "S", "L", "feedback"}
    assert set(event.content["graph"]) == {"indptr", "indices", "names"}
    assert "feedback" not in controller.status()


@pytest.mark.parametrize("first", ["ThompsonSampling", "JointOFUL"])
def test_snapshots_change_nothing_when_the_policy_changes_what_the_problem_holds(
    first, tmp_path, monkeypatch
):
    """To a policy that leaves forbidden arms to repairs and back, with bans before and between."""
    monkeypatch.setattr(log, "SNAPSHOT_EVENTS", 5)
    controller = create(tmp_path, "allowed", first)
    env, rng = environment(make("typed")), np.random.default_rng(2)
    env = gbb.Environment(gbb.Problem(network(), ARMS, sigma=0.3, S=3.0), env.M_star[0])

    def check(rounds, banned):
        for trial in drive(controller, env, rng, rounds):
            assert all(trial[agent] != arm for agent, arm in banned)
        state, whole = controller._log.state, replayed(controller)
        opened = Controller.open(url_of(tmp_path))._log.state
        for each in (whole, opened):
            assert same_state(each, state)
            assert each.setup.problem.is_paper_problem == state.setup.problem.is_paper_problem
            assert plain(each.setup.problem.allowed) == plain(state.setup.problem.allowed)
            with one_thread():
                assert next_ask(each) == next_ask(state)

    banned = [(1, 0), (3, 2)]
    check(6, banned)
    assert not controller.problem.is_paper_problem
    controller.set_policy("ExploreThenCommit", exploration=3)
    assert controller.problem.is_paper_problem
    check(6, banned)
    controller.forbid("west", "left")
    check(6, [*banned, (0, 1)])
    controller.set_policy(first, **POLICIES[first])
    assert not controller.problem.is_paper_problem
    assert not controller.problem.allowed[0, 1]
    check(6, [*banned, (0, 1)])
    controller.allow(None)
    controller.set_policy("ExploreThenCommit", exploration=3)
    controller.forbid("north", "straight")
    built = gbb.policies.ThompsonSampling(controller.problem, cut=gbb.cuts.greedy(network()))
    controller.set_policy(built)  # built on the problem without bans, plays the one with them
    assert not controller.problem.is_paper_problem
    check(6, [(1, 0)])
