"""Vectors of eight numbers, of which numba has none: ``f64x8`` and ``u64x8``.

LLVM spreads a vector over the registers that the machine has. ``+ - * /`` work on doubles and ``+ - & |
^ << >>`` on integers (modulo 2^64), eight by eight or with one number for all. Arrays are read and
written at flat positions, without bounds checks: their rows are padded to whole vectors. Every Python
body below says on numpy arrays of eight what is computed, and runs where compilation is switched off.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable
from numpy.typing import NDArray

from gbb._support.arrays import WIDTH
from gbb._support.checks import FloatArray, IntArray

ALL = (1 << WIDTH) - 1
"""The mask with a bit for every place."""

U64Array = NDArray[np.uint64]
Doubles = Any
"""A vector of doubles, or a number: the same operations give it the same bits."""
Integers = Any
"""A vector of integers without sign, or one."""
Operation = TypeVar("Operation", bound=Callable[..., Any])


class Vector(types.Type):
    """Numba's type of eight numbers side by side."""

    def __init__(self, name: str, element: ir.Type) -> None:
        super().__init__(name=name)
        self.llvm = ir.VectorType(element, WIDTH)


F64X8: Any = Vector("f64x8", ir.DoubleType())
U64X8: Any = Vector("u64x8", ir.IntType(64))
OPERATORS = {
    (F64X8, types.float64): {
        operator.add: "fadd",
        operator.sub: "fsub",
        operator.mul: "fmul",
        operator.truediv: "fdiv",
    },
    (U64X8, types.int64): {
        operator.add: "add",
        operator.sub: "sub",
        operator.and_: "and_",
        operator.or_: "or_",
        operator.xor: "xor",
        operator.lshift: "shl",
        operator.rshift: "lshr",
    },
}
"""LLVM's instruction for each operator, by the type of a vector and of one number for all places."""


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.llvm)  # type: ignore[no-untyped-call]


def _broadcast(_: Any, builder: Any, __: Any, args: Any) -> Any:
    (value,) = args
    if isinstance(value.type, ir.VectorType):
        return value
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    nothing = ir.Constant(ir.VectorType(value.type, WIDTH), ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, zeros)


def _define(kinds: tuple[Any, Any], sign: Callable[..., Any], instruction: str) -> None:
    """Teach numba an operator on two vectors, or on a vector and a number."""

    @type_callable(sign)
    def of_types(_: Any) -> Callable[..., Any]:
        return lambda x, y: kinds[0] if {x, y} <= {*kinds} and kinds[0] in {x, y} else None

    def lower(_: Any, builder: Any, __: Any, args: Any) -> Any:
        both = [_broadcast(None, builder, None, [value]) for value in args]
        return getattr(builder, instruction)(*both)

    for pair in (kinds, kinds[::-1], (kinds[0], kinds[0])):
        lower_builtin(sign, *pair)(lower)  # type: ignore[no-untyped-call]


for kinds, instructions in OPERATORS.items():
    for sign, instruction in instructions.items():
        _define(kinds, sign, instruction)


def lowered(
    result: Callable[..., Any], lower: Callable[..., Any]
) -> Callable[[Operation], Operation]:
    """Compile a function by ``lower(context, builder, signature, args)``, in LLVM's terms.

    ``result`` is its type by those of its arguments; numbers that stand for positions are integers.
    """

    def decorate(body: Operation) -> Operation:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return body

        def define(_: Any, *args: Any) -> Any:
            args = tuple(types.intp if isinstance(arg, types.Integer) else arg for arg in args)
            return result(*args)(*args), lower

        own = inspect.signature(body)
        first = inspect.Parameter("_", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        define.__name__, define.__doc__ = body.__name__, body.__doc__
        define.__signature__ = own.replace(parameters=[first, *own.parameters.values()])  # type: ignore[attr-defined]
        return cast(Operation, intrinsic(define))

    return decorate


def _vector_of(array: Any, *_: Any) -> Any:
    return F64X8 if array.dtype == types.float64 else U64X8


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


def _load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    pointer = _pointer(context, builder, signature, args)
    value = builder.load(builder.bitcast(pointer, signature.return_type.llvm.as_pointer()))
    value.align = 8  # a row of an array may begin anywhere
    return value


def _store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    pointer = _pointer(context, builder, signature, args)
    builder.store(args[2], builder.bitcast(pointer, args[2].type.as_pointer())).align = 8
    return context.get_dummy_value()


def _load_broadcast(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    value = builder.load(_pointer(context, builder, signature, args))
    return _broadcast(context, builder, signature, [value])


def _gather(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    first = _pointer(context, builder, signature.replace(args=signature.args[1:]), args[1:])
    value = ir.Constant(F64X8.llvm, ir.Undefined)
    for place in range(WIDTH):
        at = ir.Constant(ir.IntType(32), place)
        position = builder.load(builder.gep(first, [at]))
        value = builder.insert_element(value, builder.load(builder.gep(array.data, [position])), at)
    return value


def _call(name: str) -> Callable[..., Any]:
    """Lower a call of LLVM's function of doubles, or of vectors if any argument is one."""

    def lower(_: Any, builder: Any, signature: Any, args: Any) -> Any:
        if signature.return_type == F64X8:
            args = [_broadcast(None, builder, None, [value]) for value in args]
        own = args[0].type
        kind = ir.FunctionType(own, [own] * len(args))
        full = f"llvm.{name}.{f'v{WIDTH}f64' if signature.return_type == F64X8 else 'f64'}"
        function = cgutils.get_or_insert_function(builder.module, kind, full)  # type: ignore[no-untyped-call]
        return builder.call(function, args)

    return lower


def _max_element(_: Any, builder: Any, __: Any, args: Any) -> Any:
    kind = ir.FunctionType(ir.DoubleType(), [F64X8.llvm])
    name = f"llvm.vector.reduce.fmax.v{WIDTH}f64"
    function = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
    return builder.call(function, args, fastmath=("nnan",))


def _select_greater(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])


def _mask(builder: Any, truth: Any) -> Any:
    return builder.zext(builder.bitcast(truth, ir.IntType(WIDTH)), ir.IntType(64))


def _greater_mask(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return _mask(builder, builder.fcmp_ordered(">", *args))


def _not_equal_mask(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return _mask(builder, builder.fcmp_unordered("!=", *args))


def _lowest_bit(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))


def _shift_signed(_: Any, builder: Any, __: Any, args: Any) -> Any:
    return builder.ashr(args[0], _broadcast(None, builder, None, [args[1]]))


def _bits(truth: NDArray[np.bool_]) -> int:
    return sum(1 << int(place) for place in np.flatnonzero(truth))


@lowered(_vector_of, _load)
def load(array: FloatArray | U64Array, at: int) -> Any:
    """Return the eight numbers of ``array`` from flat position ``at`` on."""
    return array.reshape(-1)[at : at + WIDTH].copy()


@lowered(lambda *_: types.none, _store)
def store(array: FloatArray | U64Array, at: int, x: Any) -> None:
    """Write x to ``array`` from flat position ``at`` on."""
    array.reshape(-1)[at : at + WIDTH] = x


@lowered(lambda _: F64X8, _broadcast)
def broadcast(x: float) -> Doubles:
    """Return a number in all eight places."""
    return np.full(WIDTH, x)


@lowered(lambda *_: F64X8, _load_broadcast)
def load_broadcast(array: FloatArray, at: int) -> Doubles:
    """Return the number of ``array`` at flat position ``at``, in all eight places."""
    return np.full(WIDTH, array.reshape(-1)[at])


@lowered(lambda *_: F64X8, _gather)
def gather(array: FloatArray, positions: IntArray | NDArray[np.int32], at: int) -> Doubles:
    """Return ``array`` at the eight flat positions that ``positions`` holds from ``at`` on."""
    return array.reshape(-1)[positions.reshape(-1)[at : at + WIDTH]]


@lowered(lambda x: x, _call("sqrt"))
def sqrt(x: Doubles) -> Doubles:
    """Return the square root."""
    return np.sqrt(x)


@lowered(lambda *args: F64X8 if F64X8 in args else types.float64, _call("fmuladd"))
def fma(x: Doubles, y: Doubles, z: Doubles) -> Doubles:
    """Return ``x y + z``, rounded once where the machine can."""
    return x * y + z


@lowered(lambda *_: F64X8, _select_greater)
def select_greater(x: Doubles, y: Doubles, then: Doubles, other: Doubles) -> Doubles:
    """Return ``then`` where ``x > y``, and ``other`` elsewhere."""
    return np.where(x > y, then, other)


@lowered(lambda _: types.float64, _max_element)
def max_element(x: Doubles) -> float:
    """Return the largest of the eight, of which none may be NaN."""
    return float(x.max())


@lowered(lambda *_: types.int64, _greater_mask)
def greater_mask(x: Doubles, y: Doubles) -> int:
    """Return an integer whose bit k says whether ``x[k] > y[k]``."""
    return _bits(x > y)


@lowered(lambda *_: types.int64, _not_equal_mask)
def not_equal_mask(x: Doubles, y: Doubles) -> int:
    """Return an integer whose bit k says whether ``x[k] != y[k]``."""
    return _bits(x != y)


@lowered(lambda _: types.int64, _lowest_bit)
def lowest_bit(mask: int) -> int:
    """Return the number of the lowest bit that is set, of which there must be one."""
    mask = int(mask)
    return (mask & -mask).bit_length() - 1


@lowered(lambda *_: U64X8, _shift_signed)
def shift_signed(x: Integers, k: int) -> Integers:
    """Return ``x >> k`` with copies of the highest bit from the left."""
    return (x.view(np.int64) >> k).view(np.uint64)


@lowered(lambda _: F64X8, lambda _, builder, __, args: builder.bitcast(args[0], F64X8.llvm))
def bits_as_f64(x: Integers) -> Doubles:
    """Return the doubles with these bits."""
    return x.view(np.float64)


@lowered(lambda _: U64X8, lambda _, builder, __, args: builder.bitcast(args[0], U64X8.llvm))
def bits_as_u64(x: Doubles) -> Integers:
    """Return the bits of doubles."""
    return x.view(np.uint64)


@lowered(lambda _: F64X8, lambda _, builder, __, args: builder.sitofp(args[0], F64X8.llvm))
def to_f64(x: Integers) -> Doubles:
    """Return integers, with a sign, as doubles."""
    return x.view(np.int64).astype(np.float64)
