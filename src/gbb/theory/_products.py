"""Product distributions over a cut: what the best pays, and an allocation that pays no less."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gbb._support import checks
from gbb._support.checks import FloatArray, IntArray
from gbb.cuts import Cut, check_cut
from gbb.environment import Environment
from gbb.pairwise.quadratic import MOST, climb_shares, find_supports

CLIMBERS = 8
"""How many of the best shares are climbed from where not all supports were looked at."""


class Product(NamedTuple):
    """Agents of V1 draw their arms from p, those of V2 from q, all of them independently.

    Attributes
    ----------
    p, q
        The distributions, shares of the K arms.
    value
        The expected reward ``m12 p'Rq + m21 q'Rp + m1 p'Rp + m2 q'Rq``.
    proven
        Whether no other product distribution over the cut pays more.
    """

    p: FloatArray
    q: FloatArray
    value: float
    proven: bool


def best_product(env: Environment, cut: Cut) -> Product:
    """The product distribution over a cut that pays most; a couple is one, so no less than any.

    Its value is a quadratic form on two simplices. A maximiser of smallest support is strictly concave
    there, and the only stationary point: all such supports are looked at, up to 20,000 (some eight to
    twelve arms, as a rule). Beyond, it is the best that was found, by climbing from the best of them: a
    lower bound of the maximum, which is attained.
    """
    _check(env, cut)
    R, K = env.reward_table, env.problem.K
    inside, across = (R + R.T) / 2.0, (cut.m12 * R + cut.m21 * R.T) / 2.0
    A = np.block([[cut.m1 * inside, across], [across.T, cut.m2 * inside]])
    couples = cut.couple_values(R)
    starts, whole = _starts(A, couples)
    ends = starts if whole else [climb_shares(A, each, 2) for each in starts]
    halves = [each.reshape(2, K) / each.reshape(2, K).sum(axis=1, keepdims=True) for each in ends]
    values = [float(each.ravel() @ A @ each.ravel()) for each in halves]
    top = int(np.argmax(values))
    if couples.max() >= values[top]:  # also where rounding says so: the couple is exact
        a, b = divmod(int(np.argmax(couples)), K)
        return Product(np.eye(K)[a], np.eye(K)[b], float(couples[a, b]), whole)
    return Product(halves[top][0], halves[top][1], values[top], whole)


def _starts(A: FloatArray, couples: FloatArray) -> tuple[list[FloatArray], bool]:
    """The shares that are best where all supports were looked at, or good ones; and which it is."""
    if couples.size <= MOST:
        supports, whole = find_supports(A, 2)
        return [shares for _, shares in supports[: 1 if whole else CLIMBERS]], whole
    K = len(couples)
    best = np.argsort(couples, axis=None)[: -CLIMBERS - 1 : -1]
    one = np.eye(K)
    return [np.concatenate([one[c // K], one[c % K]]) for c in best.tolist()], False


def derandomise(env: Environment, cut: Cut, product: Product) -> IntArray:
    """An allocation that pays at least ``product.value``.

    Agent after agent takes the arm that pays most in expectation over the agents to come. The mean
    over its arms is what there was before, so no step loses (the method of conditional expectations).
    """
    _check(env, cut)
    _check_product(product)
    graph, W = cut.graph, env.reward_table + env.reward_table.T
    shares = np.where(cut.sides[:, None] == 0, product.p, product.q)
    arms = np.empty(graph.n, dtype=np.int64)
    for i in range(graph.n):
        arms[i] = np.argmax(W @ shares[graph.neighbours(i)].sum(axis=0))
        shares[i] = 0.0
        shares[i, arms[i]] = 1.0
    return arms


def _check_product(product: object) -> None:
    if not isinstance(product, Product):
        cure = "Find one with gbb.theory.best_product."
        raise checks.input_error("product", "be a gbb.theory.Product", product, cure)


def _check(env: Environment, cut: Cut) -> None:
    if not isinstance(env, Environment):
        raise checks.input_error("env", "be a gbb.Environment", type(env).__name__)
    if not env.problem.pays_as_paper:
        rule = "be of the paper's problem: one matrix, rewards per edge or link, every arm allowed"
        raise checks.input_error("env", rule, repr(env.problem))
    check_cut(env.problem.graph, cut)
