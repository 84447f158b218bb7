"""The fenced blocks of the documentation: which test runs them, and which nothing here can run.

A block that neither table knows fails `tests/test_docs.py`: no page shows what nobody tried.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)

IN_ORDER = [
    "README.md",
    "docs/index.md",
    "docs/graphs.md",
    "docs/problems.md",
    "docs/policies.md",
    "docs/controller.md",
    "docs/diagnostics.md",
    "docs/shards.md",
    "docs/contexts.md",
    "docs/sweeps.md",
    "docs/theory.md",
    "docs/paper.md",
    "docs/reproduction.md",
    "docs/solvers.md",
]
"""Pages whose Python runs from top to bottom, in one process."""

GUIDES = ["docs/developer/adding-a-policy.md", "docs/developer/adding-a-cut.md"]
SIMULATED = ["docs/tutorials/radio.md", "docs/tutorials/traffic.md", "docs/tutorials/wind.md"]
TUTORIALS = [*SIMULATED, "docs/tutorials/traffic-day.md", "docs/tutorials/wind-rose.md"]

RUN_BY = {
    "tests/test_docs.py": {
        "python": [*IN_ORDER, *GUIDES],
        "sh": ["README.md", "docs/controller.md", *GUIDES],
        "console": ["docs/contexts.md"],
        "toml": GUIDES,
    },
    "tests/serve/test_service_docs.py": {"sh": ["docs/service.md"], "python": ["docs/service.md"]},
    "tests/sweep/test_sweep_docs.py": {
        "sh": ["docs/sweeps.md"],
        "toml": ["docs/sweeps.md"],
        "py": ["docs/sweeps.md"],
    },
    "tests/demos/test_tutorials.py": {"python": SIMULATED, "sh": TUTORIALS},
}
"""By test file and language, the pages whose blocks it runs. `make test` leaves the last three out."""

SHOWN = {
    ("README.md", "make paper"): "it would set up an environment and run every test, this one too",
    ("docs/reproduction.md", "make paper"): "the same; `tests/experiments` runs what it calls",
    ("docs/reproduction.md", "gbb paper table1 | figure1"): "which names the command takes",
    ("docs/figure2-many.md", "python benchmarks/gpu.py figure2"): "it takes a GPU",
    ("docs/service.md", "[Unit]"): "a unit of systemd",
    ("docs/service.md", "server {"): "nginx's",
    ("docs/service.md", "farm.example.org {"): "Caddy's",
    ("docs/service.md", "scrape_configs:"): "Prometheus's",
}
"""Page, how the block begins, and why nothing here runs it: what it configures is not ours."""


class Block(NamedTuple):
    """A fenced block of a page, by its path from the root."""

    page: str
    language: str
    text: str


def every_block() -> list[Block]:
    """All fenced blocks but directives, which the build of the site runs."""
    found = [
        Block(str(page.relative_to(ROOT)), language.strip(), text)
        for page in PAGES
        for _, language, text in FENCE.findall(page.read_text(encoding="utf-8"))
    ]
    return [block for block in found if not block.language.startswith("{")]


def blocks(page: str, *languages: str) -> list[str]:
    """The texts of a page's blocks in these languages, in order."""
    return [b.text for b in every_block() if b.page == page and b.language in languages]
