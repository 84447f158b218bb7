"""What certificates, alphas and bounds promise holds where it is hardest."""

import numpy as np
import pytest

import gbb
from gbb.controller import Controller
from gbb.policies import GuardedThompson, ImprovedOFUL, JointOFUL, KCutOFUL
from gbb.theory import guaranteed_alpha, regret_bound, report
from indices import objective_of


def test_arms_that_are_next_to_one_another_are_not_the_same():
    """A tiny difference of edge-arms pays much where S is large: no certificate may deny it."""
    S = 1e10
    arms = np.array([[1.0, 0.0], [1.0, 1e-10]])
    M = np.array([[0.0, -S / 2], [-S / 2, 0.0]])
    env = gbb.Environment(gbb.Problem(gbb.Graph.complete(3), arms, S=S), M)
    for target in ("allocation", "couple"):
        for seed in range(10):
            found = gbb.identify(env, epsilon=0.1, seed=seed, target=target, max_rounds=30)
            best = 0.0  # of arm 0 everywhere
            short = best - env.expected_reward(found.allocation)
            assert not found.certified or short <= 0.1
            assert found.gap >= short - 1e-9


def test_open_trials_of_a_larger_graph_count_as_the_rounds_they_weigh(tmp_path):
    problem = gbb.Problem(gbb.Graph.complete(20), np.eye(2), S=1.0)
    url = f"sqlite:///{tmp_path / 'log.db'}"
    with Controller.create(url, problem, "ImprovedOFUL") as controller:
        trials = controller.ask_many(3)
        controller.replace_graph(gbb.Graph.path(2))
        for trial in trials:
            controller.tell(trial, np.zeros(380))
        state = controller._log.state
        assert state.rounds == 3
        assert state.memory.rounds == 3 * 380 / 2
        paper = gbb.radius.paper
        policy = state.setup.policy
        assert objective_of(policy, state.memory).radius >= paper(
            problem, np.array(3.0), policy.lam, policy.delta
        )


def test_one_heavy_link_does_not_prove_the_light_ones():
    graph = gbb.Graph.random(40, p=0.4, seed=1)
    weights = np.ones(graph.m)
    heavy = [0, graph.reverse[0]]
    weights[heavy] = 1e12
    problem = gbb.Problem(graph, np.eye(3), edge_weights=weights)
    M = gbb.instances.absolute_normal(3, seed=0, distinct_couple=True)
    found = gbb.optimum.solve(problem, M, method="heuristic", seconds=5)
    assert found.upper_bound - found.value > 10.0
    assert not found.proven
    assert found.gap == (found.upper_bound - found.value) / found.upper_bound > 0.0


def test_alpha_1_is_not_promised_beyond_what_a_small_cut_earns():
    """On K5 cut 1 | 4, the couple over the cut earns less than half of what edges pay at best."""
    graph = gbb.Graph.complete(5)
    M = np.array([[0.0, 1.0], [1.0, 0.0]])
    env = gbb.Environment(gbb.Problem(graph, np.eye(2), S=2.0), M)
    small = report(env, cut=gbb.Cut.of(graph, [0, 1, 1, 1, 1]))
    assert small.gamma == 0.0
    assert small.alpha_1 == small.alpha_1_sharp == 0.4 < gbb.theory.alpha_1(small.gamma)
    half = report(env, cut=gbb.cuts.greedy(graph))
    assert half.alpha_1 == 0.5 < half.alpha_1_sharp


def test_of_couples_that_tie_along_an_edge_the_one_with_the_largest_alpha_2_counts():
    graph = gbb.Graph.complete(5)
    cut = gbb.cuts.greedy(graph)
    # Arms 0 and 1 tie with 2 and 3 along an edge, and pay more where both play the same.
    M = np.zeros((4, 4))
    M[0, 1] = M[1, 0] = M[2, 3] = M[3, 2] = 1.0
    M[0, 0] = M[1, 1] = 0.5
    found = [
        report(
            gbb.Environment(gbb.Problem(graph, np.eye(4), S=3.0), M[np.ix_(order, order)]), cut=cut
        )
        for order in ([0, 1, 2, 3], [2, 3, 0, 1])
    ]
    assert found[0].Delta == found[1].Delta == 0.5 * (cut.m1 + cut.m2)
    assert found[0].alpha_2 == found[1].alpha_2


def test_k_parts_have_the_largest_alpha_2_of_all_groupings():
    rng = np.random.default_rng(0)
    more = 0
    # The best couple pays little where both play the same; arm 2 pays nearly as much everywhere.
    base = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.9]])
    for seed in range(10):
        graph = gbb.Graph.random(9, p=0.6, seed=seed)
        M = base + 0.1 * rng.random((3, 3))
        problem = gbb.Problem(graph, np.eye(3), S=10.0)
        env, best = gbb.Environment(problem, M), gbb.optimum.solve(problem, M)
        policy = KCutOFUL(problem, cut=gbb.cuts.kcut(graph, 3, seed=seed))
        cuts = list(policy.cut.groupings())
        assert len(cuts) == 4
        for cut in cuts:
            assert cut.weights == gbb.Cut.of(graph, cut.sides).weights
        alphas = [report(env, cut=cut, optimum=best).alpha_2 for cut in cuts]
        found = gbb.simulate(env, policy, rounds=1, optimum=best)["alpha"].item()
        assert found == max(alphas)
        more += max(alphas) > report(env, cut=policy.cut.merged, optimum=best).alpha_2 + 1e-6
        tuples = policy.search.tuples(problem).combine(env.reward_tables)
        assert max(alphas) <= tuples.max() / best.value + 1e-9
    assert more >= 5


@pytest.mark.parametrize("kind", [ImprovedOFUL, JointOFUL, KCutOFUL, GuardedThompson])
def test_radii_without_a_theorem_have_no_guarantee(kind):
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(2), S=2.0)
    cut = gbb.cuts.greedy(problem.graph)
    env = gbb.Environment(problem, np.ones((2, 2)))
    best = gbb.optimum.solve(problem, env.M_star)
    for radius, guarantee in (
        ("paper", "alpha_2"),
        ("symmetric", "alpha_2"),
        ("released", None),
        (lambda problem, rounds, lam, delta: 0.0 * rounds, None),  # noqa: ARG005
    ):
        policy = kind(problem, cut=cut, radius=radius)
        assert policy.guarantee == guarantee
        if guarantee is None:
            assert guaranteed_alpha(env, policy.guarantee, cut=cut, optimum=best) == 1.0
    assert kind.theorem == "alpha_2"


def test_the_regret_bound_counts_what_a_round_can_lose():
    graph = gbb.Graph.complete(4)
    problem = gbb.Problem(graph, np.eye(2), S=2.0)
    positive, signed = regret_bound(problem, 50), regret_bound(problem, 50, non_negative=False)
    rounds = gbb.theory.critical_covariance_bound(problem, 50)
    assert signed - positive == pytest.approx(problem.L * problem.S * problem.m * rounds)
    for M, bound in ((np.ones((2, 2)), positive), (np.array([[1.0, -1.0], [0.5, 1.0]]), signed)):
        found = report(gbb.Environment(problem, M), cut=gbb.cuts.greedy(graph))
        assert found.regret_bound(50) == bound


def test_exponents_move_by_at_most_one_where_the_bound_counts_the_noise():
    graph = gbb.Graph.complete(4)
    problem = gbb.Problem(graph, np.eye(3), S=1.0, sigma=5.0)
    cut, worst = gbb.cuts.greedy(graph), {}
    for bound in (None, 6.0):  # the rewards of rademacher noise are at most L S + sigma in size
        policy = gbb.policies.ExponentialWeights(problem, cut=cut, bound=bound)
        rng, state, moved = np.random.default_rng(0), policy.init(), []
        for t in range(1, 40):
            choice = policy.select(state, rng)
            paid = np.full(graph.m, 6.0)
            after = policy.update(state, choice, paid)
            gains = policy._counts @ (policy._pairs @ (after.total - state.total))
            gamma = min(0.5, np.sqrt(graph.m * policy.h * np.log(9) / (2 * t)))
            moved.append(np.abs(gamma / (policy.bound * graph.m**2 * policy.h) * gains).max())
            state = after
        worst[bound] = max(moved)
    assert worst[6.0] <= 1.0 < worst[None]
    with pytest.raises(gbb.InputError, match="`bound` to be a finite number > 0"):
        gbb.policies.ExponentialWeights(problem, cut=cut, bound=0.0)
