"""Logs and results of the version before open, and say and choose what they did."""

import gzip
import json
from fnmatch import fnmatch

import numpy as np
import pytest

import gbb
import golden
from gbb.controller import Controller
from gbb.learning import radius

OTHER_DRAWS = (
    "general ThompsonSampling *",
    *(f"{kind} ThompsonSampling*" for kind in golden.KINDS),
)
"""Cases whose next choices may be other draws of the same law, as patterns of their names.

Everything else about them must still be what it was: what they know, say and have open.
"""

OTHER_NOISE = ("* OFUL engine", "* ImprovedOFUL engine")
"""Simulations whose Gaussian noise another generator draws since: other numbers of the same law."""

RELATIVE = 1e-9
SAID = json.loads(golden.ANSWERS.read_text())
RUNS = json.loads(golden.RUNS.read_text())


@pytest.fixture(autouse=True)
def forgetting_costs_nothing(monkeypatch):
    """The version before kept its delta however often it forgot."""
    monkeypatch.setattr("gbb.learning.radius.delta_after", lambda _, delta: delta)


@pytest.fixture(autouse=True)
def one_bound_on_the_error(monkeypatch):
    """The version before had the wider intervals of one bound, with all of delta."""

    def errors(ridge, delta):
        size = radius.confidence_radius(ridge, delta) + ridge.rounding
        return radius.Errors(noise=1e300, bias=0.0, radius=size)

    monkeypatch.setattr("gbb.learning.radius.errors", errors)


def draws_otherwise(name):
    return any(fnmatch(name, pattern) for pattern in (*OTHER_DRAWS, *OTHER_NOISE))


@pytest.fixture
def controller(request, tmp_path):
    """A controller of the version before, in a copy of its storage."""
    (tmp_path / "logs.db").write_bytes(gzip.decompress(golden.LOGS.read_bytes()))
    with Controller.open(f"sqlite:///{tmp_path / 'logs.db'}", request.param) as controller:
        yield controller


def assert_same(found, kept, where=""):
    """The same tree: tables of numbers to a relative error of their size, everything else exactly."""
    if isinstance(kept, dict):
        assert found.keys() == kept.keys(), where
        for key in kept:
            assert_same(found[key], kept[key], f"{where}.{key}")
    elif isinstance(kept, list) and is_table(kept):
        size = RELATIVE * float(np.abs(kept).max())
        assert np.allclose(found, kept, rtol=RELATIVE, atol=size), where
    elif isinstance(kept, list):
        assert len(found) == len(kept), where
        for place, (one, other) in enumerate(zip(found, kept, strict=True)):
            assert_same(one, other, f"{where}[{place}]")
    elif isinstance(kept, float):
        assert found == pytest.approx(kept, rel=RELATIVE), where
    else:
        assert found == kept, where


def is_table(value):
    """Whether ``value`` is a list of numbers that need not be whole, or of such lists."""
    if isinstance(value, list):
        return bool(value) and all(is_table(each) for each in value)
    return isinstance(value, float)


@pytest.mark.parametrize(
    ("controller", "name"), [(name, name) for name in SAID], indirect=["controller"]
)
def test_a_log_of_the_version_before_says_and_chooses_what_it_did(controller, name):
    kept = dict(SAID[name])
    asked, diagnosis = kept.pop("asks"), kept.pop("diagnosis", None)
    found = golden.answers(controller)
    for each, before in zip(found["estimate"], kept["estimate"], strict=True):
        assert (each["N"], each["Y"]) == (
            before["N"],
            before["Y"],
        )  # what was told, to the last bit
    assert_same(json.loads(json.dumps(found)), kept)
    assert diagnosis is None or str(controller.diagnose()) == diagnosis
    if not draws_otherwise(name):
        assert golden.asks(controller) == asked


@pytest.mark.filterwarnings("ignore:.*no compiled loop")
@pytest.mark.parametrize("name", RUNS)
def test_a_simulation_gives_the_numbers_of_the_version_before(name):
    found = golden.runs(*golden.simulations()[name])
    assert found["round"] == RUNS[name]["round"]
    if not draws_otherwise(name):
        assert found["allocation"] == RUNS[name]["allocation"]
        assert np.allclose(found["regret"], RUNS[name]["regret"], rtol=RELATIVE, atol=RELATIVE)


@pytest.mark.parametrize("kind", ["simulate", "compare"])
def test_a_result_of_the_version_before_loads(kind):
    with pytest.warns(UserWarning, match="has no digest"):
        found = gbb.load(golden.FOLDER / f"{kind}.nc")
    assert list(found["policy"].values) == ["ImprovedOFUL", "JointOFUL"]
    assert found.sizes["run"] == 2
    assert int(found["round"][-1]) == 30
    env = golden.environment_of(golden.problem_of("one-hot"))
    chosen = [golden.policy_of(str(name), env.problem, {}) for name in found["policy"].values]
    if kind == "simulate":
        again = gbb.simulate(env, chosen, rounds=30, runs=2, seed=1, record=10)
    else:
        again = gbb.compare([env], lambda _: chosen, rounds=30, runs=2, seed=1)
    found, again = (each.sel(policy="JointOFUL") for each in (found, again))  # see OTHER_NOISE
    for name in found:
        assert np.allclose(found[name], again[name], rtol=RELATIVE, atol=RELATIVE), name
