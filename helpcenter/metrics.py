"""`/metrics`, for Prometheus: what this process has counted, and the site's counts from Valkey.

Off until `METRICS_TOKEN` is set; then whoever brings the token may read. An app makes its metrics
with `registry=REGISTRY`. Labels take their values from short, closed lists, and never from what
people write.

Each web process has counts of its own and is scraped by itself. What workers do stands in Valkey
(`helpcenter.site_counts`): it is named `helpcenter_site_…` and is the same from every process.
"""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """401 without the token. Where there is no token, nobody gets here (`helpcenter.probes`)."""
    expected = f"Bearer {settings.METRICS_TOKEN}"
    given = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not hmac.compare_digest(given.encode(), expected.encode()):
        return HttpResponse(
            "The metrics need their token.\n",
            status=401,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_PLAIN_0_0_4)
