"""Eight numbers at a time: what numba does not vectorise by itself.

Eight doubles side by side are one value, which LLVM spreads over the vectors that the machine has.
Arrays are read and written at flat places of their memory, without bounds checks; their rows are padded
to whole lanes. The Python bodies, on numpy arrays of eight, say what is computed, and run where
compilation is switched off.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

from gbb._kernels.jit import kernel
from gbb._support.checks import FloatArray, IntArray

WIDTH = 8
ALL = (1 << WIDTH) - 1
"""A bit for every lane."""

VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)

Operation = TypeVar("Operation", bound=Callable[..., Any])
Lanewise = TypeVar("Lanewise", float, FloatArray)
"""Lanes, or one number that is rounded as a lane is."""


class Lanes(types.Type):
    """Numba's type of eight doubles side by side."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES: Any = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)  # type: ignore[no-untyped-call]


@kernel()
def padded(count: int) -> int:
    """``count`` rounded up to whole lanes."""
    return -(-count // WIDTH) * WIDTH


def aligned_zeros(*shape: int) -> FloatArray:
    """Zeros in memory that starts with a whole lane: a vector across cache lines costs twice."""
    size = math.prod(shape)
    memory = np.zeros(size + WIDTH)
    skip = -(memory.ctypes.data // memory.itemsize) % WIDTH
    return memory[skip : skip + size].reshape(shape)


def lowered(
    signature: Callable[..., Any], lower: Callable[..., Any]
) -> Callable[[Operation], Operation]:
    """Compile an operation by ``lower(context, builder, signature, args)``, in LLVM's terms."""

    def decorate(body: Operation) -> Operation:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return body

        def define(_: Any, *args: Any) -> Any:
            return signature(*args), lower

        own = inspect.signature(body)
        first = inspect.Parameter("_", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        define.__name__, define.__doc__ = body.__name__, body.__doc__
        define.__signature__ = own.replace(parameters=[first, *own.parameters.values()])  # type: ignore[attr-defined]
        return cast(Operation, intrinsic(define))

    return decorate


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


def _load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = _place(context, builder, signature, args)
    found = builder.load(builder.bitcast(place, VECTOR.as_pointer()))
    found.align = 8
    return found


def _store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = _place(context, builder, signature, args)
    builder.store(args[2], builder.bitcast(place, VECTOR.as_pointer())).align = 8
    return context.get_dummy_value()


def _splat(_: Any, builder: Any, __: Any, args: Any) -> Any:
    nothing = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, args[0], ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, nothing, zeros)


def _spread(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    found = builder.load(_place(context, builder, signature, args))
    return _splat(context, builder, signature, [found])


def _elementwise(name: str) -> Callable[..., Any]:
    """Lower a function of LLVM's that takes lanes, or numbers, and gives the same."""

    def lower(_: Any, builder: Any, __: Any, args: Any) -> Any:
        own = args[0].type
        kind = ir.FunctionType(own, [own] * len(args))
        full = f"llvm.{name}.{f'v{WIDTH}f64' if own == VECTOR else 'f64'}"
        found = cgutils.get_or_insert_function(builder.module, kind, full)  # type: ignore[no-untyped-call]
        return builder.call(found, args)

    return lower


def _largest(_: Any, builder: Any, __: Any, args: Any) -> Any:
    kind = ir.FunctionType(ir.DoubleType(), [VECTOR])
    name = f"llvm.vector.reduce.fmax.v{WIDTH}f64"
    reduce = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
    return builder.call(reduce, args, fastmath=("nnan",))


def _gather(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    places = _place(context, builder, signature.replace(args=signature.args[1:]), args[1:])
    found = ir.Constant(VECTOR, ir.Undefined)
    for lane in range(WIDTH):
        at = ir.Constant(ir.IntType(32), lane)
        place = builder.load(builder.gep(places, [at]))
        found = builder.insert_element(found, builder.load(builder.gep(array.data, [place])), at)
    return found


def _where(builder: Any, those: Any) -> Any:
    return builder.zext(builder.bitcast(those, ir.IntType(WIDTH)), ir.IntType(64))


def _over(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.fdiv(*args)


def _choose(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])


def _above(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return _where(builder, builder.fcmp_ordered(">", *args))


def _unlike(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return _where(builder, builder.fcmp_unordered("!=", *args))


def _lowest(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))


def _alike(*args: Any) -> Any:
    """Of lanes, or of numbers."""
    return args[0](*[args[0]] * len(args))


def _bits_of_lanes(*args: Any) -> Any:
    return types.int64(*[LANES] * len(args))


def _bits(those: NDArray[np.bool_]) -> int:
    return sum(1 << int(lane) for lane in np.flatnonzero(those))


@lowered(lambda array, _: LANES(array, types.intp), _load)
def load(array: FloatArray, at: int) -> FloatArray:
    """The eight numbers of ``array`` from the flat place ``at`` on."""
    return array.reshape(-1)[at : at + WIDTH].copy()


@lowered(lambda array, *_: types.none(array, types.intp, LANES), _store)
def store(array: FloatArray, at: int, x: FloatArray) -> None:
    """Write x to ``array`` from the flat place ``at`` on."""
    array.reshape(-1)[at : at + WIDTH] = x


@lowered(lambda _: LANES(types.float64), _splat)
def splat(x: float) -> FloatArray:
    """The same number in all lanes."""
    return np.full(WIDTH, x)


@lowered(lambda array, _: LANES(array, types.intp), _spread)
def spread(array: FloatArray, at: int) -> FloatArray:
    """The number of ``array`` at the flat place ``at``, in all lanes."""
    return np.full(WIDTH, array.reshape(-1)[at])


@lowered(lambda array, places, _: LANES(array, places, types.intp), _gather)
def gather(array: FloatArray, places: IntArray | NDArray[np.int32], at: int) -> FloatArray:
    """The numbers of ``array`` at the eight flat places that ``places`` holds from ``at`` on."""
    return array.reshape(-1)[places.reshape(-1)[at : at + WIDTH]]


@lowered(_alike, _elementwise("sqrt"))
def root(x: FloatArray) -> FloatArray:
    """``sqrt(x)``."""
    return np.sqrt(x)


@lowered(_alike, lambda _, builder, __, args: builder.fadd(*args))
def plus(x: Lanewise, y: Lanewise) -> Lanewise:
    """``x + y``."""
    return x + y


@lowered(_alike, lambda _, builder, __, args: builder.fsub(*args))
def minus(x: Lanewise, y: Lanewise) -> Lanewise:
    """``x - y``."""
    return x - y


@lowered(_alike, lambda _, builder, __, args: builder.fmul(*args))
def times(x: Lanewise, y: Lanewise) -> Lanewise:
    """``x y``."""
    return x * y


@lowered(_alike, _over)
def over(x: Lanewise, y: Lanewise) -> Lanewise:
    """``x / y``."""
    return x / y


@lowered(_alike, _choose)
def where_above(x: FloatArray, y: FloatArray, then: FloatArray, other: FloatArray) -> FloatArray:
    """``then`` where ``x > y``, and ``other`` elsewhere."""
    return np.where(x > y, then, other)


@lowered(_alike, _elementwise("fmuladd"))
def times_plus(x: Lanewise, y: Lanewise, z: Lanewise) -> Lanewise:
    """``x y + z``, rounded once where the machine can."""
    return x * y + z


@lowered(lambda _: types.float64(LANES), _largest)
def largest_lane(x: FloatArray) -> float:
    """The largest of the eight; none may be NaN."""
    return float(x.max())


@lowered(_bits_of_lanes, _above)
def above(x: FloatArray, y: FloatArray) -> int:
    """Where ``x > y``: bit number l of the answer is lane l."""
    return _bits(x > y)


@lowered(_bits_of_lanes, _unlike)
def unlike(x: FloatArray, y: FloatArray) -> int:
    """Where ``x != y``, in bits as of :func:`above`."""
    return _bits(x != y)


@lowered(lambda _: types.int64(types.int64), _lowest)
def lowest(bits: int) -> int:
    """The number of the lowest bit that is set, of which there must be one."""
    bits = int(bits)
    return (bits & -bits).bit_length() - 1
