"""Compiled kernels: kept on disk, outdated by any kernel's source, announced when they take long."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core import event

import gbb
from gbb._kernels import jit

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
def call(tmp_path):
    """Call a kernel that calls one of another folder: its value, and whether it came from disk."""
    for room in ("one", "two"):
        (tmp_path / "kernels" / room).mkdir(parents=True)
    shutil.copy(jit.__file__, tmp_path / "kernels")
    (tmp_path / "kernels/one/callee.py").write_text(CALLEE.format(1))
    (tmp_path / "kernels/two/caller.py").write_text(CALLER)

    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", CALL], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

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
    """Numba's index names the classes of a kernel's arguments; a later version may have moved them."""
    (tmp_path / "kernels/pack.py").write_text(PACK)
    (tmp_path / "kernels/two/caller.py").write_text(CALLER_OF_PACK.format("kernels.pack"))
    assert call() == ["20", "0"]
    (tmp_path / "kernels/pack.py").rename(tmp_path / "kernels/moved.py")
    (tmp_path / "kernels/two/caller.py").write_text(CALLER_OF_PACK.format("kernels.moved"))
    assert call() == ["20", "0"]
    assert call() == ["20", "1"]


def announced(capsys, patience: float) -> str:
    listener = jit.Announcement(patience)
    event.register("numba:compile", listener)
    try:
        for _ in range(2):
            njit(lambda x: x + 1)(1)
    finally:
        event.unregister("numba:compile", listener)
    return capsys.readouterr().err


def test_compiling_for_long_is_announced_once(capsys):
    assert announced(capsys, 0.001) == jit.COMPILING
    assert announced(capsys, 60.0) == ""


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
