"""Who learns the plans of a day, and the plans that come of it."""

from __future__ import annotations

import gbb
from gbb.applications.traffic.day.hours import REGIMES
from gbb.applications.traffic.day.played import Plans
from gbb.learning.record import AnyRecord


def make_learner(problem: gbb.Problem, name: str) -> gbb.policies.ThompsonSampling:
    """Thompson sampling, since it plays more than two arms: a green wave takes many."""
    cut = gbb.cuts.best(problem.graph)
    return gbb.policies.ThompsonSampling(problem, cut=cut, name=name)


def best_plans(policy: gbb.policies.ThompsonSampling, record: AnyRecord) -> Plans:
    """What is best in every regime by all that a learner has seen, with nothing drawn."""
    told = policy.problem.contexts is not None
    _, lam = policy.learner.prior(policy.problem)
    rounds = {regime: policy.problem.at(regime if told else None) for regime in REGIMES}
    return {
        regime: gbb.optimum.solve(now, gbb.Ridge(now, record, lam).M_hats).allocation
        for regime, now in rounds.items()
    }
