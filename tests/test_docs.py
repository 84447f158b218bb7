"""The documentation: its Python runs, its names and files exist, its links lead somewhere."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.core import TyperCommand

import gbb
from gbb._cli.commands import commands
from gbb._support.compiling import COMPILING
from installed import THIRD_PARTY
from pages import GUIDES, IN_ORDER, PAGES, ROOT, RUN_BY, SHOWN, blocks, every_block
from served import command, serving

NAME = re.compile(r"`(gbb(?:\.\w+)+)`")
TEST_FILE = re.compile(r"`(tests/[\w/]+\.py)`")
OF_THEIRS = re.compile(
    r"`(src/their_bandits/\w+\.py)`[^`]*?:\s*```python\n(.*?)^```", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\]\((?!https?://)([^)#]+)\)")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def resolve(name: str) -> None:
    """Import a dotted name; an attribute that only instances have counts when its class sets it."""
    parts = name.split(".")
    found = gbb
    for depth, part in enumerate(parts[1:], start=2):
        if inspect.isclass(found) and not hasattr(found, part):
            fields = getattr(found, "__dataclass_fields__", {})
            assert part in fields or re.search(rf"self\.{part}\b", inspect.getsource(found)), name
            assert depth == len(parts), name
            return
        if inspect.ismodule(found) and not hasattr(found, part):
            importlib.import_module(".".join(parts[:depth]))
        found = getattr(found, part)


def test_there_are_pages():
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/paper-map.md"} <= names


def test_every_block_is_run_by_a_test_or_listed_as_shown():
    """And by no other: what is gone from a page goes from the lists."""
    run = {
        (page, language)
        for file, languages in RUN_BY.items()
        for language, pages in languages.items()
        for page in pages
        if "pages import" in (ROOT / file).read_text(encoding="utf-8")
    }
    found, shown = set(), set()
    for block in every_block():
        of_page = {key for key in SHOWN if key[0] == block.page}
        why = {key for key in of_page if block.text.startswith(key[1])}
        shown |= why
        if why:
            assert block.language not in {"python", "sh", "console"}, f"{why}: say so by its fence"
        else:
            found.add((block.page, block.language))
    assert found == run
    assert shown == set(SHOWN)


@pytest.mark.parametrize("name", IN_ORDER)
def test_python_blocks_run_in_order(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(name, "python")
    assert found
    page = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", page)  # where dataclasses look themselves up
    exec(compile("\n".join(found), name, "exec", dont_inherit=True), vars(page))


ENV = os.environ | {"PYTHONPATH": str(Path(gbb.__file__).parents[1])}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A folder with a ``gbb`` that starts at once."""
    with serving(tmp_path_factory.mktemp("served"), ENV) as tools:
        yield tools


@pytest.fixture
def started(tmp_path):
    """A folder with a ``gbb`` that starts an interpreter."""
    start = f"exec '{sys.executable}' -c 'import gbb.cli; gbb.cli.main()' \"$@\""
    return command(tmp_path, start)


@pytest.fixture(params=["served", "started"])
def shell(request, tmp_path):
    """Run a script in an empty folder, stopping at the first command that fails."""
    folder, tools = tmp_path / "empty", request.getfixturevalue(request.param)
    folder.mkdir()
    env = ENV | {"PATH": os.pathsep.join([str(tools), os.environ["PATH"]])}

    def run(script: str, *path: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=env | {"PYTHONPATH": os.pathsep.join(map(str, [*path, env["PYTHONPATH"]]))},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("shell", ["served"], indirect=True)
def test_shell_blocks_run_in_order(shell, tmp_path):
    """As written."""
    found = blocks("docs/controller.md", "sh")
    commands = [line for block in found for line in block.splitlines() if "gbb control" in line]
    assert len(commands) > 20
    done = shell("\n".join(found))
    assert done.returncode == 0, done.stderr
    assert set(done.stderr.splitlines()) <= {COMPILING}
    made = {path.name for path in (tmp_path / "empty").iterdir()}
    assert {"wind.db", "plant.db", "rewards-so-far.csv"} <= made


@pytest.mark.parametrize("shell", ["served"], indirect=True)
def test_the_readme_leads_to_a_recommendation(shell):
    found = blocks("README.md", "sh")
    assert "gbb control recommend" in found[-1]
    done = shell("\n".join(found))
    assert (done.returncode, done.stderr) == (0, "")
    assert "assumed" not in done.stdout


FILES_OF_THE_SESSION = re.compile(
    r"^cat > (farm|arms|rewards|plan)\.csv <<END\n.*?^END$", re.M | re.S
)
VARIES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|(?<=\.\d{6})\d+|\s+$")


@pytest.mark.parametrize("shell", ["served"], indirect=True)
def test_sessions_answer_as_printed(shell):
    """Line by line, but for times, a number's later digits, and blanks at the end of a line."""
    page = "\n".join(blocks("docs/controller.md", "sh"))
    script = [each[0] for each in FILES_OF_THE_SESSION.finditer(page)]
    assert len(script) == 4
    script += ["sed -i s/2.4/0.24/ rewards.csv", "set +e", "exec 2>&1"]
    printed = "".join(blocks("docs/contexts.md", "console")).splitlines()
    for line in printed:
        if line.startswith("$ "):
            script += [f"code=$?; printf '%s\\n' {shlex.quote(line)}; (exit $code)", line[2:]]
    done = shell("\n".join(script))
    said = [VARIES.sub("", line) for line in done.stdout.splitlines()]
    assert said == [VARIES.sub("", line) for line in printed]


@pytest.mark.parametrize("shell", ["started"], indirect=True)
@pytest.mark.parametrize("guide", GUIDES)
def test_the_commands_of_the_guides_run(guide, shell, theirs):
    """The contract's tests are only collected: `tests/test_third_party.py` passes them."""
    script = "\n".join(blocks(guide, "sh")).replace(".venv/bin/python", shlex.quote(sys.executable))
    script = script.replace(" tests/", f" --collect-only {ROOT}/tests/")
    done = shell(script, theirs)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


ENDS = """
echo '{"do": "open"}' | gbb control run wind.db | tr '[a-z]' '[A-Z]'
gbb control ask nothing.db 2>&1 || echo "ended with $?"
coproc FARM { exec gbb control run wind.db; }
farm=$FARM_PID
echo '{"do": "open"}' >&"${FARM[1]}"
read -r -u "${FARM[0]}" answer
kill -TERM $farm
wait $farm && echo "$answer, ended" || echo "$answer, ended with $?"
"""


def test_a_served_command_is_piped_fails_and_is_ended_as_one_that_is_started(shell):
    """The first block too, so that a whole ``gbb`` has run something of the page."""
    first, *_ = blocks("docs/controller.md", "sh")
    done = shell(first + ENDS)
    assert (done.returncode, done.stderr) == (0, "")
    created, piped, failed, code, ended = done.stdout.splitlines()
    assert created.startswith("created 'default'")
    assert piped == '{"TRIALS": []}'
    assert "nothing.db" in failed
    assert code == "ended with 2"
    assert ended == '{"trials": []}, ended'


def test_the_policies_that_a_controller_refuses_are_listed():
    text = (ROOT / "docs/controller.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^- `(\w+)`,", text.split("are refused:")[1].split("\n\n")[1], re.MULTILINE
    )
    refused = [name for name in gbb.policies.names() if not gbb.policies.find(name).controllable]
    assert sorted(listed) == sorted(refused)


@every_page
def test_python_blocks_compile(page):
    for block in blocks(str(page.relative_to(ROOT)), "python"):
        compile(block, str(page), "exec")


@every_page
def test_names_exist(page):
    for name in NAME.findall(page.read_text(encoding="utf-8")):
        resolve(name)


def test_a_name_that_does_not_exist_is_noticed():
    for name in ("gbb.nothing", "gbb.Problem.nothing", "gbb.theory.alpha_3", "gbb.Cut.m12.more"):
        with pytest.raises((AssertionError, AttributeError, ImportError)):
            resolve(name)


@every_page
def test_links_and_test_files_exist(page):
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), target
    for target in TEST_FILE.findall(text):
        assert (ROOT / target).is_file(), target


@every_page
def test_tables_are_whole(page):
    lines = ["", *page.read_text(encoding="utf-8").splitlines(), ""]
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        if line.startswith("|") and not before.startswith("|"):
            assert after.startswith("| ---"), line


def test_the_map_names_code_and_test_on_every_line():
    text = (ROOT / "docs/paper-map.md").read_text(encoding="utf-8").split("## Where the paper")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith(("| ---", "| paper |"))]
    assert len(rows) > 40
    for row in rows:
        assert NAME.search(row), row
        assert TEST_FILE.search(row), row


@pytest.mark.parametrize("guide", GUIDES)
def test_the_guides_show_a_package_that_is_tested_and_their_blocks_run(guide, theirs):
    text = (ROOT / guide).read_text(encoding="utf-8")
    shown = OF_THEIRS.findall(text)
    assert shown
    for path, source in shown:
        assert (THIRD_PARTY / path).read_text(encoding="utf-8") == source
    entries = blocks(guide, "toml")
    assert entries
    assert all(each in (THIRD_PARTY / "pyproject.toml").read_text() for each in entries)
    files = {source for _, source in shown}
    others = [block for block in blocks(guide, "python") if block not in files]
    run_python("\n".join(others), theirs)


def run_python(source: str, *path: Path) -> str:
    """What a process of its own prints, our gbb and ``path`` on its path."""
    folders = [*map(str, path), str(Path(gbb.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


COMMANDS = sorted(
    {
        (page, line)
        for page in PAGES
        for block in re.findall(
            r"^```(?:sh|console)\n(.*?)^```",
            page.read_text(encoding="utf-8"),
            re.MULTILINE | re.DOTALL,
        )
        for line in re.findall(
            r"^(?:\$ )?(gbb .*?)(?: +#.*)?$", block.replace("\\\n", " "), re.MULTILINE
        )
    }
)


def test_every_command_shown_is_understood(monkeypatch):
    """Those that take minutes, need a cluster or never end are read by the parser and not run."""
    understood = []
    monkeypatch.setattr(TyperCommand, "invoke", lambda self, ctx: understood.append(ctx))  # noqa: ARG005
    assert len(COMMANDS) > 60
    for page, line in COMMANDS:
        words = shlex.split(re.split(r" [|>&] ?", line)[0])[1:]
        try:
            commands()(words, prog_name="gbb", standalone_mode=False)
        except Exception as error:
            raise AssertionError(f"{page.name}: {line}: {error}") from error
    assert len(understood) == len(COMMANDS)
