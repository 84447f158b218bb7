import itertools
import warnings

import numpy as np
import pytest
import xarray as xr

import gbb
import naive
from gbb._support import checks
from gbb.environment import NOISES
from gbb.policies import (
    OFUL,
    Choice,
    ExploreThenCommit,
    FixedAllocation,
    ImprovedOFUL,
    JointOFUL,
    UniformRandom,
)
from gbb.simulation.engine.noise import draw_sums
from gbb.simulation.reference import run_reference
from indices import objective_of


def environment(*, seed=0, graph=None, noise="gaussian", sigma=0.5):
    """An instance that satisfies the paper's assumptions, with general arms."""
    rng = np.random.default_rng(seed)
    graph = gbb.Graph.complete(5) if graph is None else graph
    arms, M = rng.uniform(0.1, 1.0, size=(4, 2)), rng.uniform(0.0, 1.0, size=(2, 2))
    problem = gbb.Problem(graph, arms, sigma=sigma, S=float(np.linalg.norm(M)))
    return gbb.Environment(problem, M, noise=noise)


ENV = environment()
PROBLEM = ENV.problem
CUT = gbb.cuts.greedy(PROBLEM.graph)
N, K = PROBLEM.n, PROBLEM.K


def all_policies(problem=PROBLEM, cut=CUT, horizon=30):
    return [
        gbb.policies.build(name, problem, cut=cut, horizon=horizon) for name in gbb.policies.names()
    ]


@pytest.fixture(scope="module")
def result():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gbb.simulation.SlowPolicyWarning)
        return gbb.simulate(ENV, all_policies(), rounds=30, runs=3, seed=1, keep_allocations=True)


def test_the_dataset_is_labelled(result):
    names = list(gbb.policies.names())
    assert dict(result.sizes) == {
        "policy": len(names), "run": 3, "round": 30, "part": 2, "agent": 5
    }  # fmt: skip
    assert result.policy.values.tolist() == names
    assert result["round"].values.tolist() == list(range(1, 31))
    assert set(result.data_vars) == {
        "expected_reward", "fraction", "regret", "alpha_regret", "proven_fraction", "couple",
        "allocation",
    }  # fmt: skip
    assert result.proven_fraction.dims == ("policy", "run")
    assert result.attrs["optimum"] == gbb.optimum.solve(PROBLEM, ENV.M_star).value
    assert result.attrs["optimum_proven"] == 1
    assert {key: result.attrs[key] for key in ("n", "m", "K", "d")} == {
        "n": 5, "m": 20, "K": 4, "d": 2
    }  # fmt: skip


def test_what_is_written_to_a_result_is_not_in_the_next():
    """Results with the same labels are copies of one, which nobody may change."""
    env = environment()
    policy = ImprovedOFUL(env.problem, cut=gbb.cuts.greedy(env.problem.graph))
    first, kept = (gbb.simulate(env, policy, rounds=20, record="log") for _ in range(2))
    first["alpha"].values[:] = 7.0
    first["regret"].values[:] = 7.0
    for changed in (first, first["round"], first["regret"]):
        changed.attrs["note"] = "changed"
    xr.testing.assert_identical(gbb.simulate(env, policy, rounds=20, record="log"), kept)
    other = gbb.simulate(env, OFUL(env.problem, cut=policy.cut), rounds=20, record="log")
    assert other["policy"].item() == "OFUL"
    assert other["alpha"].item() != kept["alpha"].item()


def test_rewards_are_those_of_the_allocations(result):
    stacked = result.stack(play=("policy", "run", "round")).transpose("play", ...)
    for reward, allocation in zip(
        stacked.expected_reward.values, stacked.allocation.values, strict=True
    ):
        edges = PROBLEM.graph.edges
        expected = naive.expected_reward(PROBLEM.arms, ENV.M_star, edges, allocation)
        assert reward == pytest.approx(expected, rel=1e-12)


def test_couples_are_those_of_the_allocations(result):
    stacked = result.stack(play=("policy", "run", "round")).transpose("play", ...)
    played = stacked.couple.values[:, 0] >= 0
    assert 0 < played.sum() < played.size
    for couple, allocation in zip(
        stacked.couple.values[played], stacked.allocation.values[played], strict=True
    ):
        assert np.array_equal(CUT.allocation(tuple(couple)), allocation)


def test_regret_is_the_sum_of_what_was_missed(result):
    best = result.attrs["optimum"]
    missed = (best - result.expected_reward).cumsum("round")
    xr.testing.assert_allclose(result.regret, missed, atol=1e-9)
    alpha_missed = (result.alpha * best - result.expected_reward).cumsum("round")
    assert result.alpha_regret.values == pytest.approx(
        alpha_missed.transpose(*result.alpha_regret.dims).values, abs=1e-9
    )
    xr.testing.assert_allclose(result.fraction, result.expected_reward / best)
    assert result.fraction.max() <= 1 + 1e-12


def test_each_policy_has_the_alpha_of_its_theorem(result):
    report = gbb.theory.report(ENV, cut=CUT)
    alpha = {name: float(result.alpha.sel(policy=name)) for name in result.policy.values}
    assert alpha["OFUL"] == report.alpha_1
    assert alpha["ImprovedOFUL"] == report.alpha_2
    assert alpha["UniformRandom"] == alpha["FixedAllocation"] == 1.0


def test_same_seed_same_result_and_another_seed_another():
    policies = [OFUL(PROBLEM, cut=CUT), UniformRandom(PROBLEM)]
    one, two, other = (
        gbb.simulate(ENV, policies, rounds=20, runs=2, seed=seed) for seed in (4, 4, 5)
    )
    assert one.identical(two)
    assert not one.identical(other)
    assert not np.array_equal(one.regret.isel(run=0), one.regret.isel(run=1))


def test_a_seed_sequence_may_be_used_again():
    seed = np.random.SeedSequence(4)
    policy = UniformRandom(PROBLEM)
    results = [gbb.simulate(ENV, policy, rounds=10, runs=2, seed=s) for s in (seed, seed, 4)]
    assert results[0].identical(results[1])
    assert results[0].identical(results[2])


def test_other_policies_and_more_runs_change_nothing(result):
    alone = gbb.simulate(ENV, OFUL(PROBLEM, cut=CUT), rounds=30, runs=2, seed=1)
    together = result.sel(policy=["OFUL"]).isel(run=[0, 1]).drop_vars(["allocation", "agent"])
    assert alone.identical(together)


def test_policies_face_the_same_noise():
    twins = [ImprovedOFUL(PROBLEM, cut=CUT, name=name) for name in ("one", "two")]
    both = gbb.simulate(ENV, twins, rounds=30, runs=2, seed=3)
    assert np.array_equal(both.couple.sel(policy="one"), both.couple.sel(policy="two"))


def test_the_reference_loop_is_select_draw_update():
    policy = ImprovedOFUL(PROBLEM, cut=CUT)
    recorded = np.arange(1, 26)
    trace = run_reference(
        ENV, policy, 25, recorded, np.random.SeedSequence(9), keep_allocations=True
    )
    noise_rng, policy_rng = map(np.random.default_rng, np.random.SeedSequence(9).spawn(2))
    state = policy.init()
    for t in range(25):
        choice = policy.select(state, policy_rng)
        state = policy.update(state, choice, ENV.draw(1, choice.allocation, noise_rng))
        assert trace.reward[t] == ENV.expected_reward(choice.allocation)
        assert tuple(trace.couple[t]) == choice.couple
        assert np.array_equal(trace.allocation[t], choice.allocation)
    assert trace.cumulative == pytest.approx(np.cumsum(trace.reward), rel=1e-12)


class Tide:
    """A system of one's own: what every edge pays rises with the rounds, and noise is its own."""

    problem = PROBLEM

    def expected(self, t, allocation):
        return t * ENV.expected_reward(allocation)

    def draw(self, t, allocation, rng):
        return t * ENV.expected_edge_rewards(allocation) + rng.exponential(size=PROBLEM.m)


def test_any_system_is_played():
    policies = [ImprovedOFUL(PROBLEM, cut=CUT), UniformRandom(PROBLEM)]
    found = gbb.simulate(Tide(), policies, rounds=12, runs=2, seed=4, keep_allocations=True)
    assert set(found.data_vars) == {"expected_reward", "couple", "allocation"}
    assert set(found.attrs) == {"n", "m", "K", "d", "sigma"}
    stacked = found.stack(play=("policy", "run")).transpose("play", ...)
    for rewards, arms in zip(
        stacked.expected_reward.values, stacked.allocation.values, strict=True
    ):
        assert rewards.tolist() == [Tide().expected(t, a) for t, a in enumerate(arms, start=1)]
    serial = gbb.simulate(
        Tide(), policies, rounds=12, runs=2, seed=4, keep_allocations=True, workers=1
    )
    assert serial.identical(found)


def test_play_yields_what_happened_round_by_round():
    policy, system = ImprovedOFUL(PROBLEM, cut=CUT), Tide()
    steps = list(gbb.simulation.play(system, policy, 9, 3))
    noise_rng, policy_rng = map(np.random.default_rng, np.random.SeedSequence(3).spawn(2))
    again = list(gbb.simulation.play(system, policy, 9, (noise_rng, policy_rng)))
    state = policy.init()
    for t, (step, same) in enumerate(zip(steps, again, strict=True), start=1):
        assert step.t == t
        assert np.array_equal(step.rewards, same.rewards)
        assert step.expected == system.expected(t, step.choice.allocation)
        state = policy.update(state, step.choice, step.rewards)
        assert np.array_equal(step.state.record.Y, state.record.Y)
    assert step.state.rounds == 9


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (1, list(range(1, 13))),
        (5, [5, 10, 12]),
        (4, [4, 8, 12]),
        (50, [12]),
        ([1, 7], [1, 7]),
        (np.array([12]), [12]),
        ("log", list(range(1, 13))),
    ],
)
def test_recorded_rounds(record, expected):
    found = gbb.simulate(ENV, UniformRandom(PROBLEM), rounds=12, record=record)
    assert found["round"].values.tolist() == expected


def test_log_spaced_rounds_reach_from_the_first_to_the_last():
    found = gbb.simulate(ENV, UniformRandom(PROBLEM), rounds=20_000, record="log")
    rounds = found["round"].values
    assert (rounds[0], rounds[-1]) == (1, 20_000)
    assert 130 <= len(rounds) <= 200
    assert (np.diff(rounds) > 0).all()


@pytest.mark.filterwarnings("ignore::gbb.simulation.SlowPolicyWarning")
def test_recording_less_keeps_the_same_numbers(result):
    few = gbb.simulate(ENV, all_policies(), rounds=30, runs=3, seed=1, record=[3, 17, 30])
    whole = result.sel(round=[3, 17, 30]).drop_vars(["allocation", "agent"])
    assert few.identical(whole)


class Plain:
    pass


class Needy(UniformRandom):
    def __init__(self, problem, *, eps):  # noqa: ARG002
        super().__init__(problem)


class Orphan(UniformRandom):
    def __init__(self, problem):
        pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": PROBLEM}, r"`env` to be a gbb\.Environment or a System, but got Problem"),
        ({"policies": []}, "`policies` to hold at least one policy"),
        ({"policies": ["OFULL"]}, r"`policy` to be one of .*Did you mean 'OFUL'\?"),
        ({"policies": [3]}, "`policies` to be policies, their names or classes.* but got int"),
        (
            {"policies": Plain},
            r"a policy class, but got <class '.*Plain'>\. Derive it from gbb\.policies\.P",
        ),
        (
            {"policies": Plain()},
            r"but got Plain\. A policy is of a class derived from gbb\.policies",
        ),
        (
            {"policies": Needy},
            r"Needy needs the setting 'eps': pass eps=",
        ),
        (
            {"policies": Orphan(PROBLEM)},
            r"but got Orphan without\. Call super\(\).__init__\(problem",
        ),
        (
            {"policies": UniformRandom(environment().problem)},
            r"`policies` to play env\.problem.*Build the policy and the environment on the same",
        ),
        (
            {"policies": [UniformRandom(PROBLEM), UniformRandom(PROBLEM)]},
            "`policies` to have distinct names.*Give each policy its own name",
        ),
        ({"rounds": 0}, "`rounds` to be a whole number >= 1, but got 0"),
        ({"runs": 0}, "`runs` to be a whole number >= 1, but got 0"),
        ({"seed": -3}, "`seed` to be >= 0, but got -3"),
        ({"record": 0}, "`record` to be a whole number >= 1, but got 0"),
        ({"record": "linear"}, "`record` to be one of 'log', but got 'linear'"),
        ({"record": [1.5]}, '`record` to be a whole number, "log", or a list of whole numbers'),
        ({"record": []}, '`record` to be a whole number, "log", or a list of whole numbers'),
        ({"record": [2, 2]}, r"`record` to rise strictly within 1\.\.5, but got \[2, 2\]"),
        ({"record": [6]}, r"`record` to rise strictly within 1\.\.5, but got \[6\]"),
        ({"record": [0, 1]}, r"`record` to rise strictly within 1\.\.5"),
    ],
)
def test_bad_settings_are_refused(options, message):
    settings = {"env": ENV, "policies": UniformRandom(PROBLEM), "rounds": 5} | options
    with pytest.raises(gbb.InputError, match=message):
        gbb.simulate(settings.pop("env"), settings.pop("policies"), **settings)


class Careless(UniformRandom):
    """Returns what it is told to."""

    chosen: object
    after: object = 0

    def select(self, *_):
        return self.chosen

    def update(self, *_):
        return self.after


@pytest.mark.parametrize(
    ("chosen", "after", "message"),
    [
        (None, 0, r"`select` to give a Choice, but got NoneType\. Let Careless\.select return gbb"),
        (np.zeros(N, int), 0, "`select` to give a Choice, but got ndarray"),
        (Choice([K] * N), 0, f"mine in round 1: .* got {K} at position 0. There are K = {K} arms"),
        (
            Choice(np.zeros(N)),
            0,
            r"mine in round 1: .*dtype float64\. Make them whole: \.astype\(int\)",
        ),
        (
            Choice([0] * N),
            None,
            r"the state after the round, but got None\. Let Careless\.update ret",
        ),
    ],
)
def test_what_a_policy_may_not_return(chosen, after, message):
    policy = Careless(PROBLEM, name="mine", chosen=chosen, after=after)
    with pytest.raises(gbb.InputError, match=message):
        gbb.simulate(ENV, policy, rounds=2, method="reference")


def test_an_allocation_may_be_a_list():
    listed, same = (Careless(PROBLEM, chosen=Choice(arms)) for arms in ([0] * N, np.zeros(N, int)))
    given = {"rounds": 3, "method": "reference", "keep_allocations": True}
    assert gbb.simulate(ENV, listed, **given).identical(gbb.simulate(ENV, same, **given))


@pytest.mark.parametrize("play", [gbb.simulate, gbb.compare])
def test_a_slow_policy_is_said_of_the_callers_line(play):
    policy = Careless(PROBLEM, name="mine", chosen=Choice([0] * N))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(ENV, policy, rounds=2)
    (said,) = caught
    assert said.category is gbb.simulation.SlowPolicyWarning
    assert said.filename == __file__


@pytest.mark.parametrize("given", ["ImprovedOFUL", ImprovedOFUL, lambda _: "ImprovedOFUL"])
def test_policies_may_be_named_as_in_compare(given):
    expected = gbb.simulate(
        ENV, ImprovedOFUL(PROBLEM, cut=gbb.cuts.greedy(PROBLEM.graph)), rounds=5
    )
    assert gbb.simulate(ENV, given, rounds=5).identical(expected)


def test_a_known_optimum_is_used():
    first, second = sorted(
        ([0, 0, 0, 0, 0], [1, 0, 0, 2, 3]), key=ENV.expected_reward, reverse=True
    )
    value = ENV.expected_reward(first)
    best = gbb.optimum.Optimum(np.array(first), value, 2 * value, proven=False, method="guess")
    other = FixedAllocation(PROBLEM, allocation=second)
    found = gbb.simulate(ENV, other, rounds=2, optimum=best)
    assert found.attrs["optimum"] == value
    assert found.attrs["optimum_upper_bound"] == 2 * value
    assert found.attrs["optimum_method"] == "guess"
    lost = 2 * (value - ENV.expected_reward(second))
    assert float(found.regret[0, 0, -1]) == pytest.approx(lost)
    assert found.proven_fraction.item() == pytest.approx(ENV.expected_reward(second) / (2 * value))


def test_the_progress_bar_counts_every_round(capsys):
    plain = gbb.simulate(ENV, UniformRandom(PROBLEM), rounds=5, runs=2)
    shown = gbb.simulate(ENV, UniformRandom(PROBLEM), rounds=5, runs=2, progress=True)
    assert plain.identical(shown)
    assert capsys.readouterr().out == ""


class TestFiles:
    def test_what_is_saved_is_loaded(self, result, tmp_path):
        path = tmp_path / "deep" / "result.nc"
        gbb.save(result, path)
        loaded = gbb.load(path)
        assert loaded.equals(result)
        assert dict(loaded.attrs) == dict(result.attrs)
        assert loaded.policy.values.tolist() == result.policy.values.tolist()
        assert loaded.agent.values.tolist() == result.agent.values.tolist()
        assert [item.name for item in path.parent.iterdir()] == ["result.nc"]
        gbb.save(loaded, path)
        assert gbb.load(path).equals(result)

    def test_another_suffix_is_refused(self, result, tmp_path):
        with pytest.raises(gbb.InputError, match=r"`path` to end in \.nc \(netCDF\)"):
            gbb.save(result, tmp_path / "result.csv")
        assert list(tmp_path.iterdir()) == []

    def test_a_failed_save_leaves_the_old_file(self, result, tmp_path):
        path = tmp_path / "result.nc"
        gbb.save(result, path)
        before = path.read_bytes()
        broken = result.assign_attrs(policies=object())
        with pytest.raises(TypeError, match="object"):
            gbb.save(broken, path)
        assert path.read_bytes() == before
        assert [item.name for item in tmp_path.iterdir()] == ["result.nc"]

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(gbb.InputError, match=r"`path` to name a result file.*No such file"):
            gbb.load(tmp_path / "none.nc")

    @pytest.mark.parametrize("kept", [0, 10, 3000])
    def test_an_unreadable_file(self, result, tmp_path, kept):
        path = tmp_path / "result.nc"
        gbb.save(result, path)
        path.write_bytes(path.read_bytes()[:kept])
        with pytest.raises(gbb.InputError, match="`path` to name a readable netCDF file"):
            gbb.load(path)

    def test_one_damaged_byte(self, tmp_path):
        path = tmp_path / "result.nc"
        gbb.save(gbb.simulate(ENV, UniformRandom(PROBLEM), rounds=2000), path)
        data = bytearray(path.read_bytes())
        # Compressed numbers are where the bytes vary most.
        blocks = range(0, len(data) - 256, 64)
        packed = max(blocks, key=lambda start: len(set(data[start : start + 256])))
        data[packed + 128] ^= 0xFF
        path.write_bytes(data)
        with pytest.raises(gbb.InputError, match=r"`path` to be what gbb\.save wrote"):
            gbb.load(path)

    def test_another_netcdf_file(self, result, tmp_path):
        path = tmp_path / "other.nc"
        gbb.save(result[["fraction"]].rename(run="repetition"), path)
        with pytest.raises(gbb.InputError, match=r"to name a result of gbb\.simulate") as caught:
            gbb.load(path)
        assert "without the dimension 'run', the variable 'expected_reward'," in str(caught.value)

    @pytest.mark.parametrize("thing", [None, 3, "result"])
    def test_what_is_no_dataset_is_not_saved(self, tmp_path, thing):
        with pytest.raises(gbb.InputError, match=r"Expected `result` to be an xarray\.Dataset"):
            gbb.save(thing, tmp_path / "result.nc")
        assert list(tmp_path.iterdir()) == []

    def test_a_text_file(self, tmp_path):
        path = tmp_path / "notes.nc"
        path.write_text("not a result")
        with pytest.raises(
            gbb.InputError, match=r"`path` to name a readable netCDF file.*notes\.nc"
        ):
            gbb.load(path)


def test_long_sums_of_uniform_noise_are_drawn_in_blocks(monkeypatch):
    monkeypatch.setattr("gbb.simulation.engine.noise.DRAWS", 1000)
    sums = draw_sums(NOISES["uniform"], np.random.default_rng(0), np.array([35]), 300)
    assert sums.var() == pytest.approx(35, rel=4 * np.sqrt(2 / 300))


BOUNDED = {
    "complete": environment(seed=0),
    "star": environment(seed=1, graph=gbb.Graph.star(8)),
    "odd circle": environment(seed=2, graph=gbb.Graph.circle(7), noise="rademacher"),
    "random": environment(seed=3, graph=gbb.Graph.random(7, p=0.5, seed=0), noise="uniform"),
    "path, much noise": environment(seed=4, graph=gbb.Graph.path(6), sigma=2.0),
    "large and quiet": environment(seed=5, graph=gbb.Graph.circle(201), sigma=0.05),
}


@pytest.mark.parametrize("env", BOUNDED.values(), ids=BOUNDED)
def test_the_alpha_regret_stays_under_the_bound_of_the_theorems(env):
    T = 300
    cut = gbb.cuts.greedy(env.problem.graph)
    report = gbb.theory.report(env, cut=cut)
    assert all(assumption.holds for assumption in report.assumptions)
    policies = [kind(env.problem, cut=cut) for kind in (OFUL, ImprovedOFUL, JointOFUL)]
    found = gbb.simulate(env, policies, rounds=T, runs=2, seed=0)
    bound = np.array([report.regret_bound(t) for t in range(1, T + 1)])
    assert (found.alpha_regret.values <= bound).all()


def test_the_bound_is_not_vacuous_and_a_bad_policy_breaks_it():
    arms = np.array([[1.0], [0.01]])
    problem = gbb.Problem(gbb.Graph.star(300), arms, sigma=0.1, S=1.0)
    env = gbb.Environment(problem, [[1.0]])
    cut = gbb.cuts.greedy(problem.graph)
    bound = gbb.theory.report(env, cut=cut).regret_bound(300)
    worst = FixedAllocation(problem, allocation=np.ones(300, dtype=int))
    policies = [worst, ImprovedOFUL(problem, cut=cut)]
    regret = gbb.simulate(env, policies, rounds=300, record=300).alpha_regret.isel(run=0, round=0)
    assert float(regret.sel(policy="FixedAllocation")) > bound
    assert float(regret.sel(policy="ImprovedOFUL")) < bound / 10


def covered(radius, kind=ImprovedOFUL, shrink=1.0, *, runs=300, rounds=12, delta=0.1):
    """In what fraction of runs the confidence set holds M* in all rounds at once.

    The symmetric radius is about the symmetric part of M*, the paper's about M* itself.
    """
    rng = np.random.default_rng(7)
    arms, M = rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    problem = gbb.Problem(gbb.Graph.circle(3), arms, S=float(np.linalg.norm(M)))
    env = gbb.Environment(problem, M)
    policy = kind(problem, cut=gbb.cuts.greedy(problem.graph), delta=delta, radius=radius, lam=0.1)
    held = 0
    for seed in range(runs):
        noise_rng, policy_rng = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
        state, holds = policy.init(), True
        for _ in range(rounds):
            choice = policy.select(state, policy_rng)
            state = policy.update(state, choice, env.draw(1, choice.allocation, noise_rng))
            ridge = gbb.Ridge(problem, state.record, policy.lam)
            error = ridge.M_hat - M
            v = naive.vec((error + error.T) / 2 if radius == "symmetric" else error)
            size = objective_of(policy, state).radius
            holds = holds and np.sqrt(v @ ridge.A @ v) <= shrink * size
        held += holds
    return held / runs


@pytest.mark.parametrize(
    ("radius", "kind"),
    [
        ("paper", ImprovedOFUL),
        ("symmetric", ImprovedOFUL),
        ("complete", ImprovedOFUL),
        ("symmetric", JointOFUL),  # with a smaller charge for the bias
        ("complete", JointOFUL),
    ],
)
def test_the_confidence_set_covers_at_its_stated_rate(radius, kind):
    assert covered(radius, kind) >= 0.9


def test_half_the_symmetric_radius_would_not_cover():
    assert covered("symmetric", shrink=0.5) < 0.9


def test_exploring_then_committing_records_no_couple_while_exploring():
    policy = ExploreThenCommit(PROBLEM, cut=CUT, horizon=9)
    couple = gbb.simulate(ENV, policy, rounds=9).couple.isel(policy=0, run=0).values
    assert (couple[:3] == -1).all()
    assert (couple[3:] == couple[3]).all()
    assert (couple[3:] >= 0).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"rounds": 10**12},
        {"rounds": 10**12, "record": 100},
        {"rounds": 10**4, "runs": 10**5},
        {"rounds": 10**7, "runs": 10, "keep_allocations": True},
    ],
)
def test_results_beyond_memory_are_refused(settings, monkeypatch):
    monkeypatch.setattr(checks, "total_memory", lambda: 8 * 2.0**30)
    said = r'`record` to fit into .* 8 GiB, but it needs about .* GiB\. Pass record="log"'
    with pytest.raises(gbb.InputError, match=said):
        gbb.simulate(ENV, UniformRandom(PROBLEM), **settings)


def test_too_many_runs_are_refused_by_what_they_leave_beside_their_rounds(monkeypatch):
    monkeypatch.setattr(checks, "total_memory", lambda: 8 * 2.0**30)
    with pytest.raises(gbb.InputError, match=r"about 14 GiB\. .*fewer runs\."):
        gbb.simulate(ENV, UniformRandom(PROBLEM), rounds=10, record=[10], runs=10**7)


def test_contexts_beyond_memory_are_refused_before_they_are_drawn(monkeypatch):
    monkeypatch.setattr(checks, "total_memory", lambda: 8 * 2.0**30)
    problem = gbb.Problem(PROBLEM.graph, PROBLEM.arms, S=6.0, contexts=gbb.contexts.Regimes(2))
    env = gbb.Environment(problem, np.ones((2, PROBLEM.d, PROBLEM.d)) / 2)
    many = {"rounds": 10**13, "record": "log", "contexts": itertools.repeat(0)}
    with pytest.raises(gbb.InputError, match=r"`rounds` to fit into .* needs about 149,012 GiB"):
        gbb.simulate(env, UniformRandom(problem), **many)


@pytest.mark.parametrize("name", ["keep_allocations", "edge_noise", "progress"])
def test_what_is_true_or_false_is_nothing_else(name):
    with pytest.raises(gbb.InputError, match=f"`{name}` to be True or False, but got 'no'"):
        gbb.simulate(ENV, UniformRandom(PROBLEM), rounds=3, **{name: "no"})
