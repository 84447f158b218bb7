"""Tables, exponents and pictures of a sweep, from its dataset or from more than memory holds."""

import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import gbb
from gbb import sweep as sweeps
from gbb._cli.left import Left
from gbb.cli import main
from gbb.sweep.results import pictures, reading
from gbb.sweep.results.collect import CURVES
from gbb.sweep.results.summary import share_interval, summarise
from sweep_cases import SMALL, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("sweep") / "out"
    run(place)
    sweeps.collect(place)
    return place


@pytest.fixture
def call(capsys):
    """The command line: what it says, both ways."""

    def call(*words, code=0):
        with pytest.raises(SystemExit) as stop:
            main(["sweep", *map(str, words)])
        said = capsys.readouterr()
        assert stop.value.code == code, said
        return said.out + said.err

    return call


@pytest.fixture
def data(folder):
    return xr.load_dataset(folder / "dataset.nc")


def share(data):
    """What was lost of the optimum, averaged over runs."""
    return data.regret.isel(round=-1).mean("run") / data.optimum / 60


def test_a_row_for_every_cell_is_paired_by_instance(folder, data):
    rows = summarise(folder, baseline="ThompsonSampling")
    assert len(rows) == 8 * 3
    row = next(
        r
        for r in rows
        if r.policy == "ImprovedOFUL" and r.cell == {"graph": "circle", "n": 4, "zeta": 1.0}
    )
    here = share(data).sel(row.cell)
    own, base = here.sel(policy="ImprovedOFUL"), here.sel(policy="ThompsonSampling")
    assert row.lost == pytest.approx(float(own.mean()))
    assert row.ratio == pytest.approx(float(own.mean() / base.mean()))
    assert row.wins == pytest.approx(float(((own < base) + 0.5 * (own == base)).mean()))
    assert row.lost_low <= row.lost <= row.lost_high
    same = next(r for r in rows if r.policy == "ThompsonSampling")
    assert (same.ratio, same.ratio_low, same.ratio_high) == (1.0, 1.0, 1.0)
    assert (same.wins, same.wins_low, same.wins_high) == (0.5, 0.5, 0.5)


def test_cells_that_are_not_told_apart_are_averaged_matrix_by_matrix(folder, data):
    rows = summarise(folder, by=["graph"])
    assert [(row.cell["graph"], row.policy) for row in rows] == [
        (graph, policy) for graph in SMALL["graph"] for policy in data.policy.values
    ]
    each = share(data).sel(graph="complete", policy="EpsilonGreedy").mean(("n", "zeta"))
    assert rows[2].lost == pytest.approx(float(each.mean()))
    half = 4.302652729911275 * float(each.std(ddof=1)) / np.sqrt(3)  # Student's t, two degrees
    assert rows[2].lost_high - rows[2].lost == pytest.approx(half)
    assert len(summarise(folder, by=[])) == 3
    with pytest.raises(gbb.InputError, match="`by`"):
        summarise(folder, by=["sigma"])
    with pytest.raises(gbb.InputError, match="`baseline`"):
        summarise(folder, baseline="OFUL")


@pytest.mark.parametrize(
    ("size", "each", "chance"),
    [(n, 1, p) for n in (10, 20) for p in (0.5, 0.8, 0.9, 0.95)]
    + [(20, 24, p) for p in (0.5, 0.8)],
)
def test_intervals_of_shares_hold_what_they_are_about(size, each, chance):
    rng, held, tries = np.random.default_rng(0), 0, 1500
    for _ in range(tries):
        own = rng.beta(5 * chance, 5 - 5 * chance, size) if each > 1 else chance
        mean, low, high = share_interval(rng.binomial(each, own, size) / each, each)
        assert 0.0 <= low <= mean <= high <= 1.0
        held += low <= chance <= high
    assert 0.92 <= held / tries <= 0.99


def test_all_won_is_not_won_for_certain():
    assert share_interval(np.ones(20), 1)[1] == pytest.approx(0.82, abs=0.01)
    assert share_interval(np.zeros(20), 24)[2] == pytest.approx(0.18, abs=0.01)
    assert np.isnan(share_interval(np.ones(1), 1)[1:]).all()


def test_chunks_of_any_size_give_the_same_numbers(folder, tmp_path, monkeypatch):
    whole = reading.finals(folder)
    at = np.array([0, 3, 40])
    regrets = [piece.regret for piece in reading.pieces(folder, at)]
    run(tmp_path / "out")
    monkeypatch.setitem(sweeps.collect.__globals__, "CHUNK", 20)
    sweeps.collect(tmp_path / "out")
    np.testing.assert_allclose(reading.finals(tmp_path / "out"), whole, rtol=1e-12)
    found = np.full((8, 3, 3, 3), np.nan)
    for cell, matrices, policies, regret in reading.pieces(tmp_path / "out", at):
        found[cell, matrices, policies] = regret
    np.testing.assert_allclose(found, np.stack(regrets), rtol=1e-12)


def test_exponents_are_those_of_a_power_law(tmp_path):
    """Rewards are replaced so that the regret of policy k is T^(k/4) n^2 K^(1/2) on every instance."""
    declared = {**SMALL, "graph": "circle", "n": [4, 8, 16], "arms": "normal", "K": [3, 6]}
    out = tmp_path / "out"
    run(out, {**declared, "zeta": None, "matrices": 2})
    path = sweeps.collect(out)
    with xr.load_dataset(path) as data:
        power = xr.DataArray(np.arange(3) / 4, dims="policy", coords={"policy": data.policy})
        law = data["round"] ** power * data.n**2.0 * data.K**0.5
        chunks = data.regret.encoding["chunksizes"]
        data["regret"] = (law + 0 * data.regret).transpose(*data.regret.dims)
    data.to_netcdf(path, encoding={"regret": {"chunksizes": chunks}})
    found = {(each.along, each.policy): each for each in sweeps.exponents(out)}
    assert {along for along, _ in found} == {"T", "n", "K", "m"}
    for number, name in enumerate(data.policy.values):
        assert found["T", name].exponent == pytest.approx(number / 4)
        assert found["n", name].exponent == pytest.approx(2.0)
        assert found["K", name].exponent == pytest.approx(0.5)
        assert found["m", name].exponent == pytest.approx(2.0)  # a circle has 2 n edges
        assert found["m", name].fitted == 1.0


def test_an_axis_has_its_exponent_where_it_changes_anything(tmp_path):
    mixed = {**SMALL, "graph": "circle", "n": 4, "zeta": None, "K": [3, 9]}
    found = {}
    for arms in ("normal", ["one-hot", "normal"]):
        out = tmp_path / f"{len(arms)}"
        run(out, {**mixed, "arms": arms})
        sweeps.collect(out)
        found[str(arms)] = [each for each in sweeps.exponents(out) if each.along == "K"]
    alone, beside = found.values()
    np.testing.assert_allclose([each[2:] for each in alone], [each[2:] for each in beside])


def test_regret_that_is_rounding_is_none(tmp_path, call):
    one = {"graph": "circle", "n": 4, "d": [1, 2], "matrices": 20}
    run(tmp_path / "out", {**one, "rounds": 50, "policies": ["OFUL", "ThompsonSampling"]})
    sweeps.collect(tmp_path / "out")
    lost = reading.finals(tmp_path / "out")
    assert (lost[0][np.isfinite(lost[0])] == 0.0).all()  # one arm: nothing can be lost
    assert [each.fitted for each in sweeps.exponents(tmp_path / "out") if each.along == "d"] == [
        0,
        0,
    ]
    assert "(of " in call("exponents", tmp_path / "out")


def test_pictures_show_what_they_say(folder):
    curves = pictures.draw_curves(folder, "zeta", "n")  # not in the order of the dimensions
    assert [ax.get_title() for ax in curves.axes] == [
        f"zeta {zeta}, n {n}" for zeta in (0.0, 1.0) for n in (4, 5)
    ]
    lines = curves.axes[1].get_lines()
    data = xr.load_dataset(folder / "dataset.nc").isel(n=1, zeta=0)
    mean = (data.regret / data.optimum).mean(("run", "graph", "matrix"))
    for line, name in zip(lines, data.policy.values, strict=True):
        np.testing.assert_allclose(line.get_ydata(), mean.sel(policy=name), rtol=1e-9, atol=1e-9)
    means = [line.get_ydata().min() for ax in curves.axes for line in ax.get_lines()]
    assert curves.axes[0].get_yscale() != "log" or curves.axes[0].get_ylim()[0] > min(means) / 3
    wins = pictures.draw_wins(folder, "ThompsonSampling", "graph", "n")
    [shown] = wins.axes[0].get_images()
    assert shown.get_array().shape == (4, 2)
    for base in ("ThompsonSampling", "ImprovedOFUL"):
        wins = pictures.draw_wins(folder, base)
        wins.draw_without_rendering()
        title = wins._suptitle.get_window_extent()
        assert title.x0 >= 0.0
        assert title.x1 <= wins.bbox.width
    exponents = pictures.draw_exponents(folder)
    assert [ax.get_title() for ax in exponents.axes] == ["in T", "in n", "in m"]
    with pytest.raises(gbb.InputError, match="another axis"):
        pictures.draw_curves(folder, "n", "n")
    with pytest.raises(gbb.InputError, match="`rows`"):
        pictures.draw_curves(folder, "sigma")


def test_one_cell_and_one_policy_have_pictures_too(tmp_path, call):
    one = {**SMALL, "graph": "circle", "n": 4, "zeta": 0.5, "policies": "OFUL", "matrices": 1}
    run(tmp_path / "out", one)
    sweeps.collect(tmp_path / "out")
    assert len(pictures.draw_curves(tmp_path / "out").axes) == 1
    with pytest.raises(gbb.InputError, match="two or more for wins"):
        pictures.draw_wins(tmp_path / "out")
    call("plot", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {
        "curves.png",
        "exponents.png",
    }


def test_no_share_is_taken_of_an_optimum_that_is_not_positive(tmp_path, call):
    """One arm can have a negative reward with itself."""
    one = {**SMALL, "graph": "circle", "n": 4, "zeta": None, "arms": "normal", "K": 1}
    run(tmp_path / "out", {**one, "matrices": 8})
    sweeps.collect(tmp_path / "out")
    with sweeps.open_sweep(tmp_path / "out") as data:
        assert (data.optimum < 0.0).any()
    for name in ("table", "exponents", "plot"):
        said = call(name, tmp_path / "out", code=2)
        assert "optima > 0" in said
        assert said.count("\n") == 1


def test_what_was_not_collected_is_said(tmp_path):
    run(tmp_path / "out")
    with pytest.raises(gbb.InputError, match="gbb sweep collect"):
        summarise(tmp_path / "out")


def test_the_dataset_of_another_sweep_is_refused(folder, tmp_path):
    run(tmp_path / "out", {**SMALL, "seed": 7})
    (tmp_path / "out" / "dataset.nc").write_bytes((folder / "dataset.nc").read_bytes())
    for read in (summarise, sweeps.exponents, sweeps.open_sweep):
        with pytest.raises(gbb.InputError, match="its own dataset"):
            read(tmp_path / "out")


def test_a_damaged_dataset_is_said(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "out")
    best = xr.load_dataset(folder / "dataset.nc").optimum.values.tobytes()[:64]
    path = tmp_path / "out" / "dataset.nc"
    content = path.read_bytes()
    assert best in content
    path.write_bytes(content.replace(best, best[::-1]))
    with pytest.raises(OSError, match="cannot be read: collect again"):
        summarise(tmp_path / "out")


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on the size of files")
def test_a_dataset_that_cannot_be_written_is_said_and_leaves_nothing(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "out", ignore=shutil.ignore_patterns("*.nc"))
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); import gbb.cli; gbb.cli.main()"
    )
    words = [sys.executable, "-c", limit, "sweep", "collect", tmp_path / "out"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "is the disk full?" in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"parts", "sweep.json"}


def test_the_command_line_from_declaration_to_pictures(tmp_path, call):
    lines = ['graph = ["circle", "star"]', "n = 5", "d = 3", "rounds = 20", "matrices = 2"]
    lines.append('policies = ["OFUL", {kind = "EpsilonGreedy", epsilon = 0.2, name = "greedy"}]')
    spec, out = tmp_path / "mine.toml", tmp_path / "mine"
    spec.write_text("\n".join(lines))

    dry = call("run", spec, "--dry-run")
    assert "4 instances (2 combinations x 2 matrices), 8 runs, 160 rounds" in dry
    assert "on one core" in " ".join(dry.split())
    assert not out.exists()
    said = call("run", spec, "--threads", "--workers", "1")
    assert "tasks left" in said
    assert "2 of 2 tasks done" in said
    status = json.loads(call("status", out, "--json"))
    assert status == {"tasks": 2, "done": 2, "seconds_left": 0.0, "failures": {}, "complete": True}
    assert "2 of 2 tasks done" in call("status", out)
    assert "dataset.nc" in "".join(call("collect", out).split())
    assert "greedy" in call("table", out, "--by", "graph")
    rows = json.loads(call("table", out, "--by", "none", "--baseline", "greedy", "--json"))
    assert [row["policy"] for row in rows] == ["OFUL", "greedy"]
    assert "OFUL" in call("exponents", out)
    lines = call("exponents", out, "--markdown").splitlines()
    assert lines[:2] == ["| policy | in T | in m |", "| --- | --- | --- |"]
    lines = call("table", out, "--markdown").splitlines()
    assert lines[0] == "| graph | policy | lost, % | ratio | wins, % |"
    assert len(lines) == 2 + 2 * 2
    assert {each["along"] for each in json.loads(call("exponents", out, "--json"))} == {"T", "m"}
    call("plot", out, "--rows", "graph")
    assert {path.name for path in out.glob("*.png")} == {"curves.png", "wins.png", "exponents.png"}


def test_the_command_line_refuses_in_one_line(tmp_path, call):
    spec = tmp_path / "spec.toml"
    spec.write_text('graph = "circle"\nn = 4\nrounds = 3\npolicies = "OFUL"\n')
    (tmp_path / "bare").write_text(spec.read_text())
    (tmp_path / "bad.toml").write_text('graph = "circle"\nn = 4\nrounds = 3\npolicies = []\n')
    for options, text in {
        (spec, "--dask", "local", "--slurm", "local"): "cannot be combined",
        (spec, "--dask", "local", "--threads"): "`--threads` and `--dask` cannot be combined",
        (spec, "--slurm", "local", "--workers", "2"): "`--slurm` and `--workers` cannot",
        (spec, "--dask", "nonsense"): "`--dask` to be a scheduler's address, but got 'nonsense'",
        (spec, "--threads", "--only", "play-0"): "`--only` to be one of",
        (tmp_path / "bare",): "`--out` to be given",
        (tmp_path / "bad.toml",): "Expected policies to hold at least one",
        (tmp_path / "gone.toml",): "`SPEC` to name a TOML file",
    }.items():
        said = call("run", *options, code=2)
        assert text in said
        assert said.count("\n") == 1
        assert not (tmp_path / "spec").exists()


MEMORY = """
import resource, sys
from pathlib import Path
from gbb import sweep
from gbb.sweep.results import pictures

def use(out):
    sweep.collect(out)
    sweep.summarise(out, by=[])
    for name in ("curves", "wins", "exponents"):
        pictures.save_small(getattr(pictures, f"draw_{name}")(out), Path(out) / f"{name}.png")

def virtual():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

use(sys.argv[1])  # a small one: everything is loaded now
limit = virtual() + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
use(sys.argv[2])
"""


def test_twenty_times_more_results_than_memory_are_collected_and_drawn(tmp_path):
    few = {**SMALL, "policies": ["ImprovedOFUL", "OFUL"], "record": 1, "rounds": 100}
    run(tmp_path / "small", few)
    megabytes = int(os.environ.get("GBB_SWEEP_MEGABYTES", "20"))
    # Eight cells of two policies, two runs and 12,000 rounds; four numbers a round.
    size = 8 * 2 * 2 * 12_000 * 4 * 8
    many = {**few, "rounds": 12_000, "matrices": -(-20 * megabytes * 2**20 // size)}
    run(tmp_path / "large", many)
    subprocess.run(
        [
            sys.executable,
            "-c",
            MEMORY,
            tmp_path / "small",
            tmp_path / "large",
            str(megabytes << 20),
        ],
        check=True,
    )
    with sweeps.open_sweep(tmp_path / "large") as data:
        held = sum(data[name].nbytes for name in CURVES)
    assert held >= 20 * megabytes * 2**20
    assert len(list((tmp_path / "large").glob("*.png"))) == 3


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("screen", [Terminal, io.StringIO])
def test_a_run_says_how_much_is_left(monkeypatch, screen):
    shown = screen()
    monkeypatch.setattr(sys, "stderr", shown)
    clock = iter([300.0, 300.05, 340.0, 360.0])
    monkeypatch.setattr("gbb._cli.left.time.monotonic", lambda: next(clock))
    tasks = [sweeps.Task("play", f"play-{k}", (), (), 5.0) for k in range(4)]
    left = Left()
    left.begin(tasks)
    for task in tasks:
        left.advance(task, "OSError: full" if task is tasks[2] else None)
    said = shown.getvalue()
    assert "3 tasks left" in said
    assert "3 tasks left, " not in said  # workers started until then: that says nothing
    assert "1 task left, about 20 seconds" in said  # two in 40 s since
    assert "play-2 failed: OSError: full" in said
    assert ("\r" in said) == (screen is Terminal)
