"""A demo as a service: it is played through the client, and stays until it is stopped."""

import signal
import subprocess
import sys
from urllib.parse import unquote

import pytest

import gbb


@pytest.mark.parametrize(
    ("demo", "options"),
    [("wind", ["--case", "3x3-270"]), ("radio", []), ("traffic", ["--quick"])],
)
def test_a_demo_is_played_through_the_service(tmp_path, demo, options):
    command = [sys.executable, "-c", "import gbb.cli; gbb.cli.main()", "demo", demo, "--serve"]
    command += [*options, "--port", "0", "--rounds", "3", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            for line in running.stdout:
                if line.startswith("Watch it at "):
                    base, _, name = line.removeprefix("Watch it at ").strip().partition("/#/c/")
                if line.startswith("All rounds are played."):
                    break
            with gbb.Client(base, unquote(name)) as client:
                assert client.status()["rounds"] == 3
                assert client.problem.graph.positions is not None
                assert client.history()[-1].by == "local"
        finally:
            running.send_signal(signal.SIGINT)
            said = running.stdout.read()
            assert running.wait(30) == 0
    assert "All of it is kept" in said
    with gbb.Controller.open(f"sqlite:///{tmp_path}/out/live.db", name=unquote(name)) as kept:
        assert kept.status()["rounds"] == 3


def test_what_cannot_be_watched_is_refused(tmp_path):
    command = [sys.executable, "-c", "import gbb.cli; gbb.cli.main()", "demo", "wind", "--rose"]
    done = subprocess.run(
        [*command, "--serve"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "leave it out with `--serve`" in done.stderr.replace("\n", " ")
