"""Policies that search over whole allocations: a thread plays a run, on orthogonal arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray
from gbb.policies._compiled import CompiledPolicy
from gbb.simulation.cuda.couples import number_distinct, number_priors
from gbb.simulation.cuda.launch import Instances, KernelText, Launch, join_text

MAX_ARMS = 10
MAX_AGENTS = 1000
THREADS = 64

MAX_SHARED = 1 << 16
"""The most bytes of shared memory for the agents of a block of runs; more go to global memory."""


@dataclass(frozen=True)
class JointKernel:
    """What the kernel of searches is compiled for; runs that agree in it are played in one launch.

    The fields, in upper case, are flags of the text.
    """

    K: int
    optimistic: bool
    adaptive: bool
    draws: bool
    allocations: bool

    @classmethod
    def of(cls, policy: CompiledPolicy, *, keep_allocations: bool) -> JointKernel:
        """Return the kernel that plays ``policy``; refuse what it does not play."""
        problem, cut = policy.problem, policy.cut
        one_draw = policy.samples == 1 and not policy.guarded
        plain = one_draw and cut.k == 2 and policy.weights == cut.weights
        if not plain or not policy.symmetric:
            rule = 'learn from links in both directions and draw once, over two parts, for method="cuda"'
            raise checks.input_error("policies", rule, policy.name)
        if not problem.orthogonal or not np.any(problem.arms, axis=1).all():
            rule = 'be orthogonal and not 0 for policies that search, with method="cuda"'
            raise checks.input_error("arms", rule, "others")
        for name, value, most in (("K", problem.K, MAX_ARMS), ("n", problem.n, MAX_AGENTS)):
            if value > most:
                rule = f'be at most {most} for policies that search, with method="cuda"'
                raise checks.input_error(name, rule, value)
        adaptive = policy.adaptive and policy.bonus is not None
        return cls(problem.K, policy.bonus is not None, adaptive, policy.v > 0.0, keep_allocations)

    def text(self, agents: int, starts: int) -> KernelText:
        """Return the text of the kernel for so many agents and starts of a search."""
        wide = self.K**2 if self.optimistic else self.K * (self.K + 1) // 2
        numbers = {"block": THREADS, "wide": wide, "most_starts": starts, "far": self._far(agents)}
        by_agent = 0 if self._far(agents) else agents * (2 * self.K + 2)
        shared = THREADS * (8 * (self.K**2 + 2 * wide) + by_agent)
        source = join_text(["common", "joint"], {**vars(self), **numbers})
        return KernelText(source, "play_joint", (), THREADS, THREADS, shared)

    def _far(self, agents: int) -> bool:
        """Whether the arms and neighbours of so many agents are in global memory."""
        return THREADS * agents * (2 * self.K + 2) > MAX_SHARED

    def launch(self, jobs: Instances, schedules: FloatArray) -> Launch:
        """Lay out the jobs, whose radii are the rows ``schedules`` of a table."""
        policies = [policy for _, policy in jobs]
        agents = max(policy.problem.n for policy in policies)
        forms, prior = number_priors(policies)
        places, networks = _networks(policies)
        rows = []
        for j, (env, policy) in enumerate(jobs):
            cut, R, constants = policy.cut, np.asarray(env.reward_tables[0]), policy.constants
            noise = 0.0 if env.noise == "none" else env.sigma
            radius = [constants[name] for name in ("sigma", "spread", "offset")]
            own = [policy.shrinking, policy.v, policy.epsilon, policy.starts]
            numbers = [cut.m12, cut.m1, cut.m2, noise, *radius, *own]
            both_ways = (R + R.T)[np.triu_indices(self.K)]
            rows.append(np.hstack([numbers, schedules[j], forms[j], places[j], both_ways]))
        pairs = (self.K * (self.K + 1) // 2,)
        far = [("arms", "u1", (2 * agents,)), ("around", "u2", (agents * self.K,))]
        outputs = [("couple", "i2"), ("reward", "f8"), ("cumulative", "f8")]
        allocation = [("allocation", "u1", (agents,))] if self.allocations else []
        return Launch(
            text=self.text(agents, max(1, *(policy.starts for policy in policies))),
            instances=np.stack(rows),
            constants=[prior, *networks, np.int32(agents)],
            scratch=np.dtype(far if self._far(agents) else []),
            state=np.dtype([("load", "f8", pairs), ("paid", "f8", pairs), ("carried", "f8", (2,))]),
            outputs=np.dtype([*outputs, *allocation]),
        )


def _networks(policies: Sequence[CompiledPolicy]) -> tuple[FloatArray, list[Any]]:
    """Lay out the distinct cuts one after the other.

    Returns for each policy its number of agents and where their numbers, rows and neighbours start; and
    the ``indptr`` and ``indices`` of the graphs, each agent's neighbours in V1 and in V2, and its side.
    """
    first, number = number_distinct(
        [(id(each.problem.graph), each.cut.sides.tobytes()) for each in policies]
    )
    parts: list[tuple[Any, ...]] = []
    for j in first:
        graph, sides = policies[j].problem.graph, policies[j].cut.sides
        across = np.bincount(graph.sources, weights=sides[graph.indices], minlength=graph.n)
        parts.append((graph.indptr, graph.indices, np.diff(graph.indptr) - across, across, sides))
    n, m = np.array([[len(sides), len(indices)] for _, indices, *_, sides in parts]).T
    at, entries = np.cumsum(n) - n, np.cumsum(m) - m
    rows = at + np.arange(len(parts))  # indptr has a number more than there are agents
    places = np.stack([n, at, rows, entries], axis=1).astype(np.float64)
    kinds = (np.int32, np.int16, np.int16, np.int16, np.uint8)
    lists = zip(zip(*parts, strict=True), kinds, strict=True)
    return places[number.astype(np.int64)], [np.concatenate(a).astype(kind) for a, kind in lists]
