"""Normal numbers in lanes: published draws of the generator, the transform, and tests of the law."""

import numpy as np
import pytest
from scipy import stats

from gbb._kernels.normals import fill_bits, fill_normals, fill_normals_single

ROWS = 100_000


@pytest.fixture(scope="module")
def normals():
    """Rows x lanes."""
    state = np.random.SeedSequence(0).generate_state(32, np.uint64).reshape(4, 8)
    out = np.empty((ROWS, 8))
    fill_normals(state, out, ROWS // 2)
    return out


def test_draws_are_those_of_the_published_generator():
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    found = np.zeros((2, 3), dtype=np.uint64)
    fill_bits(state, found, 2)
    last = np.zeros((2, 1), dtype=np.uint64)
    fill_bits(state, last, 1)
    found[:, 2] = last[:, 0]
    draws = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    assert found.T.ravel().tolist()[:5] == draws


def test_normals_are_box_and_mullers_of_the_draws(normals):
    state = np.random.SeedSequence(0).generate_state(32, np.uint64).reshape(4, 8)[:, 3].copy()
    draws = np.zeros((2, 200), dtype=np.uint64)
    fill_bits(state, draws, 200)
    for pair, (one, two) in zip(
        normals[:400].reshape(200, 2, 8)[:, :, 3], draws.T.tolist(), strict=True
    ):
        u, x = 1.0 - (one >> 12) / 2.0**52, ((two >> 12) / 2.0**52 - 0.5) * np.pi / 2.0
        turn = [np.cos(x), np.sin(x)] if two & 1 == 0 else [np.sin(x), np.cos(x)]
        signs = [1 - 2 * (two >> 1 & 1), 1 - 2 * (two >> 2 & 1)]
        expected = np.sqrt(-2.0 * np.log(u)) * np.array(turn) * signs
        np.testing.assert_allclose(pair, expected, rtol=2e-15)


@pytest.mark.parametrize("pairs", [1, 7, 8, 9, 40])
def test_a_single_run_has_the_numbers_of_its_column(pairs):
    state = np.random.SeedSequence(5).generate_state(32, np.uint64).reshape(4, 8)
    lanes = [state[:, lane].copy() for lane in range(8)]
    bits = np.zeros((2, -(-pairs // 8) * 8), dtype=np.uint64)
    together, alone = np.empty((2 * pairs, 8)), np.empty(2 * pairs)
    for _ in range(2):  # the second time from where the first has ended
        fill_normals(state, together, pairs)
        for lane, own in enumerate(lanes):
            fill_normals_single(own, alone, pairs, bits, np.empty((2, 8)))
            np.testing.assert_array_equal(alone, together[:, lane])


def test_the_marginal_law(normals):
    z = normals.ravel()
    assert stats.kstest(z, "norm").pvalue > 1e-3
    counts, _ = np.histogram(stats.norm.cdf(z), bins=1000, range=(0.0, 1.0))
    assert stats.chisquare(counts).pvalue > 1e-3
    for power, (moment, spread) in {
        1: (0, 1),
        2: (1, 2),
        3: (0, 15),
        4: (3, 96),
        6: (15, 10170),
    }.items():
        assert abs((z**power).mean() - moment) < 4 * np.sqrt(spread / z.size)


@pytest.mark.parametrize("beyond", [2.0, 3.0, 4.0, 4.75])
def test_the_tails(normals, beyond):
    for side in (normals, -normals):
        found = int((side > beyond).sum())
        assert stats.binomtest(found, normals.size, stats.norm.sf(beyond)).pvalue > 1e-3


def test_every_lane_has_the_law(normals):
    assert min(stats.kstest(lane, "norm").pvalue for lane in normals.T) > 1e-3


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 6, 8])
def test_neighbours_in_a_run_are_independent(normals, lag):
    for x, y in ((normals[:-lag], normals[lag:]), (normals[:-lag] ** 2, normals[lag:] ** 2)):
        r = np.corrcoef(x.ravel(), y.ravel())[0, 1]
        assert abs(r) < 4 / np.sqrt(x.size)
    u, v = (stats.norm.cdf(z).ravel() for z in (normals[:-lag:lag], normals[lag::lag]))
    size = min(u.size, v.size)
    counts, _, _ = np.histogram2d(u[:size], v[:size], bins=32, range=[[0, 1], [0, 1]])
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3


def test_runs_are_independent(normals):
    r = np.corrcoef(normals, rowvar=False)[np.triu_indices(8, 1)] * np.sqrt(ROWS)
    assert stats.kstest(r, "norm").pvalue > 1e-3


@pytest.mark.parametrize("size", [2, 3, 12, 50])
def test_sums_of_squares_have_their_law(normals, size):
    rows = normals[: ROWS // size * size].T.reshape(-1, size)
    assert stats.kstest((rows**2).sum(axis=1), "chi2", args=(size,)).pvalue > 1e-3
    assert stats.kstest(rows.sum(axis=1) / np.sqrt(size), "norm").pvalue > 1e-3


def test_the_angle_of_a_pair_is_uniform_and_says_nothing_of_its_length(normals):
    x, y = normals[0::2].ravel(), normals[1::2].ravel()
    angle, length = np.arctan2(y, x) / (2 * np.pi) + 0.5, np.exp(-(x**2 + y**2) / 2.0)
    assert stats.kstest(angle, "uniform").pvalue > 1e-3
    counts, _, _ = np.histogram2d(angle, length, bins=24, range=[[0, 1], [0, 1]])
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3


def test_gaps_between_large_numbers_are_geometric(normals):
    for lane in normals.T:
        gaps = np.diff(np.flatnonzero(np.abs(lane) > 1.5)) - 1
        p = 2 * stats.norm.sf(1.5)
        most = 25
        counts = np.bincount(np.minimum(gaps, most), minlength=most + 1)
        law = np.append(p * (1 - p) ** np.arange(most), (1 - p) ** most)
        assert stats.chisquare(counts, law * gaps.size).pvalue > 1e-4
