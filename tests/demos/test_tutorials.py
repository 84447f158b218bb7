"""The blocks of the tutorials on the real simulators: in short, as the pages' own take minutes."""

import re
import shlex

import pytest

from gbb.cli import main
from pages import SIMULATED, TUTORIALS, blocks

SHORT = {"docs/tutorials/wind-rose.md": ["--rounds", "12", "--seeds", "1"]}
"""What is added to a page's commands, beside `--quick`; two rounds elsewhere."""


@pytest.mark.parametrize("page", TUTORIALS)
def test_the_commands_run(page, tmp_path):
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert len(lines) >= 3
    done = set()
    for number, line in enumerate(lines):
        program, *words = shlex.split(line, comments=True)
        assert program == "gbb"
        words += [*({"--quick"} - set(words)), *SHORT.get(page, ["--rounds", "2"])]
        if frozenset(words) in done:  # in short, the same as another
            continue
        done.add(frozenset(words))
        place = tmp_path / str(number)
        with pytest.raises(SystemExit) as ended:
            main([*words, "--out", str(place)])
        assert ended.value.code == 0, line
        assert {"data.nc", "numbers.json", "report.md"} <= {path.name for path in place.iterdir()}
    assert len(done) >= 2


@pytest.mark.parametrize("page", SIMULATED)
def test_the_python_runs(page, capsys):
    (block,) = blocks(page, "python")
    exec(compile(re.sub(r"rounds=\d+", "rounds=8", block), page, "exec"), {"__name__": "example"})
    assert capsys.readouterr().out
