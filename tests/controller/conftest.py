"""A real PostgreSQL server for the tests that need one."""

import sys
from pathlib import Path

from postgres_server import postgres, postgres_url

__all__ = ["postgres", "postgres_url"]

# The tests' own modules may be imported by the processes they start.
sys.path.insert(0, str(Path(__file__).parent))
