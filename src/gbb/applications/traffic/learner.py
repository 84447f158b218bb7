"""The learner of the traffic demo: how it sees an offset, and its settings."""

from __future__ import annotations

import numpy as np

import gbb
from gbb._support.checks import FloatArray
from gbb.applications.traffic.rounds import Rounds
from gbb.applications.traffic.system import OFFSETS
from gbb.learning import empty, observe

ANGLES = 2.0 * np.pi * np.arange(OFFSETS.size) / OFFSETS.size
FEATURES = {
    "one-hot": np.eye(OFFSETS.size),
    "fourier": np.stack([np.ones(OFFSETS.size), np.cos(ANGLES), np.sin(ANGLES)], axis=1),
}
"""Arms as the learner sees them: every offset on its own (36 unknowns), or smooth in it (9)."""


def bound_matrix(X: FloatArray) -> float:
    """S, where rewards lie between -1 and 1: ``||X M X'||_F <= K`` and ``||M||_F <= K ||X^+||^2``."""
    return OFFSETS.size * float(np.linalg.norm(np.linalg.pinv(X), 2)) ** 2


def make_policy(graph: gbb.Graph, name: str, sigma: float) -> gbb.policies.ImprovedOFUL:
    """The paper's improved algorithm with the settings of the demo.

    Rewards lie between -1 and 1 as long as vehicles lose less than two minutes on a street. With
    ``lam = (sigma / S)^2`` the regulariser adds no more than sigma to the radius.
    """
    X: FloatArray = FEATURES[name]
    S = bound_matrix(X)
    seconds = [f"{offset} s" for offset in OFFSETS]
    problem = gbb.Problem(graph, X, sigma=sigma, S=S, arm_names=seconds)
    return gbb.policies.ImprovedOFUL(
        problem, cut=gbb.cuts.best(graph), lam=(sigma / S) ** 2, radius="symmetric", name=name
    )


def fit(problem: gbb.Problem, history: Rounds) -> FloatArray:
    """The shared matrix that fits all rounds of a history."""
    record = empty(problem)
    for arms, rewards in zip(history.allocations, history.rewards, strict=True):
        record = record.merge(observe(problem, arms, rewards))
    return gbb.Ridge(problem, record, 1e-3).M_hat
