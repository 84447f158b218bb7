"""One BLAS thread, and Hypothesis settings: the same examples every time.

``HYPOTHESIS_PROFILE=wide pytest`` draws fresh and more examples.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from installed import THIRD_PARTY, install

# Read when numpy is first imported. On small matrices and busy cores, threads cost a factor of 100.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell's background jobs ignore Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", deadline=None, derandomize=True, max_examples=30, suppress_health_check=QUIET
)
settings.register_profile("wide", deadline=None, max_examples=1000, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def theirs(tmp_path_factory):
    """Another package, which knows gbb, in a folder of its own."""
    target = tmp_path_factory.mktemp("site")
    install(THIRD_PARTY, target)
    return target
