import numpy as np
import pytest
from hypothesis import given
from scipy import optimize

import gbb
from strategies import arm_sets


def worst_variance(arms, weights):
    """``max_x x' V^+ x`` and the rank of the arms, in coordinates of comparable size."""
    sizes = np.linalg.norm(arms, axis=0)
    u, s, _ = np.linalg.svd(arms / np.where(sizes > 0, sizes, 1.0), full_matrices=False)
    rank = int((s > s[0] * 1e-12).sum())
    X = u[:, :rank]
    V = X.T @ (X * weights[:, None])
    return max(float(x @ np.linalg.solve(V, x)) for x in X), rank


def check(arms):
    design = gbb.g_optimal(arms)
    assert design.weights.shape == (len(arms),)
    assert (design.weights >= 0).all()
    assert design.weights.sum() == pytest.approx(1.0, rel=1e-14)
    assert not design.weights.flags.writeable
    worst, rank = worst_variance(np.asarray(arms, dtype=float), design.weights)
    assert worst - rank < 1e-3
    assert design.worst == pytest.approx(worst, rel=1e-9)
    assert design.gap == pytest.approx(worst - rank, abs=1e-9)
    return design


RNG = np.random.default_rng(0)
CASES = {
    "general": RNG.normal(size=(20, 4)),
    "many arms": RNG.normal(size=(200, 5)),
    "fewer arms than dimensions": RNG.normal(size=(3, 6)),
    "one arm": np.array([[1.0, 2.0, 3.0]]),
    "one dimension": np.array([[1.0], [-3.0], [2.0]]),
    "one dimension, tied": np.array([[2.0], [-2.0], [1.0]]),
    "a line in the plane": np.array([[1.0, 2.0], [-3.0, -6.0], [2.0, 4.0]]),
    "duplicates": np.repeat(RNG.normal(size=(4, 3)), 3, axis=0),
    "a plane in four dimensions": RNG.normal(size=(9, 2)) @ RNG.normal(size=(2, 4)),
    "one arm far beyond the others": np.vstack([RNG.normal(size=(8, 3)), [[1e5, 1e5, -1e5]]]),
    "scales from 1e-6 to 1e6": RNG.normal(size=(30, 4)) * np.logspace(-6, 6, 4),
    "a zero arm": np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
}


@pytest.mark.parametrize("arms", CASES.values(), ids=CASES)
def test_the_kiefer_wolfowitz_gap_is_closed(arms):
    check(arms)


@given(arms=arm_sets(max_K=7, max_d=4))
def test_the_gap_is_closed_on_any_arms(arms):
    check(arms)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_one_hot_arms_are_drawn_uniformly(d):
    assert check(np.eye(d)).weights == pytest.approx(np.full(d, 1 / d), abs=1e-12)


def test_the_longest_arm_of_a_line_takes_all():
    assert check(CASES["one dimension"]).weights == pytest.approx([0, 1, 0], abs=1e-12)


def test_the_design_maximises_the_determinant():
    arms = np.random.default_rng(3).normal(size=(6, 3))

    def loss(weights):
        return -np.linalg.slogdet(arms.T @ (arms * weights[:, None]))[1]

    found = optimize.minimize(
        loss,
        np.full(6, 1 / 6),
        bounds=[(1e-12, 1)] * 6,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    design = gbb.g_optimal(arms, tolerance=1e-6)
    assert design.gap < 1e-6
    # log det of the optimum exceeds that of a design by at most its gap.
    assert loss(design.weights) == pytest.approx(found.fun, abs=1e-5)


def test_a_product_of_designs_is_G_optimal_for_the_edge_arms():
    arms = np.random.default_rng(4).normal(size=(5, 2))
    problem = gbb.Problem(gbb.Graph.complete(2), arms)
    weights = gbb.g_optimal(arms, tolerance=1e-6).weights
    worst, rank = worst_variance(problem.edge_arms, np.outer(weights, weights).ravel())
    assert rank == 4
    assert worst - rank < 1e-5


def test_giving_up_early_is_admitted():
    design = gbb.g_optimal(CASES["general"], max_steps=1)
    assert design.gap > 1e-2
    assert design.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gbb.g_optimal(np.zeros((2, 2))), "`arms` to span at least one dimension"),
        (lambda: gbb.g_optimal([1.0, 2.0]), "`arms` to have 2 dimensions"),
        (lambda: gbb.g_optimal([[np.nan]]), "`arms` to hold finite numbers only"),
        (lambda: gbb.g_optimal(np.eye(2), tolerance=0), "`tolerance` to be a finite number > 0"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(gbb.InputError, match=message):
        call()
