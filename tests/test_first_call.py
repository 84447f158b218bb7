"""The first call: what is compiled, said and kept on disk, and what a damaged cache does to it."""

from __future__ import annotations

import importlib
import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core import event

import gbb
from gbb._kernels import jit
from gbb._support import compiling
from inner_kernels import from_python

ROOT = Path(gbb.__file__).parents[1]

FIRST_CALL = """
import sys
from numba.core import event
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
import numpy as np
import gbb
name, K, d = sys.argv[1], *map(int, sys.argv[2:])
arms = np.eye(K) if K == d else np.random.default_rng(0).standard_normal((K, d))
problem = gbb.Problem(gbb.Graph.complete(5), arms, S=4.0)
env = gbb.Environment(problem, gbb.instances.absolute_normal(d, seed=0, frobenius=4.0))
gbb.simulate(env, name, rounds=20)
print(sum(found.is_start for _, found in compiled.buffer))
"""

AT_MOST = {
    ("ImprovedOFUL", 5, 5): 35,
    ("ImprovedOFUL", 5, 4): 125,
    ("ImprovedOFUL", 8, 3): 119,
    ("ExploreThenCommit", 5, 5): 79,
    ("UniformRandom", 5, 5): 4,
    ("ThompsonSampling", 5, 5): 60,
    ("JointOFUL", 5, 5): 59,
    ("JointOFUL", 5, 4): 62,
    ("InformationDirected", 5, 5): 78,
    ("GuardedThompson", 5, 4): 85,
}
"""Compiled functions of a first call with K arms in d dimensions (one-hot where they are alike)."""


@pytest.mark.parametrize(("policy", "K", "d"), list(AT_MOST))
def test_a_first_call_compiles_few_functions(policy, K, d, tmp_path):
    """Functions are counted, as seconds differ from machine to machine; numba's own count too."""
    unoptimised = {"NUMBA_OPT": "0", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST_CALL, policy, str(K), str(d)],
        env=os.environ | unoptimised,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) <= AT_MOST[policy, K, d]


CALLEE = "from kernels.jit import kernel\n\n@kernel()\ndef inner(x):\n    return x + {}\n"
CALLER = (
    "from kernels.jit import kernel\nfrom kernels.one.callee import inner\n\n"
    "@kernel()\ndef outer(x):\n    return 10 * inner(x)\n"
)
PACK = "from typing import NamedTuple\n\nclass Pack(NamedTuple):\n    x: int\n"
CALLER_OF_PACK = (
    "from kernels.jit import kernel\nfrom {} import Pack\n\n"
    "@kernel()\ndef outer_of(pack):\n    return 10 * (pack.x + 1)\n\n"
    "class outer:\n    stats = outer_of.stats\n"
    "    def __new__(cls, x):\n        return outer_of(Pack(x))\n"
)
CALL = (
    "from kernels.two.caller import outer\nprint(outer(1), sum(outer.stats.cache_hits.values()))\n"
)


@pytest.fixture
def start(tmp_path):
    """Start a process that calls a kernel that calls one of another folder."""
    for room in ("one", "two"):
        (tmp_path / "kernels" / room).mkdir(parents=True)
    shutil.copy(jit.__file__, tmp_path / "kernels")
    (tmp_path / "kernels/one/callee.py").write_text(CALLEE.format(1))
    (tmp_path / "kernels/two/caller.py").write_text(CALLER)

    def run() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", CALL],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return run


def answer(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate()
    assert err.removeprefix(f"{compiling.COMPILING}\n") == ""  # said where the machine is busy
    return out.split()


@pytest.fixture
def call(start):
    """What the kernel returns to a new process, and whether it came from disk."""

    def run() -> list[str]:
        return answer(start())

    return run


def test_a_kernel_is_outdated_when_one_that_it_calls_has_changed(call, tmp_path):
    assert call() == ["20", "0"]
    assert call() == ["20", "1"]
    (tmp_path / "kernels/one/callee.py").write_text(CALLEE.format(2))
    assert call() == ["30", "0"]
    assert call() == ["30", "1"]


def test_a_copy_with_another_date_is_up_to_date(call, tmp_path):
    assert call() == ["20", "0"]
    (tmp_path / "kernels/two/caller.py").touch()
    assert call() == ["20", "1"]


def test_what_is_outdated_may_speak_of_modules_that_are_gone(call, tmp_path):
    """A cache names the classes of a kernel's arguments; a later version may have moved them."""
    (tmp_path / "kernels/pack.py").write_text(PACK)
    (tmp_path / "kernels/two/caller.py").write_text(CALLER_OF_PACK.format("kernels.pack"))
    assert call() == ["20", "0"]
    (tmp_path / "kernels/pack.py").rename(tmp_path / "kernels/moved.py")
    (tmp_path / "kernels/two/caller.py").write_text(CALLER_OF_PACK.format("kernels.moved"))
    assert call() == ["20", "0"]
    assert call() == ["20", "1"]


def test_a_kernel_without_a_wrapper_refuses_calls_from_python():
    inner = jit.kernel(inner=True)(lambda x: x + 1)
    for _ in range(2):
        with pytest.raises(TypeError, match="declare it with inner=False"):
            inner(1)
        assert from_python(inner)(1) == 2


def test_processes_may_compile_at_the_same_time(start, call):
    together = [start() for _ in range(2)]
    assert [answer(process)[0] for process in together] == ["20"] * 2
    assert call() == ["20", "1"]


@pytest.fixture
def reload(call, tmp_path, monkeypatch):
    """Call the kernel with an ``x`` as a new process would, within this one; count what was on disk."""
    assert call() == ["20", "0"]
    monkeypatch.syspath_prepend(tmp_path)

    def forget() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
            del sys.modules[name]

    def run(x: float = 1) -> tuple[float, int]:
        forget()
        outer = importlib.import_module("kernels.two.caller").outer
        return outer(x), sum(outer.stats.cache_hits.values())

    yield run
    forget()


def damages(content: bytes, other: bytes, rng: random.Random) -> list[bytes]:
    """What may have become of a file: nothing, a part, another, with more behind it or a bit flipped."""
    flipped = []
    for place in (0, 31, 32, len(content) - 1, *rng.sample(range(len(content)), 12)):
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        flipped.append(bytes(changed))
    parts = [content[:size] for size in (0, 1, 31, 32, 33, len(content) // 2, len(content) - 1)]
    return [*parts, *flipped, other, content + b"\0", pickle.dumps(None), b"\0" * len(content)]


def test_a_damaged_cache_heals(reload, tmp_path):
    reload(1.5)  # a file of another signature
    files = sorted(tmp_path.glob("kernels/two/__pycache__/*.nbc"))
    assert len(files) == 2
    intact = {path: path.read_bytes() for path in files}
    for path, other in zip(files, files[::-1], strict=True):
        for content in damages(intact[path], intact[other], random.Random(0)):
            path.write_bytes(content)
            found = [reload(x) for x in (1, 1.5)]
            assert [value for value, _ in found] == [20, 25]
            assert sum(hits for _, hits in found) == 1  # the file that nobody has damaged
            assert [reload(x) for x in (1, 1.5)] == [(20, 1), (25.0, 1)]


def test_a_cache_that_cannot_be_written_is_done_without(reload, tmp_path):
    (path,) = tmp_path.glob("kernels/two/__pycache__/*.nbc")
    path.unlink()
    path.mkdir()
    assert [reload(), reload()] == [(20, 0)] * 2
    shutil.rmtree(path.parent)
    path.parent.write_text("no folder")
    assert reload()[0] == 20


def said(caplog, monkeypatch, patience: float) -> list[str]:
    """What is logged while two functions are compiled."""
    monkeypatch.setattr(compiling, "PATIENCE", patience)
    stopwatch = compiling.stopwatch.__wrapped__()
    caplog.clear()
    try:
        for _ in range(2):
            njit(lambda x: x + 1)(1)
    finally:
        event.unregister("numba:compile", stopwatch)
    assert stopwatch.seconds > 0.0
    return [record.getMessage() for record in caplog.records]


def test_compiling_for_long_is_said_once(caplog, monkeypatch):
    assert said(caplog, monkeypatch, 0.001) == [compiling.COMPILING]
    assert said(caplog, monkeypatch, 60.0) == []


def test_a_line_of_the_log_goes_to_standard_error_where_nobody_keeps_one():
    program = f"import logging; logging.getLogger('gbb').warning({compiling.COMPILING!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == compiling.COMPILING + "\n"


def test_a_kernel_called_straight_chooses_as_it_does_through_numba():
    problem = gbb.Problem(gbb.Graph.complete(5), np.eye(3))
    env = gbb.Environment(problem, np.eye(3))
    cut = gbb.cuts.greedy(problem.graph)
    often, state = gbb.policies.ImprovedOFUL(problem, cut=cut), None
    for t in range(1, 6):
        once = gbb.policies.ImprovedOFUL(problem, cut=cut)  # its first call looks at all types
        state = often.init() if state is None else state
        one, other = (each.select(state, np.random.default_rng(t)) for each in (often, once))
        assert one.allocation.tolist() == other.allocation.tolist()
        assert (one.couple, one.value) == (other.couple, other.value)
        state = often.update(state, one, env.draw(t, one.allocation, np.random.default_rng(t)))
    kept = pickle.loads(pickle.dumps(often)).select(state, np.random.default_rng(9))
    assert kept.couple == often.select(state, np.random.default_rng(9)).couple
