import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbb import InputError
from gbb._support import checks
from gbb._support.rows import unique_rows


@pytest.mark.parametrize("value", [True, np.True_, "1_000"])
def test_truth_values_and_grouped_digits_are_no_numbers(value):
    with pytest.raises(InputError, match="Expected `sigma` to be a finite number >= 0, but got"):
        checks.real("sigma", value, low=0.0)
    with pytest.raises(InputError, match="Expected `rounds` to be a whole number"):
        checks.integer("rounds", value)


def test_fail_names_argument_rule_value_and_cure():
    error = checks.input_error("sigma", "be >= 0", -1, "Try 0.")
    assert str(error) == "Expected `sigma` to be >= 0, but got -1. Try 0."
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.25), np.int64(1), "0.5"])
def test_real_gives_a_float(value):
    assert checks.real("x", value, low=0.0, high=1.0) == float(value)
    assert type(checks.real("x", value)) is float


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (-1, {"low": 0.0}, r"Expected `x` to be a finite number >= 0, but got -1\.0\."),
        (0, {"low": 0.0, "low_open": True}, r"a finite number > 0, but got 0\.0\."),
        (2, {"low": 0.0, "high": 1.0}, r"a finite number >= 0 and <= 1, but got 2\.0\."),
        (np.nan, {}, r"Expected `x` to be a finite number, but got nan\."),
        (-np.inf, {}, r"a finite number, but got -inf\."),
        (10**400, {}, r"a finite number, but got inf\."),
        ("much", {}, r"a finite number, but got 'much'\."),
        (None, {"cure": "Give one."}, r"a finite number, but got None\. Give one\."),
    ],
)
def test_real_refuses(value, options, message):
    with pytest.raises(InputError, match=message):
        checks.real("x", value, **options)


def test_real_includes_closed_ends():
    assert checks.real("x", 0.0, low=0.0) == 0.0
    assert checks.real("x", 1.0, low=0.0, low_open=True, high=1.0) == 1.0


def test_integer_gives_an_int():
    assert type(checks.integer("x", np.int8(3), low=3, high=3)) is int


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (0, {"low": 1}, r"Expected `x` to be a whole number >= 1, but got 0\."),
        (9, {"low": 1, "high": 8}, r"a whole number >= 1 and <= 8, but got 9\."),
        (1.0, {}, r"a whole number, but got 1\.0\."),
        ("3", {"cure": "Count them."}, r"a whole number, but got '3'\. Count them\."),
    ],
)
def test_integer_refuses(value, options, message):
    with pytest.raises(InputError, match=message):
        checks.integer("x", value, **options)


def test_array_is_a_read_only_copy():
    given = np.ones((2, 3))
    result = checks.array("x", given, ndim=2, shape=(2, 3))
    given[0, 0] = 5
    assert result[0, 0] == 1
    assert result.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        result[0, 0] = 2


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ([1, 2], {"ndim": 2, "meaning": "rows"}, r"have 2 dimensions, rows, but got shape \(2,\)"),
        ([1, 2], {"shape": (3,)}, r"`x` to have shape \(3,\), but got \(2,\)"),
        ([1, np.nan], {}, r"hold finite numbers only, but got nan at position 1\."),
        ([[1, 2], [np.inf, 4]], {}, r"but got inf at position \(1, 0\)"),
        ([1, [2, 3]], {}, "be an array of numbers, but got list"),
        (["one"], {}, "be an array of numbers, but got list"),
        (np.array([1 + 2j]), {}, "be an array of numbers, but got ndarray"),
        (object(), {"cure": "Numbers please."}, r"got object\. Numbers please\."),
    ],
)
def test_array_refuses(value, options, message):
    with pytest.raises(InputError, match=message):
        checks.array("x", value, **options)


def test_indices_are_a_read_only_int64_copy():
    given = np.array([0, 2, 1], dtype=np.uint8)
    result = checks.indices("x", given, length=3, high=3, meaning="one each")
    given[0] = 2
    assert result.dtype == np.int64
    assert result.tolist() == [0, 2, 1]
    assert not result.flags.writeable


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0, 1], r"`x` to have shape \(3,\), one each, but got \(2,\)"),
        ([0.0, 1.0, 2.0], "hold whole numbers, one each, but got dtype float64"),
        ([True, False, True], "hold whole numbers, one each, but got dtype bool"),
        ([0, 1, 3], "hold numbers from 0 to 2, but got 3 at position 2"),
        ([0, -1, 3], "hold numbers from 0 to 2, but got -1 at position 1"),
    ],
)
def test_indices_refuses(value, message):
    with pytest.raises(InputError, match=message):
        checks.indices("x", value, length=3, high=3, meaning="one each")


def test_choice_suggests_the_nearest():
    options = ["gaussian", "uniform"]
    assert checks.choice("noise", "uniform", options) == "uniform"
    with pytest.raises(
        InputError,
        match="`noise` to be one of 'gaussian', 'uniform', but got 'gausian'. "
        r"Did you mean 'gaussian'\?",
    ):
        checks.choice("noise", "gausian", options)
    with pytest.raises(InputError, match=r"but got 3\.$"):
        checks.choice("noise", 3, options)


def test_unknown_names_are_refused_with_the_nearest():
    checks.known_names("OFUL", "setting", ["lam"], {"lam": 1, "delta": 2})
    with pytest.raises(
        InputError, match=r"^OFUL has no setting 'lan'; it has delta, lam\. Did you mean 'lam'\?"
    ):
        checks.known_names("OFUL", "setting", ["delta", "lan"], ["lam", "delta"])
    with pytest.raises(InputError, match=r"^UniformRandom has no setting 'lam'; it has none\.$"):
        checks.known_names("UniformRandom", "setting", ["lam"], [])
    with pytest.raises(InputError, match=r"it has a0, .* \(99 in all\)\."):
        checks.known_names("table", "column", ["agent"], [f"a{i}" for i in range(99)])


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("OFULL", "Did you mean 'OFUL'?"),
        ("thompson", "Did you mean 'ThompsonSampling'?"),
        ("pump-1x", "Did you mean 'pump-12' or 'pump-11'?"),
        ("xyz", ""),
    ],
)
def test_suggest_names_those_that_are_near(word, hint):
    known = ["OFUL", "JointOFUL", "GuardedThompson", "ThompsonSampling", "pump-11", "pump-12"]
    assert checks.suggest(word, known) == hint


def test_more_than_the_machine_s_memory_is_refused(monkeypatch):
    monkeypatch.setattr(checks, "total_memory", lambda: 8 * 2.0**30)
    checks.require_memory("n", 2.0**33)
    with pytest.raises(InputError, match=r"`n` to fit into .* of 8 GiB, but it needs about 16 GiB"):
        checks.require_memory("n", 2.0**34)


def test_names_become_strings():
    assert checks.names("x", None, length=4) is None
    assert checks.names("x", [1, "b"], length=2) == ("1", "b")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["a"], "hold 2 names, but got 1"),
        (["a", "a"], "hold distinct names, but got 'a' more than once"),
        (["a", ""], "names that are not empty, but got '' at position 1"),
    ],
)
def test_names_refuses(value, message):
    with pytest.raises(InputError, match=message):
        checks.names("x", value, length=2)


def test_frozen_is_the_same_array():
    values = np.zeros(2)
    assert checks.frozen(values) is values
    assert not values.flags.writeable


@given(
    st.integers(1, 4).flatmap(
        lambda columns: st.lists(
            st.tuples(*[st.sampled_from([0, 1, 2, 7, 2**40])] * columns), min_size=1
        )
    )
)
def test_different_rows_are_those_of_numpy(rows):
    columns = np.array(rows, dtype=np.int64).T
    found, which, counts = unique_rows(*columns)
    expected = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
    assert np.array_equal(np.stack(found), expected[0])
    assert np.array_equal(which, expected[1].ravel())
    assert np.array_equal(counts, expected[2])
