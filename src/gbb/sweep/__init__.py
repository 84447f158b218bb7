"""Sweeps: many instances, many policies, any number of machines, one labelled dataset."""

from gbb.sweep import executors
from gbb.sweep.family import compare
from gbb.sweep.finish import gather
from gbb.sweep.forecast import Forecast, forecast
from gbb.sweep.results.collect import collect
from gbb.sweep.results.growth import Growth, exponents
from gbb.sweep.results.reading import open_sweep
from gbb.sweep.results.summary import Row, summarise
from gbb.sweep.run import Status, run, status
from gbb.sweep.spec import Sweep
from gbb.sweep.tasks import Task, plan

__all__ = [
    "Forecast",
    "Growth",
    "Row",
    "Status",
    "Sweep",
    "Task",
    "collect",
    "compare",
    "executors",
    "exponents",
    "forecast",
    "gather",
    "open_sweep",
    "plan",
    "run",
    "status",
    "summarise",
]
