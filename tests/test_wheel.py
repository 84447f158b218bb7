"""The wheel holds the whole package: what .gitignore names is left out of it without a word."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_every_file_of_the_package(tmp_path):
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, "--no-deps", "--wheel-dir", tmp_path, ROOT], check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        inside = set(wheel.namelist())
    source = ROOT / "src"
    ours = {
        path.relative_to(source).as_posix()
        for path in (source / "gbb").rglob("*")
        if path.is_file()
    }
    assert {name for name in ours if "__pycache__" not in name} - inside == set()
