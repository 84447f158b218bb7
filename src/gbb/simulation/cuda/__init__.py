"""Runs on a GPU: CUDA C++ text compiled when it is needed, and thousands of runs in one launch.

Kernels are text (``text/``), put together and compiled by a launcher (``launch.py``), which is all that
knows of CuPy. ``batch.py`` sorts jobs, each an environment, a policy and seeds, into launches.
"""

from gbb.simulation.cuda.batch import Job, check_jobs, require_device, trace_instances, trace_jobs

__all__ = ["Job", "check_jobs", "require_device", "trace_instances", "trace_jobs"]
