"""How often something may be done in a fixed window: counted per bucket, by every process.

Counted in Valkey in one atomic step, so all processes and transports share the limits:
either every bucket has room and each is charged, or none is. While Valkey is down each
process counts for itself by the same limits, and holds a ceiling over all callers.
"""

from __future__ import annotations

import functools
import ipaddress
import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

TIMEOUT_SECONDS = 0.5
IPV6_NETWORK = 64
"""Bits of an IPv6 address that name one customer of a provider."""

_CHARGE = """
for i, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[i]) then
    return math.max(redis.call('TTL', key), 1)
  end
end
for i, key in ipairs(KEYS) do
  if redis.call('INCR', key) == 1 then redis.call('EXPIRE', key, ARGV[#ARGV]) end
end
return 0
"""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is counted together. `name` is its key in Valkey and begins with `limit:`."""

    name: str
    limit: int


class LocalCounts:
    """What this process counts while Valkey is down. Begins anew with each window."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._window = 0
        self._counts: Counter[str] = Counter()

    def charge(self, buckets: Sequence[Bucket], window: int, now: float) -> int:
        """Seconds to wait, 0 where every bucket had room and was charged."""
        with self._lock:
            if int(now // window) != self._window:
                self._window = int(now // window)
                self._counts.clear()
            if any(self._counts[bucket.name] >= bucket.limit for bucket in buckets):
                return window - int(now % window)
            self._counts.update(bucket.name for bucket in buckets)
            return 0


_local: defaultdict[int, LocalCounts] = defaultdict(LocalCounts)
"""By the length of the window: one that begins anew leaves the others alone."""


def charge(buckets: Sequence[Bucket], window: int, *, everyone: Bucket) -> int:
    """Counts one act. Seconds to wait before trying again; 0 where every bucket had room.

    `window` is in seconds. `everyone` is the ceiling over all callers of one process,
    which holds while Valkey is down.
    """
    keys = [bucket.name for bucket in buckets]
    limits = [bucket.limit for bucket in buckets]
    try:
        return int(_script(settings.REDIS_URL)(keys=keys, args=[*limits, window]))
    except (RedisError, OSError) as error:
        logger.warning("limits_local", extra={"error": type(error).__name__})
    return _local[window].charge([*buckets, everyone], window, time.time())


def network(address: str) -> str:
    """The address as it is counted: IPv6 by its network, what is no address as itself."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    mapped = getattr(parsed, "ipv4_mapped", None)
    if parsed.version == 4 or mapped:
        return str(mapped or parsed)
    return str(ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False))


@functools.cache
def _script(url: str) -> redis.commands.core.Script:
    client = redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    return client.register_script(_CHARGE)
