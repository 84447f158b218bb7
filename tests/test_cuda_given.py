"""What method="cuda" refuses, in one line, and that NVRTC takes the kernels where it is installed."""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cuda_host
import gbb
from gbb.cli import main
from gbb.simulation.cuda import couples, joint, launch
from gbb.simulation.cuda.couples import CouplesKernel
from gbb.simulation.cuda.joint import JointKernel
from gbb.sweep import Sweep

P = gbb.policies

SHARED = 227 << 10
"""Bytes of shared memory that a block may have on an H200."""


def made(arms=None, **environment):
    arms = np.eye(5) if arms is None else arms
    problem = gbb.Problem(gbb.Graph.complete(5), arms, sigma=1.0, S=4.0)
    M = np.ones((arms.shape[1], arms.shape[1])) / 2.0
    return gbb.Environment(problem, M, **environment), gbb.cuts.greedy(problem.graph)


def test_without_cupy_one_line_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    launch.launcher.cache_clear()
    env, cut = made()
    with pytest.raises(ValueError, match=r"needs CuPy, which cannot be imported.*cuda") as caught:
        gbb.simulate(env, [P.OFUL(env.problem, cut=cut)], rounds=3, method="cuda")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["simulate", "compare", "sweep"])
def test_the_command_line_says_it_in_one_line(monkeypatch, capsys, tmp_path, command):
    monkeypatch.setitem(sys.modules, "cupy", None)
    launch.launcher.cache_clear()
    given = [command, "complete:4", "--rounds", "3", "--policy", "OFUL", "--cuda"]
    if command == "sweep":
        spec = tmp_path / "small.toml"
        spec.write_text('graph = "complete"\nn = 4\npolicies = ["OFUL"]\nrounds = 3\n')
        given = ["sweep", "run", str(spec), "--cuda"]
    with pytest.raises(SystemExit) as ended:
        main(given)
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert "needs CuPy, which cannot be imported" in shown.err
    assert shown.err.count("\n") == 1


def test_what_no_gpu_plays_is_said_before_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    launch.launcher.cache_clear()
    env, cut = made()
    policy = P.DiscountedOFUL(env.problem, cut=cut)
    with pytest.raises(gbb.InputError, match=r'for method="cuda", but got DiscountedOFUL'):
        gbb.simulate(env, policy, rounds=3, method="cuda")
    sweep = gbb.Sweep(graph="complete", n=4, d=3, policies=["KCutOFUL"], rounds=3, method="cuda")
    with pytest.raises(gbb.InputError, match=r'for method="cuda", but got KCutOFUL'):
        gbb.sweep.forecast(sweep)


def test_a_forecast_for_a_gpu_is_shorter_than_one_for_a_core():
    given = {"graph": "complete", "n": 5, "d": 5, "policies": ["ImprovedOFUL"], "runs": 200}
    core, device = (
        gbb.sweep.forecast(gbb.Sweep(**given, rounds=20_000, method=method))
        for method in ("engine", "cuda")
    )
    assert device.rounds == core.rounds
    assert 0.0 < device.seconds < core.seconds / 20.0


def test_without_a_device_one_line_says_so(monkeypatch):
    class Runtime:
        @staticmethod
        def getDeviceCount():
            raise RuntimeError(
                "\n====\ncudaErrorNoDevice: no CUDA-capable device is detected\nmore"
            )

    broken = SimpleNamespace(cuda=SimpleNamespace(runtime=Runtime))
    monkeypatch.setitem(sys.modules, "cupy", broken)
    launch.launcher.cache_clear()
    with pytest.raises(
        ValueError, match=r"needs an NVIDIA GPU.*none \(cudaErrorNoDevice"
    ) as caught:
        launch.launcher()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: (made(noise="uniform"), "OFUL", {}), "`noise` to be 'gaussian' or 'none'"),
        (lambda: (made(np.eye(29)), "OFUL", {}), "at most 28 orthogonal arms"),
        (lambda: (made(np.eye(12) + 0.1), "OFUL", {}), "at most 10 arms"),
        (lambda: (made(np.eye(5) + 0.1), "JointOFUL", {}), "`arms` to be orthogonal"),
        (lambda: (made(), "InformationDirected", {}), "draw once"),
        (lambda: (made(), "OFUL", {"radius": "complete"}), "in both directions"),
        (lambda: (made(1e4 * np.eye(5, 3) + 1.0), "OFUL", {}), "`arms` to have .* where K > d"),
    ],
)
def test_what_is_not_played_is_refused(monkeypatch, make, text):
    monkeypatch.setattr(launch, "launcher", cuda_host.HostLauncher)
    (env, cut), name, settings = make()
    policy = getattr(P, name)(env.problem, cut=cut, **settings)
    with pytest.raises(ValueError, match=text):
        gbb.simulate(env, [policy], rounds=3, method="cuda")


@pytest.mark.parametrize("where", ["compile", "start"])
def test_what_a_device_complains_of_is_one_line(where):
    def fail(*_, **__):
        raise RuntimeError("\nnvrtc: error: no such architecture\n  line 2\n")

    class Function:
        __call__ = fail

    module = SimpleNamespace(get_function=lambda _: Function())
    make = fail if where == "compile" else lambda **_: module
    cupy = SimpleNamespace(RawModule=make, asarray=None, asnumpy=None, zeros=None)
    with pytest.raises(
        ValueError, match=f"cannot {where} a kernel .*no such architecture"
    ) as caught:
        launch.CupyLauncher(cupy).compile("text", "play", ())(1, 1, 0, [])
    assert "\n" not in str(caught.value)


def test_every_layout_fits_a_block():
    for orthogonal, most in couples.MAX_ARMS.items():
        for K, even, adaptive in product(range(2, most + 1), *[[False, True]] * 2):
            kernel = CouplesKernel(K, orthogonal, even, adaptive, shared_noise=False)
            assert kernel.text().shared <= SHARED
    for K, agents in product(range(2, joint.MAX_ARMS + 1), (5, 96, joint.MAX_AGENTS)):
        for optimistic in (False, True):
            kernel = JointKernel(K, optimistic, optimistic, not optimistic, allocations=False)
            assert kernel.text(agents, 5).shared <= SHARED


def test_edge_noise_is_for_couples(monkeypatch):
    monkeypatch.setattr(launch, "launcher", cuda_host.HostLauncher)
    env, cut = made()
    policy = P.ThompsonSampling(env.problem, cut=cut)
    with pytest.raises(ValueError, match="`edge_noise` to be for couples"):
        gbb.simulate(env, [policy], rounds=3, method="cuda", edge_noise=True)


def test_a_sweep_says_that_it_is_played_on_a_device():
    given = {"graph": "complete", "n": 4, "policies": ["OFUL"], "rounds": 10}
    here, there = Sweep(**given), Sweep(**given, method="cuda")
    assert "method" not in here.to_dict()  # as before there was the parameter
    assert Sweep.of(there.to_dict()) == there
    with pytest.raises(ValueError, match="`method`"):
        Sweep(**given, method="reference")


class Nvrtc:
    """A compiler of kernels, without a device to launch them."""

    def __init__(self, library):
        self._nvrtc = library
        self.log = ""

    def compile(self, source, name, options):
        program, log = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 16)
        self._nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
        )
        given = [b"--std=c++17", b"--gpu-architecture=compute_90", *(o.encode() for o in options)]
        status = self._nvrtc.nvrtcCompileProgram(
            program, len(given), (ctypes.c_char_p * len(given))(*given)
        )
        self._nvrtc.nvrtcGetProgramLog(program, log)
        assert status == 0, log.value.decode()
        size = ctypes.c_size_t()
        self._nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
        ptx = ctypes.create_string_buffer(size.value)
        self._nvrtc.nvrtcGetPTX(program, ptx)
        assert f".entry {name}(".encode() in ptx.value
        return ptx.value


def find_nvrtc():
    """NVRTC as its wheel or CUDA's own folder has it."""
    spec = find_spec("nvidia")
    folders = [Path(each) for each in (spec.submodule_search_locations or [])] if spec else []
    found = [path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.*")]
    found += Path("/usr/local/cuda/lib64").glob("libnvrtc.so.*")
    found = [path for path in found if "builtins" not in path.name and "alt" not in path.name]
    return str(found[0]) if found else None


@pytest.mark.skipif(
    find_nvrtc() is None, reason="NVRTC is not installed: make test-cuda installs it"
)
def test_nvrtc_takes_every_kernel():
    compiler, flags = Nvrtc(ctypes.CDLL(find_nvrtc())), (False, True)
    for orthogonal, K in ((True, 3), (True, 10), (True, 20), (False, 5), (False, 7), (False, 10)):
        for even, shared_noise in product(flags, repeat=2):
            kernel = CouplesKernel(K, orthogonal, even, even, shared_noise, shared_noise)
            compiler.compile(*kernel.text()[:3])
    for optimistic, n in product(flags, (5, 200)):
        kernel = JointKernel(5, optimistic, optimistic, not optimistic, n == 5)
        compiler.compile(*kernel.text(n, 5)[:3])
