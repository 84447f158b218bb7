"""One thread for linear algebra: predictable times, and no fight over busy cores."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import threadpool_limits


def one_thread() -> AbstractContextManager[Any]:
    """Within it, linear algebra uses one thread; others wait for each other where cores are busy."""
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits
