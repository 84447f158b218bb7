"""Exact search in a process of its own: rounding, limits, crashes, hangs and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gbb
from gbb.optimum import PairProblem, _solve, _toulbar2_process, solve, toulbar2
from gbb.optimum._toulbar2_process import Toulbar2Process
from gbb.optimum.heuristic import find_arms

pytestmark = pytest.mark.skipif(not toulbar2.installed(), reason="needs gbb[exact]")


def hard(n: int = 24, K: int = 10) -> tuple[gbb.Problem, np.ndarray]:
    M = gbb.instances.absolute_normal(K, seed=7, distinct_couple=True, zeta=0.0)
    np.fill_diagonal(M, 0.0)
    return gbb.Problem(gbb.Graph.random(n, 0.6, seed=1), np.eye(K)), M


def test_costs_are_rounded_down_so_that_bounds_hold() -> None:
    problem, M = hard(8, 4)
    pairs = PairProblem.of(problem, M)
    run = Toulbar2Process(pairs, np.zeros(8, dtype=np.int64), 1.0)
    W = pairs.tables
    assert (run._costs * run._unit <= (W.max() - W) * (1 + 1e-12)).all()
    assert ((run._costs + 1) * run._unit >= (W.max() - W) * (1 - 1e-12)).all()


def test_a_search_that_starts_from_the_optimum_proves_it() -> None:
    problem, M = hard(9, 3)
    best = solve(problem, M, method="brute_force")
    pairs = PairProblem.of(problem, M)
    with Toulbar2Process(pairs, best.allocation, 20.0) as process:
        found = process.answer(20.0)
    assert found is not None
    assert found.proven
    assert found.value == pytest.approx(best.value)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each wait for the process was allowed to take."""
    allowed: list[float] = []
    original = Toulbar2Process._ended

    def ended(self: Toulbar2Process, timeout: float) -> bool:
        allowed.append(timeout)
        return original(self, timeout)

    monkeypatch.setattr(Toulbar2Process, "_ended", ended)
    return allowed


def test_the_bound_at_the_time_limit_holds_and_the_limit_too(waits: list[float]) -> None:
    problem, M = hard()
    found = solve(problem, M, method="toulbar2", seconds=2.0)
    assert 0 < sum(waits) <= 2.0
    assert found.value <= found.upper_bound
    assert found.upper_bound <= PairProblem.of(problem, M).edge_bound + 1e-9


@pytest.mark.parametrize(
    "script",
    ["import os; os.abort()", "raise SystemExit(3)", "import time; time.sleep(60)"],
    ids=["crash", "failure", "hang"],
)
def test_whatever_the_process_does_the_answer_stands(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    (tmp_path / "worker.py").write_text(script)
    monkeypatch.setattr(_toulbar2_process, "SCRIPT", tmp_path / "worker.py")
    problem, M = hard(12, 4)
    found = solve(problem, M, method="toulbar2", seconds=1.5)
    assert 0 < sum(waits) <= 1.5
    assert found.method == "toulbar2"
    assert found.bound_method == "edges"
    assert 0 < found.value <= found.upper_bound


def test_without_the_extra_other_bounds_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_solve, "installed", lambda: False)
    monkeypatch.setattr("gbb.optimum.toulbar2.installed", lambda: False)
    problem, M = hard()
    found = solve(problem, M, seconds=1.0)
    assert found.method == "heuristic"
    assert found.bound_method in ("spectral", "sdp")
    with pytest.raises(gbb.InputError, match="`method` to apply to this problem"):
        solve(problem, M, method="toulbar2")


def test_a_problem_too_large_to_hand_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_toulbar2_process, "ENTRIES", 10)
    problem, M = hard()
    assert not Toulbar2Process.fits(PairProblem.of(problem, M))
    assert solve(problem, M, seconds=0.5).method == "heuristic"


def test_ctrl_c_while_the_process_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Toulbar2Process, "answer", interrupt)
    monkeypatch.setattr(_solve, "tighten", lambda *given: given[1])
    problem, M = hard()
    pairs = PairProblem.of(problem, M)
    best = find_arms(pairs, _solve.Budget(), np.random.default_rng(0))
    for method in (None, "toulbar2"):
        found = solve(problem, M, method=method)
        assert found.value >= 0.95 * pairs.value(best)


INTERRUPTED = """
import numpy as np, gbb
M = gbb.instances.absolute_normal(10, seed=7, distinct_couple=True, zeta=0.0)
np.fill_diagonal(M, 0.0)
problem = gbb.Problem(gbb.Graph.random(60, 0.6, seed=1), np.eye(10))
gbb.optimum.solve(problem, M, method="sdp", seconds=0.5)
gbb.cuts.best(gbb.Graph.random(300, 0.1, seed=0), seconds=0.1)
print("ready", flush=True)
{work}
print("value", value, flush=True)
"""

WORK = {
    "solve": "value = gbb.optimum.solve(problem, M, seconds=3600.0).value",
    "heuristic": "value = gbb.optimum.solve(gbb.Problem(gbb.Graph.random(20000, 0.001, seed=0), "
    "np.eye(10)), M, method='heuristic', seconds=3600.0).value",
    "best": "value = gbb.cuts.best(gbb.Graph.random(5000, 0.01, seed=0), seconds=3600.0).rho",
    "kcut": "value = gbb.cuts.kcut(gbb.Graph.random(5000, 0.01, seed=0), 3, sweeps=10**9).rho",
}


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("work", WORK)
def test_a_real_ctrl_c_returns_the_best_so_far(work: str) -> None:
    code = INTERRUPTED.format(work=WORK[work])
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        line, _ = process.communicate(timeout=600)  # without the signal it would take an hour
        assert line.startswith("value"), line
        assert float(line.split()[1]) > 0.0
        assert process.returncode == 0
