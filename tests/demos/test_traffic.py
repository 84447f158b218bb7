"""The traffic demo on the real simulator: what it must show, and whether the plant is what we say."""

import json
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import gbb
from gbb.applications import traffic
from gbb.applications.traffic.streets import Grid
from gbb.applications.traffic.sumo import Simulator
from gbb.cli import main

LENGTHS = {"columns": (100.0, 250.0, 400.0), "rows": (350.0, 150.0, 200.0)}


def survey(simulator, rounds, seed):
    """Random offsets, and what they pay."""
    rng = np.random.default_rng(seed)
    played = rng.integers(0, 6, (rounds, simulator.grid.graph.n))
    paid = [simulator.run(traffic.OFFSETS[a], 100 + t).rewards for t, a in enumerate(played)]
    return played, np.array(paid)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """An empty working directory and an empty place for temporary files, both empty afterwards."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield
    assert list(here.iterdir()) == []
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("nowhere")
def test_live_learning_beats_random_offsets_and_reaches_the_best_fixed_ones():
    told, pictures = [], []
    outcome = traffic.run(seed=0, advance=told.append, watch=pictures.append)
    numbers = outcome.numbers
    assert numbers["best_fixed_proven"] == 1.0
    for arms in ("one_hot", "fourier"):
        assert numbers[f"{arms}_over_random"] <= 0.7
        assert numbers[f"{arms}_between_over_random"] <= 0.7
        assert numbers[f"{arms}_over_best"] <= 1.1
        assert numbers[f"{arms}_within"] > 0.85
        assert numbers[f"{arms}_total"] > 0.7
    assert numbers["best_fixed_loss"] < numbers["random_loss"] < numbers["zero_loss"]
    assert sum("good enough to act on" in each for each in outcome.sentences) == 2
    assert sum(told) == traffic.steps()
    assert len(pictures) == 10
    data = outcome.data
    assert data["live_rewards"].shape == (2, 40, 48)
    late = data["live_loss"].sel(arms="fourier")[30:].mean()
    assert numbers["fourier_over_best"] == pytest.approx(
        float(late / data["best_fixed_loss"].mean())
    )


def test_irregular_streets_are_noticed_and_a_matrix_for_each_length_mends_it():
    with Simulator(Grid(**LENGTHS)) as simulator:
        played, paid = survey(simulator, 30, 1)
        graph, places = simulator.grid.graph, simulator.grid.places()
    spots = np.array([places[name] for name in graph.labels])
    lengths = np.linalg.norm(spots[graph.edges[:, 0]] - spots[graph.edges[:, 1]], axis=1)
    types = np.unique(lengths, return_inverse=True)[1].reshape(-1)
    assert types.max() == 5
    for arms in traffic.FEATURES.values():
        shared = gbb.diagnose(gbb.Problem(graph, arms), played, paid)
        assert shared.status == "poor", shared
        assert "edge_types" in shared.sentence
    own = gbb.diagnose(
        gbb.Problem(graph, traffic.FEATURES["fourier"], edge_types=types), played, paid
    )
    assert own.good, own
    assert own.within > shared.within + 0.3


def test_regular_streets_fit_one_matrix():
    with Simulator(Grid()) as simulator:
        played, paid = survey(simulator, 20, 1)
        found = gbb.diagnose(gbb.Problem(simulator.grid.graph, np.eye(6)), played, paid)
    assert found.good, found
    assert found.within > 0.85


@pytest.mark.usefixtures("nowhere")
def test_a_round_is_its_offsets_and_its_seed():
    with Simulator(Grid(minutes=4)) as simulator:
        offsets = np.arange(16) % 6 * 10
        one, same, other = (simulator.run(offsets, seed) for seed in (1, 1, 2))
        assert np.array_equal(one.rewards, same.rewards)
        assert (one.loss, one.between) == (same.loss, same.between)
        assert not np.array_equal(one.rewards, other.rewards)
        assert one.between < one.loss
        turned = simulator.run((offsets + 10) % 60, 1)
        assert not np.array_equal(one.rewards, turned.rewards)
        # A whole cycle is no shift at all.
        assert np.array_equal(one.rewards, simulator.run(offsets + 60, 1).rewards)


def test_edge_i_j_pays_for_the_street_from_j_to_i():
    """Only the traffic eastwards: the streets that lead west stay empty and lose nothing."""

    class Eastwards(Grid):
        def routes(self):
            straight, _ = super().routes()
            return straight, [way for way in straight if way[0].startswith("w")]

    grid = Eastwards(through=0.0, turning=300.0, minutes=4)
    with Simulator(grid) as simulator:
        rewards = simulator.run(np.arange(16) % 4 * 15, 0).rewards
    place = np.array([simulator.grid.places()[name] for name in grid.graph.labels])
    towards, origin = place[grid.graph.edges[:, 0]], place[grid.graph.edges[:, 1]]
    east = towards[:, 0] > origin[:, 0]
    assert east.sum() == 12
    assert (rewards[east] < 1.0).all()
    assert (rewards[~east] == 1.0).all()


def test_the_grid_is_what_the_tutorial_says():
    grid = Grid()
    assert (grid.graph.n, grid.graph.m) == (16, 48)
    assert grid.graph.is_bipartite()
    straight, turns = grid.routes()
    assert (len(straight), len(turns)) == (16, 64)
    spots = {name: np.array(spot) for name, spot in grid.places().items()}
    for way in turns:
        steps = [spots[b] - spots[a] for a, b in pairwise(way)]
        crosses = [a[0] * b[1] - a[1] * b[0] for a, b in pairwise(steps)]
        assert sum(cross < 0 for cross in crosses) == 1  # one right turn
        assert all(cross <= 0 for cross in crosses)  # and no left one


def test_the_quick_command_leaves_data_pictures_and_a_report(tmp_path, capsys):
    place = tmp_path / "demo"
    with pytest.raises(SystemExit) as done:
        main(
            ["demo", "traffic", "--quick", "--seed", "1", "--arms", "fourier", "--out", str(place)]
        )
    assert done.value.code == 0
    expected = {"data.nc", "numbers.json", "report.md", "loss.png", "matrix.png"}
    assert {path.name for path in place.iterdir()} == expected
    numbers = json.loads((place / "numbers.json").read_text())
    assert numbers["fourier_over_random"] <= 0.75
    assert "one_hot_late_loss" not in numbers
    with xr.open_dataset(place / "data.nc") as data:
        assert data.sizes["round"] == 24
        assert float(data["random_loss"].mean()) == pytest.approx(numbers["random_loss"])
    assert "over random offsets" in capsys.readouterr().out


def test_same_seed_same_run():
    one, other = (traffic.run(quick=True, rounds=3, seed=3, arms="one-hot") for _ in range(2))
    xr.testing.assert_identical(one.data, other.data)
    assert one.numbers == other.numbers
    assert any("3 rounds are few" in sentence for sentence in one.sentences)


@pytest.mark.usefixtures("nowhere")
def test_a_run_that_fails_is_one_line_and_leaves_nothing():
    with Simulator(Grid()) as simulator:
        net = next(Path(tempfile.gettempdir()).iterdir()) / "net.xml"
        net.write_text(net.read_text().replace('id="s0-0"', 'id="unknown"'))
        with pytest.raises(gbb.InputError, match=r"^SUMO's sumo failed with exit code 1: Error:"):
            simulator.run(np.zeros(16), 0)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"rounds": 0}, "`rounds` to be a whole number >= 1"),
        ({"seed": -1}, "`seed` to be a whole number >= 0"),
        ({"arms": "onehot"}, "Did you mean 'one-hot'"),
    ],
)
def test_bad_settings_are_named(settings, text):
    with pytest.raises(gbb.InputError, match=text):
        traffic.run(quick=True, **settings)


def test_the_command_says_in_one_line_what_is_wrong(capsys):
    with pytest.raises(SystemExit) as done:
        main(["demo", "traffic", "--rounds", "0"])
    assert done.value.code == 2
    error = capsys.readouterr().err
    assert error == "gbb: error: Expected `--rounds` to be a whole number >= 1, but got 0.\n"
