"""Readers of files, fed with files that somebody or something has changed.

Whatever a file holds, a reader returns, or raises an InputError of one line; none takes much memory.
"""

import os
import random
import resource
import sys
import warnings

import numpy as np
import pytest

import gbb
from gbb import Graph, InputError
from gbb._cli.control.files import allocation_from, rewards_from, table_from
from gbb._cli.given.tables import read_arms, read_matrix

FILES = int(os.environ.get("GBB_FUZZED_FILES", "20000"))
"""Files in all, shared out over the readers."""

GRAPH_CSV = 'source,target,weight\n# a comment\nP1,P2,1\nP2,P1,1\n"P 3",P1,2.5\nP1,"P 3",2\n'
NUMBERS_CSV = "0,1\n1,0\n1,2\n2,1\n"
GSET = "4 3\n1 2 1\n2 3 -1\n3 4 1\n"
JSON = (
    '{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": "a"}, {"id": "b"},'
    ' {"id": 2}], "edges": [{"source": "a", "target": "b", "weight": 2}, {"source": 2, "target": "b"}]}'
)
GRAPHML = """<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="weight" attr.type="double"/>
<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="d0">2.5</data></edge><edge source="b" target="c"/></graph>
</graphml>
"""
ARMS = "arm,yaw,pitch\nup,1,0.25\ndown,0,-1e-3\n"
MATRIX = "0,2,3\n1,0,1\n0.5,1,0.2\n"
REWARDS_CSV = "source,target,reward\na,b,1.5\nb,a,-2e3\n"
REWARDS_JSON = '{"rewards": [["a", "b", 1.5], ["b", "a", 2]]}'
ALLOCATION = '{"allocation": {"a": "up", "b": 1}}'

WORDS = [
    *(
        b"nan",
        b"inf",
        b"-1",
        b"1e999",
        b"9" * 400,
        b"0x10",
        b"1_000",
        b"4294967296",
        b"null",
        b"true",
    ),
    *(
        b",",
        b",,",
        b"\n",
        b"\r",
        b"\r\n",
        b"\x00",
        b'"',
        b'""',
        b";",
        b"\t",
        b" ",
        b"#",
        b"{",
        b"[",
        b"]",
    ),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        "ä".encode(),
        "\u2028".encode(),
        b"<",
        b"&lt;",
        b"&x;",
        b"</graph>",
    ),
    b"200000000",
    b"[" * 3000,
    b"a" * 200_000,
]

READERS = {
    "graph.csv": (GRAPH_CSV, Graph.read),
    "numbers.csv": (NUMBERS_CSV, lambda path: Graph.read(path, undirected=True)),
    "graph.gset": (GSET, Graph.read),
    "graph.json": (JSON, Graph.read),
    "graph.graphml": (GRAPHML, Graph.read),
    "arms.csv": (ARMS, read_arms),
    "matrix.csv": (MATRIX, read_matrix),
    "links.csv": (GRAPH_CSV, lambda path: table_from("--links", str(path), ("source", "target"))),
    "rewards.csv": (REWARDS_CSV, lambda path: rewards_from(str(path), "edge")),
    "rewards.json": (REWARDS_JSON, lambda path: rewards_from(str(path), "edge")),
    "allocation.json": (ALLOCATION, lambda path: allocation_from(str(path))),
}
SHARE = FILES // (len(READERS) + 2)


def mutate(data, rng):
    """The bytes with one to six changes: flips, words, cuts, repeats and exchanges."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place:place] = rng.choice(WORDS)
        elif kind == 2:
            del data[place : place + rng.choice([1, 1, 2, 8, 64])]
        elif kind == 3:
            piece = data[place : place + rng.choice([1, 4, 16, 64])]
            data[place:place] = piece * rng.choice([1, 2, 50])
        elif kind == 4:
            data[place : place + rng.choice([1, 2, 5])] = rng.choice(WORDS)
        else:
            data[place:place] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 3])))
    return bytes(data)


def peak():
    """The most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def feed(read, path, files):
    """Let ``read`` have each of the files; how many it took."""
    taken, before, said = 0, peak(), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in files:
            path.write_bytes(data)
            try:
                read(path)
                taken += 1
            except InputError as error:
                said = str(error)
            except Exception as error:
                pytest.fail(f"{error!r} for {data[:500]!r}")
            assert "\n" not in said, data
    assert peak() - before < 1 << 30
    return taken


@pytest.mark.parametrize("name", READERS)
def test_readers_return_or_say_why_not_on_one_line(name, tmp_path):
    text, read = READERS[name]
    rng = random.Random(name)
    taken = feed(read, tmp_path / name, (mutate(text.encode(), rng) for _ in range(SHARE)))
    assert 0 < taken < SHARE


def test_rewards_that_were_read_are_told_or_refused_on_one_line(tmp_path):
    """The controller's own reader, and its checks of what the command line read."""
    from gbb.controller.commands.rewards import read_rewards  # noqa: PLC0415

    graph = Graph.from_edges([("a", "b")], undirected=True)
    problem = gbb.Problem(graph, np.eye(2))
    rng = random.Random(0)
    half = SHARE // 2
    texts = [(REWARDS_CSV, "r.csv"), (REWARDS_JSON, "r.json")]
    for text, name in texts:
        files = (mutate(text.encode(), rng) for _ in range(half))
        feed(
            lambda path: read_rewards(problem, rewards_from(str(path), "edge")),
            tmp_path / name,
            files,
        )


def test_result_files_are_read_or_refused_on_one_line(tmp_path):
    problem = gbb.Problem(Graph.path(3), np.eye(2), S=2.0)
    env = gbb.Environment(problem, np.eye(2))
    policies = [gbb.policies.UniformRandom(problem)]
    path = tmp_path / "r.nc"
    gbb.save(gbb.simulate(env, policies, rounds=3, runs=1, seed=1, method="reference"), path)
    data, rng = path.read_bytes(), random.Random(1)
    sealed = (
        bad for bad in (mutate(data, rng) for _ in range(SHARE)) if b"#gbb sha256 " in bad[-78:]
    )
    feed(gbb.load, path, sealed)  # the netCDF library is not asked what it makes of others
