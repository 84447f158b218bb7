"""Killed at any point, out of disk or cut short: what was acknowledged is there, exactly once."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from crash_writer import create, rewards_of, step

import gbb
from control import context_for, environment, plain, replayed, same_state, small, url_of
from gbb.controller import Controller, StorageError

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

KILLS = int(os.environ.get("GBB_CRASH_KILLS", "50"))
FEW = int(os.environ.get("GBB_CRASH_KILLS", "10"))
CASES = [
    ("ImprovedOFUL", "edge", None, KILLS),
    ("ImprovedOFUL", "link", None, FEW),
    ("safe ThompsonSampling", "edge", None, max(15, KILLS // 5)),
    ("JointOFUL", "edge", "regimes", FEW),
    ("ThompsonSampling", "edge", "edge types", FEW),
]
"""What is killed, and how often."""

STARTS = 20
"""One kill in so many hits a whole new interpreter; the others a fork, which starts at once."""

HERE = Path(__file__).parent


def forked_writer(url: str, acknowledged: Path, delay: float) -> None:
    """A child that asks and tells until SIGKILL, ``delay`` seconds after it is ready."""
    ready, start = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with acknowledged.open("a") as file, Controller.open(url) as controller:
                env = environment(controller.problem)
                os.write(start, b"x")
                while True:
                    kind, trial = step(controller, env)
                    file.write(f"{kind} {trial}\n")
                    file.flush()
        finally:
            os._exit(1)
    os.close(start)
    if delay >= 0:
        os.read(ready, 1)
    os.close(ready)
    time.sleep(abs(delay))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def started_writer(url: str, acknowledged: Path, delay: float) -> None:
    """The same in a new interpreter."""
    command = [sys.executable, str(HERE / "crash_writer.py"), url, "1000000"]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with (
        acknowledged.open("a") as file,
        subprocess.Popen(command, stdout=subprocess.PIPE, env=paths, text=True) as child,
    ):
        file.write(child.stdout.readline())
        time.sleep(delay)
        child.kill()
        file.write(child.stdout.read())


def whole_lines(path: Path) -> list[str]:
    """A kill may cut the last line short; that call's answer never arrived whole."""
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.no_cover  # long
@pytest.mark.parametrize(("policy", "feedback", "contexts", "kills"), CASES)
def test_killed_at_random_points(policy, feedback, contexts, kills, tmp_path):
    problem = small(feedback=feedback, contexts=contexts)
    url, acknowledged = url_of(tmp_path), tmp_path / "acknowledged"
    create(url, policy, problem).close()
    (tmp_path / "before").mkdir()
    with create(url_of(tmp_path / "before"), policy, problem) as other:
        for _ in range(2):  # loads what forks then have already
            step(other, environment(problem))
    rng = np.random.default_rng(0)
    kill = 0
    # A busy machine answers less often between two kills, and is killed more often then.
    while kill < kills or len(whole_lines(acknowledged)) <= kills:
        # Negative: before the child is ready, while it opens and replays.
        delay = rng.uniform(-0.02, 0.15)
        if kill % STARTS == 0:
            started_writer(url, acknowledged, abs(delay))
        else:
            forked_writer(url, acknowledged, delay)
        kill += 1
    check(url, acknowledged, policy, problem, kills)


def check(url: str, acknowledged: Path, policy: str, problem: gbb.Problem, kills: int) -> None:
    """Every acknowledged call is in the log once, and the log is that of an uninterrupted run."""
    controller = Controller.open(url)
    state = controller._log.state
    assert same_state(replayed(controller), state)
    entries = [(entry.kind, entry.trial_id) for entry in controller.history(("ask", "tell"))]
    logged = Counter(entries)
    assert set(logged.values()) == {1}
    claims = [(kind, int(trial)) for kind, trial in map(str.split, whole_lines(acknowledged))]
    assert len(claims) == len(set(claims)) > kills
    assert set(claims) <= set(logged)
    if not problem.weighted:
        assert state.record.N.sum() == problem.gram_growth_per_round * state.rounds

    env = environment(problem)
    with create(url, policy, problem, name="uninterrupted") as other:
        calm = other._log
        while calm.state.seq < state.seq:
            step(other, env)
        for name in ("rng", "rounds", "trials"):
            assert getattr(calm.state, name) == getattr(state, name)
        assert np.array_equal(calm.state.record.Y, state.record.Y)
        assert plain(calm.state.memory) == plain(state.memory)
        steps = [step(controller, env) for _ in range(4)]
        assert steps == [step(other, env) for _ in range(4)]
        known = context_for(problem, 1)
        assert np.array_equal(controller.ask(known).arms, other.ask(known).arms)


@pytest.fixture
def fed(tmp_path):
    """A controller with some rounds, and the folder it is in."""
    url, env = url_of(tmp_path), environment(small())
    with Controller.create(url, small(), seed=2) as controller:
        for _ in range(400):
            step(controller, env)
    return url, tmp_path / "control.db"


def test_a_full_disk_is_said_and_loses_nothing(fed):
    url, path = fed
    told = Controller.open(url).status()["rounds"]
    code = f"""
import resource, sys
import crash_writer
from control import environment, small
from gbb.controller import Controller, StorageError
env = environment(small())
controller = Controller.open({url!r})
resource.setrlimit(resource.RLIMIT_FSIZE, ({path.stat().st_size + 50_000}, resource.RLIM_INFINITY))
count = 0
try:
    while True:
        kind, _ = crash_writer.step(controller, env)
        count += kind == "tell"
except StorageError as error:
    first = str(error)
before = controller._log.state.seq
for _ in range(3):
    try:
        crash_writer.step(controller, env)
        raise SystemExit("it should have failed")
    except StorageError:
        pass
assert controller._log.state.seq == before, "a failed call changed the state"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for _ in range(2):
    kind, _ = crash_writer.step(controller, env)  # room again: the same object goes on
    count += kind == "tell"
print(count)
print(first)
"""
    paths = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    count, message = done.stdout.splitlines()
    assert int(count) > 0
    assert message.startswith("Cannot use 'sqlite:///")
    assert "isk" in message
    controller = Controller.open(url)
    assert controller.status()["rounds"] == told + int(count)
    assert same_state(replayed(controller), controller._log.state)


def test_a_file_cut_short_is_refused_and_left_alone(fed, tmp_path):
    url, path = fed
    whole = path.read_bytes()
    for size in (0, 50, 5000, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        cut = whole[:size]
        path.write_bytes(cut)
        with pytest.raises((StorageError, gbb.InputError), match=r"damaged|malformed|empty"):
            Controller.open(url)
        assert path.read_bytes() == cut
    path.write_bytes(whole)  # the copy that the message asks for
    assert Controller.open(url).status()["rounds"] == 200
    assert not list(tmp_path.glob("*.db-journal"))


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "control.db"
    path.write_text("turbine,yaw\n1,2\n" * 500)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="file is not a database"):
        Controller.open(url_of(tmp_path))
    with pytest.raises(StorageError, match="file is not a database"):
        Controller.create(url_of(tmp_path), small())
    assert path.read_bytes() == before


def test_a_lost_answer_does_no_harm(tmp_path):
    """A caller that never heard back tells again; one that asked twice finds both trials open."""
    controller = Controller.create(url_of(tmp_path), small())
    env = environment(small())
    trial = controller.ask()
    rewards = rewards_of(env, trial)
    for _ in range(3):
        Controller.open(url_of(tmp_path)).tell(trial.id, rewards)
    assert controller.status()["rounds"] == 1
