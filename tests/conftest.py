"""Hypothesis settings: the same examples every time, unless a wider search is asked for.

``HYPOTHESIS_PROFILE=wide pytest`` draws fresh and more examples.
"""

import os

from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", deadline=None, derandomize=True, max_examples=50, suppress_health_check=QUIET
)
settings.register_profile("wide", deadline=None, max_examples=1000, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
