"""Index policies on problems with contexts in the engine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gbb._kernels.rounds.pages import play_pages
from gbb._kernels.rounds.rounds import Block
from gbb._support.checks import IntArray
from gbb._support.rows import distinct
from gbb.environment import Environment
from gbb.simulation._lowering import MAX_TERMS, LoweredPolicy
from gbb.simulation.engine.index import fits_tables
from gbb.simulation.engine.pages import Page, bind, lay_out, make_room
from gbb.simulation.engine.request import Request
from gbb.simulation.engine.setting import policy_at, record_of, set_up
from gbb.simulation.engine.vectors import plays_vectors, run_vectors
from gbb.simulation.trace import Trace

NUMBERS = 1 << 22
"""About how many numbers the pages of a book may hold together."""


def plays_contexts(policy: LoweredPolicy) -> bool:
    """Whether this loop plays ``policy``: its tables are not too large in any round."""
    problem = policy.problem
    if problem.contexts is None or problem.unknown:
        return False
    K, k = problem.K, policy.cut.k
    groups = len(np.unique(np.column_stack([policy.cut.parts, problem.first_allowed]), axis=0))
    kinds = problem.types * min(problem.m, groups**2)
    return K**k * kinds <= MAX_TERMS and fits_tables(policy, K**k)


def run_contexts(env: Environment, policy: LoweredPolicy, asked: Request) -> Trace:
    """All rounds of an index policy with contexts.

    A vector of numbers takes no more than a problem with as many parameters. Any other context is laid
    out once, on a page, which takes about a millisecond; a round costs what one without contexts does,
    on top of pages that are new.
    """
    assert env.rows is not None
    if plays_vectors(policy, env.rows[: asked.rounds]):
        return run_vectors(env, policy, asked)
    problem, blocks = env.problem, asked.blocks
    rows, which = distinct(env.rows[: asked.rounds])
    R, sums = np.array(env.reward_tables), not problem.tabular
    setting = set_up(policy_at(policy, rows[0]), R, asked)
    by_edge = sums or not blocks.gaussian or blocks.edge_noise
    world = setting.world._replace(in_turn=True)
    setting = setting._replace(world=world, by_edge=by_edge)

    def page_of(context: int) -> Page:
        return lay_out(policy_at(policy, rows[context]), setting)

    pages = {0: page_of(0)}
    most = max(1, NUMBERS // pages[0].size)
    matrices = problem.types
    if len(rows) <= most:
        pages = {context: page_of(context) for context in range(len(rows))}
        matrices = max(page.matrices for page in pages.values())
    width = min(problem.m, matrices * problem.K**2)

    def play(block: Block, rng: np.random.Generator) -> None:
        nonlocal setting
        begin = block.first - 1
        here = which[begin : begin + len(block.radii)]
        for start, stop in _stretches(here, most):
            wanted, place = np.unique(here[start:stop], return_inverse=True)
            for context in set(pages) - set(wanted.tolist()) if len(rows) > most else ():
                del pages[context]
            bound = []
            for context in wanted.tolist():
                pages[context] = pages.get(context) or page_of(context)
                bound.append(pages[context])
            setting = make_room(setting, bound)
            radii, place = np.zeros(stop - start), place.ravel()
            rounds = np.arange(begin + start, begin + stop, dtype=np.float64)
            for number, page in enumerate(bound):
                radii[place == number] = page.radii(rounds[place == number])
            part = Block(block.first + start, block.noise[start:stop], radii, block.recorded)
            play_pages(bind(bound), place, setting, part, rng)

    one_each = np.ones(width, dtype=np.int64)
    asked.play(
        np.zeros_like,
        lambda size: blocks.report(size) if by_edge else blocks.sums(one_each, size),
        play,
        width=max(problem.observations, setting.run.N.size),
    )
    return asked.trace(policy, setting.run, record_of(policy, setting.run, setting.triangular))


def _stretches(which: IntArray, most: int) -> Iterator[tuple[int, int]]:
    """Stretches of rounds with at most so many different contexts each."""
    start, seen = 0, set[int]()
    for place, context in enumerate(which.tolist()):
        if context not in seen and len(seen) == most:
            yield start, place
            start, seen = place, set()
        seen.add(context)
    yield start, len(which)
