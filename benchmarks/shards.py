"""A network of 10^7 agents in 100 shards: what its coordinator holds and takes, and what it plays.

``python benchmarks/shards.py [SHARDS] [AGENTS A SHARD] [ROUNDS]`` prints one line per claim. Every
shard is a ring of agents with random chords, linked to the shard before it. This process is all
gateways, one after the other. The coordinator is a process of its own, to which the gateways send
their kinds of links, and then their tables, through a pipe.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import gbb

K, SIGMA, BORDER = 5, 1.0, 100
PAYS = np.abs(np.random.default_rng(7).normal(size=(K, K)))
DRAWN = 3
"""Rounds in which every link draws its reward; in the others a shard draws the sums of its kinds."""


def make_shard(number: int, size: int, before: gbb.Shard | None) -> gbb.Shard:
    """A ring with as many random chords, and links to the shard before."""
    rng, first = np.random.default_rng(number), number * size
    ring = np.arange(size)
    chords = (ring + rng.integers(2, size // 2, size=size)) % size
    own = np.concatenate([np.stack([ring, (ring + 1) % size], 1), np.stack([ring, chords], 1)])
    keys = np.unique(np.sort(own, axis=1) @ np.array([size, 1]))
    links = first + np.stack(np.divmod(keys, size), axis=1)
    border = None
    if before is not None:
        outside = first - 1 - np.arange(BORDER)
        border = (outside, before.part_of(outside))
        links = np.concatenate([links, np.stack([first + np.arange(BORDER), outside], axis=1)])
    return gbb.Shard(range(first, first + size), links, K=K, border=border)


class Gateway:
    """A shard's gateway, with simulated links."""

    def __init__(self, shard: gbb.Shard, number: int) -> None:
        self.shard, self.number = shard, number
        self.rows = sum(kind.links for kind in shard.kinds)

    def tables(self, couple: tuple[int, int], round: int) -> tuple[np.ndarray, np.ndarray]:
        """What its links paid; link by link in the first rounds, by the sum of Gaussians later."""
        rng = np.random.default_rng([self.number, round])
        noise = np.zeros((self.rows, 2)) if round >= DRAWN else rng.normal(size=(self.rows, 2))
        N, Y = self.shard.tables(couple, noise)
        if round >= DRAWN:
            Y = np.sqrt(N) * rng.normal(size=N.shape)
        return N, N * PAYS + SIGMA * Y


def sync_seconds() -> float:
    """What the disk takes to make 8 kB safe, at the median."""
    seconds = []
    with tempfile.TemporaryFile() as file:
        for _ in range(50):
            file.write(bytes(8192))
            file.flush()
            start = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def coordinate(pipe: Connection, url: str) -> None:
    """The coordinator: all that it ever sees comes through ``pipe``."""
    from gbb.controller import Controller  # noqa: PLC0415

    problem = gbb.Network.of(pipe.recv()).problem(np.eye(K), sigma=SIGMA, S=float(K))
    with Controller.create(url, problem) as controller:
        trial = controller.ask()
        pipe.send((trial.id, trial.arms[:2].tolist()))
        while (tables := pipe.recv()) is not None:
            start, used = time.perf_counter(), time.process_time()
            trial = controller.next(trial, tables)
            wall, cpu = time.perf_counter() - start, time.process_time() - used
            pipe.send((trial.id, trial.arms[:2].tolist(), wall, cpu))
        status = Path("/proc/self/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
        loaded = [name for name in ("numba", "scipy.sparse", "pandas") if name in sys.modules]
        pipe.send((int(peak) / 1024, loaded, controller.status()))


def main() -> None:
    shards, size, rounds = (int(sys.argv[i]) if len(sys.argv) > i else d for i, d in DEFAULTS)
    start, gateways, before = time.perf_counter(), [], None
    for number in range(shards):
        before = make_shard(number, size, before)
        gateways.append(Gateway(before, number))
    made = time.perf_counter() - start
    kinds = [gateway.shard.kinds for gateway in gateways]
    network = gbb.Network.of(kinds)
    print(f"{shards * size:,} agents in {shards} shards: {network!r}, cut in {made:.0f} s")
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = context.Pipe()
        url = f"sqlite:///{Path(folder) / 'shards.db'}"
        process = context.Process(target=coordinate, args=(theirs, url))
        process.start()
        ours.send(kinds)
        _, couple = ours.recv()
        walls, cpus, summed = [], [], []
        for round in range(rounds):
            start = time.perf_counter()
            tables = {i: gateway.tables(couple, round) for i, gateway in enumerate(gateways)}
            summed.append(time.perf_counter() - start)
            ours.send(tables)
            _, couple, wall, cpu = ours.recv()
            walls.append(wall)
            cpus.append(cpu)
        ours.send(None)
        peak, loaded, status = ours.recv()
        process.join()
        size_mb = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
    wall, cpu = 1e3 * np.median(walls), 1e3 * np.median(cpus)
    print(f"coordinator: {peak:.0f} MB at its peak (of slow libraries: {loaded or 'none'})")
    print(f"coordinator: a round takes {wall:.1f} ms, of which it computes {cpu:.1f} ms")
    print(f"the disk alone: {1e3 * sync_seconds():.1f} ms to make 8 kB safe")
    per_link = np.median(summed[:DRAWN]) / shards
    print(f"gateways: {1e3 * per_link:.0f} ms a shard and round to draw and sum every link")
    sums = network.counts
    worth = [
        [
            sums[0, 1] * PAYS[a, b]
            + sums[1, 0] * PAYS[b, a]
            + sums[0, 0] * PAYS[a, a]
            + sums[1, 1] * PAYS[b, b]
            for b in range(K)
        ]
        for a in range(K)
    ]
    share = worth[couple[0]][couple[1]] / np.max(worth)
    print(f"{rounds} rounds, {size_mb:.1f} MB of log; the last couple pays {share:.4f} of the best")
    assert status["edges"] == network.m


DEFAULTS = ((1, 100), (2, 100_000), (3, 60))

if __name__ == "__main__":
    main()
