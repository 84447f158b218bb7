"""Put a package into a folder as an installer would, without a build tool or a network."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

THIRD_PARTY = Path(__file__).parent / "third_party"


def install(project: Path, target: Path) -> None:
    """Copy a project's sources and write its metadata."""
    with (project / "pyproject.toml").open("rb") as file:
        about = tomllib.load(file)["project"]
    shutil.copytree(project / "src", target, dirs_exist_ok=True)
    write_metadata(target, about["name"], about["entry-points"])


def write_metadata(target: Path, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Say what a package is called and which entry points it has."""
    info = target / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
