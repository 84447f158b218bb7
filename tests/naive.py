"""Slow, obvious twins of the library, written from the paper's text with plain loops.

Nothing here imports ``gbb``: arguments are arrays, edges are an iterable of ordered pairs (i, j).
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def vec(matrix):
    """The concatenation of all the columns."""
    return np.asarray(matrix, dtype=float).ravel(order="F")


def edge_arm(x, y):
    """``z_xy = vec(x y')``."""
    return vec(np.outer(x, y))


def greedy_sides(n, edges):
    """Approx-MAX-CUT (Algorithm 2), with sets."""
    V1, V2 = set(), set()
    for i in range(n):
        n1 = len([j for (source, j) in edges if source == i and j in V1])
        n2 = len([j for (source, j) in edges if source == i and j in V2])
        if n1 > n2:
            V2.add(i)
        else:
            V1.add(i)
    return np.array([1 if i in V2 else 0 for i in range(n)])


def edge_counts(edges, sides):
    """``(m12, m21, m1, m2)``."""
    counts = {(0, 1): 0, (1, 0): 0, (0, 0): 0, (1, 1): 0}
    for i, j in edges:
        counts[int(sides[i]), int(sides[j])] += 1
    return counts[0, 1], counts[1, 0], counts[0, 0], counts[1, 1]


def gram(arms, edges, allocations, lam):
    """``A_t = lam I + sum over rounds and edges of z z'``."""
    d = arms.shape[1]
    A = lam * np.eye(d * d)
    for allocation in allocations:
        for i, j in edges:
            z = edge_arm(arms[allocation[i]], arms[allocation[j]])
            A = A + np.outer(z, z)
    return A


def responses(arms, edges, allocations, rewards):
    """``b_t = sum over rounds and edges of z y``."""
    d = arms.shape[1]
    b = np.zeros(d * d)
    for allocation, paid in zip(allocations, rewards, strict=True):
        for (i, j), y in zip(edges, paid, strict=True):
            b = b + edge_arm(arms[allocation[i]], arms[allocation[j]]) * y
    return b


def theta_hat(arms, edges, allocations, rewards, lam):
    """The ridge estimate as numpy's least squares on every single edge reward, one row each."""
    d = arms.shape[1]
    rows, values = [], []
    for allocation, paid in zip(allocations, rewards, strict=True):
        for (i, j), y in zip(edges, paid, strict=True):
            rows.append(edge_arm(arms[allocation[i]], arms[allocation[j]]))
            values.append(y)
    rows.extend(math.sqrt(lam) * np.eye(d * d))
    values.extend(np.zeros(d * d))
    return np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0]


def expected_edge_rewards(arms, M, edges, allocation):
    """``x_i' M x_j`` for every edge."""
    return np.array([arms[allocation[i]] @ M @ arms[allocation[j]] for i, j in edges])


def expected_reward(arms, M, edges, allocation):
    """The expected global reward of an allocation."""
    return float(sum(arms[allocation[i]] @ M @ arms[allocation[j]] for i, j in edges))


def best_value(arms, M, edges, n):
    """The largest expected global reward over all K^n allocations."""
    R = arms @ M @ arms.T
    return max(
        float(sum(R[allocation[i], allocation[j]] for i, j in edges))
        for allocation in itertools.product(range(len(arms)), repeat=n)
    )


def gamma(arms, M, edges, best):
    """``min_x <z_xx, theta*> / (best / m)``."""
    theta = vec(M)
    return min(float(edge_arm(x, x) @ theta) for x in arms) / (best / len(edges))


def over_cut(arms, M, counts):
    """Value over the cut graph of every couple (a, b): V1 plays a, V2 plays b."""
    m12, m21, m1, m2 = counts
    theta = vec(M)
    K = len(arms)
    values = np.zeros((K, K))
    for a, b in itertools.product(range(K), repeat=2):
        x, y = arms[a], arms[b]
        v = m12 * edge_arm(x, y) + m21 * edge_arm(y, x) + m1 * edge_arm(x, x) + m2 * edge_arm(y, y)
        values[a, b] = v @ theta
    return values


def best_couples(arms, M, tied=1e-9):
    """The couples that pay most along one edge; both orders of each, and all that tie."""
    theta = vec(M)
    along = {
        (a, b): float((edge_arm(x, y) + edge_arm(y, x)) @ theta)
        for (a, x), (b, y) in itertools.product(enumerate(arms), repeat=2)
    }
    best = max(along.values())
    return [couple for couple, value in along.items() if value >= best - tied]


def Delta(arms, M, counts, couple):
    """What the best couple over the cut graph gains on ``couple``, the best along one edge."""
    values = over_cut(arms, M, counts)
    return float(values.max() - values[couple])


def alpha_1(gamma):
    return (1 + gamma) / 2


def alpha_2(gamma, epsilon, counts):
    m12, m21, m1, m2 = counts
    return 1 - ((m1 + m2) / (m12 + m21 + m1 + m2) * (1 - gamma) - epsilon)


def paper_radius(*, sigma, S, L, d, m, t, lam, delta):
    """``sqrt(beta_t)`` of Section 3."""
    return sigma * math.sqrt(d**2 * math.log((1 + t * m * L**2 / lam) / delta)) + math.sqrt(lam) * S


def regret_bound(*, sigma, S, L, d, m, T, lam, delta):
    """The last line of the proof of Theorem 3.2, term by term."""
    inside = 32 * T * m * d**2 * max(2, (L * S) ** 2)
    inside *= math.log(1 + (T * m * L**2 / lam) / d**2)
    first = math.sqrt(inside) * paper_radius(
        sigma=sigma, S=S, L=L, d=d, m=m, t=T, lam=lam, delta=delta
    )
    second = L * S * m * math.ceil(d**2 * math.log2((T * m * L**2 / lam) / delta))
    return first + second


def critical_covariance_count(arms, edges, allocations, lam):
    """In how many rounds some ``A_{t,p}`` is not below ``2 A_{t-1,m}``, edge by edge."""
    d = arms.shape[1]
    A = lam * np.eye(d * d)
    count = 0
    for allocation in allocations:
        before, broken = A.copy(), False
        for i, j in edges:
            z = edge_arm(arms[allocation[i]], arms[allocation[j]])
            A = A + np.outer(z, z)
            lowest = np.linalg.eigvalsh(2 * before - A)[0]
            broken = broken or lowest < -1e-9 * np.abs(A).max()
        count += broken
    return count


class PaperOFUL:
    """Algorithm 1, or the improved algorithm, one matrix at a time.

    ``values()`` gives the optimistic value of every couple before a round; ``learn(couple,
    rewards)`` allocates the couple over the cut and adds the round's edges one by one.
    """

    def __init__(self, arms, n, edges, *, sigma, S, L, lam, delta, improved):
        self.arms, self.edges = arms, edges
        self.sigma, self.S, self.L, self.lam, self.delta = sigma, S, L, lam, delta
        self.sides = greedy_sides(n, edges)
        self.weights = edge_counts(edges, self.sides) if improved else (1, 1, 0, 0)
        d = arms.shape[1]
        self.A = lam * np.eye(d * d)
        self.b = np.zeros(d * d)
        self.t = 0

    def values(self):
        K, d = self.arms.shape
        inverse = np.linalg.inv(self.A)
        estimate = inverse @ self.b
        radius = paper_radius(
            sigma=self.sigma, S=self.S, L=self.L, d=d, m=len(self.edges), t=self.t,
            lam=self.lam, delta=self.delta,
        )  # fmt: skip
        w12, w21, w1, w2 = self.weights
        values = np.zeros((K, K))
        for a in range(K):
            for b in range(K):
                x, y = self.arms[a], self.arms[b]
                v = w12 * edge_arm(x, y) + w21 * edge_arm(y, x)
                v = v + w1 * edge_arm(x, x) + w2 * edge_arm(y, y)
                values[a, b] = v @ estimate + radius * math.sqrt(v @ inverse @ v)
        return values

    def allocation(self, couple):
        return np.array([couple[side] for side in self.sides])

    def learn(self, couple, rewards):
        allocation = self.allocation(couple)
        for (i, j), y in zip(self.edges, rewards, strict=True):
            z = edge_arm(self.arms[allocation[i]], self.arms[allocation[j]])
            self.A = self.A + np.outer(z, z)
            self.b = self.b + z * y
        self.t += 1


def allocation_vector(arms, edges, allocation):
    """The sum of the edge-arms of all directed edges."""
    return sum(edge_arm(arms[allocation[i]], arms[allocation[j]]) for i, j in edges)


def index_of(arms, edges, allocation, *, theta, inverse, radius):
    """``<C, theta> + radius ||C||_{A^-1}`` for the edge-arms C of an allocation."""
    C = allocation_vector(arms, edges, allocation)
    return float(C @ theta + radius * math.sqrt(max(C @ inverse @ C, 0.0)))


def search(arms, edges, start, **index):
    """Agents in turn take the arm with the best index until none gains, from scratch every time."""
    allocation = [int(a) for a in start]
    moved = True
    while moved:
        moved = False
        for i in range(len(allocation)):
            values = [
                index_of(arms, edges, [*allocation[:i], a, *allocation[i + 1 :]], **index)
                for a in range(len(arms))
            ]
            best = int(np.argmax(values))
            if values[best] > values[allocation[i]] + 1e-10 * abs(values[allocation[i]]):
                allocation[i], moved = best, True
    return allocation
