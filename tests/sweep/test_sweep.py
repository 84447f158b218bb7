"""Sweeps: what is played, how it is cut into tasks, what is done stays."""

import os

import numpy as np
import pytest
import xarray as xr

import gbb
from gbb import sweep as sweeps
from gbb._support import files
from gbb.sweep import parts, tasks
from gbb.sweep.instances import make_environment, make_policies
from gbb.sweep.spec import Sweep
from sweep_cases import FINE, SMALL, bits, run


def test_a_sweep_is_what_simulate_plays_on_every_instance(tmp_path):
    assert run(tmp_path / "out").complete
    data = xr.load_dataset(sweeps.collect(tmp_path / "out"))
    sizes = {"graph": 2, "n": 2, "zeta": 2, "matrix": 3, "policy": 3, "run": 2}
    assert dict(data.sizes) == {**sizes, "round": data.sizes["round"]}
    sweep = Sweep.of(SMALL)
    for at in (
        {"graph": "circle", "n": 5, "zeta": 1.0},
        {"graph": "complete", "n": 4, "zeta": 0.0},
    ):
        cell = next(c for c in sweep.cells if all(c[k] == v for k, v in at.items()))
        env = make_environment(sweep, cell, 2)
        made = [
            gbb.policies.build(kind, env.problem, cut=gbb.cuts.best(env.problem.graph), **own)
            for kind, own in (
                ("ImprovedOFUL", {}),
                ("ThompsonSampling", {}),
                ("EpsilonGreedy", {"epsilon": 0.1}),
            )
        ]
        seed = np.random.SeedSequence(0, spawn_key=(3, 2))
        plain = gbb.simulate(env, made, rounds=60, runs=2, seed=seed, record="log")
        here = data.sel(at).isel(matrix=2)
        for name in ("expected_reward", "regret", "alpha_regret", "fraction"):
            np.testing.assert_allclose(here[name], plain[name], rtol=1e-12, atol=1e-12)
        assert here.optimum == pytest.approx(plain.attrs["optimum"])
        np.testing.assert_allclose(here.alpha, plain.alpha)


def test_instances_are_what_is_declared():
    declared = {**SMALL, "arms": ["one-hot", "normal"], "K": 7, "noise": ["gaussian", "uniform"]}
    declared |= {"graph": ["random", "regular"], "n": 6, "degree": 4, "p": 0.7, "frobenius": 4.0}
    sweep = Sweep.of(declared)
    matrices = {}
    for cell in sweep.cells:
        env = make_environment(sweep, cell, 1)
        problem = env.problem
        assert problem.graph.n == 6
        assert (7 if cell["arms"] == "normal" else 3) == problem.K
        assert np.linalg.norm(problem.arms, axis=1) == pytest.approx(1.0)
        assert env.noise == cell["noise"]
        assert pytest.approx(np.linalg.norm(env.M_star)) == problem.S
        assert problem.S <= 4.0 + 1e-12
        if cell["graph"] == "regular":
            assert problem.m == 6 * 4
        matrices.setdefault(cell["zeta"], []).append(env.M_star)
    for same in matrices.values():  # instance 1 has the same matrix wherever its dimension is
        assert all(np.array_equal(same[0], each) for each in same)
    a, b = gbb.instances.best_couple(matrices[0.0][0])
    assert a != b


def test_a_graph_file_is_an_axis_value(tmp_path):
    path = tmp_path / "path.csv"
    path.write_text("u,v\na,b\nb,a\nb,c\nc,b\n")
    sweep = Sweep.of({**SMALL, "graph": [str(path), "star"], "n": 3})
    assert [make_environment(sweep, cell, 0).problem.m for cell in sweep.cells] == [4] * 4
    before = {task.name for task in tasks.plan(sweep)}
    path.write_text("u,v\na,b\nb,a\nb,c\nc,b\na,c\nc,a\n")  # another graph is another task
    assert before.isdisjoint(task.name for task in tasks.plan(sweep))


def test_a_graph_file_is_found_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "links.csv").write_text("source,target\na,b\nb,a\n")
    monkeypatch.chdir(tmp_path)
    one = {**SMALL, "graph": "links.csv", "n": None, "zeta": 0.5}
    assert run(tmp_path / "out", one).complete
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert sweeps.status(tmp_path / "out").complete


def test_what_is_done_stays_and_damage_is_done_again(tmp_path):
    folder, ended = tmp_path / "out", []
    run(folder, FINE)
    expected = bits(folder)
    assert len(expected) > 20
    assert run(folder, FINE, advance=lambda task, _: ended.append(task.name)).complete
    assert ended == []
    one, two, *_ = sorted((folder / "parts").iterdir())
    one.unlink()
    content = bytearray(two.read_bytes())
    content[len(content) // 2] ^= 1
    two.write_bytes(content)
    found = sweeps.status(folder)
    assert found.tasks - found.done == 2
    assert run(folder, FINE, advance=lambda task, _: ended.append(task.name)).complete
    assert sorted(ended) == sorted([one.stem, two.stem])
    assert bits(folder) == expected


def test_a_part_of_another_task_is_not_taken_for_its_own(tmp_path):
    run(tmp_path / "out", FINE)
    expected = bits(tmp_path / "out")
    one, two, *_ = sorted((tmp_path / "out" / "parts").glob("play-*"))
    one.write_bytes(two.read_bytes())
    assert not sweeps.status(tmp_path / "out").complete
    with pytest.raises(gbb.InputError, match="1 of"):
        sweeps.collect(tmp_path / "out")
    assert run(tmp_path / "out", FINE).complete
    assert bits(tmp_path / "out") == expected


def test_what_is_no_file_is_no_part(tmp_path):
    run(tmp_path / "out")
    part = next((tmp_path / "out" / "parts").iterdir())
    part.unlink()
    os.mkfifo(part)
    assert not sweeps.status(tmp_path / "out").complete


def test_a_task_that_fails_ends_no_other_and_can_be_done_alone(tmp_path, monkeypatch):
    folder, names = tmp_path / "out", []
    real = parts.write

    def fails_once(place, name, arrays):
        names.append(name)
        if len(names) == 3:
            raise OSError("no space left")
        real(place, name, arrays)

    monkeypatch.setattr(parts, "write", fails_once)
    found = run(folder, FINE)
    assert found.failures == {names[2]: "OSError: no space left"}
    assert found.done == found.tasks - 1
    with pytest.raises(gbb.InputError, match=f"1 of {found.tasks} missing"):
        sweeps.collect(folder)
    assert run(folder, FINE, only=names[2]).complete
    assert sweeps.status(folder).failures == {}
    with pytest.raises(gbb.InputError, match="`only`"):
        run(folder, FINE, only="play-0")


def test_an_optimum_that_a_policy_exceeds_is_raised_unless_it_is_proven(tmp_path, monkeypatch):
    real = sweeps.run.__globals__["work"]._solve_block

    def halved(sweep, block, names, proven):
        found = real(sweep, block, names)
        return {
            **found,
            "optimum": found["optimum"] / 2,
            "optimum_proven": proven + 0 * found["edges"],
        }

    one = {**SMALL, "graph": "circle", "n": 4, "zeta": 0.5}
    run(tmp_path / "true", one)
    true = xr.load_dataset(sweeps.collect(tmp_path / "true"))
    for proven in (0.0, 1.0):
        folder = tmp_path / f"proven{proven:g}"
        monkeypatch.setattr(
            "gbb.sweep.work._solve_block", lambda *given, proven=proven: halved(*given, proven)
        )
        run(folder, one)
        if proven:
            with pytest.raises(gbb.InputError, match="optima that no policy exceeds"):
                sweeps.collect(folder)
        else:
            found = xr.load_dataset(sweeps.collect(folder))
            most = true.expected_reward.max(("policy", "run", "round"))
            np.testing.assert_allclose(found.optimum, np.maximum(most, true.optimum / 2))
            assert (found.fraction <= 1.0 + 1e-9).all()


BAD = {
    "an unknown key": ({"sigmas": 1}, "'sigmas'.*Did you mean 'sigma'"),
    "no graph": ({"graph": None}, "graph"),
    "an unknown family": ({"graph": "complet"}, "Did you mean 'complete'"),
    "an unknown policy": ({"policies": ["OFULL"]}, "OFUL"),
    "a setting it has not": ({"policies": [{"kind": "OFUL", "explore": 0.1}]}, "explore"),
    "a policy twice": ({"policies": ["OFUL", "OFUL"]}, "different names"),
    "a policy without a kind": ({"policies": [{"name": "mine"}]}, "a kind each"),
    "no policy": ({"policies": []}, "at least one policy"),
    "a value twice": ({"n": [4, 4]}, "`n` to have different values"),
    "no values": ({"n": []}, "`n` to have at least one value"),
    "no rounds": ({"rounds": 0}, "`rounds`"),
    "arms that are none": ({"arms": "two-hot"}, "`arms`"),
    "a noise that is none": ({"noise": "gausian"}, "Did you mean 'gaussian'"),
    "no time": ({"task_seconds": 0}, "`task_seconds`"),
    "no agents": ({"n": None}, "needs `n`"),
    "a regular graph without degree": ({"graph": "regular"}, "needs `degree`"),
    "policies that are no list": (
        {"policies": 3},
        "`policies` to be a list of names and tables.*3",
    ),
    "a policy that is a number": ({"policies": [3]}, "`policies` to be names or tables.*3"),
    "a policy that is a list": ({"policies": [["OFUL"]]}, "`policies` to be names or tables"),
    "a name that is a number": ({"policies": [{"kind": "OFUL", "name": 3}]}, "`name`.*3"),
    "a name that is empty": ({"policies": [{"kind": "OFUL", "name": ""}]}, "`name`.*''"),
    "a setting that is no plain value": (
        {"policies": [{"kind": "OFUL", "lam": {1, 2}}]},
        "`lam` to be a plain value.*set",
    ),
    "rounds beyond counting": ({"rounds": 10**20}, "`rounds`.*<="),
    "one arm with zeta": ({"d": 1}, "`zeta` needs two arms"),
    "a number of arms that are not normal": ({"K": [3, 4]}, "`K` is for arms that are 'normal'"),
    "a degree of no graph": ({"degree": 2}, "`degree` is for the graph 'regular'"),
    "several p of no graph": ({"p": [0.2, 0.4]}, "`p` is for the graph 'random'"),
    "a size of a graph file": ({"graph": __file__}, "`n` is for families of graphs"),
    "a table that is none": (None, "a table of parameters"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_declarations_are_refused_on_one_line(what):
    change, text = BAD[what]
    with pytest.raises(gbb.InputError, match=text) as refused:
        Sweep.of(3 if change is None else {**SMALL, **change})
    assert "\n" not in str(refused.value)


def test_a_declaration_needs_what_it_needs(tmp_path):
    for name in ("graph", "policies", "rounds"):
        left = {key: value for key, value in SMALL.items() if key != name}
        with pytest.raises(gbb.InputError, match=f"needs `{name}`"):
            Sweep.of(left)
    with pytest.raises(gbb.InputError, match=r"gone\.toml \(No such file or directory\)\.$"):
        Sweep.read(tmp_path / "gone.toml")
    (tmp_path / "bad.toml").write_text("n = [")
    with pytest.raises(gbb.InputError, match="name a TOML file"):
        Sweep.read(tmp_path / "bad.toml")


def test_a_declaration_survives_its_dictionary():
    sweep = gbb.Sweep(**{**FINE, "n": np.array([4, 5]), "record": np.array([1, 60])})
    assert Sweep.of(sweep.to_dict()) == sweep
    assert len(list(sweep)) == 8


def test_a_folder_holds_one_sweep(tmp_path):
    run(tmp_path / "out")
    with pytest.raises(gbb.InputError, match="`out` to hold this sweep"):
        run(tmp_path / "out", {**SMALL, "seed": 1})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(gbb.InputError, match="be a new folder"):
        run(tmp_path / "mine")
    with pytest.raises(gbb.InputError, match="hold a sweep"):
        sweeps.status(tmp_path / "mine")


LATE = {
    "a setting out of range": ({"policies": [{"kind": "OFUL", "lam": -1.0}]}, {}, "`lam`.*-1"),
    "a grid that is none": ({"graph": "grid", "n": 5}, {}, "`n`.*5"),
    "a network without links": ({"graph": "star", "n": 1}, {}, "at least one edge"),
    "a task that is none": ({}, {"only": "play-0"}, "`only`.*'play-0'"),
    "a graph file that is none": ({"graph": "bad.csv", "n": None}, {}, "bad.csv"),
}


@pytest.mark.parametrize("what", LATE)
def test_what_cannot_be_played_leaves_no_folder(tmp_path, monkeypatch, what):
    change, named, text = LATE[what]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text("hello\n")
    with pytest.raises(gbb.InputError, match=text):
        run(tmp_path / "out", {**SMALL, **change}, **named)
    assert not (tmp_path / "out").exists()


def test_settings_may_be_numbers_of_numpy():
    given = [{"kind": "ThompsonSampling", "starts": np.int64(3), "v": np.float32(0.5)}]
    plain = [{"kind": "ThompsonSampling", "starts": 3, "v": 0.5}]
    assert Sweep.of({**SMALL, "policies": given}) == Sweep.of({**SMALL, "policies": plain})
    assert tasks.plan(Sweep.of({**SMALL, "policies": given}))


def test_a_sweep_that_cannot_be_played_leaves_no_folder(tmp_path):
    with pytest.raises(gbb.InputError, match="smallest circle"):
        run(tmp_path / "out", {**SMALL, "n": 2})
    assert not (tmp_path / "out").exists()


def test_a_run_that_was_killed_before_it_began_can_begin(tmp_path):
    (tmp_path / "out" / f"{files.HIDDEN}killed").mkdir(parents=True)
    assert run(tmp_path / "out").complete


@pytest.mark.parametrize("content", ["null", "[" * 100_000, "[1]", "{", '{"graph": 1}'])
def test_a_folder_whose_declaration_is_damaged_is_refused(content, tmp_path):
    (tmp_path / "sweep.json").write_text(content)
    with pytest.raises(gbb.InputError):
        sweeps.status(tmp_path)
    with pytest.raises(gbb.InputError, match="`out` to hold this sweep"):
        run(tmp_path)
    (tmp_path / "sweep.json").write_bytes(b"\xff\xfe")
    with pytest.raises(gbb.InputError, match="`out` to hold this sweep"):
        run(tmp_path)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"{}"])
def test_a_note_of_a_failure_that_is_damaged_stops_nothing(content, tmp_path):
    run(tmp_path / "out")
    part = next((tmp_path / "out" / "parts").iterdir())
    part.unlink()
    note = tmp_path / "out" / "failures" / f"{part.stem}.json"
    note.parent.mkdir()
    note.write_bytes(content)
    assert "cannot be read" in sweeps.status(tmp_path / "out").failures[part.stem]
    assert run(tmp_path / "out").complete


def test_parts_of_another_numerical_version_do_not_mix(monkeypatch):
    before = {task.name for task in tasks.plan(Sweep.of(SMALL))}
    monkeypatch.setattr(tasks, "NUMERICS", tasks.NUMERICS + 1)
    assert before.isdisjoint(task.name for task in tasks.plan(Sweep.of(SMALL)))


def test_policies_play_over_the_best_cut_or_the_papers():
    grid = {**SMALL, "graph": "grid", "n": 9}
    chosen = [Sweep.of(grid), Sweep.of({**grid, "cut": "greedy"})]
    names = [{task.name for task in tasks.plan(sweep) if task.kind == "play"} for sweep in chosen]
    assert names[0].isdisjoint(names[1])
    graph = gbb.Graph.from_edges([[0, 2], [2, 3], [3, 1]], undirected=True)  # a path
    uncut = {}
    for sweep in chosen:
        assert Sweep.of(sweep.to_dict()) == sweep
        (first, *_) = make_policies(sweep, gbb.Problem(graph, np.eye(2)), sweep.names)
        uncut[sweep.cut] = first.cut.m1 + first.cut.m2
    assert uncut == {"best": 0, "greedy": 2}
    with pytest.raises(gbb.InputError, match="`cut` to be one of 'best', 'greedy'"):
        Sweep.of({**SMALL, "cut": "gredy"})


@pytest.mark.parametrize("small", ["task_seconds", "PART"])
def test_long_work_is_split_by_policies_and_every_instance_is_played_once(monkeypatch, small):
    if small == "PART":
        monkeypatch.setattr(tasks, "PART", 1000)
    sweep = Sweep.of({**SMALL, "rounds": 2000} | {"task_seconds": 0.01 if small != "PART" else 60})
    planned = tasks.plan(sweep)
    assert len({task.name for task in planned}) == len(planned)
    for kind in ("optima", "play"):
        seen = sorted(
            (block.cell, matrix, policy)
            for task in planned
            if task.kind == kind
            for block in task.blocks
            for matrix in range(block.start, block.stop)
            for policy in task.policies
        )
        wanted = [(c, m, p) for c in range(8) for m in range(3) for p in sorted(sweep.names)]
        assert seen == wanted
    assert {task.policies for task in planned if task.kind == "play"} == {(n,) for n in sweep.names}


def test_a_slow_policy_is_played_without_a_word(tmp_path, recwarn):
    slow = {**SMALL, "policies": ["ExponentialWeights"], "graph": "circle", "n": 4, "zeta": 0.5}
    assert run(tmp_path / "out", {**slow, "rounds": 5}).complete
    assert not recwarn.list
