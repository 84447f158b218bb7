"""Traffic through the day on the real simulator: what it must show, and plans that change by clock."""

import json

import numpy as np
import pytest
import xarray as xr

import gbb
from gbb.applications.traffic import day
from gbb.applications.traffic.day.hours import HOURS, REGIMES, make_day, make_flows, make_grid
from gbb.applications.traffic.day.model import alternate, make_model
from gbb.applications.traffic.day.simulator import DaySimulator, DaySystem
from gbb.applications.traffic.sumo import WARM_UP
from gbb.cli import main
from gbb.environment import problem_at

WAVE = np.add.outer(np.arange(4), np.arange(4)).ravel() % 6
"""Green all the way inbound: 10 s later at every block to the north or to the east."""


@pytest.fixture(scope="module")
def simulator():
    with DaySimulator(minutes=5, length=4) as made:
        yield made


def test_told_the_time_of_day_plans_lose_less(tmp_path, capsys):
    place = tmp_path / "demo"
    with pytest.raises(SystemExit) as done:
        main(["demo", "traffic", "--day", "--quick", "--out", str(place)])
    assert done.value.code == 0
    expected = {"data.nc", "numbers.json", "report.md", "hours.png", "plans.png"}
    assert {path.name for path in place.iterdir()} == expected
    numbers = json.loads((place / "numbers.json").read_text())
    assert numbers["regimes_over_blind"] <= 0.95
    assert numbers["regimes_over_zero"] <= 0.9
    with xr.open_dataset(place / "data.nc") as data:
        whole = data["loss"].sum("hour")
        single = whole.sel(name=list(day.SINGLE))
        assert numbers["single_loss"] == pytest.approx(float(single.min()))
        assert numbers["regimes_loss"] == pytest.approx(float(whole.sel(name="regimes")))
        assert (data["plan"].sel(name="blind") == data["plan"].sel(name="blind")[0]).all()
        assert (data["between"] < data["loss"]).all()
    assert "told, over the best single plan" in capsys.readouterr().out


def test_plans_change_at_their_hour_and_queues_stay(simulator):
    back, clock = -WAVE % 6, np.array([hour.clock for hour in HOURS])
    evening = clock >= 15
    stays, goes, changes = (
        simulator.run_day(plans, 3)
        for plans in (
            [WAVE] * len(HOURS),
            [back] * len(HOURS),
            [back if late else WAVE for late in evening],
        )
    )
    assert np.array_equal(changes.loss[~evening], stays.loss[~evening])
    # The offsets are the other plan's, not those of a program that starts when it is switched on.
    late = clock >= 16
    assert goes.loss[late].sum() < 0.8 * stays.loss[late].sum()
    assert changes.loss[late].sum() == pytest.approx(goes.loss[late].sum(), rel=0.05)


def test_green_waves_suit_one_way_and_the_double_alternate_both(simulator):
    def lose(k, plan):
        return np.mean([simulator.run_hour(k, plan, seed).loss for seed in (1, 2)])

    plans = {"in": WAVE, "out": -WAVE % 6, "both": alternate(simulator.grid)}
    morning, noon, evening = (
        {name: lose(k, plan) for name, plan in plans.items()} for k in (1, 6, 11)
    )
    assert min(morning, key=morning.get) == "in"
    assert min(noon, key=noon.get) == "both"
    assert min(evening, key=evening.get) == "out"


def test_a_signal_is_told_of_its_own_approaches(simulator):
    measured = simulator.run_hour(1, WAVE, 0)
    degree = np.bincount(simulator.grid.graph.edges[:, 0])
    assert measured.rewards.shape == (16,)
    assert (measured.rewards < degree).all()
    held = (degree - measured.rewards).sum() * 6.0
    assert held == pytest.approx(measured.between)  # vehicles held up for an hour are vehicle-hours


def test_rounds_are_hours_and_only_one_learner_is_told(simulator):
    model, seeds = make_model(simulator.grid), np.arange(20)
    told = DaySystem(simulator, model.problem("fourier", regimes=True), seeds)
    assert [told.context(t) for t in (1, 5, 10, 15)] == ["morning", "noon", "evening", "morning"]
    assert problem_at(told, 5).types == 12
    assert set(problem_at(told, 5).edge_types) == {4, 5, 6, 7}
    blind = DaySystem(simulator, model.problem("fourier"), seeds)
    assert problem_at(blind, 5) is blind.problem


def test_the_model_knows_ways_and_two_blocks():
    model = make_model(make_grid(5))
    assert (model.graph.n, model.graph.m) == (16, 80)
    kinds = {
        tuple(edge): kind
        for edge, kind in zip(model.graph.edges.tolist(), model.types, strict=True)
    }
    # From signal 0 at the south-west to its neighbour in the east, and to the second one in the north.
    assert (kinds[1, 0], kinds[0, 1], kinds[8, 0], kinds[0, 8]) == (1, 0, 3, 2)
    assert (5, 0) not in kinds
    assert (3, 0) not in kinds
    assert make_model(make_grid(5), reach=1, ways=False).types.max() == 0


def test_the_day_has_the_traffic_of_its_hours():
    grid = make_grid(5)
    assert [hour.clock for hour in HOURS] == list(range(6, 20))
    assert {hour.regime for hour in HOURS} == set(REGIMES)
    whole = make_day(grid, 600)
    for k, hour in enumerate(HOURS):
        begin = WARM_UP + 600 * k if k else 0
        mine = [flow for flow in whole if flow.begin == begin]
        assert {flow.end for flow in mine} == {WARM_UP + 600 * (k + 1)}
        assert [flow.rate for flow in mine] == [flow.rate for flow in make_flows(grid, hour)]
        inwards = sum(flow.rate for flow in mine if flow.way[0][0] in "wb")
        assert (inwards > sum(flow.rate for flow in mine) / 2 + 1) == (hour.regime == "morning")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"rounds": 0}, "`rounds` to be a whole number >= 1"),
        ({"arms": "both"}, "`arms` to be one of"),
    ],
)
def test_bad_settings_are_named(settings, text):
    with pytest.raises(gbb.InputError, match=text):
        day.run(quick=True, **settings)
