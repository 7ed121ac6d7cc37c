"""Counts of the whole site, kept in Valkey: for what happens in workers, which nobody scrapes.

Workers fork, end and are started again; their counts outlive them here. Any web process gives
them to Prometheus. A counter to which nothing was added for three months begins anew. Where Valkey
is down, nothing is counted, `helpcenter_site_valkey_up` is 0, and whoever counted goes on.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

from django.conf import settings
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from helpcenter.valkey import UNREACHABLE, client

KEY = "metrics:{name}"
KEPT_SECONDS = 90 * 24 * 3600
QUEUE, HANDED_OUT = "celery", "unacked"
"""Where Celery keeps tasks that wait, and those that a worker has and has not finished."""

logger = logging.getLogger(__name__)


class SiteCounter:
    """`name` without `_total`, as Prometheus shows it."""

    def __init__(self, name: str, documentation: str, labels: tuple[str, ...] = ()) -> None:
        self._name, self._documentation, self._labels = name, documentation, labels
        COUNTERS.append(self)

    def add(self, *values: str, amount: float = 1) -> None:
        """`values` of the labels, in their order."""
        key = KEY.format(name=self._name)
        try:
            with client(settings.REDIS_URL).pipeline(transaction=True) as steps:
                steps.hincrbyfloat(key, json.dumps(values), amount)
                steps.expire(key, KEPT_SECONDS)
                steps.execute()
        except UNREACHABLE as error:
            logger.warning("not_counted", extra={"error": type(error).__name__})

    def read(self) -> Metric:
        found = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        counts = client(settings.REDIS_URL).hgetall(KEY.format(name=self._name))
        for values, count in sorted(counts.items()):
            found.add_metric(json.loads(values), float(count))
        return found


COUNTERS: list[SiteCounter] = []
TASKS = SiteCounter(
    "helpcenter_site_tasks", "Background tasks that ended, by how", ("task", "outcome")
)
TASK_SECONDS = SiteCounter(
    "helpcenter_site_task_seconds", "Seconds that background tasks took", ("task",)
)
INTERRUPTED_TURNS = SiteCounter(
    "helpcenter_site_interrupted_turns", "Turns whose process died, and that were ended for it"
)


class SiteCollector(Collector):
    """All of it, read when it is asked for."""

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        try:
            found = [_queue(), *(counter.read() for counter in COUNTERS)]
        except UNREACHABLE as error:
            logger.warning("site_counts_unreadable", extra={"error": type(error).__name__})
            found = []
        yield GaugeMetricFamily(
            "helpcenter_site_valkey_up", "Whether Valkey answers this process", bool(found)
        )
        yield from found


def _queue() -> Metric:
    valkey = client(settings.REDIS_URL)
    found = GaugeMetricFamily(
        "helpcenter_site_queue_tasks", "Background tasks, by where they are", labels=["state"]
    )
    found.add_metric(["waiting"], valkey.llen(QUEUE))
    found.add_metric(["handed_out"], valkey.hlen(HANDED_OUT))
    return found
