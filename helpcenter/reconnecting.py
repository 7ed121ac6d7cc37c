"""How a worker comes back to its broker: soon, also after a long loss.

Celery waits longer after each attempt, up to half a minute, and has no setting for it.
"""

from __future__ import annotations

from typing import Any

from celery.worker import consumer

PAUSES = {"interval_start": 1, "interval_step": 1, "interval_max": 3}
"""Seconds between two attempts: the first pause, by how much each grows, and the longest."""


class Consumer(consumer.Consumer):
    def ensure_connected(self, conn: Any) -> Any:
        ensure = conn.ensure_connection
        conn.ensure_connection = lambda *args, **more: ensure(*args, **PAUSES, **more)
        return super().ensure_connected(conn)
