"""Eight numbers at a time: what numba does not vectorise by itself.

A value of type :class:`Lanes` is eight doubles side by side, which LLVM spreads over the vectors that the
machine has. Arrays are read and written at flat places of their memory, without bounds checks, and their
rows are padded to whole lanes. With compilation switched off, numpy arrays of eight take their place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from gbb._kernels._jit import compiled
from gbb._support.checks import FloatArray

WIDTH = 8
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


class Lanes(types.Type):  # type: ignore[misc]
    """Numba's type of eight doubles side by side."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


@compiled()
def padded(count: int) -> int:
    """``count`` rounded up to whole lanes."""
    return -(-count // WIDTH) * WIDTH


def aligned_zeros(*shape: int) -> FloatArray:
    """Zeros in memory that starts with a whole lane: a vector across cache lines costs twice."""
    size = int(np.prod(shape))
    memory = np.zeros(size + WIDTH)
    skip = -(memory.ctypes.data // memory.itemsize) % WIDTH
    return memory[skip : skip + size].reshape(shape)


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    place = builder.gep(array.data, [args[1]])
    return builder.bitcast(place, VECTOR.as_pointer())


def _everywhere(builder: Any, x: Any) -> Any:
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, x, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, nothing, zeros)


@intrinsic  # type: ignore[misc]
def load(typing: Any, array: Any, at: Any) -> Any:  # noqa: ARG001
    """The eight numbers of ``array`` from the flat place ``at`` on."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(_place(context, builder, signature, args))
        found.align = 8
        return found

    return LANES(array, types.intp), lower


@intrinsic  # type: ignore[misc]
def store(typing: Any, array: Any, at: Any, x: Any) -> Any:  # noqa: ARG001
    """Write x to ``array`` from the flat place ``at`` on."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _place(context, builder, signature, args)).align = 8
        return context.get_dummy_value()

    return types.none(array, types.intp, LANES), lower


@intrinsic  # type: ignore[misc]
def splat(typing: Any, x: Any) -> Any:  # noqa: ARG001
    """The same number in all lanes."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _everywhere(builder, args[0])

    return LANES(types.float64), lower


@intrinsic  # type: ignore[misc]
def spread(typing: Any, array: Any, at: Any) -> Any:  # noqa: ARG001
    """The number of ``array`` at the flat place ``at``, in all lanes."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return _everywhere(builder, builder.load(builder.gep(data, [args[1]])))

    return LANES(array, types.intp), lower


@intrinsic  # type: ignore[misc]
def plus(typing: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """``x + y``."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.fadd(*args)

    return LANES(LANES, LANES), lower


@intrinsic  # type: ignore[misc]
def minus(typing: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """``x - y``."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.fsub(*args)

    return LANES(LANES, LANES), lower


@intrinsic  # type: ignore[misc]
def times(typing: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """``x y``."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.fmul(*args)

    return LANES(LANES, LANES), lower


@intrinsic  # type: ignore[misc]
def times_plus(typing: Any, x: Any, y: Any, z: Any) -> Any:  # noqa: ARG001
    """``x y + z``, rounded once where the machine can."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
        name = f"llvm.fmuladd.v{WIDTH}f64"
        fused = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(fused, args)

    return LANES(LANES, LANES, LANES), lower


@intrinsic  # type: ignore[misc]
def above(typing: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """Where ``x > y``: bit number l of the answer is lane l."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        bits = builder.bitcast(builder.fcmp_ordered(">", *args), ir.IntType(WIDTH))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(LANES, LANES), lower


if config.DISABLE_JIT:

    def load(array: Any, at: int) -> Any:
        return array.reshape(-1)[at : at + WIDTH].copy()

    def store(array: Any, at: int, x: Any) -> None:
        array.reshape(-1)[at : at + WIDTH] = x

    def splat(x: float) -> Any:
        return np.full(WIDTH, x)

    def spread(array: Any, at: int) -> Any:
        return np.full(WIDTH, array.reshape(-1)[at])

    def times_plus(x: Any, y: Any, z: Any) -> Any:
        return x * y + z

    def above(x: Any, y: Any) -> int:
        return sum(1 << int(lane) for lane in np.flatnonzero(x > y))

    plus, minus, times = np.add, np.subtract, np.multiply
