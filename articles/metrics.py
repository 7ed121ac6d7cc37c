"""How long searches of this process take, for Prometheus, and how often they do without a part."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from prometheus_client import Counter, Histogram

from helpcenter.metrics import REGISTRY

SEARCH_SECONDS = Histogram(
    "helpcenter_search_seconds",
    "Searches, by what was searched by",
    ["mode"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
    registry=REGISTRY,
)
SEARCH_FALLBACKS = Counter(
    "helpcenter_search_fallbacks",
    "Searches that did without a part, by why",
    ["reason"],
    registry=REGISTRY,
)


class Found(Protocol):
    @property
    def mode(self) -> str: ...
    @property
    def fallback_reason(self) -> str | None: ...


P = ParamSpec("P")
R = TypeVar("R", bound=Found)


def measured(search: Callable[P, R]) -> Callable[P, R]:
    """The same function, which counts each call that returns."""

    @functools.wraps(search)
    def counting(*args: P.args, **kwargs: P.kwargs) -> R:
        started = time.perf_counter()
        found = search(*args, **kwargs)
        SEARCH_SECONDS.labels(found.mode).observe(time.perf_counter() - started)
        if found.fallback_reason:
            SEARCH_FALLBACKS.labels(found.fallback_reason).inc()
        return found

    return counting
