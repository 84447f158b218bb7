"""One byte of the database is another: every answer is the same, or one line says what is wrong.

Pages' headers, where one byte drops or swaps whole rows, are hit on purpose; then any byte of any
page. ``GBB_FLIPS`` says how often.
"""

import hashlib
import os
import shutil
from collections import Counter

import numpy as np
import pytest

import gbb
from control import context_for, drive, environment, small, url_of
from gbb.controller import Controller, StorageError
from gbb.controller.log import log

FLIPS = int(os.environ.get("GBB_FLIPS", "120"))
PAGE, HEADER = 4096, 100
NAMES = ("farm1", "farm2")


def make(folder, every, contexts):
    """Two controllers with some of everything, and what they say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "SNAPSHOT_EVENTS", every)
        for seed, name in enumerate(NAMES):
            problem = small(named=True, contexts=contexts)
            known = context_for(problem, 2)
            env, rng = environment(problem), np.random.default_rng(seed)
            with Controller.create(url_of(folder), problem, seed=seed, name=name) as controller:
                waiting = controller.ask(known)
                drive(controller, env, rng, 6)
                controller.attach([0, 1, 2, seed], np.ones(12), context=known, key="monday")
                controller.retract(3, "typo")
                controller.tell(3, np.full(12, 0.5))
                controller.forbid("cell-1", "tilt-0")
                controller.replace_graph(gbb.Graph.path(4))
                drive(controller, environment(controller.problem), rng, 6 + seed)
                controller.retract(controller.status()["trials"], "typo")
                controller.tell(controller.status()["trials"], np.full(6, 0.25))
                assert controller.trial(waiting.id).id == 1


def answers(url, name, contexts):
    """All that a controller says and would do next, and what it says once it has done it."""
    said = []
    for changed in (False, True):
        with Controller.open(url, name) as controller:
            facts = controller.status()
            history = [(e.seq, e.kind, e.trial_id, e.content) for e in controller.history()]
            facts["history"] = hashlib.sha256(repr(history).encode()).hexdigest()
            facts["open"] = [
                (t.id, t.round, t.arms.tolist(), t.context) for t in controller.open_trials()
            ]
            facts["estimate"] = [
                (known.M_hat.tobytes(), known.N.tobytes(), known.Y.tobytes())
                for known in controller.estimate()
            ]
            said.append(facts)
            if changed:
                return said
            last, first = facts["trials"], context_for(small(named=True, contexts=contexts), 2)
            controller.tell(3, np.full(12, 0.5))  # as it was told, and not as it was first
            controller.tell(last, np.full(6, 0.25))
            allocation = [0, 1, 2, NAMES.index(name)]
            controller.attach(allocation, np.ones(12), context=first, key="monday")
            controller.tell(1, np.full(12, 0.125))  # the open one, asked on the first graph
            asked = controller.ask(context_for(controller.problem, 1))
            said.append((asked.id, asked.arms.tolist()))
    raise AssertionError


def places_of(size, count, rng):
    """Where to flip: all headers of pages in turn, then anywhere, every page as often."""
    heads = [page + place for page in range(0, size, PAGE) for place in range(12)]
    heads += list(range(HEADER, HEADER + 12))
    rng.shuffle(heads)
    most = min(len(heads), count // 2)
    pages = np.arange(count - most) % (size // PAGE)
    return [*heads[:most], *(pages * PAGE + rng.integers(PAGE, size=count - most))]


CASES = {
    "snapshots": (7, None),
    "no snapshots, contexts": (10_000, "edge types"),
}
"""After how many events a snapshot is kept, and what is known before rounds."""


@pytest.mark.parametrize(("every", "contexts"), CASES.values(), ids=CASES)
def test_a_flipped_byte_is_never_silent(every, contexts, tmp_path):
    make(tmp_path, every, contexts)
    file, copy = tmp_path / "control.db", tmp_path / "copy" / "control.db"
    copy.parent.mkdir()
    whole, url = file.read_bytes(), url_of(copy.parent)
    shutil.copy(file, copy)
    expected = {name: answers(url, name, contexts) for name in NAMES}
    rng = np.random.default_rng(every)
    found, silent = Counter(), []
    for turn, place in enumerate(places_of(len(whole), FLIPS // 2, rng)):
        # A flipped bit, or any other byte.
        flip = 1 << int(rng.integers(8)) if turn % 2 else int(rng.integers(1, 256))
        damaged = bytearray(whole)
        damaged[place] ^= flip
        for other in copy.parent.iterdir():
            other.unlink()
        copy.write_bytes(damaged)
        for name in NAMES:
            where = f"byte {place % PAGE} of page {place // PAGE + 1} xor {flip}, {name}"
            try:
                said = answers(url, name, contexts)
            except (StorageError, gbb.InputError) as error:
                found["refused"] += 1
                if "\n" in str(error):
                    silent.append(f"{where}: {error!r}")
            except Exception as error:
                silent.append(f"{where}: {error!r}")
            else:
                found["same"] += 1
                if said != expected[name]:
                    silent.append(f"{where}: other answers")
    assert silent == []
    assert min(found["refused"], found["same"]) > FLIPS // 10
