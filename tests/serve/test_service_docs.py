"""The page about the service: its blocks run as written, and it names every operation."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import gbb
from gbb.serve.api.table import OPERATIONS
from pages import ROOT, every_block
from served import serving

PAGE = "docs/service.md"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_blocks_run_in_order(tmp_path):
    tools, folder = tmp_path / "tools", tmp_path / "empty"
    tools.mkdir()
    folder.mkdir()
    python = f"'{sys.executable}' - <<'END_OF_BLOCK'\n{{}}END_OF_BLOCK"
    written = {"sh": "{}", "python": python}
    blocks = [block for block in every_block() if block.page == PAGE and block.language in written]
    script = "\n".join(written[block.language].format(block.text) for block in blocks)
    script = re.sub(r"(:|--port )8000\b", rf"\g<1>{free_port()}", script)
    assert script.count("gbb serve") > 5
    env = os.environ | {"PYTHONPATH": str(Path(gbb.__file__).parents[1])}
    with serving(tools, env):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"trap 'kill $(jobs -p) || true' EXIT\n{script}"],
            cwd=folder,
            env=env | {"PATH": os.pathsep.join([str(tools), os.environ["PATH"]])},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    made = {path.name for path in folder.iterdir()}
    assert {"farm.db", "copy.db", "rewards.csv", "rewards.parquet", "tokens.json"} <= made


def test_every_operation_is_named():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for operation in OPERATIONS:
        last = operation.path.rpartition("/")[2].strip("{}").upper() or operation.id
        assert re.search(rf"`(/NAME/(\w+/)?)?{re.escape(last)}`", text, re.IGNORECASE) or (
            operation.path == "/v1/controllers"
        ), operation.path
