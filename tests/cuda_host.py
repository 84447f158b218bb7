"""A launcher without a GPU: the kernels' own text, compiled as C++ and run a thread after the other."""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

COMPILER = shutil.which("g++") or shutil.which("clang++")
SHIM = Path(__file__).with_name("cuda_shim.h")
BUILT = Path(tempfile.gettempdir()) / "gbb-cuda-host"
SHARED = 232_448  # an H200's


class HostLauncher:
    """As :class:`gbb.simulation.cuda.launch.Launcher`, on the processor."""

    memory = 1 << 30

    def compile(self, source: str, name: str, options: tuple[str, ...]) -> Any:  # noqa: ARG002
        assert COMPILER is not None
        shared = re.search(r"extern __shared__ (\w+) room\[\];", source)
        kind = shared.group(1) if shared else "char"
        text = "\n".join(
            [
                SHIM.read_text(encoding="utf-8"),
                source,
                f"{kind} room[{SHARED} / sizeof({kind})];",
                'extern "C" void start(unsigned blocks, unsigned threads, void** given) {',
                f"  launch(call_of({name}, given), blocks, threads);",
                "}",
            ]
        )
        digest = hashlib.sha256(text.encode()).hexdigest()[:24]
        library = BUILT / f"{digest}.so"
        if not library.exists():
            BUILT.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=BUILT) as folder:
                path = Path(folder) / "kernel.cpp"
                path.write_text(text, encoding="utf-8")
                made = Path(folder) / "kernel.so"
                flags = ["-O1", "-std=c++17", "-ffp-contract=off", "-shared", "-fPIC", "-w"]
                command = [COMPILER, *flags, str(path), "-o", str(made)]
                subprocess.run(command, check=True)
                made.replace(library)
        start = ctypes.CDLL(str(library)).start

        def launch(blocks: int, threads: int, shared: int, arguments: Sequence[Any]) -> None:
            assert shared <= SHARED
            held = [
                np.array(each.ctypes.data if isinstance(each, np.ndarray) else each)
                for each in arguments
            ]
            pointers = (ctypes.c_void_p * len(held))(*(each.ctypes.data for each in held))
            start(blocks, threads, pointers)

        return launch

    def put(self, array: np.ndarray) -> np.ndarray:
        return np.array(array, order="C")

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        return np.zeros(shape, dtype)

    def get(self, array: np.ndarray) -> np.ndarray:
        return array.copy()
