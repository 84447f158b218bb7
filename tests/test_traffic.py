"""The traffic demo where its simulator is missing; tests/demos has it at work."""

import sys

import pytest

from gbb.cli import main


@pytest.mark.parametrize("more", [[], ["--day"]], ids=["rounds", "day"])
def test_a_missing_simulator_is_one_line_that_names_the_extra(monkeypatch, tmp_path, capsys, more):
    monkeypatch.setitem(sys.modules, "sumo", None)
    with pytest.raises(SystemExit) as done:
        main(["demo", "traffic", "--quick", *more, "--out", str(tmp_path / "out")])
    assert done.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("gbb: error: The traffic demo needs SUMO, which cannot be imported")
    assert "pip install 'graphical-bilinear-bandits[traffic]'" in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
