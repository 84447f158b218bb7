"""The random numbers of ``simulation/cuda/text/common.cu`` in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray

NOISE = 0
"""What draws are for; as in the text."""

ROUNDS = 10
WORD = np.uint64(0xFFFFFFFF)


def keys_of(seeds):
    """The 128 bits of every seed that a run's random numbers follow from."""
    return np.array([seed.generate_state(4) for seed in seeds], dtype=np.uint32)


def words(keys: NDArray[np.uint32], t: int, draw: int, count: int) -> NDArray[np.uint32]:
    """Philox 4x32-10 (Salmon et al. 2011) of round t, from draw number ``draw`` on (runs x 4 count)."""
    runs = len(keys)
    wide = keys.astype(np.uint64)
    k0, k1, c2, c3 = (np.repeat(wide[:, j], count) for j in range(4))
    c1 = np.tile(np.arange(draw, draw + count, dtype=np.uint64), runs) ^ np.uint64(t >> 32 << 20)
    c0 = np.full(runs * count, t & 0xFFFFFFFF, dtype=np.uint64)
    for _ in range(ROUNDS):
        one, two = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1 = (two >> np.uint64(32)) ^ c1 ^ k0, two & WORD
        c2, c3 = (one >> np.uint64(32)) ^ c3 ^ k1, one & WORD
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & WORD, (k1 + np.uint64(0xBB67AE85)) & WORD
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32).reshape(runs, 4 * count)


def uniforms(keys: NDArray[np.uint32], t: int, draw: int, count: int) -> FloatArray:
    """Numbers in (0, 1), so many for each run."""
    drawn = words(keys, t, draw, -(-count // 4))[:, :count]
    found: FloatArray = (drawn.astype(np.float64) + 0.5) * 2.0**-32
    return found


def normals(keys: NDArray[np.uint32], t: int, draw: int, count: int) -> FloatArray:
    """Standard normals, so many for each run (Box and Muller 1958)."""
    u = uniforms(keys, t, draw, 4 * -(-count // 4)).reshape(len(keys), -1, 2)
    size, angle = np.sqrt(-2.0 * np.log(u[..., 0])), 2.0 * np.pi * u[..., 1]
    both = np.stack([size * np.cos(angle), size * np.sin(angle)], axis=-1)
    return both.reshape(len(keys), -1)[:, :count]
