"""Fit diagnostics: the right model is good, wrong ones and noise are told apart from it."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbb
from gbb.contexts import Regimes
from gbb.diagnostics import GOOD, diagnose
from gbb.diagnostics._statistics import RIDGE, History, predict_held_out
from gbb.learning.record import regressors

GRID = gbb.Graph.grid(3, 3)
feedbacks = pytest.mark.parametrize("feedback", ["edge", "link", "agent", "global"])


def history(problem, M, rounds, seed, *, truth=None):
    """Random allocations and what they pay where ``truth`` (or else ``problem``) holds."""
    rng = np.random.default_rng(seed)
    env = gbb.Environment(truth or problem, M)
    allocations = rng.integers(0, problem.K, (rounds, problem.n))
    return allocations, np.array([env.draw(1, each, rng) for each in allocations])


def matrices(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@feedbacks
@pytest.mark.parametrize("sigma", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_right_model_is_good(feedback, sigma, seed):
    problem = gbb.Problem(GRID, np.eye(3), sigma=sigma, feedback=feedback)
    found = diagnose(problem, *history(problem, matrices(seed, 3, 3), 120, seed))
    assert found.status == "good", found
    assert found.good
    assert str(found).startswith("The pairwise model is good enough to act on.")
    assert found.sigma_hat == pytest.approx(sigma, rel=0.25)


@pytest.mark.parametrize("feedback", ["edge", "agent"])
@pytest.mark.parametrize("sigma", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_matrix_per_edge_under_one_shared_matrix_is_poor(feedback, sigma, seed):
    settings = {"sigma": sigma, "feedback": feedback}
    problem = gbb.Problem(GRID, np.eye(3), **settings)
    truth = gbb.Problem(GRID, np.eye(3), edge_types=np.arange(GRID.m), **settings)
    played = history(problem, matrices(seed, GRID.m, 3, 3), 80, seed, truth=truth)
    found = diagnose(problem, *played)
    assert found.status == "poor", found
    assert not found.good
    assert "not good enough" in found.sentence
    assert "edge_types" in found.sentence


def verdicts(problem, rounds, seeds, *, truth=None, shock=0.0, repeat=1):
    """How often each status is given to fresh matrices, with noise shared by a round if wanted."""
    found = Counter()
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        shape = (problem.m, problem.K, problem.K) if truth else (problem.K, problem.K)
        env = gbb.Environment(truth or problem, np.abs(rng.normal(size=shape)))
        played = rng.integers(0, problem.K, (rounds // repeat, problem.n)).repeat(repeat, axis=0)
        paid = np.array([env.draw(1, each, rng) for each in played])
        paid += shock * rng.normal(size=(len(played), 1))
        found[diagnose(problem, played, paid).status] += 1
    return found


@feedbacks
@pytest.mark.parametrize("repeat", [1, 2])
def test_the_right_model_is_hardly_ever_poor(feedback, repeat):
    """Two standard errors, one-sided: 2.3 % at worst, so one of 30; with little noise it is good."""
    found = {
        (sigma, rounds): verdicts(
            gbb.Problem(gbb.Graph.circle(6), np.eye(3), sigma=sigma, feedback=feedback),
            rounds,
            5,
            repeat=repeat,
        )
        for sigma in (0.1, 1.0, 3.0)
        for rounds in (40, 120)
    }
    assert sum(each["poor"] for each in found.values()) <= 1, found
    assert found[0.1, 120]["good"] == 5, found


@pytest.mark.parametrize(("agents", "sigma", "rounds"), [(6, 3.0, 200), (8, 2.0, 400)])
def test_sums_that_are_mostly_noise_do_not_condemn(agents, sigma, rounds):
    problem = gbb.Problem(gbb.Graph.circle(agents), np.eye(3), sigma=sigma)
    assert verdicts(problem, rounds, 10)["poor"] == 0
    assert verdicts(problem, rounds, 10, repeat=2)["poor"] == 0


def test_noise_that_all_links_of_a_round_share_does_not_condemn():
    problem = gbb.Problem(gbb.Graph.circle(6), np.eye(3), sigma=0.3)
    assert verdicts(problem, 60, 10, shock=0.5)["poor"] == 0
    assert verdicts(problem, 120, 10, shock=0.5, repeat=2)["poor"] == 0
    played, paid = history(problem, matrices(0, 3, 3), 60, 0)
    shock = np.random.default_rng(1).normal(size=(60, 1))
    found = diagnose(problem, played, paid + shock)
    assert np.isnan(found.total_ceiling)
    assert found.status == "too few"
    assert "to tell noise that links share from a wrong model" in found.sentence


def test_unknown_noise_does_not_condemn():
    """Eight arms at an agent and both its neighbours: hardly any of 512 triples comes twice."""
    problem = gbb.Problem(gbb.Graph.circle(6), np.eye(8), sigma=1.0, feedback="agent")
    played, paid = history(problem, np.abs(matrices(0, 8, 8)), 60, 0)
    found = diagnose(problem, played, paid)
    assert (found.status, found.noise_source) == ("too few", "nothing")
    assert "Repeat some allocations" in found.sentence
    assert verdicts(problem, 60, 5)["poor"] == 0


@pytest.mark.parametrize("feedback", ["edge", "agent"])
@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize("sigma", [0.1, 0.5])
def test_a_wrong_model_is_still_poor_on_fresh_matrices(feedback, repeat, sigma):
    settings = {"sigma": sigma, "feedback": feedback}
    problem = gbb.Problem(GRID, np.eye(3), **settings)
    truth = gbb.Problem(GRID, np.eye(3), edge_types=np.arange(GRID.m), **settings)
    found = verdicts(problem, 120, 5, truth=truth, repeat=repeat)
    assert found["poor"] == 5, found


def test_a_wrong_sum_alone_is_poor_once_allocations_repeat():
    """A little that one far agent adds to every link: unseen in single rewards, most of the sum."""
    graph = gbb.Graph.circle(40)
    problem = gbb.Problem(graph, np.eye(2), sigma=0.1)
    rng = np.random.default_rng(0)
    env = gbb.Environment(problem, np.array([[1.0, -1.0], [-1.0, 1.0]]))
    played = rng.integers(0, 2, (80, 40)).repeat(2, axis=0)
    paid = np.array([env.draw(1, each, rng) for each in played])
    paid += 0.4 * (2 * played[:, [0]] - 1)
    found = diagnose(problem, played, paid)
    assert found.within > GOOD
    assert found.total < GOOD * found.total_ceiling
    assert found.status == "poor", found
    once = diagnose(problem, played[::2], paid[::2])
    assert np.isnan(once.total_ceiling)
    assert once.status == "too few", once


def test_global_rewards_of_a_wrong_model_are_never_good():
    problem = gbb.Problem(GRID, np.eye(3), sigma=0.1, feedback="global")
    truth = gbb.Problem(GRID, np.eye(3), sigma=0.1, feedback="global", edge_types=np.arange(GRID.m))
    played, paid = history(problem, matrices(0, GRID.m, 3, 3), 120, 0, truth=truth)
    assert not diagnose(problem, played, paid).good
    assert "Repeat some allocations" in diagnose(problem, played, paid).sentence
    rng = np.random.default_rng(1)
    env = gbb.Environment(truth, matrices(0, GRID.m, 3, 3))
    again = np.repeat(played[:60], 2, axis=0)
    found = diagnose(problem, again, [env.draw(1, each, rng) for each in again])
    assert (found.status, found.noise_source) == ("poor", "allocations")


@feedbacks
@pytest.mark.parametrize("sigma", [0.1, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_pure_noise_is_called_noise(feedback, sigma, seed):
    problem = gbb.Problem(GRID, np.eye(3), sigma=sigma, feedback=feedback)
    found = diagnose(problem, *history(problem, np.zeros((3, 3)), 100, seed))
    assert found.status == "noise", found
    assert "no more than it would of pure noise" in found.sentence


@feedbacks
@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_few_rounds_are_too_few(feedback, rounds):
    problem = gbb.Problem(GRID, np.eye(3), sigma=0.1, feedback=feedback)
    found = diagnose(problem, *history(problem, matrices(0, 3, 3), rounds, 0))
    assert found.status == "too few"
    assert found.sentence.startswith("Too few rounds to say")
    assert found.rounds == rounds


def test_arms_that_are_never_played_together_twice_are_not_held_against_the_model():
    """Over a cut every couple of one-hot arms is news: nothing else predicts it."""
    problem = gbb.Problem(GRID, np.eye(6), sigma=0.1)
    cut = gbb.cuts.greedy(GRID)
    couples = [(a, b) for a in range(6) for b in range(a)]
    played = np.array([cut.allocation(couple) for couple in couples])
    env, rng = gbb.Environment(problem, matrices(0, 6, 6)), np.random.default_rng(0)
    found = diagnose(problem, played, [env.draw(1, each, rng) for each in played])
    assert (found.status, found.covered) == ("too few", 0.0)
    again = np.tile(played, (3, 1))
    assert diagnose(problem, again, [env.draw(1, each, rng) for each in again]).good


def test_levels_of_edges_are_no_fit():
    """Edges that differ and do not care for arms: an R^2 over all of them at once is nearly 1."""
    problem = gbb.Problem(GRID, np.eye(2), sigma=0.1, edge_types=np.arange(GRID.m))
    levels = 10.0 * matrices(0, GRID.m, 1, 1) * np.ones((GRID.m, 2, 2))
    played, paid = history(problem, levels, 100, 0)
    predicted, _, judged = predict_held_out(History(problem, played, paid), 5)
    left, around = paid - predicted, paid - paid.mean()
    assert 1 - (left[judged] ** 2).sum() / (around[judged] ** 2).sum() > 0.99
    found = diagnose(problem, played, paid)
    assert found.status == "noise", found
    assert found.within < 0.02


def test_agents_beyond_the_link_are_noticed_when_allocations_repeat():
    problem = gbb.Problem(GRID, np.eye(3), sigma=0.1)
    rng = np.random.default_rng(0)
    played = np.repeat(rng.integers(0, 3, (40, 9)), 2, axis=0)
    env = gbb.Environment(problem, 0.3 * matrices(0, 3, 3))
    beyond = matrices(1, 3, 3)[played[:, [4]], played[:, [8]]]
    paid = np.array([env.draw(1, each, rng) for each in played]) + beyond
    assert diagnose(problem, played, paid).status == "poor"
    assert diagnose(problem, played, paid - beyond).good


def test_noise_that_may_be_other_agents_is_said_to_be_so():
    problem = gbb.Problem(GRID, np.eye(3), sigma=1.0)
    played, paid = history(problem, matrices(0, 3, 3), 300, 0)
    unlike = np.sort(np.unique(played, axis=0, return_index=True)[1])
    found = diagnose(problem, played[unlike], paid[unlike])
    assert (found.status, found.noise_source) == ("good", "arms")
    assert "repeat an allocation to tell" in found.sentence


def test_one_matrix_per_type_fits_where_one_for_all_does_not():
    types = np.arange(GRID.m) % 3
    truth = gbb.Problem(GRID, np.eye(3), sigma=0.2, edge_types=types)
    played, paid = history(truth, matrices(3, 3, 3, 3), 60, 3)
    assert diagnose(gbb.Problem(GRID, np.eye(3)), played, paid).status == "poor"
    found = diagnose(truth, played, paid)
    assert found.good
    assert [part.where for part in found.by_type] == ["type 0", "type 1", "type 2"]
    assert sum(part.count for part in found.by_type) == 60 * GRID.m
    assert all(abs(part.mean) < 0.05 and part.sd < 0.3 for part in found.by_type)


@feedbacks
def test_predictions_are_those_of_least_squares_on_the_other_folds(feedback):
    """A naive twin with the normal equations, weights, types and missing rewards."""
    rng = np.random.default_rng(0)
    problem = gbb.Problem(
        GRID,
        rng.normal(size=(4, 2)),
        feedback=feedback,
        edge_types=np.arange(GRID.m) % 2,
        edge_weights=rng.normal(size=GRID.m),
    )
    played, paid = history(problem, matrices(0, 2, 2, 2), 30, 0)
    paid[rng.random(paid.shape) < 0.1] = np.nan
    predicted, _, judged = predict_held_out(History(problem, played, paid), 5)
    q = np.array([regressors(problem, each) for each in played])
    deal = np.random.default_rng(0).permutation(30) % 5
    for fold in range(5):
        rest = np.isfinite(paid) & (deal != fold)[:, None]
        gram = q[rest].T @ q[rest]
        A = gram + RIDGE * np.trace(gram) / problem.parameters * np.eye(problem.parameters)
        theta = np.linalg.solve(A, q[rest].T @ paid[rest])
        here = q[deal == fold]
        np.testing.assert_allclose(predicted[deal == fold], here @ theta, rtol=1e-8, atol=1e-10)
        leverage = np.einsum("toi,ij,toj->to", here, np.linalg.inv(A), here)
        expected = (leverage <= 0.5) & np.isfinite(paid[deal == fold])
        np.testing.assert_array_equal(judged[deal == fold], expected)


@given(
    scale=st.floats(1e-3, 1e3),
    seed=st.integers(0, 100),
    feedback=st.sampled_from(["edge", "agent"]),
)
def test_units_and_names_of_arms_do_not_matter(scale, seed, feedback):
    rng = np.random.default_rng(seed)
    problem = gbb.Problem(GRID, np.eye(3), feedback=feedback)
    played, paid = history(problem, matrices(seed, 3, 3), 30, seed)
    before = diagnose(problem, played, paid)
    after = diagnose(problem, rng.permutation(3)[played], scale * paid)
    assert after.status == before.status
    for field in ("within", "total", "ceiling", "covered"):
        a, b = getattr(after, field), getattr(before, field)
        assert a == pytest.approx(b, rel=1e-6, abs=1e-9, nan_ok=True)
    assert after.sigma_hat == pytest.approx(scale * before.sigma_hat, rel=1e-6)


@given(seed=st.integers(0, 1000), share=st.floats(0.0, 0.6))
def test_missing_rewards_and_edges_that_pay_nothing_are_left_out(seed, share):
    rng = np.random.default_rng(seed)
    weights = np.where(np.arange(GRID.m) < 4, 0.0, 1.0)
    problem = gbb.Problem(GRID, np.eye(2), sigma=0.1, edge_weights=weights)
    played, paid = history(problem, matrices(seed, 2, 2), 40, seed)
    paid[:, :4] = 1e6 * rng.normal(size=(40, 4))  # whatever a meter says of them
    paid[rng.random(paid.shape) < share] = np.nan
    found = diagnose(problem, played, paid, worst=99)
    assert 0.0 <= found.covered <= 1.0
    assert found.within <= 1.0
    assert found.sigma_hat == pytest.approx(0.1, rel=0.3)
    silent = [part for part in found.worst if part.count == 0]
    assert len(silent) >= 4


def test_the_worst_edges_come_first_and_by_name():
    graph = gbb.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")], undirected=True)
    problem = gbb.Problem(graph, np.eye(2), sigma=0.1)
    played, paid = history(problem, matrices(0, 2, 2), 60, 0)
    edge = next(e for e in range(graph.m) if tuple(graph.edges[e]) == (2, 1))
    paid[:, edge] += 3.0 * (played[:, 1] == played[:, 2])
    found = diagnose(problem, played, paid, worst=2)
    assert len(found.worst) == 2
    assert found.worst[0].where == "c -> b"
    assert found.worst[0].sd > found.worst[1].sd
    assert found.worst[0].mean > 1.0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"problem": 3}, "`problem` to be a gbb.Problem"),
        ({"allocations": np.zeros((0, 9), dtype=int)}, "`allocations` to have a row of 9 arms"),
        ({"allocations": np.zeros((4, 8), dtype=int)}, "`allocations` to have a row of 9 arms"),
        ({"allocations": np.full((4, 9), 3)}, "`allocation` to hold numbers from 0 to 2"),
        ({"rewards": np.zeros((4, 23))}, "`rewards` to have shape"),
        ({"rewards": "no"}, "`rewards` to be an array of numbers"),
        ({"rewards": np.full((4, 24), np.inf)}, "`rewards` to hold finite numbers"),
        ({"folds": 1}, "`folds` to be a whole number >= 2"),
        ({"worst": -1}, "`worst` to be a whole number >= 0"),
    ],
)
def test_bad_input_is_named(change, text):
    given = {
        "problem": gbb.Problem(GRID, np.eye(3)),
        "allocations": np.zeros((4, 9), dtype=int),
        "rewards": np.zeros((4, 24)),
    } | change
    with pytest.raises(gbb.InputError, match=text):
        diagnose(**given)


def test_nothing_seen_is_nothing_said():
    problem = gbb.Problem(GRID, np.eye(3))
    played = np.zeros((12, 9), dtype=int)
    found = diagnose(problem, played, np.full((12, GRID.m), np.nan))
    assert (found.status, found.rounds) == ("too few", 0)
    assert np.isnan(found.within)
    constant = diagnose(problem, played, np.ones((12, GRID.m)))
    assert constant.sentence == "Nothing to judge: no reward ever changed."


def in_regimes(level, rounds=200):
    """Rounds of two regimes: what arms pay, on top of the regime's own ``level``."""
    problem = gbb.Problem(gbb.Graph.complete(4), np.eye(3), S=9.0, contexts=Regimes(2))
    rng = np.random.default_rng(5)
    M = np.array([np.zeros((3, 3)), np.zeros((3, 3))]) + np.array(level)[:, None, None]
    known, played = rng.integers(0, 2, rounds), rng.integers(0, 3, (rounds, 4))
    return problem, M, known, played, rng


def test_what_a_context_alone_changes_says_nothing_about_arms():
    """All arms are alike, and the regimes are not: no model is good there, whatever its R^2 over all."""
    problem, M, known, played, rng = in_regimes([0.0, 2.0])
    env = gbb.Environment(problem, M, noise="none", contexts=known)
    paid = np.array([env.draw(t + 1, arms, rng) for t, arms in enumerate(played)])
    paid += 0.3 * rng.standard_normal(paid.shape)
    found = gbb.diagnose(problem, played, paid, contexts=known)
    assert abs(found.within) < 0.1
    assert found.status == "noise"
    assert [part.where for part in found.by_type] == ["0", "1"]


def test_each_context_is_fitted_by_its_own_matrices():
    problem, M, known, played, rng = in_regimes([0.0, 0.0])
    M = M + rng.normal(size=M.shape)
    M[1] = -M[0]  # one matrix for both would explain nothing
    env = gbb.Environment(problem, M, noise="none", contexts=known)
    paid = np.array([env.draw(t + 1, arms, rng) for t, arms in enumerate(played)])
    paid += 0.3 * rng.standard_normal(paid.shape)
    assert gbb.diagnose(problem, played, paid, contexts=known).good
    blind = gbb.Problem(problem.graph, np.eye(3), S=9.0)
    assert not gbb.diagnose(blind, played, paid).good


def test_contexts_of_a_history_are_checked():
    problem, _, known, played, _ = in_regimes([0.0, 0.0], rounds=12)
    paid = np.ones((12, 12))
    with pytest.raises(gbb.InputError, match="Round 1: Expected `context`"):
        gbb.diagnose(problem, played, paid, contexts=[None] * 12)
    with pytest.raises(gbb.InputError, match="`contexts` to have one for each of 12 rounds"):
        gbb.diagnose(problem, played, paid, contexts=known[:5])
    with pytest.raises(gbb.InputError, match="`contexts` to be given"):
        gbb.diagnose(problem, played, paid)
    plain = gbb.Problem(problem.graph, np.eye(3))
    with pytest.raises(gbb.InputError, match="there are no contexts"):
        gbb.diagnose(plain, played, paid, contexts=known)
