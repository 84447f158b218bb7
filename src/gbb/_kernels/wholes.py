"""Eight whole numbers of 64 bits at a time, for generators of random numbers in lanes.

As ``lanes.py``, whose eight doubles have the same bits; sums and products are modulo 2^64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import models, register_model
from numpy.typing import NDArray

from gbb._kernels.lanes import LANES, VECTOR, WIDTH, lowered
from gbb._support.checks import FloatArray

BITS = ir.VectorType(ir.IntType(64), WIDTH)

WholeArray = NDArray[np.uint64]


class Wholes(types.Type):
    """Numba's type of eight whole numbers side by side."""

    def __init__(self) -> None:
        super().__init__(name="Wholes")


WHOLES: Any = Wholes()


@register_model(Wholes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, BITS)  # type: ignore[no-untyped-call]


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.bitcast(builder.gep(array.data, [args[1]]), BITS.as_pointer())


def _load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    found = builder.load(_place(context, builder, signature, args))
    found.align = 8
    return found


def _store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    builder.store(args[2], _place(context, builder, signature, args)).align = 8
    return context.get_dummy_value()


def _by(act: str) -> Callable[..., Any]:
    """Lower an operation of LLVM's on lanes and one number for all of them."""

    def lower(_: Any, builder: Any, __: Any, args: Any) -> Any:
        nothing, zero = ir.Constant(BITS, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        first = builder.insert_element(nothing, args[1], zero)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return getattr(builder, act)(args[0], builder.shuffle_vector(first, nothing, zeros))

    return lower


def _by_a_number(*_: Any) -> Any:
    return WHOLES(WHOLES, types.int64)


def _of_wholes(*args: Any) -> Any:
    return WHOLES(*[WHOLES] * len(args))


@lowered(lambda array, _: WHOLES(array, types.intp), _load)
def load_wholes(array: WholeArray, at: int) -> WholeArray:
    """The eight numbers of ``array`` from the flat place ``at`` on."""
    return array.reshape(-1)[at : at + WIDTH].copy()


@lowered(lambda array, *_: types.none(array, types.intp, WHOLES), _store)
def store_wholes(array: WholeArray, at: int, x: WholeArray) -> None:
    """Write x to ``array`` from the flat place ``at`` on."""
    array.reshape(-1)[at : at + WIDTH] = x


@lowered(_of_wholes, lambda _, builder, __, args: builder.add(*args))
def sum_of(x: WholeArray, y: WholeArray) -> WholeArray:
    """``x + y``."""
    return x + y


@lowered(_of_wholes, lambda _, builder, __, args: builder.sub(*args))
def difference(x: WholeArray, y: WholeArray) -> WholeArray:
    """``x - y``."""
    return x - y


@lowered(_of_wholes, lambda _, builder, __, args: builder.xor(*args))
def either(x: WholeArray, y: WholeArray) -> WholeArray:
    """Exclusive or, bit by bit."""
    return x ^ y


@lowered(_by_a_number, _by("add"))
def raised(x: WholeArray, k: int) -> WholeArray:
    """``x + k``."""
    return x + np.int64(k).astype(np.uint64)


@lowered(_by_a_number, _by("and_"))
def masked(x: WholeArray, k: int) -> WholeArray:
    """The bits that x and k have in common."""
    return x & np.uint64(k)


@lowered(_by_a_number, _by("or_"))
def joined(x: WholeArray, k: int) -> WholeArray:
    """The bits that x or k has."""
    return x | np.uint64(k)


@lowered(_by_a_number, _by("shl"))
def left(x: WholeArray, k: int) -> WholeArray:
    """``x`` shifted to the left by k bits."""
    return x << np.uint64(k)


@lowered(_by_a_number, _by("lshr"))
def right(x: WholeArray, k: int) -> WholeArray:
    """``x`` shifted to the right by k bits, with zeros from the left."""
    return x >> np.uint64(k)


@lowered(_by_a_number, _by("ashr"))
def right_signed(x: WholeArray, k: int) -> WholeArray:
    """``x`` shifted to the right by k bits, with its highest bit from the left."""
    return (x.view(np.int64) >> k).view(np.uint64)


@lowered(lambda _: LANES(WHOLES), lambda _, builder, __, args: builder.bitcast(args[0], VECTOR))
def as_lanes(x: WholeArray) -> FloatArray:
    """The doubles with these bits."""
    return x.view(np.float64)


@lowered(lambda _: WHOLES(LANES), lambda _, builder, __, args: builder.bitcast(args[0], BITS))
def as_wholes(x: FloatArray) -> WholeArray:
    """The bits of the doubles."""
    return x.view(np.uint64)


@lowered(lambda _: LANES(WHOLES), lambda _, builder, __, args: builder.sitofp(args[0], VECTOR))
def to_lanes(x: WholeArray) -> FloatArray:
    """The numbers, with a sign, as doubles."""
    return x.view(np.int64).astype(np.float64)
