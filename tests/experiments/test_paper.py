"""The files, the report and the command."""

from __future__ import annotations

import base64
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import gbb
from gbb import InputError
from gbb._cli.commands.paper import default_directory
from gbb.cli import main
from gbb.experiments import figure1, figure2, paper, table1
from gbb.experiments._findings import (
    beside,
    clearly,
    number,
    standard_error,
    standard_error_over_runs,
)
from gbb.simulation.result import read_dataset

FILES = {
    "table1.csv",
    "table1.nc",
    "figure1.nc",
    "figure1.png",
    "figure1.pdf",
    "figure2.nc",
    "figure2.png",
    "figure2.pdf",
    "report.md",
    "report.html",
}


def command(*args: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return int(end.value.code or 0)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("paper") / "quick"
    assert command("paper", "all", "--quick", "--out", out) == 0
    return out


def test_all_files_are_there(quick: Path) -> None:
    names = {path.name for path in quick.iterdir()}
    assert names == FILES | {".lock", "parts", "as-released"}
    assert {path.name for path in (quick / "as-released").iterdir()} == FILES | {".lock", "parts"}


def test_ours_in_both_settings_stand_beside_the_published_and_the_released(quick: Path) -> None:
    text = (quick / "report.md").read_text(encoding="utf-8")
    head = (
        "| quantity | published | released code | ours, as released | ours, the paper's setting |"
    )
    assert text.count(head) == 3
    found, alone = (
        figure1.report(read_dataset(place / "figure1.nc"))
        for place in (quick, quick / "as-released")
    )
    assert {row.verdict for row in found.rows} == {"other setting", "no number"}
    together = beside(found, alone)
    assert {row.verdict for row in together.rows} <= {"agrees", "differs", "no number"}
    for row, here, there in zip(together.rows, found.rows, alone.rows, strict=True):
        assert (row.ours, row.as_released) == (here.ours, there.ours)
        assert row.verdict == there.verdict


def test_html_stands_alone(quick: Path) -> None:
    text = (quick / "report.html").read_text(encoding="utf-8")
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert [base64.b64decode(data) for data in pictures] == [
        (quick / f"{name}.png").read_bytes() for name in ("figure1", "figure2")
    ]
    assert not re.search(r'(src|href)="(?!data:)', text)
    for part in ("Table 1", "Figure 1", "Figure 2", "published", "released code", "verdict"):
        assert part in text


def test_quick_is_labelled_in_both_reports(quick: Path) -> None:
    assert (quick / "report.md").read_text(encoding="utf-8").count("**QUICK") == 3
    html = (quick / "report.html").read_text(encoding="utf-8")
    assert html.count('<span class="label warn">QUICK') == 3


def test_markdown_tables_are_whole(quick: Path) -> None:
    lines = (quick / "report.md").read_text(encoding="utf-8").splitlines()
    widths = [line.count("|") - line.count("\\|") for line in lines if line.startswith("|")]
    assert set(widths) <= {4, 7, 8}
    assert "![Figure 2: fraction of the optimal global reward](figure2.png)" in lines


def test_data_beside_the_pictures_hold_what_was_drawn(quick: Path) -> None:
    stored = read_dataset(quick / "figure2.nc")
    assert figure2.report(stored) == figure2.report(figure2.run(figure2.QUICK))
    assert stored.attrs["gbb_version"] == gbb.__version__


def test_same_seed_same_files(quick: Path, tmp_path: Path) -> None:
    both = {"settings": False, "released": True}
    paper.reproduce(
        tmp_path, **{key: paper.choose(quick=True, as_released=flag) for key, flag in both.items()}
    )
    for name in FILES - {"table1.nc", "figure1.nc", "figure2.nc"}:
        assert (tmp_path / name).read_bytes() == (quick / name).read_bytes(), name


def test_one_experiment_at_a_time_builds_up_the_report(tmp_path: Path) -> None:
    assert command("paper", "table1", "--out", tmp_path) == 0
    assert "Figure 1" not in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert command("paper", "figure1", "--quick", "--as-released", "--out", tmp_path) == 0
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "**the paper's setting**" in text
    assert "**QUICK, a smaller version of as released" in text


def test_the_seed_changes_the_draws(tmp_path: Path) -> None:
    args = ("paper", "table1", "--quick", "--out", tmp_path, "--seed")
    assert command(*args, 1) == 0
    first = (tmp_path / "table1.csv").read_text(encoding="utf-8")
    assert command(*args, 2) == 0
    assert (tmp_path / "table1.csv").read_text(encoding="utf-8") != first


def test_d_goes_to_figure_2(tmp_path: Path) -> None:
    assert command("paper", "figure2", "--quick", "--d", 4, "--out", tmp_path) == 0
    assert read_dataset(tmp_path / "figure2.nc").sizes["row"] == 4


def test_as_released_with_another_dimension_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("paper", "figure2", "--as-released", "--d", 10, "--out", tmp_path / "no") == 2
    assert "`--as-released` can only be combined with `--d 5`" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("seed", ["-1", "x"])
def test_a_bad_seed_is_refused(
    seed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("paper", "table1", "--seed", seed, "--out", tmp_path) == 2
    assert "seed" in capsys.readouterr().err


def test_answers_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("paper", "figure1", "--quick", "--out", tmp_path)
    printed = capsys.readouterr().out
    assert "Is alpha_2 above alpha_1 at every zeta, on average over matrices? yes" in printed
    assert "report.html" in printed


def test_other_settings_go_to_other_directories() -> None:
    assert default_directory(quick=False, as_released=False) == Path("results/paper")
    names = {default_directory(quick=q, as_released=r) for q in (0, 1) for r in (0, 1)}
    assert len(names) == 4
    assert default_directory(quick=True, as_released=True) == Path(
        "results/paper-as-released-quick"
    )
    plain = {"quick": False, "as_released": False}
    assert default_directory(**plain, d=10) == Path("results/paper-d10")
    assert default_directory(**plain, d=5, seed=3) == Path("results/paper-seed3")
    assert default_directory(quick=True, as_released=False, d=10, seed=3) == Path(
        "results/paper-quick-d10-seed3"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--out", "file"], "Expected `--out` to name a directory, but got the file 'file'."),
        (["--out", "file/deep"], "Cannot write `--out` 'file/deep': Not a directory."),
        (["--out", "/proc/none"], "Cannot write `--out` '/proc/none': "),
        (["--seed", "-1"], "Expected `--seed` to be a whole number >= 0, but got -1."),
    ],
)
def test_bad_places_and_seeds_are_refused_at_once(
    args: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert command("paper", "table1", "--quick", *args) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"gbb: error: {message}")
    assert shown.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_answers_say_on_how_many_matrices(quick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    command("paper", "figure2", "--quick", "--out", quick)
    printed = capsys.readouterr().out
    assert re.search(r"on these matrices\? \w+[ \w]* \(ahead on \d of 2 matrices\)", printed)


def test_progress_adds_up() -> None:
    for module, settings in (
        (table1, table1.QUICK),
        (figure1, figure1.QUICK),
        (figure2, dataclasses.replace(figure2.QUICK, T=200)),
    ):
        done: list[int] = []
        module.run(settings, progress=done.append)
        assert sum(done) == module.steps(settings)


def test_progress_adds_up_over_kept_parts(tmp_path: Path) -> None:
    chosen = {"figure2": dataclasses.replace(figure2.QUICK, T=200, last=50)}
    for _ in range(2):
        done: list[int] = []
        paper.reproduce(tmp_path, chosen, progress=lambda name: done.append)  # noqa: ARG005, B023
        assert sum(done) == figure2.steps(chosen["figure2"])


def test_unknown_experiments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Did you mean 'figure"):
        paper.choose(("figure",))
    with pytest.raises(InputError, match="be one of 'figure1', 'figure2', 'table1'"):
        paper.reproduce(tmp_path, {"table9": table1.QUICK})


def test_words_for_numbers() -> None:
    assert number(0.12345, 0.01) == "0.1235 ± 0.0100"
    assert number(0.5) == "0.5000"
    assert [clearly(0.1, 0.01), clearly(0.1, 0.06), clearly(-0.1, 0.01)] == [
        "yes",
        "not shown",
        "no",
    ]
    assert np.isnan(standard_error(np.ones(1)))
    values = np.random.default_rng(0).normal(size=(4, 50))
    expected = np.sqrt(sum(standard_error(row) ** 2 for row in values)) / 4
    assert standard_error_over_runs(values) == pytest.approx(expected)
