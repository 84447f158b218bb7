"""``gbb serve`` as a program: how it starts, what it says and how it ends."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from gbb.cli import main


def test_from_start_to_end(tmp_path):
    command = [sys.executable, "-m", "gbb", "serve", "farm.db", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        first = process.stdout.readline()
        found = re.fullmatch(r"serving sqlite:///farm\.db at http://127\.0\.0\.1:(\d+)\n", first)
        assert "no tokens: only this machine can connect" in process.stdout.readline()
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
        connection.request("GET", "/readyz")
        assert connection.getresponse().status == 200
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=60)
        connection.close()
    assert (process.returncode, rest, errors) == (0, "stopped; what was acknowledged is kept\n", "")
    assert (tmp_path / "farm.db").exists()


def run(*args) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(arg) for arg in args])
    return stop.value.code


def test_mistakes_are_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "links.csv").write_text("source,target\nwest,east\n" * 100)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wrong = {
            (
                "farm.db",
                "--port",
                taken.getsockname()[1],
            ): "Give another `--port`; 0 takes a free one.",
            (
                "links.csv",
            ): "Cannot use `URL` 'sqlite:///links.csv': file is not a database. The file",
            ("farm.db", "--port", 99999): "`--port`",
            ("farm.db", "--rate", 0): "`--rate`",
            ("farm.db", "--tokens", "none"): "no file 'none'",
            ("farm.db", "--nonsense"): "--nonsense",
            ("ftp://host",): "sqlite: or postgresql:",
            ("token", "create", "me", "--tokens", "none/file"): "no folder 'none'.",
            ("token", "create", "me", "--tokens", "t", "--controller", ""): "`--controller`",
        }
        for args, words in wrong.items():
            assert run("serve", *args) == 2, args
            said = capsys.readouterr().err
            assert words in said, said
            assert said.count("\n") == 1


def test_without_the_extra_it_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from gbb.cli import main; main(['serve', 'farm.db'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 2
    assert "[serve]" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_help_lists_what_there_is(capsys):
    assert run("serve", "--help") == 0
    said = capsys.readouterr().out
    assert "start" in said
    assert "token" in said
