"""The only place that knows how kernels are compiled and launched: CuPy, or what replaces it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gbb._support.checks import InputError

Kernel = Callable[[int, int, int, Sequence[Any]], None]
"""``kernel(blocks, threads, shared, arguments)`` with so many bytes of shared memory a block."""


class Launcher(Protocol):
    """What is asked of a binding to a device.

    Arguments of kernels are arrays of the device and numpy scalars.
    """

    def compile(self, source: str, name: str, options: tuple[str, ...]) -> Kernel:
        """The kernel called ``name`` in a text of CUDA C++."""

    def put(self, array: NDArray[Any]) -> Any:
        """A copy on the device."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """A new array on the device."""

    def get(self, array: Any) -> NDArray[Any]:
        """A copy of an array of the device; waits until it is there."""

    @property
    def memory(self) -> int:
        """How many bytes of the device are free."""

    @property
    def shared(self) -> int:
        """The most bytes of shared memory that a block can have."""


class CupyLauncher:
    """Kernels by ``cupy.RawModule``, on the current device."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._compiled: dict[tuple[str, str, tuple[str, ...]], Kernel] = {}

    def compile(self, source: str, name: str, options: tuple[str, ...]) -> Kernel:
        """Compile by NVRTC; CuPy keeps what it compiled on disk."""
        key = (source, name, options)
        if key not in self._compiled:
            with _one_line("compile"):
                module = self._cupy.RawModule(code=source, options=("--std=c++17", *options))
                function = module.get_function(name)

            def launch(blocks: int, threads: int, shared: int, arguments: Sequence[Any]) -> None:
                with _one_line("start"):
                    function.max_dynamic_shared_size_bytes = shared
                    function((blocks,), (threads,), tuple(arguments), shared_mem=shared)

            self._compiled[key] = launch
        return self._compiled[key]

    def put(self, array: NDArray[Any]) -> Any:
        """A copy on the device."""
        return self._cupy.asarray(array)

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """A new array on the device."""
        return self._cupy.zeros(shape, dtype=dtype)

    def get(self, array: Any) -> NDArray[Any]:
        """A copy of an array of the device."""
        found: NDArray[Any] = self._cupy.asnumpy(array)
        return found

    @property
    def memory(self) -> int:
        """How many bytes of the device are free, with what CuPy keeps for later."""
        free, _ = self._cupy.cuda.runtime.memGetInfo()
        return int(free + self._cupy.get_default_memory_pool().free_bytes())

    @property
    def shared(self) -> int:
        """The most bytes of shared memory that a block can have, when it asks for them."""
        found = self._cupy.cuda.runtime.getDeviceProperties(self._cupy.cuda.Device().id)
        return int(found["sharedMemPerBlockOptin"])


@contextmanager
def _one_line(verb: str) -> Iterator[None]:
    """What a device or its compiler complains of, in one line."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(
            f'method="cuda" cannot {verb} a kernel on this GPU ({first_line(error)}). '
            'Leave out method="cuda" (--cuda) to play on the processor.'
        ) from error


def first_line(error: BaseException) -> str:
    """The first line of an error that says something, or its name."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if any(map(str.isalpha, line))), type(error).__name__)


@cache
def launcher() -> Launcher:
    """The launcher of this machine's GPU; one line says what is missing where there is none."""
    try:
        import cupy  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            f'method="cuda" needs CuPy, which cannot be imported ({first_line(error)}). '
            'Try: pip install "graphical-bilinear-bandits[cuda]", '
            'or leave out method="cuda" (--cuda) to play on the processor.'
        ) from None
    try:
        cupy.cuda.runtime.getDeviceCount()
        cupy.zeros(1)
    except Exception as error:  # a driver may be missing, too old or broken
        raise InputError(
            f'method="cuda" needs an NVIDIA GPU and its driver, but CuPy finds none '
            f"({first_line(error)}). "
            'Leave out method="cuda" (--cuda) to play on the processor.'
        ) from None
    return CupyLauncher(cupy)


def source_of(names: Sequence[str], defines: Mapping[str, int]) -> str:
    """The texts called so, one after the other, with numbers defined before them."""
    folder = files("gbb.simulation.cuda") / "text"
    texts = [(folder / f"{name}.cu").read_text(encoding="utf-8") for name in names]
    return "".join([*(f"#define {name} {value}\n" for name, value in defines.items()), *texts])


def rows_of(fields: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Structures of doubles, one after the other."""
    return np.concatenate([np.ravel(each) for each in fields])
