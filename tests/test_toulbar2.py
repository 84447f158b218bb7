"""Exact search in a process of its own: rounding, limits, crashes, hangs and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gbb
from gbb._support.budget import Budget
from gbb.optimum import Optimum, PairProblem, solve, toulbar2

pytestmark = pytest.mark.skipif(
    not toulbar2.applies(PairProblem.of_table(gbb.Graph.complete(2), np.eye(2))),
    reason="needs gbb[exact]",
)


def hard(n: int = 24, K: int = 10) -> tuple[gbb.Problem, np.ndarray]:
    M = gbb.instances.absolute_normal(K, seed=7, distinct_couple=True, zeta=0.0)
    np.fill_diagonal(M, 0.0)
    return gbb.Problem(gbb.Graph.random(n, 0.6, seed=1), np.eye(K)), M


def test_costs_are_rounded_down_so_that_bounds_hold() -> None:
    pairs = PairProblem.of(*hard(8, 4))
    costs, unit, top_value = toulbar2.costs_of(pairs)
    W = pairs.tables
    assert top_value == pytest.approx(pairs.edge_bound)
    assert (costs * unit <= (W.max() - W) * (1 + 1e-12)).all()
    assert ((costs + 1) * unit >= (W.max() - W) * (1 - 1e-12)).all()


def test_a_search_that_starts_from_the_optimum_proves_it() -> None:
    problem, M = hard(9, 3)
    best = solve(problem, M, method="brute_force")
    pairs = PairProblem.of(problem, M)
    known = Optimum.of(pairs, best.allocation, "guess", bound=pairs.edge_bound)
    assert not known.proven
    found = toulbar2.search(pairs, known, Budget(20.0))
    assert found.proven
    assert found.value == pytest.approx(best.value)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each wait for the process was allowed to take."""
    allowed: list[float] = []
    original = subprocess.Popen.wait

    def wait(self: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        allowed.extend([] if timeout is None else [timeout])
        return original(self, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", wait)
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
    script: str, monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    monkeypatch.setattr(toulbar2, "WORKER", (sys.executable, "-c", script))
    problem, M = hard(12, 4)
    found = solve(problem, M, method="toulbar2", seconds=1.5)
    assert 0 < sum(waits) <= 1.5
    assert found.method == "toulbar2"
    assert found.bound_method == "edges"
    assert 0 < found.value <= found.upper_bound


def test_exact_search_comes_before_other_bounds() -> None:
    problem, M = hard(20, 4)
    found = solve(problem, M, seconds=20.0)
    assert found.proven
    assert "toulbar2" in (found.method, found.bound_method)


@pytest.mark.parametrize("reason", ["not installed", "too large"])
def test_where_it_does_not_apply_other_bounds_are_reported(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason == "too large":
        monkeypatch.setattr(toulbar2, "MAX_ENTRIES", 10)
    else:
        monkeypatch.setattr(toulbar2.importlib.util, "find_spec", lambda _: None)
    problem, M = hard()
    found = solve(problem, M, seconds=1.0)
    assert found.method == "heuristic"
    assert found.bound_method in ("spectral", "sdp")
    with pytest.raises(gbb.InputError, match="`method` to apply to this problem"):
        solve(problem, M, method="toulbar2")


def test_ctrl_c_while_the_process_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(toulbar2, "_run_worker", interrupt)
    problem, M = hard()
    best = solve(problem, M, method="heuristic")
    for method in (None, "toulbar2"):
        found = solve(problem, M, method=method)
        assert found.value >= 0.95 * best.value
        assert found.bound_method == "edges"


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
