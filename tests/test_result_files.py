"""Result files: what is read is what was written, or the file is refused."""

import os
import warnings

import netCDF4
import numpy as np
import pytest
import xarray as xr

import gbb
from gbb import InputError
from gbb.simulation.result import read_dataset, write_dataset

FLIPS = int(os.environ.get("GBB_FLIPS", "1500"))


@pytest.fixture(scope="module")
def result():
    problem = gbb.Problem(gbb.Graph.path(3), np.eye(2), S=2.0)
    env = gbb.Environment(problem, np.array([[0.0, 1.0], [1.0, 0.2]]))
    policies = [gbb.policies.UniformRandom(problem)]
    return gbb.simulate(env, policies, rounds=5, runs=2, seed=1, method="reference")


@pytest.fixture
def path(result, tmp_path):
    gbb.save(result, tmp_path / "r.nc")
    return tmp_path / "r.nc"


def test_what_is_read_is_what_was_written(path, result):
    xr.testing.assert_identical(gbb.load(path), result)
    with xr.open_dataset(path) as other:  # as any other program reads it
        xr.testing.assert_identical(other.load(), result)


def test_no_flipped_byte_goes_unnoticed(path, result):
    """Every flip is refused, or (in the digest itself) the result is all there and a warning says so."""
    data, rng = path.read_bytes(), np.random.default_rng(0)
    places = np.concatenate([rng.integers(len(data), size=FLIPS), np.arange(1, 80)])
    read = 0
    for place in places:
        flipped = bytearray(data)
        flipped[-place] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found = gbb.load(path)
            except InputError:
                continue
        read += 1
        assert "has no digest" in str(said[0].message)
        xr.testing.assert_identical(found, result)
    assert 0 < read < 200


def test_a_file_cut_short_or_without_a_digest(path, result):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.warns(UserWarning, match="no digest"), pytest.raises(InputError, match="readable"):
        gbb.load(path)
    path.write_bytes(data[:-78])
    with pytest.warns(UserWarning, match=r"r\.nc' has no digest: if it was damaged"):
        xr.testing.assert_identical(gbb.load(path), result)
    with pytest.raises(InputError, match=r"be what gbb\.save wrote, but got .*damaged"):
        read_dataset(path, sealed=True)


@pytest.mark.filterwarnings("ignore:.*no digest")
def test_a_small_file_that_says_it_is_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "r.nc"
    with netCDF4.Dataset(path, "w") as file:
        for axis in ("a", "b"):
            file.createDimension(axis, 40_000)
        file.createVariable("x", "f8", ("a", "b"), zlib=True, chunksizes=(1000, 1000))
    assert path.stat().st_size < 20_000
    with pytest.raises(InputError, match=r"hold what fits into its .* bytes, but got .* in 'x' of"):
        gbb.load(path)


def test_constants_shrink_by_a_thousand_and_are_read_all_the_same(tmp_path):
    whole = xr.Dataset({"x": ("a", np.zeros(2_000_000))})
    write_dataset(whole, tmp_path / "zeros.nc")
    assert (tmp_path / "zeros.nc").stat().st_size < 50_000
    xr.testing.assert_identical(read_dataset(tmp_path / "zeros.nc"), whole)
