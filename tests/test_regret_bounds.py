"""The sharper regret bound: each step of its proof on any sequence of rounds, and runs of policies."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbb
import naive
from gbb.learning.record import regressors
from gbb.policies import OFUL, ImprovedOFUL, JointOFUL
from gbb.testing import PROBLEMS
from gbb.theory import regret_bound, regret_bound_sharp
from strategies import environments

SCALES = [1e-6, 1e-3, 1.0, 1e4, 1e8]


def potential(problem, T, lam, *, symmetric=False):
    """``D log(1 + T trace / (lam D))``, with the trace that a round adds in its worst case."""
    D = problem.types * problem.d * (problem.d + 1) // 2 if symmetric else problem.parameters
    return D * math.log1p(T * problem.gram_growth_per_round * problem.L**2 / (lam * D))


def rounds_of(problem, rng, T):
    """What each of T rounds of allowed arms, few of them new, adds: its rows, by type."""
    kinds = [problem.first_allowed[range(problem.n), rng.integers(problem.K, size=problem.n)]]
    for _ in range(T):
        if rng.random() < 0.3:
            kinds.append(
                problem.first_allowed[range(problem.n), rng.integers(problem.K, size=problem.n)]
            )
        yield regressors(problem, kinds[rng.integers(len(kinds))])


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("lam", [1e-3, 1.0, 50.0])
def test_the_widths_of_any_rounds_add_up_to_no_more_than_the_proof_says(problem, lam):
    T, rng = 60, np.random.default_rng(3)
    A, widths, doubled = lam * np.eye(problem.parameters), 0.0, 0
    for rows in rounds_of(problem, rng, T):
        white = np.linalg.solve(np.linalg.cholesky(A), rows.T)
        if np.linalg.norm(white, 2) ** 2 <= 1.0:
            widths += np.linalg.norm(white.sum(axis=1))
        else:
            doubled += 1
        A += rows.T @ rows
    grown = potential(problem, T, lam)
    numbers = problem.m if problem.feedback == "edge" else problem.observations
    assert np.linalg.slogdet(A / lam)[1] <= grown * (1 + 1e-9)
    assert doubled <= grown / math.log(2)
    assert widths <= math.sqrt(T * numbers * grown / math.log(2)) * (1 + 1e-9)
    assert doubled > 0 or lam == 50.0  # or there would be nothing to count


@pytest.mark.parametrize(
    "problem", [each for each in PROBLEMS.values() if each.symmetric and each.feedback == "edge"]
)
def test_symmetric_parts_need_no_more_than_their_own_dimension(problem):
    T, lam, rng, d = 60, 0.5, np.random.default_rng(4), problem.d
    swap = np.eye(d * d).reshape(d, d, d, d).transpose(0, 1, 3, 2).reshape(d * d, d * d)
    half = np.kron(np.eye(problem.types), (np.eye(d * d) + swap) / 2)
    A, widths, doubled = lam * np.eye(problem.parameters), 0.0, 0
    for rows in rounds_of(problem, rng, T):
        white = np.linalg.solve(np.linalg.cholesky(A), half @ rows.T)
        if np.linalg.norm(white, 2) ** 2 <= 1.0:
            widths += np.linalg.norm(white.sum(axis=1))
        else:
            doubled += 1
        A += half @ rows.T @ rows @ half
    grown = potential(problem, T, lam, symmetric=True)
    assert np.linalg.slogdet(A / lam)[1] <= grown * (1 + 1e-9)
    assert doubled <= grown / math.log(2)
    assert widths <= math.sqrt(T * problem.m * grown / math.log(2)) * (1 + 1e-9)


def scaled(env, pay, length):
    """The same instance with rewards and noise ``pay`` times as large and arms ``length`` times."""
    old = env.problem
    factor = pay / length**2
    problem = gbb.Problem(old.graph, old.arms * length, sigma=pay * old.sigma, S=factor * old.S)
    return gbb.Environment(problem, env.M_star * factor)


@given(
    env=environments(nonnegative=True),
    pay=st.sampled_from(SCALES),
    length=st.sampled_from([1e-3, 1.0, 1e4]),
    seed=st.integers(0, 99),
)
@settings(max_examples=40)
def test_the_alpha_regret_of_every_run_stays_under_the_sharper_bound(env, pay, length, seed):
    env, T = scaled(env, pay, length), 60
    problem, cut = env.problem, gbb.cuts.greedy(env.problem.graph)
    lam = length**4
    found = gbb.theory.report(env, cut=cut, lam=lam)
    radii = ("paper", "complete", "symmetric")
    policies = [
        kind(problem, cut=cut, radius=radius, lam=lam, name=f"{kind.__name__} {radius}")
        for kind in (OFUL, ImprovedOFUL, JointOFUL)
        for radius in radii
    ]
    result = gbb.simulate(env, policies, rounds=T, seed=seed, optimum=found.optimum)
    for k, policy in enumerate(policies):
        bound = [found.regret_bound_sharp(t, radius=policy.radius) for t in range(1, T + 1)]
        assert (result.alpha_regret.values[k, 0] <= bound).all()


@given(
    scale=st.sampled_from(SCALES),
    lam=st.sampled_from(SCALES),
    delta=st.sampled_from([1e-6, 1e-3, 0.5, 1.0]),
    sigma=st.sampled_from([0.0, 1e-6, 1.0, 1e8]),
    T=st.sampled_from([1, 10, 10_000, 10**9]),
    signed=st.booleans(),
)
def test_the_sharper_bound_is_always_smaller(*, scale, lam, delta, sigma, T, signed):
    arms = np.sqrt(scale) * np.eye(3)
    problem = gbb.Problem(gbb.Graph.complete(4), arms, sigma=sigma, S=2.0 / scale)
    options = {"lam": lam, "delta": delta, "non_negative": not signed}
    printed = regret_bound(problem, T, **options)
    sharper = [
        regret_bound_sharp(problem, T, radius=radius, **options)
        for radius in ("paper", "complete", "symmetric")
    ]
    assert np.isfinite(sharper).all()
    assert max(sharper) < printed
    assert sharper[2] <= sharper[1]


def test_by_how_much_it_is_smaller_where_the_paper_plays():
    """Figure 2's setting, S = 4: 9 times with the paper's radius, 17 times with the symmetric one."""
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(5), S=4.0)
    printed = regret_bound(problem, 20_000)
    ratios = [
        printed / regret_bound_sharp(problem, 20_000, radius=radius)
        for radius in ("paper", "complete", "symmetric")
    ]
    assert ratios == pytest.approx([9.10, 11.79, 17.60], abs=0.01)
    assert regret_bound_sharp(problem, 20_000, radius="default") == printed / ratios[2]


def test_the_sharper_bound_by_hand():
    problem = gbb.Problem(gbb.Graph.complete(2), np.eye(2), sigma=0.0, S=3.0)
    # m = 2, L = 1, lam = 4, T = 8: T m L^2 / lam = 4, G = 4 log 2, radius 2 * 3, 4 rounds lose 6.
    learning = np.sqrt(4 * 8 * 2 * 4) * 6
    assert regret_bound_sharp(problem, 8, lam=4.0) == pytest.approx(learning + 6 * 4)
    assert regret_bound_sharp(problem, 8, lam=4.0, non_negative=False) == pytest.approx(
        learning + 12 * 4
    )
    radius = naive.paper_radius(sigma=1.0, S=3.0, L=1.0, d=2, m=2, t=8, lam=4.0, delta=0.1)
    noisy = gbb.Problem(gbb.Graph.complete(2), np.eye(2), sigma=1.0, S=3.0)
    expected = np.sqrt(4 * 8 * 2 * 4) * radius + 6 * 4
    assert regret_bound_sharp(noisy, 8, lam=4.0, delta=0.1) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"T": 0}, "`T` to be a whole number >= 1, but got 0"),
        ({"T": 5, "lam": 0}, "`lam` to be a finite number > 0"),
        ({"T": 5, "delta": 2}, r"`delta` to be a finite number > 0 and <= 1, but got 2\.0"),
        ({"T": 5, "radius": "released"}, "`radius`"),
    ],
)
def test_bad_settings_of_the_sharper_bound_are_refused(options, message):
    problem = gbb.Problem(gbb.Graph.circle(3), np.eye(2))
    with pytest.raises(gbb.InputError, match=message):
        regret_bound_sharp(problem, **options)
