"""Another package, installed as its users install it: by pip, from its sources."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

THIRD_PARTY = Path(__file__).parent / "third_party"


def install(project: Path, target: Path) -> None:
    """Let pip build a project with the build tool that is here, and put it into a folder."""
    offline = ("--no-build-isolation", "--no-deps", "--no-index")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *offline, "--target", target, project],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
