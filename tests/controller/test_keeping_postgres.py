"""The same on PostgreSQL, and from one kind of database to the other."""

import pytest
from test_import import attach_each, learnt, long_table, rounds_of
from test_keeping import check_same, events_of

import gbb
from control import drive, environment, noise_of, same_state, small
from gbb.controller import Controller, StorageError, restore


def test_controllers_move_between_databases_bit_for_bit(postgres_url, tmp_path):
    there, back = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    with Controller.create(there, small(named=True), seed=2, name="farm") as first:
        drive(first, environment(first.problem), noise_of(0), 12)
        first.copy("farm", postgres_url).close()
        with Controller.open(postgres_url) as server:
            server.copy("farm", back).close()
            server.backup(tmp_path / "farm.jsonl")
            with Controller.open(back) as again:
                assert events_of(again) == events_of(server)
                check_same(first, again)
        restore(tmp_path / "farm.jsonl", postgres_url, new_name="second")
    with Controller.open(postgres_url, "second") as second, Controller.open(there) as first:
        assert events_of(second) == events_of(first)[: second.status()["events"]]


def test_names_and_deletions_on_a_server(postgres_url):
    with Controller.create(postgres_url, small(), name="farm") as first:
        other = Controller.open(postgres_url)
        first.ask()
        first.rename("mill")
        first.ask()
        first.check()
        with pytest.raises(StorageError, match="'farm' is called 'mill' now"):
            other.ask()
        with first.copy("farm") as twin:
            twin.ask()
            with pytest.raises(gbb.InputError, match="to be new, but got 'mill'"):
                twin.rename("mill")
            twin.delete("farm")
        with pytest.raises(gbb.InputError, match="one of 'mill'"):
            Controller.open(postgres_url, "farm")
        first.check()
        other.close()


def test_an_import_on_a_server_is_that_of_a_file(postgres_url, tmp_path):
    problem = small(named=True)
    played, paid = rounds_of(problem, 30, seen=0.5)
    with (
        Controller.create(postgres_url, problem, seed=3) as server,
        Controller.create(f"sqlite:///{tmp_path / 'a.db'}", problem, seed=3) as file,
    ):
        attach_each(file, played, paid)
        server.import_rounds(long_table(problem, played, paid))
        assert server.import_rounds(long_table(problem, played, paid)).new == 0
        server.check()
        with Controller.open(postgres_url) as again:
            assert same_state(again._log.state, server._log.state)
        assert learnt(file) == learnt(server)
