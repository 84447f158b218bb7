"""What Prometheus reads: counts and times of this process, and where the controllers stand."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gbb.controller import Controller
from gbb.controller.log.events import StorageError
from gbb.serve.errors import Refused
from gbb.serve.moment import desk_of
from gbb.serve.studies import Studies

TIMES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
KIND = "text/plain; version=0.0.4; charset=utf-8"

NOW = {
    "gbb_rounds": "Rounds told.",
    "gbb_events": "Events of the log.",
    "gbb_open_trials": "Trials that wait for rewards.",
    "gbb_oldest_open_trial_seconds": "For how long the oldest of them has been open.",
    "gbb_last_round_reward": "What the last round paid.",
    "gbb_confidence_radius": "Radius of the confidence set.",
    "gbb_alerts": "Alerts in force.",
}


class Metrics:
    """Counts what this process does."""

    def __init__(self, studies: Studies) -> None:
        self.registry = own = CollectorRegistry()
        self._asked = Counter("gbb_asks", "Trials asked for.", ["controller"], registry=own)
        self._told = Counter("gbb_tells", "Rounds told or attached.", ["controller"], registry=own)
        self._took = Histogram(
            "gbb_request_seconds", "Time to answer.", ["operation"], buckets=TIMES, registry=own
        )
        self._ended = Counter("gbb_requests", "Answers.", ["operation", "status"], registry=own)
        self.listeners = Gauge("gbb_listeners", "Who listen to events.", registry=own)
        self.registry.register(_Now(studies))

    def count(self, operation: str, controller: str, answer: Mapping[str, Any]) -> None:
        """One more of what is counted, after it was done."""
        if operation in ("ask", "next"):
            self._asked.labels(controller).inc(len(answer.get("trials", "1")))
        if operation in ("tell", "next", "attach"):
            self._told.labels(controller).inc()

    def observe(self, operation: str, status: int, seconds: float) -> None:
        """An answer, and how long it took."""
        self._took.labels(operation).observe(seconds)
        self._ended.labels(operation, str(status)).inc()

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)


class _Now(Collector):
    """Where all controllers stand at the moment of a scrape."""

    def __init__(self, studies: Studies) -> None:
        self.studies = studies

    def collect(self) -> Iterator[Metric]:
        """A number of each kind for each controller."""
        found = {
            name: GaugeMetricFamily(name, text, labels=["controller"]) for name, text in NOW.items()
        }
        for name in self.studies.names():
            try:
                values = list(_look(self.studies.find(name)))
            except (StorageError, Refused):  # deleted, or called otherwise now
                self.studies.forget(name)
                continue
            for kind, value in values:
                found[kind].add_metric([name], value)
        yield from found.values()

    def describe(self) -> Iterator[Metric]:
        """Nothing: it is not known before somebody looks."""
        return iter(())


def _look(controller: Controller) -> Iterator[tuple[str, float]]:
    moment = desk_of(controller).now()
    state = moment.state
    since = min((ask.since for ask in state.open.values()), default=None)
    yield "gbb_rounds", state.rounds
    yield "gbb_events", state.seq
    yield "gbb_open_trials", len(state.open)
    yield "gbb_oldest_open_trial_seconds", 0.0 if since is None else max(0.0, time.time() - since)
    yield "gbb_alerts", len(state.alerts)
    paid = controller.rewards(last=1)
    if paid:
        yield "gbb_last_round_reward", paid[-1].reward
    if moment.answers:
        yield "gbb_confidence_radius", moment.knowledge.radius
