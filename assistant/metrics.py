"""What this process has counted of its turns, for Prometheus.

Written where a turn ends, never while its tokens pass.
"""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone
from prometheus_client import Counter, Gauge, Histogram

from helpcenter.metrics import REGISTRY

_SECONDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)

TURNS = Counter("helpcenter_turns", "Turns that ended", ["status", "grounding"], registry=REGISTRY)
TURNS_RUNNING = Gauge("helpcenter_turns_running", "Turns that run now", registry=REGISTRY)
TURN_SECONDS = Histogram(
    "helpcenter_turn_seconds",
    "From the start of a turn to its stored end",
    buckets=_SECONDS,
    registry=REGISTRY,
)
FIRST_TOKEN_SECONDS = Histogram(
    "helpcenter_turn_first_token_seconds",
    "From the start of a turn to the first of its text, where there was any",
    buckets=_SECONDS,
    registry=REGISTRY,
)
PROVIDER_ERRORS = Counter(
    "helpcenter_provider_errors",
    "Failed calls of the model's provider, those included that were tried again",
    ["code"],
    registry=REGISTRY,
)
CIRCUITS_OPENED = Counter(
    "helpcenter_provider_circuits_opened",
    "How often a provider was given up for a while after failures in a row",
    registry=REGISTRY,
)
CIRCUIT_OPEN = Gauge(
    "helpcenter_provider_circuit_open",
    "1 while a model's provider is not asked, after failures in a row",
    ["model"],
    registry=REGISTRY,
)
FALLBACKS = Counter(
    "helpcenter_provider_fallbacks",
    "Turns that the fallback model took over",
    registry=REGISTRY,
)


def turn_ended(
    status: str, grounding: str, begun_at: datetime, first_token_at: datetime | None
) -> None:
    TURNS.labels(status, grounding).inc()
    TURN_SECONDS.observe((timezone.now() - begun_at).total_seconds())
    if first_token_at is not None:
        FIRST_TOKEN_SECONDS.observe((first_token_at - begun_at).total_seconds())
