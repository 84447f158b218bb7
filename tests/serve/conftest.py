"""Servers, and a real PostgreSQL server for the tests that need one."""

import pytest

import serving
from postgres_server import postgres, postgres_url

__all__ = ["postgres", "postgres_url"]


@pytest.fixture(scope="session")
def forks():
    """What starts servers at once."""
    with serving.forks() as found:
        yield found


@pytest.fixture(scope="module")
def server(forks, tmp_path_factory):
    """A server without tokens, for a storage of its own."""
    place = tmp_path_factory.mktemp("served") / "farm.db"
    with forks.serving(f"sqlite:///{place}") as found:
        yield found
