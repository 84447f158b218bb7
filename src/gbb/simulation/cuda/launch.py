"""Compile and start kernels: the only module that knows CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbb._support.checks import FloatArray, InputError
from gbb.environment import Environment
from gbb.policies._compiled import CompiledPolicy

Kernel = Callable[[int, int, int, Sequence[Any]], None]
"""``kernel(blocks, threads, shared, arguments)`` with so many bytes of shared memory a block."""

Instances = Sequence[tuple[Environment, CompiledPolicy]]
"""What the jobs of a launch play: a row of its table for each."""

ON_PROCESSOR = 'Leave out method="cuda" (--cuda) to play on the processor.'


class KernelText(NamedTuple):
    """A kernel before it is compiled, and how it is launched.

    Attributes
    ----------
    source, name, options
        The CUDA C++ text, the kernel's name in it, and the compiler's options.
    threads, runs
        How many threads a block has, and how many runs these play.
    shared
        The bytes of shared memory of a block.
    """

    source: str
    name: str
    options: tuple[str, ...]
    threads: int
    runs: int
    shared: int


class Launch(NamedTuple):
    """A kernel and what it is handed beside the rounds, in the order of its parameters.

    Attributes
    ----------
    text
        The kernel.
    instances
        A row for each job: the fields of the text's ``Instance`` or ``Game``, all doubles.
    constants
        Arrays and numbers that all runs share.
    scratch, state, outputs
        By name, as a structured type, a run's working memory, what it takes from launch to launch, and
        what it leaves of a recorded round.
    """

    text: KernelText
    instances: FloatArray
    constants: Sequence[NDArray[Any] | np.int32]
    scratch: np.dtype[np.void]
    state: np.dtype[np.void]
    outputs: np.dtype[np.void]


class CupyLauncher:
    """Kernels by ``cupy.RawModule``, whose arguments are arrays of the device and numpy scalars.

    ``put`` and ``get`` copy an array to the device and from it, which waits for kernels; ``zeros`` makes
    one there.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self.put, self.get, self.zeros = cupy.asarray, cupy.asnumpy, cupy.zeros
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
                    # Above 48 KiB a kernel gets no shared memory unless it asks for it beforehand.
                    function.max_dynamic_shared_size_bytes = shared
                    function((blocks,), (threads,), tuple(arguments), shared_mem=shared)

            self._compiled[key] = launch
        return self._compiled[key]

    @property
    def memory(self) -> int:
        """The free bytes of the device, with those that CuPy keeps for later."""
        free, _ = self._cupy.cuda.runtime.memGetInfo()
        return int(free + self._cupy.get_default_memory_pool().free_bytes())


@contextmanager
def _one_line(verb: str) -> Iterator[None]:
    """Turn errors of a device or its compiler, which are many lines long, into one line."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(
            f'method="cuda" cannot {verb} a kernel on this GPU ({_first_line(error)}). {ON_PROCESSOR}'
        ) from error


def _first_line(error: BaseException) -> str:
    """Return the first line of an error that has letters, or the error's name."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if any(map(str.isalpha, line))), type(error).__name__)


@cache
def launcher() -> CupyLauncher:
    """Return the launcher of this machine's GPU, or say in one line what is missing."""
    try:
        import cupy  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            f'method="cuda" needs CuPy, which cannot be imported ({_first_line(error)}). '
            'Try: pip install "graphical-bilinear-bandits[cuda]", '
            'or leave out method="cuda" (--cuda) to play on the processor.'
        ) from None
    try:
        cupy.cuda.runtime.getDeviceCount()
        cupy.zeros(1)
    except Exception as error:  # a driver may be missing, too old or broken
        raise InputError(
            f'method="cuda" needs an NVIDIA GPU and its driver, but CuPy finds none '
            f"({_first_line(error)}). {ON_PROCESSOR}"
        ) from None
    return CupyLauncher(cupy)


def join_text(names: Sequence[str], defines: Mapping[str, int]) -> str:
    """Join the files of ``text/`` with these names, after a macro, in upper case, for each number.

    ``True`` is 1, and what is ``False`` is not defined.
    """
    folder = files("gbb.simulation.cuda") / "text"
    texts = [(folder / f"{name}.cu").read_text(encoding="utf-8") for name in names]
    macros = [
        (name.upper(), int(number)) for name, number in defines.items() if number is not False
    ]
    return "".join([*(f"#define {name} {number}\n" for name, number in macros), *texts])
