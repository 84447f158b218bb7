"""Operations: arms forbidden and pinned, graphs and policies replaced, old data discounted."""

import itertools
import warnings

import numpy as np
import pytest

import gbb
import naive
from control import drive, environment, replayed, same_state, small, url_of
from gbb.controller import Controller, RewardWarning, StorageError
from gbb.controller.queries.knowledge import Knowledge
from gbb.controller.state.allowed import repair
from gbb.policies import Choice


@pytest.fixture
def problem():
    return small(named=True)


@pytest.fixture
def controller(problem, tmp_path):
    with Controller.create(url_of(tmp_path), problem, seed=1) as made:
        yield made


def arms_of(controller, rounds=6):
    """Which arms each agent was asked to play."""
    env = environment(controller.problem)
    played = drive(controller, env, np.random.default_rng(0), rounds)
    return [set(column) for column in played.T.tolist()]


@pytest.mark.parametrize(
    "policy",
    [
        name
        for name in gbb.policies.names()
        if gbb.policies.find(name).controllable and name != "Conservative"  # test_safety.py has it
    ],
)
def test_no_policy_plays_a_forbidden_arm(policy, problem, tmp_path):
    cut = gbb.cuts.greedy(problem.graph)
    chosen = gbb.policies.build(policy, problem, cut=cut, exploration=3)
    controller = Controller.create(url_of(tmp_path), problem, chosen)
    controller.forbid("cell-0", ["tilt-0", "tilt-2"])
    controller.forbid(["cell-1", "cell-2"], "tilt-1")
    controller.pin("cell-3", "tilt-2")
    played = arms_of(controller, 12)
    assert played[0] == {1}
    assert not played[1] & {1}
    assert not played[2] & {1}
    assert played[3] == {2}
    again = Controller.open(url_of(tmp_path))
    assert again.status()["forbidden"] == 6
    assert same_state(again._log.state, replayed(controller))
    again.allow("cell-3")
    again.allow("cell-0", "tilt-0")
    again.pin(None, "tilt-0")
    assert arms_of(again) == [{0}] * 4
    again.allow(None)
    assert again.status()["forbidden"] == 0


def test_an_ask_that_breaks_nothing_estimates_nothing_more(problem, tmp_path, monkeypatch):
    with Controller.create(url_of(tmp_path), problem, "ExploreThenCommit", horizon=9) as controller:
        controller.forbid("cell-0", "tilt-2")
        built = []
        monkeypatch.setattr("gbb.controller.commands.trials.Knowledge", built.append)
        monkeypatch.setattr(
            "gbb.policies.ExploreThenCommit.select",
            lambda self, *_: Choice(np.zeros(self.problem.n, dtype=np.int64)),
        )
        assert set(controller.ask().arms) == {0}
        assert not built


def test_an_arm_forbidden_everywhere_leaves_the_problem_without_it(problem, tmp_path):
    """The couple is then the best allowed one: the choices are those of the smaller problem."""
    two = gbb.Problem(problem.graph, np.eye(3)[:2], sigma=0.5, S=3.0)
    M = gbb.instances.absolute_normal(3, seed=2)
    played = []
    for k, each in enumerate((problem, two)):
        controller = Controller.create(
            url_of(tmp_path), each, seed=3, name=str(k), radius="symmetric"
        )
        if each is problem:
            controller.forbid(None, "tilt-2")
        env = gbb.Environment(each, M)
        played.append(drive(controller, env, np.random.default_rng(0), 40))
    # The first choices are ties, which the two problems break differently.
    assert set(np.unique(played[0])) <= {0, 1}
    assert np.array_equal(played[0][-10:], played[1][-10:])


def test_every_agent_keeps_an_arm(controller):
    controller.pin("cell-1", "tilt-1")
    before = controller.status()
    with pytest.raises(
        gbb.InputError, match="every agent an arm, but got none left for agent 'cell-1'"
    ):
        controller.forbid(None, "tilt-1")
    with pytest.raises(gbb.InputError, match="`agent` to name an agent, but got 'cell-7'"):
        controller.forbid("cell-7", "tilt-1")
    with pytest.raises(gbb.InputError, match=r"`arm` to be one of .*'tilt-0'.* but got 'tilt'"):
        controller.pin("cell-0", "tilt")
    assert controller.status() == before


def test_repair_moves_only_who_must_and_to_a_best_response():
    rng = np.random.default_rng(0)
    for seed in range(20):
        graph = gbb.Graph.random(7, p=0.5, seed=seed)
        K = 4
        W = rng.normal(size=(K, K))
        W = W + W.T
        arms = rng.integers(K, size=7)
        allowed = rng.random((7, K)) < 0.5
        allowed[np.arange(7), rng.integers(K, size=7)] = True
        fixed, moved = repair(gbb.Problem(graph, np.eye(K)), W[None] / 2, arms, allowed)
        broken = ~allowed[np.arange(7), arms]
        assert moved == broken.sum()
        assert np.array_equal(fixed[~broken], arms[~broken])
        for i in np.flatnonzero(broken):
            gains = [sum(W[a, fixed[j]] for j in graph.neighbours(i)) for a in range(K)]
            best = max(gains[a] for a in range(K) if allowed[i, a])
            assert allowed[i, fixed[i]]
            assert gains[fixed[i]] == pytest.approx(best)


def test_a_new_graph_keeps_what_was_learnt_and_open_trials(controller, problem, tmp_path):
    env = environment(problem)
    drive(controller, env, np.random.default_rng(0), 5)
    controller.forbid("cell-1", "tilt-0")
    controller.pin("cell-2", "tilt-1")
    late = controller.ask()
    record = controller._log.state.record
    grown = gbb.Graph.from_edges(
        [("cell-1", "cell-3"), ("cell-3", "mast"), ("mast", "cell-1")],
        names=["cell-1", "cell-3", "mast"],
        undirected=True,
    )
    controller.replace_graph(grown)
    assert np.array_equal(controller._log.state.record.N, record.N)
    assert controller.problem.graph == grown
    assert controller.policy.problem.graph == grown
    trial = controller.ask()
    assert list(trial.allocation) == ["cell-1", "cell-3", "mast"]
    assert trial.allocation["cell-1"] != "tilt-0"
    assert controller.status()["forbidden"] == 1
    controller.tell(late, np.ones(problem.m))  # on the graph it was asked on
    controller.tell(trial, {("mast", "cell-1"): 2.0})
    with pytest.raises(gbb.InputError, match="`rewards` to name an agent, but got 'cell-0'"):
        controller.tell(controller.ask(), {("cell-0", "cell-1"): 1.0})
    controller.tell(late, np.ones(problem.m))  # the same again, on its own graph
    assert controller._log.state.record.N.sum() == 6 * problem.m + 1
    assert same_state(replayed(controller), controller._log.state)
    again = Controller.open(url_of(tmp_path))
    assert again.ask().allocation == Controller.open(url_of(tmp_path)).trial(8).allocation
    assert [entry.content["graph"] for entry in again.history("graph")] == [{"n": 3, "m": 6}]


def test_radii_that_count_rounds_never_count_too_few(controller, problem):
    drive(controller, environment(problem), np.random.default_rng(0), 5)
    controller.replace_graph(gbb.Graph.path(2))
    state = controller._log.state
    assert state.memory.rounds * controller.problem.m >= state.record.N.sum()


def test_another_cut_goes_with_another_graph(controller, problem, tmp_path):
    graph = gbb.Graph.path(3)
    cut = gbb.Cut.of(graph, [0, 1, 1])
    controller.replace_graph(graph, cut=cut)
    assert np.array_equal(controller.policy.cut.sides, [0, 1, 1])
    with pytest.raises(gbb.InputError, match="`cut` to cut the problem's graph"):
        controller.replace_graph(gbb.Graph.path(4), cut=cut)
    with pytest.raises(gbb.InputError, match=r"`graph` to be a gbb.Graph, but got list"):
        controller.replace_graph([(0, 1)])
    other = Controller.create(url_of(tmp_path), problem, "UniformRandom", name="no cut")
    with pytest.raises(gbb.InputError, match="`cut` to be left out, as UniformRandom has none"):
        other.replace_graph(graph, cut=cut)


@pytest.mark.parametrize("name", ["KCutOFUL", "JointOFUL"])
def test_a_cut_in_k_parts_goes_with_another_graph(name, problem, tmp_path):
    parts = gbb.cuts.kcut(problem.graph, 3, seed=0)
    controller = Controller.create(url_of(tmp_path), problem, name, cut=parts)
    graph = gbb.Graph.complete(6)
    controller.replace_graph(graph)
    refined = gbb.cuts.refine(gbb.cuts.greedy(graph), 3)
    assert np.array_equal(controller.policy.cut.parts, refined.parts)
    other = gbb.Cut.of(graph, [0, 1, 2, 0, 1, 2], 3)
    controller.replace_graph(graph, cut=other)
    controller.tell(controller.ask(), np.ones(graph.m))
    assert np.array_equal(controller.policy.cut.parts, other.parts)
    assert same_state(replayed(controller), controller._log.state)
    with pytest.raises(gbb.InputError, match="`cut` to cut the problem's graph"):
        controller.replace_graph(gbb.Graph.path(4), cut=other)
    controller.replace_graph(gbb.Graph.path(2))  # fewer agents than parts
    assert controller.ask().arms.shape == (2,)


def test_a_fixed_allocation_goes_by_names_to_another_graph(problem, tmp_path):
    arms = {"cell-0": "tilt-1", "cell-1": "tilt-2", "cell-2": "tilt-0", "cell-3": "tilt-1"}
    policy = gbb.policies.FixedAllocation(problem, allocation=arms)
    controller = Controller.create(url_of(tmp_path), problem, policy)
    fewer = gbb.Graph.from_edges([("cell-3", "cell-1"), ("cell-1", "cell-2")], undirected=True)
    controller.replace_graph(fewer)
    assert controller.ask().allocation == {name: arms[name] for name in fewer.names}
    before = controller.status()["events"]
    with pytest.raises(
        gbb.InputError, match=r"no agents without an arm in FixedAllocation, but got 'mast'\."
    ):
        controller.replace_graph(gbb.Graph.from_edges([("cell-3", "mast")], undirected=True))
    assert controller.status()["events"] == before


def test_another_policy_knows_all_that_was_told(controller, problem):
    drive(controller, environment(problem), np.random.default_rng(0), 8)
    old = controller.ask()
    controller.set_policy("OFUL", delta=0.1, radius="symmetric")
    assert controller.policy.delta == 0.1
    assert np.array_equal(controller._log.state.memory.record.N, controller._log.state.record.N)
    controller.tell(old, np.zeros(problem.m))
    controller.set_policy(
        gbb.policies.ExploreThenCommit(
            controller.problem, cut=gbb.cuts.greedy(problem.graph), exploration=4
        )
    )
    couples = {
        tuple(arms) for arms in drive(controller, environment(problem), np.random.default_rng(1), 4)
    }
    assert len(couples) == 1  # it has seen enough and commits
    with pytest.raises(gbb.InputError, match="`delta` to be a finite number > 0 and <= 1"):
        controller.set_policy("OFUL", delta=2.0)
    kinds = [entry.content["policy"]["kind"] for entry in controller.history("policy")]
    assert kinds == ["OFUL", "ExploreThenCommit"]
    assert same_state(replayed(controller), controller._log.state)


@pytest.mark.parametrize(
    ("policy", "settings", "both"),
    [
        ("ImprovedOFUL", {"radius": "paper"}, False),
        ("ImprovedOFUL", {"radius": "symmetric"}, True),
        ("JointOFUL", {"radius": "paper"}, True),
        ("ThompsonSampling", {}, True),
        ("ExploreThenCommit", {"exploration": 9}, False),
    ],
)
def test_a_symmetric_half_is_learnt_from_both_directions(policy, settings, both, tmp_path):
    """Here M* is all order and no symmetric half: every allocation pays 0, one direction does not."""
    problem = gbb.Problem(gbb.Graph.path(2), np.eye(2), sigma=0.0, S=3.0)
    M = np.array([[0.0, 2.0], [-2.0, 0.0]])
    controller = Controller.create(url_of(tmp_path), problem, policy, **settings)
    for _ in range(4):
        controller.attach([0, 1], {(0, 1): M[0, 1]})
    for _ in range(2):
        controller.attach([0, 1], {(0, 1): M[0, 1], (1, 0): M[1, 0]})

    def learnt():
        now, memory = controller.policy, controller._log.state.memory
        if policy == "ExploreThenCommit":
            return memory.record
        return now.learner.posterior(now.problem, memory).ridge.record

    assert controller._log.state.record.N.sum() == 8
    assert learnt().N.sum() == (4 if both else 8)
    assert learnt().Y.sum() == (0.0 if both else 8.0)
    for change in (
        lambda: controller.set_policy(policy, **settings),
        lambda: controller.discount(0.5),
    ):
        before = learnt().N.sum()
        change()
        weight = controller._log.state.record.N.sum() / 8
        assert learnt().N.sum() == weight * (4 if both else 8) <= before
    assert same_state(replayed(controller), controller._log.state)


def test_discounted_data_counts_for_less(controller, problem):
    drive(controller, environment(problem), np.random.default_rng(0), 8)
    before = controller.estimate()[0]
    controller.discount(0.25)
    after = controller.estimate()[0]
    assert np.allclose(after.N, before.N / 4)
    assert np.allclose(after.Y, before.Y / 4)
    seen = before.N > 0
    assert (after.table_width[seen] > before.table_width[seen]).all()
    controller.ask()
    assert same_state(replayed(controller), controller._log.state)
    for factor in (0.0, 1.5, float("nan")):
        with pytest.raises(gbb.InputError, match="`factor` to be a finite number > 0 and <= 1"):
            controller.discount(factor)


def test_logged_history_starts_it_off(problem, tmp_path):
    """Attaching rounds gives the policy the memory that playing them would have given."""
    env, rng = environment(problem), np.random.default_rng(0)
    played = Controller.create(url_of(tmp_path), problem, name="played")
    attached = Controller.create(url_of(tmp_path), problem, name="attached")
    for _ in range(10):
        trial = played.ask()
        rewards = env.draw(1, trial.arms, rng)
        played.tell(trial, rewards)
        attached.attach(trial.allocation, rewards)
    assert np.array_equal(attached._log.state.memory.record.Y, played._log.state.memory.record.Y)
    assert attached._log.state.memory.rounds == 10
    assert attached.status()["trials"] == 0
    attached.attach(np.zeros(4, int), {("cell-0", "cell-1"): 1.0})
    assert attached.status()["edge_rewards"] == 121
    with pytest.raises(gbb.InputError, match="depends on, but got none for agent 'cell-1'"):
        attached.attach({"cell-0": "tilt-0"}, rewards)


def test_knowledge_is_ridge_regression_with_the_complete_radius(controller, problem):
    drive(controller, environment(problem), np.random.default_rng(0), 5)
    controller.tell(controller.ask(), {("cell-0", "cell-1"): 1.0})
    record = controller._log.state.record
    d2 = problem.d**2
    z = np.array([naive.edge_arm(x, y) for x in problem.arms for y in problem.arms])
    A = np.eye(d2) + (z * record.N.reshape(-1, 1)).T @ z
    theta = np.linalg.solve(A, record.Y.ravel() @ z)
    inverse, bound = np.linalg.inv(A), problem.S
    noise = 0.5 * np.sqrt(np.linalg.slogdet(A)[1] + 2 * np.log(4e3))  # each bound has delta / 4

    def error(rows):
        width = np.sqrt(np.einsum("pi,ij,pj->p", rows, inverse, rows))
        biased = noise * width + bound * np.linalg.norm(rows @ inverse, axis=1)
        return np.minimum(biased, np.hypot(noise, bound) * width)

    (estimate,) = controller.estimate()
    assert estimate.M_hat == pytest.approx(theta.reshape(3, 3).T)
    assert estimate.M_width == pytest.approx(error(np.eye(d2)).reshape(3, 3).T)
    assert estimate.table == pytest.approx((z @ theta).reshape(3, 3))
    assert estimate.table_width == pytest.approx(error(z).reshape(3, 3))
    arms = np.array([0, 1, 2, 1])
    v = sum(
        naive.edge_arm(problem.arms[arms[i]], problem.arms[arms[j]]) for i, j in problem.graph.edges
    )
    answer = controller.predict(arms)
    width = error(v[None])[0]
    most = problem.S * np.linalg.norm(v)  # as ||theta*|| <= S
    assert v @ theta - width > -most
    assert v @ theta + width > most
    assert (answer.reward, answer.low, answer.high) == pytest.approx(
        (v @ theta, v @ theta - width, most)
    )
    named = dict(zip(problem.graph.names, ["tilt-0", "tilt-1", "tilt-2", "tilt-1"], strict=True))
    assert controller.predict(named).reward == pytest.approx(answer.reward)


@pytest.mark.parametrize("forbidden", [False, True])
def test_the_recommendation_comes_with_an_interval_and_a_bound_that_hold(
    forbidden, problem, tmp_path
):
    env = environment(problem, seed=3)
    controller = Controller.create(url_of(tmp_path), problem, "UniformRandom")
    if forbidden:
        controller.forbid("cell-0", "tilt-1")
        controller.pin("cell-2", "tilt-0")
    drive(controller, env, np.random.default_rng(0), 30)
    advice = controller.recommend()
    values = {
        arms: env.expected_reward(np.array(arms))
        for arms in itertools.product(range(3), repeat=4)
        if not forbidden or (arms[0] != 1 and arms[2] == 0)
    }
    assert tuple(advice.arms) in values
    assert advice.low <= values[tuple(advice.arms)] <= advice.high
    assert max(values.values()) <= advice.upper_bound
    assert advice.gap == advice.upper_bound - advice.reward >= 0
    assert advice.allocation == {
        name: problem.arm_names[a] for name, a in zip(problem.graph.names, advice.arms, strict=True)
    }
    assert values[tuple(advice.arms)] >= 0.9 * max(values.values())


def test_knowing_nothing_is_no_obstacle(controller):
    advice = controller.recommend()
    problem = controller.problem
    assert advice.low < advice.reward == 0.0 < advice.high <= advice.upper_bound
    assert advice.upper_bound == problem.m * problem.L * problem.S
    known = Knowledge(controller._log.state)
    assert known.radius == pytest.approx(np.hypot(0.5 * np.sqrt(2 * np.log(4e3)), 3.0))


@pytest.mark.parametrize(
    "name", [name for name in gbb.policies.names() if not gbb.policies.find(name).controllable]
)
def test_policies_that_a_log_cannot_hold_are_refused(tmp_path, name):
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2))
    policy = gbb.policies.build(name, problem, cut=gbb.cuts.greedy(problem.graph), horizon=9)
    with pytest.raises(gbb.InputError, match=f"a log can hold, but got {name}"):
        gbb.Controller.create(f"sqlite:///{tmp_path}/a.db", problem, policy, seed=0)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_answers_stay_within_the_declared_bounds(tmp_path, scale):
    """With scale 30 the estimate itself lies beyond them: it is drawn back, and a caveat says why."""
    rng = np.random.default_rng(3)
    problem = gbb.Problem(gbb.Graph.complete(4), rng.normal(size=(4, 2)), sigma=0.5, S=1.0, L=20.0)
    controller = Controller.create(url_of(tmp_path), problem, "UniformRandom")
    far = problem.L * problem.S + 8 * problem.sigma
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RewardWarning)
        for _ in range(20):
            trial = controller.ask()
            controller.tell(trial, scale * rng.uniform(1, 2, problem.m))
    advice = controller.recommend()
    most = problem.m * problem.L * problem.S
    assert -most <= advice.low <= advice.reward <= advice.high <= advice.upper_bound <= most
    norms = np.linalg.norm(problem.arms, axis=1)
    assert advice.upper_bound <= problem.m * problem.S * norms.max() ** 2 * (1 + 1e-12)
    guess = controller.predict(advice.arms)
    assert guess.low <= guess.reward <= guess.high
    assert (advice.caveat is None) == (guess.caveat is None) == (2 * scale <= far)
    (estimate,) = controller.estimate()
    assert estimate.caveat == advice.caveat


def test_a_caveat_says_that_the_bounds_were_broken(controller, problem, tmp_path):
    rewards = np.zeros(problem.m)
    rewards[0] = 1e6
    assert controller.recommend().caveat is None
    for rounds in ("1 round told", "2 rounds told"):
        trial = controller.ask()
        with pytest.warns(RewardWarning):
            controller.tell(trial, rewards)
        again = Controller.open(url_of(tmp_path))
        for answer in (controller.recommend(), again.predict(trial.allocation)):
            assert answer.caveat.startswith(f"{rounds} rewards beyond +-7 (L S + 8 sigma)")
    controller.retract(1)
    controller.retract(2)
    assert controller.predict(trial.allocation).caveat is None


def test_the_history_in_brief(controller, problem):
    trial = controller.ask()
    controller.tell(trial, np.arange(problem.m) / problem.m)
    _, ask, told = controller.history(brief=True)
    _, whole, rewards = controller.history()
    assert ask.content["agents"] == problem.n
    assert ask.content["allocation"].items() <= whole.content["allocation"].items()
    assert len(ask.content["allocation"]) == min(problem.n, 4)
    total = sum(row[-1] for row in rewards.content["rewards"])
    assert told.content == {"told": problem.m, "total": pytest.approx(total)}


def test_a_far_reward_is_kept_where_warnings_are_errors(controller, problem):
    """The call raises, but only after the reward is on disk: telling again changes nothing."""
    trial = controller.ask()
    with pytest.raises(RewardWarning):
        controller.tell(trial, np.full(problem.m, 1e6))
    assert controller.status()["rounds"] == 1
    kinds = [entry.kind for entry in controller.history()]
    assert kinds == ["create", "ask", "tell", "warning", "alert", "alert"]
    controller.tell(trial, np.full(problem.m, 1e6))
    with pytest.raises(RewardWarning):
        controller.attach(trial.allocation, np.full(problem.m, 1e6))
    assert controller.status()["rounds"] == 2


def test_names_come_in_any_collection(controller):
    for names in ({"cell-0", "cell-1"}, ("cell-0", "cell-1"), np.array(["cell-0", "cell-1"])):
        controller.forbid(names, {"tilt-0"})
        assert controller.status()["forbidden"] == 2
        controller.allow(iter(["cell-0", "cell-1"]))
    controller.forbid(np.array("cell-2"), np.array(["tilt-1"]))
    assert controller.status()["forbidden"] == 1
    logged = [entry.content["agents"] for entry in controller.history("forbid")]
    assert logged == [["cell-0", "cell-1"]] * 3 + [["cell-2"]]


@pytest.mark.parametrize("arm", [None, [], ["tilt-0", "tilt-1"]])
def test_a_pin_is_one_arm(controller, arm):
    with pytest.raises(
        gbb.InputError, match=r"`arm` to be one arm, but got .* Call allow\(agents\)"
    ):
        controller.pin("cell-0", arm)
    assert controller.status()["events"] == 1


def test_a_round_attached_under_a_key_counts_once(controller, problem, tmp_path):
    arms = dict.fromkeys(problem.graph.names, "tilt-1")
    controller.attach(arms, np.ones(problem.m), key="2024-01-01")
    controller.replace_graph(gbb.Graph.path(2))  # the round is still of the graph it was played on
    again = Controller.open(url_of(tmp_path))
    again.attach(arms, np.ones(problem.m), key="2024-01-01")
    assert again.status()["rounds"] == 1
    for rewards in (np.zeros(problem.m), {("cell-0", "cell-1"): 1.0}):
        with pytest.raises(gbb.InputError, match="already attached under `key` '2024-01-01'"):
            again.attach(arms, rewards, key="2024-01-01")
    again.attach([0, 1], [1.0, 1.0], key="2024-01-02")
    assert again.status()["rounds"] == 2
    assert [entry.content["key"] for entry in again.history("attach")] == [
        "2024-01-01",
        "2024-01-02",
    ]
    with pytest.raises(gbb.InputError, match="`key` to be a text on one line"):
        again.attach([0, 1], [1.0, 1.0], key=" ")


def test_huge_rewards_are_refused(tmp_path):
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2))
    policy = gbb.policies.UniformRandom(problem)
    control = gbb.Controller.create(f"sqlite:///{tmp_path}/a.db", problem, policy, seed=0)
    trial = control.ask()
    with pytest.raises(gbb.InputError, match=r"`rewards` to hold numbers of at most 1e\+100"):
        control.tell(trial, np.full(problem.m, 1.5e308))
    with pytest.raises(gbb.InputError, match=r"`rewards` to hold numbers of at most 1e\+100"):
        control.tell(trial, {(0, 1): -1e200})
    control.tell(trial, np.zeros(problem.m))


def test_settings_that_a_policy_does_not_have_are_refused(tmp_path):
    rule = "ImprovedOFUL has no setting 'gamma'; it has cut, delta, lam, radius"
    foreign = {"gamma": 0.5, "window": 3, "starts": 9}
    with pytest.raises(gbb.InputError, match=rule):
        Controller.create(url_of(tmp_path), small(), "ImprovedOFUL", **foreign)
    with Controller.create(url_of(tmp_path), small(), "UniformRandom") as controller:
        with pytest.raises(gbb.InputError, match="JointOFUL has no setting 'epsilon'"):
            controller.set_policy("JointOFUL", epsilon=0.1)
        assert controller.policy.name == "UniformRandom"


def test_a_closed_controller_says_so(tmp_path):
    problem = gbb.Problem(gbb.Graph.complete(3), np.eye(2))
    url = f"sqlite:///{tmp_path / 'closed.db'}"
    with Controller.create(url, problem, "UniformRandom") as controller:
        trial = controller.ask()
    for call in (controller.ask, lambda: controller.tell(trial, np.zeros(problem.m))):
        with pytest.raises(StorageError, match="Open it again"):
            call()
    with Controller.open(url) as again:
        again.tell(trial, np.zeros(problem.m))
