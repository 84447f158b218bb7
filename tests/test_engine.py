"""The engine against the reference loop: same noise, same choices; same laws without it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy import stats
from threadpoolctl import threadpool_info

import gbb
from engine_runs import run_engine
from gbb.environment import NOISES
from gbb.learning.factor import factor
from gbb.policies import Choice, Policy
from gbb.policies._compiled import compile_policy
from gbb.simulation import SlowPolicyWarning, engine
from gbb.simulation.engine import couples
from gbb.simulation.engine.couples import (
    CovarianceForm,
    ManyArmsForm,
    OrthogonalForm,
    choose_form,
    lay_out,
    play_runs,
)
from gbb.simulation.engine.loops import Run
from gbb.simulation.engine.noise import Blocks, draw_sums
from gbb.simulation.engine.random_play import explore
from gbb.simulation.reference import run_reference
from gbb.simulation.trace import recorded_rounds

GRAPHS = {
    "complete": gbb.Graph.complete(5),
    "odd circle": gbb.Graph.circle(7),
    "star": gbb.Graph.star(6),
    "random": gbb.Graph.random(9, p=0.5, seed=3),
}


def unit_arms(K: int, d: int, seed: int) -> np.ndarray:
    arms = np.random.default_rng(seed).standard_normal((K, d))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


ARMS = {"one-hot": np.eye(4), "general": unit_arms(4, 3, 1), "many": unit_arms(16, 2, 2)}


def make_env(graph: gbb.Graph, arms: np.ndarray, noise: str = "gaussian") -> gbb.Environment:
    M = gbb.instances.absolute_normal(arms.shape[1], seed=5)
    problem = gbb.Problem(graph, arms, S=float(np.linalg.norm(M)))
    return gbb.Environment(problem, M, noise=noise)


def replayed(env: gbb.Environment, policy: Policy, rounds: int, seed: int):
    """The reference's trace and the engine's, on the same noise edge by edge."""
    kept = recorded_rounds(rounds, 1)
    plain = run_reference(env, policy, rounds, kept, np.random.SeedSequence(seed))
    fast = run_engine(env, policy, rounds, kept, np.random.SeedSequence(seed), edge_noise=True)
    return plain, fast


def played_out(env: gbb.Environment, policy: Policy, rounds: int):
    """The state of a single run after so many rounds."""
    seeds = [np.random.SeedSequence(0)]
    task = engine.Task(rounds, np.array([rounds]), seeds)
    return play_runs(env, compile_policy(policy), task, seeds, 1)


def tables(form, g: int = 0):
    """Means and squared widths of the pairs of a form's first run, as the loop has them."""
    pairs, size = form.pairs, form.size
    if isinstance(form, ManyArmsForm):
        white = pairs.white[g]
        return white @ pairs.centre[g], np.einsum("si,ij,sj->s", white, pairs.B[g], white)
    spots = np.diag(pairs.entry).astype(np.int64) * form.lanes
    return pairs.mu[g][: size * form.lanes : form.lanes], pairs.H[g][spots]


def check_estimates(form, lam: float, rtol: float = 1e-8) -> None:
    """Means, widths and log-determinants of a form's first run, by a fresh solve of all it played."""
    total, pairs = 0.0, form.pairs
    for g, lane in np.argwhere(form.worn):
        form.refactor(g, lane)  # as the next round would
    for g in range(form.regimes):
        weight, sums = pairs.weight[g, :: form.lanes], pairs.total[g, :: form.lanes]
        fresh = factor(form.features, weight.copy(), sums.copy(), lam)
        mean, width2 = tables(form, g)
        expected = (fresh.whitened**2).sum(axis=1)
        np.testing.assert_allclose(width2, expected, rtol=rtol)
        # Means are sums of terms that may cancel: compare on the scale of what they average.
        scale = np.abs(fresh.whitened @ fresh.theta) + np.sqrt(expected)
        error = (mean - fresh.whitened @ fresh.theta) / np.where(scale > 0.0, scale, 1.0)
        np.testing.assert_allclose(error, 0.0, atol=rtol)
        total += np.log(np.diag(fresh.R) ** 2 / lam).sum()
    if form.couples.adaptive:
        assert form.runs.log_det[0] + np.log(form.runs.growth[0]) == pytest.approx(total, rel=1e-10)


@pytest.mark.no_cover  # long
@pytest.mark.parametrize(("algorithm", "rounds"), [("OFUL", 2_000), ("ImprovedOFUL", 4_000)])
@pytest.mark.parametrize(
    ("graph", "arms"), [("complete", "one-hot"), ("odd circle", "general"), ("random", "many")]
)
def test_engine_chooses_as_the_reference_for_thousands_of_rounds(graph, arms, algorithm, rounds):
    env = make_env(GRAPHS[graph], ARMS[arms])
    policy = gbb.policies.build(algorithm, env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    plain, fast = replayed(env, policy, rounds, seed=0)
    np.testing.assert_array_equal(fast.couple, plain.couple)
    np.testing.assert_allclose(fast.cumulative, plain.cumulative, rtol=1e-10)


@pytest.mark.parametrize("radius", ["paper", "symmetric", "released"])
@pytest.mark.parametrize("arms", ARMS)
def test_any_arms_may_be_played_as_many(arms, radius, monkeypatch):
    monkeypatch.setattr(couples, "choose_form", lambda _: ManyArmsForm)
    for name in ("star", "random"):
        env = make_env(GRAPHS[name], ARMS[arms])
        cut = gbb.cuts.greedy(env.problem.graph)
        policy = gbb.policies.ImprovedOFUL(env.problem, cut=cut, radius=radius, lam=0.5)
        plain, fast = replayed(env, policy, 250, seed=1)
        np.testing.assert_array_equal(fast.couple, plain.couple)


@pytest.mark.parametrize("noise", ["gaussian", "uniform", "rademacher", "none"])
@pytest.mark.parametrize(
    "name",
    [
        "OFUL",
        "JointOFUL",
        "ThompsonSampling",
        "ExploreThenCommit",
        "UniformRandom",
        "FixedAllocation",
    ],
)
def test_every_noise_and_policy_replays(name, noise):
    env = make_env(GRAPHS["random"], ARMS["general"], noise)
    cut = gbb.cuts.greedy(env.problem.graph)
    policy = gbb.policies.build(name, env.problem, cut=cut, horizon=200)
    settings = {"rounds": 200, "runs": 2, "seed": 4, "keep_allocations": True, "record": 7}
    plain = gbb.simulate(env, policy, method="reference", **settings)
    fast = gbb.simulate(env, policy, edge_noise=True, **settings)
    np.testing.assert_array_equal(fast.couple, plain.couple)
    np.testing.assert_array_equal(fast.allocation, plain.allocation)
    xr.testing.assert_allclose(fast, plain, rtol=1e-10)


def test_commit_round_is_kept_or_not_as_asked():
    env = make_env(GRAPHS["complete"], ARMS["one-hot"])
    policy = gbb.policies.ExploreThenCommit(
        env.problem, cut=gbb.cuts.greedy(env.problem.graph), exploration=10
    )
    for rounds, record in [(30, [9, 10, 11]), (30, [9, 11]), (30, [11]), (10, 1), (5, 1), (10, 3)]:
        settings = {"rounds": rounds, "record": record, "seed": 2}
        plain = gbb.simulate(env, policy, method="reference", **settings)
        fast = gbb.simulate(env, policy, edge_noise=True, **settings)
        xr.testing.assert_allclose(fast, plain, rtol=1e-10)


@pytest.mark.parametrize("noise", list(NOISES))
def test_sums_of_noise_have_the_law_of_summed_noise(noise):
    counts = np.array([12, 7, 1, 0])
    size = 40_000
    rng = np.random.default_rng(0)
    fast = draw_sums(NOISES[noise], rng, counts, size)
    slow = np.stack(
        [NOISES[noise](rng, size * c).reshape(size, c).sum(axis=1) for c in counts],
        axis=1,
    )
    if noise == "none":
        assert not fast.any()
        return
    for k, count in enumerate(counts[:3]):
        # The variance's standard error is at most 0.8 %: 5 % off would be six of them.
        assert fast[:, k].var() == pytest.approx(count, rel=0.03)
        assert abs(fast[:, k].mean()) < 4 * np.sqrt(count / size)
        assert stats.ks_2samp(fast[:, k], slow[:, k]).pvalue > 1e-3
    assert not fast[:, 3].any()


def test_aggregated_and_edge_level_runs_have_the_same_distribution():
    env = make_env(GRAPHS["complete"], ARMS["general"])
    policy = gbb.policies.OFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph), delta=0.5)
    settings = {"rounds": 300, "runs": 1500, "record": [300]}
    fast = gbb.simulate(env, policy, seed=1, **settings).regret.values.ravel()
    slow = gbb.simulate(env, policy, seed=2, edge_noise=True, **settings).regret.values.ravel()
    assert stats.ks_2samp(fast, slow).pvalue > 1e-3
    assert fast.std() > 0


def test_record_of_aggregated_rewards_has_the_right_spread():
    """Y - N R is sigma times a sum of N draws: its standardised square is 1 on average."""
    env = make_env(GRAPHS["complete"], ARMS["one-hot"])
    last, squares = recorded_rounds(5, [5]), []
    for seed in range(3000):
        noise, rng = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
        _, record = explore(env, np.ones(5), Run(5, last, Blocks(env, noise), rng))
        played = record.N > 0
        excess = record.Y - record.N * env.reward_table
        squares.append((excess[played] ** 2 / record.N[played]).mean())
    assert np.mean(squares) == pytest.approx(1.0, abs=0.03)


def test_parallel_and_serial_runs_are_identical():
    env = make_env(GRAPHS["random"], ARMS["general"])
    cut = gbb.cuts.greedy(env.problem.graph)
    names = ("OFUL", "ImprovedOFUL", "ExploreThenCommit", "UniformRandom")
    policies = [gbb.policies.build(name, env.problem, cut=cut, horizon=500) for name in names]
    one = gbb.simulate(env, policies, rounds=500, runs=6, seed=3, workers=1)
    two = gbb.simulate(env, policies, rounds=500, runs=6, seed=3, workers=2)
    xr.testing.assert_identical(one, two)


def test_recorded_rounds_agree_with_the_full_run():
    env = make_env(GRAPHS["complete"], ARMS["one-hot"])
    policy = gbb.policies.OFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    full = gbb.simulate(env, policy, rounds=10_000, seed=1)
    for record in (1000, "log", [1, 17, 9_999]):
        part = gbb.simulate(env, policy, rounds=10_000, seed=1, record=record)
        whole = full.sel(round=part["round"])
        if part["round"][-1] < 10_000:  # the share of fewer rounds
            part, whole = (each.drop_vars("proven_fraction") for each in (part, whole))
        xr.testing.assert_identical(part, whole)


def test_estimates_do_not_drift_in_a_million_rounds():
    env = make_env(GRAPHS["random"], unit_arms(6, 2, 2))
    policy = gbb.policies.ImprovedOFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    check_estimates(played_out(env, policy, 1_000_000), policy.lam)


def test_the_log_determinant_does_not_drift():
    for arms in (unit_arms(4, 3, 1), ARMS["many"]):
        env = make_env(GRAPHS["random"], arms)
        cut = gbb.cuts.greedy(env.problem.graph)
        policy = gbb.policies.ImprovedOFUL(env.problem, cut=cut, radius="symmetric", lam=0.3)
        check_estimates(played_out(env, policy, 100_000), policy.lam)


@pytest.mark.parametrize(
    "arms",
    [
        pytest.param(np.vstack([unit_arms(3, 3, 0)] * 2), id="duplicates"),
        pytest.param(unit_arms(4, 2, 0) @ unit_arms(2, 4, 1), id="subspace"),
        pytest.param(unit_arms(4, 3, 0) * np.array([[1e-6], [1e-2], [1.0], [1e6]]), id="norms"),
        pytest.param(unit_arms(3, 3, 0) * np.array([1e-6, 1.0, 1e6]), id="coordinates"),
        pytest.param(np.vstack([unit_arms(3, 3, 0), np.zeros(3)]), id="zero arm"),
    ],
)
def test_ill_conditioned_arms_stay_correct(arms, monkeypatch):
    env = make_env(gbb.Graph.complete(6), arms)
    policy = gbb.policies.ImprovedOFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    for form in (CovarianceForm, ManyArmsForm):
        monkeypatch.setattr(couples, "choose_form", lambda _, form=form: form)
        state = played_out(env, policy, 20_000)
        mean, width2 = tables(state)
        assert (width2 >= 0).all()
        exact, exact2 = exact_tables(policy, state)
        np.testing.assert_allclose(width2, exact2, rtol=1e-8)
        scale = np.abs(exact) + np.sqrt(exact2)
        np.testing.assert_allclose((mean - exact) / np.where(scale > 0, scale, 1.0), 0, atol=1e-8)


def exact_tables(policy, state):
    """Means and squared widths of all pairs in 80 digits, products of arms included."""
    arms = [[mp.mpf(float(x)) for x in arm] for arm in policy.problem.arms]
    d, (i, j) = policy.problem.d, np.triu_indices(policy.problem.K)
    with mp.workdps(80):
        pairs = [
            mp.matrix([(x[k] * y[m] + y[k] * x[m]) / 2 for m in range(d) for k in range(d)])
            for x, y in zip([arms[a] for a in i], [arms[b] for b in j], strict=True)
        ]
        A, right = mp.mpf(policy.lam) * mp.eye(d * d), mp.matrix(d * d, 1)
        for q, weight, total in zip(
            pairs, state.pairs.weight[0], state.pairs.total[0], strict=True
        ):
            A += int(weight) * q * q.T
            right += mp.mpf(float(total)) * q
        inverse = A**-1
        theta = inverse * right
        mean = np.array([float((q.T * theta)[0]) for q in pairs])
        return mean, np.array([float((q.T * inverse * q)[0]) for q in pairs])


@pytest.mark.parametrize("form", [CovarianceForm, ManyArmsForm])
def test_one_huge_round_is_followed_by_a_new_factorisation(form, monkeypatch):
    """On 10^7 edges one round shrinks a width a million times over."""
    env = make_env(gbb.Graph.complete(5), unit_arms(3, 2, 3))
    policy = gbb.policies.ImprovedOFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    edges = np.array([5e6, 2e6, 1e6])
    monkeypatch.setattr(couples, "choose_form", lambda _: form)
    monkeypatch.setattr(couples, "lay_out", lambda *given: lay_out(*given)._replace(edges=edges))
    check_estimates(played_out(env, policy, 500), policy.lam)


def test_form_follows_the_arms():
    def form(arms):
        return choose_form(gbb.Problem(gbb.Graph.complete(3), arms))

    rotation, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))
    assert form(np.eye(5)) is OrthogonalForm
    assert form(rotation * 3.0) is OrthogonalForm
    assert form(np.diag([1.0, 2.0, 0.0])) is OrthogonalForm
    assert form(unit_arms(5, 5, 0)) is CovarianceForm
    assert form(unit_arms(100, 5, 0)) is ManyArmsForm


class Stubborn(Policy[int]):
    """A policy of the user's own: arm 0 everywhere."""

    def init(self) -> int:
        return 0

    def select(self, state, rng):  # noqa: ARG002
        return Choice(np.zeros(self.problem.n, dtype=np.int64))

    def update(self, state, choice, rewards):  # noqa: ARG002
        return state + 1


def test_policies_without_a_compiled_loop_fall_back_and_say_so_once():
    env = make_env(GRAPHS["star"], ARMS["one-hot"])
    mine = Stubborn(env.problem)
    with pytest.warns(SlowPolicyWarning, match="Stubborn has no compiled loop") as caught:
        result = gbb.simulate(env, mine, rounds=5, runs=3)
    assert len(caught) == 1
    fixed = gbb.simulate(env, gbb.policies.FixedAllocation(env.problem), rounds=5, runs=3)
    np.testing.assert_array_equal(result.expected_reward, fixed.expected_reward)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gbb.simulate(env, mine, rounds=5, method="reference")


def test_an_interrupt_stops_all_workers(monkeypatch):
    env = make_env(GRAPHS["complete"], ARMS["one-hot"])
    policy = gbb.policies.OFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    blocks = []

    def skip(self, rounds):
        blocks.append(rounds)
        if len(blocks) == 5:
            raise KeyboardInterrupt
        self.on_rounds(rounds)

    monkeypatch.setattr(Blocks, "report_done", skip)
    with pytest.raises(KeyboardInterrupt):
        gbb.simulate(env, policy, rounds=10_000_000, runs=4, record="log", workers=2)
    assert len(blocks) < 100  # of some ten thousand
    assert threading.active_count() < 10


def test_unknown_method_and_workers():
    env = make_env(GRAPHS["star"], ARMS["one-hot"])
    policy = gbb.policies.UniformRandom(env.problem)
    with pytest.raises(gbb.InputError, match="`method` to be one of 'cuda', 'engine', 'reference'"):
        gbb.simulate(env, policy, rounds=5, method="fast")
    with pytest.raises(gbb.InputError, match="`workers` to be a whole number >= 1"):
        gbb.simulate(env, policy, rounds=5, workers=0)


@pytest.mark.parametrize(
    "seed", [3, None, np.random.SeedSequence(3), np.random.default_rng(3)], ids=str
)
def test_policies_are_paired_whatever_the_seed(seed):
    env = make_env(GRAPHS["complete"], ARMS["one-hot"])
    cut = gbb.cuts.greedy(env.problem.graph)
    twins = [gbb.policies.OFUL(env.problem, cut=cut, name=name) for name in ("one", "two")]
    result = gbb.simulate(env, twins, rounds=50, runs=3, seed=seed)
    np.testing.assert_array_equal(result.couple[0], result.couple[1])
    assert (result.couple[0, 0] != result.couple[0, 1]).any()


def test_memory_does_not_grow_with_agents_times_rounds():
    graph = gbb.Graph.star(100_001)
    env = make_env(graph, np.eye(2))
    cut = gbb.cuts.greedy(graph)
    policies = [
        gbb.policies.FixedAllocation(env.problem),
        gbb.policies.UniformRandom(env.problem),
        gbb.policies.ExploreThenCommit(env.problem, cut=cut, exploration=20),
    ]
    tracemalloc.start()
    gbb.simulate(env, policies, rounds=100, record=1, workers=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * graph.n * 8 / 2  # half of what one policy's allocations would take


def test_an_optimum_of_another_instance_is_refused():
    env = make_env(GRAPHS["complete"], ARMS["one-hot"])
    other = gbb.optimum.solve(env.problem, env.M_star * 2)
    policy = gbb.policies.UniformRandom(env.problem)
    with pytest.raises(gbb.InputError, match="`optimum` to be one of this environment"):
        gbb.simulate(env, policy, rounds=5, optimum=other)
    with pytest.raises(
        gbb.InputError, match=r"`optimum` to be a gbb\.optimum\.Optimum, but got float"
    ):
        gbb.simulate(env, policy, rounds=5, optimum=3.0)


def test_overlapping_simulations_give_the_linear_algebra_its_threads_back():
    before = [info["num_threads"] for info in threadpool_info()]
    env = make_env(GRAPHS["complete"], ARMS["one-hot"])
    policy = gbb.policies.OFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    threads = [
        threading.Thread(target=gbb.simulate, args=(env, policy), kwargs={"rounds": rounds})
        for rounds in (100_000, 200_000)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [info["num_threads"] for info in threadpool_info()] == before


def test_huge_arms_choose_as_the_reference():
    env = make_env(GRAPHS["complete"], np.eye(3) * 1e30)
    policy = gbb.policies.ImprovedOFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    plain, fast = replayed(env, policy, 30, seed=0)
    np.testing.assert_array_equal(fast.couple, plain.couple)


def test_interrupting_a_long_run_ends_it_soon(tmp_path):
    """SIGINT in the main thread while workers draw uniform noise on a large circle."""
    script = """
import numpy as np, gbb
graph = gbb.Graph.circle(200_001)
problem = gbb.Problem(graph, np.eye(2))
env = gbb.Environment(problem, np.eye(2), noise="uniform")
policy = gbb.policies.OFUL(problem, cut=gbb.cuts.greedy(graph))
print("ready", flush=True)
gbb.simulate(env, policy, rounds=1_000_000, runs=2, record="log")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    assert process.stdout.readline() == b"ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"KeyboardInterrupt" in error
