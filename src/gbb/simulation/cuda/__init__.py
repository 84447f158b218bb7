"""Runs on a GPU: CUDA C++ text, compiled when it is needed, plays thousands of runs in one launch.

``runs.py`` groups jobs (an environment, a policy and seeds) by the kernel that plays them;
``couples.py`` and ``joint.py`` lay out the data of the two kernels, whose text is in ``text/``;
``launch.py`` compiles and starts them.
"""

from gbb.simulation.cuda.runs import Job, check_jobs, require_device, trace_instances, trace_jobs

__all__ = ["Job", "check_jobs", "require_device", "trace_instances", "trace_jobs"]
