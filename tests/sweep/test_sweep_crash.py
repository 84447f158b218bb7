"""Workers, runs and schedulers killed at random, interrupts, full disks: the same dataset."""

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gbb import sweep as sweeps
from sweep_cases import FINE, KILLS, LONG, bits, children, command, kill, parts_in, run, start


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    run(folder, LONG)
    return bits(folder), sweeps.collect(folder).read_bytes()


def same(folder, undisturbed):
    parts, dataset = undisturbed
    return bits(folder) == parts and sweeps.collect(folder).read_bytes() == dataset


def wait_for(what, seconds=60.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_killed_workers_and_killed_runs_leave_the_same_dataset(tmp_path, undisturbed):
    folder, rng, kills = tmp_path / "out", np.random.default_rng(0), 0
    while not (folder / "parts").exists() or not sweeps.status(folder).complete:
        process = start(folder, LONG, "--workers", "2", stderr=subprocess.PIPE)
        wait_for(
            lambda process=process: process.poll() is not None or len(children(process.pid)) > 1
        )
        while process.poll() is None:
            time.sleep(float(rng.uniform(0.2, 1.5)))
            workers = children(process.pid)
            if workers and kills < KILLS:
                run_too = rng.random() < 0.4
                victim = process.pid if run_too else int(rng.choice(workers))
                kills += kill(victim, signal.SIGKILL)
                if run_too:  # its workers notice
                    wait_for(lambda workers=workers: not any(map(_alive, workers)))
        process.communicate()
    assert same(folder, undisturbed)


def _alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_an_interrupt_leaves_what_is_done_and_the_next_run_goes_on(tmp_path, undisturbed):
    folder = tmp_path / "out"
    process = start(
        folder, LONG, "--workers", "1", stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(lambda: parts_in(folder) >= 3)
    workers = children(process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "interrupted" in said
    wait_for(lambda: not any(map(_alive, workers)), seconds=10)  # the last notices a closed pipe
    found = sweeps.status(folder)
    assert 3 <= found.done < found.tasks
    assert found.failures == {}
    assert run(folder, LONG).complete
    assert same(folder, undisturbed)


def test_a_limit_on_files_is_said_and_leaves_nothing_half_there(tmp_path):
    folder = tmp_path / "out"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    process = start(folder, FINE, "--threads", preexec_fn=limit, stderr=subprocess.PIPE, text=True)
    _, said = process.communicate()
    assert process.returncode == 1
    found = sweeps.status(folder)
    name, text = next(iter(found.failures.items()))
    assert "File too large" in text
    assert f"--only {name}" in said
    assert run(folder, FINE).complete
    run(tmp_path / "undisturbed", FINE)
    assert bits(folder) == bits(tmp_path / "undisturbed")


def test_a_full_disk_is_said_and_leaves_nothing_half_there(tmp_path):
    disk, folder = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    words = [
        disk / "out" if word == folder else word for word in command(folder, FINE, "--threads")
    ]
    mount = f"mount -t tmpfs -o size=100k none {disk}"
    keep = f"code=$?; cp -r {disk}/out {folder}; exit $code"
    script = f"{mount} && {{ {' '.join(map(str, words))}; {keep}; }}"
    found = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script], check=False, capture_output=True, text=True
    )
    if not folder.exists():
        pytest.skip("no disk of its own can be had here")
    assert found.returncode == 1
    assert "No space left" in found.stderr
    assert 0 < parts_in(folder) < sweeps.status(folder).tasks
    assert run(folder, FINE).complete
    run(tmp_path / "undisturbed", FINE)
    assert bits(folder) == bits(tmp_path / "undisturbed")


@contextmanager
def dask_process(what, *options):
    words = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, "--no-dashboard"]
    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_killed_dask_workers_and_a_killed_scheduler_leave_the_same_dataset(tmp_path, undisturbed):
    folder, rng = tmp_path / "out", np.random.default_rng(1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    scheduler = ("scheduler", "--host", "127.0.0.1", "--port", str(port))
    workers = (
        "worker",
        address,
        "--nworkers",
        "2",
        "--nthreads",
        "1",
        "--local-directory",
        tmp_path,
    )
    with dask_process(*scheduler) as first, dask_process(*workers) as nannies:
        process = start(folder, LONG, "--dask", address, stderr=subprocess.PIPE)
        wait_for(lambda: parts_in(folder) >= 2)
        for _ in range(-(-KILLS // 2)):
            done = parts_in(folder)
            kill(int(rng.choice(children(nannies.pid))), signal.SIGKILL)
            wait_for(lambda done=done: parts_in(folder) > done)
            time.sleep(float(rng.uniform(0.0, 0.3)))
        done = parts_in(folder)
        first.kill()
        first.wait()
    assert process.poll() is None  # it waits for the scheduler to come back
    with dask_process(*scheduler), dask_process(*workers):
        process.communicate(timeout=120)
    assert process.returncode == 0
    assert 2 <= done < len(undisturbed[0])
    assert same(folder, undisturbed)
