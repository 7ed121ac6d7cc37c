"""How often something may be done in a window of time: counted per bucket, by every process.

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
from collections.abc import Sequence
from dataclasses import dataclass

import redis
from django.conf import settings

from helpcenter.valkey import UNREACHABLE, client

IPV6_NETWORK = 64
"""Bits of an IPv6 address that name one customer of a provider."""

CLEAN_SECONDS = 60
"""How often windows that are over are forgotten, where this process counts by itself."""

_CHARGE = """
local n = #KEYS
for i, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[i]) then
    return {i, math.max(redis.call('TTL', key), 1)}
  end
end
local reply = {0}
for i, key in ipairs(KEYS) do
  local seconds, amount = ARGV[n + i], tonumber(ARGV[2 * n + i])
  local count = redis.call('INCRBY', key, amount)
  if redis.call('TTL', key) < 0 then redis.call('EXPIRE', key, seconds) end
  reply[i + 1] = count
end
return reply
"""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is counted together. `name` is its key in Valkey and begins with `limit:`.

    `seconds`: its window, where it is another one than the charge's. `amount`: what one act
    counts; 0 looks only whether there is room.
    """

    name: str
    limit: int
    seconds: int | None = None
    amount: int = 1


@dataclass(frozen=True, slots=True)
class Charge:
    """What came of it: `counts` of the buckets where each had room, or how many seconds there is
    to `wait` for the one that had none, `full`."""

    counts: tuple[int, ...] = ()
    wait: int = 0
    full: Bucket | None = None


class LocalCounts:
    """What this process counts while Valkey is down: by name, the window's end and the count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[float, int]] = {}
        self._clean_at = 0.0

    def charge(self, buckets: Sequence[Bucket], window: int, now: float) -> Charge:
        with self._lock:
            if now >= self._clean_at:
                self._clean_at = now + CLEAN_SECONDS
                self._counts = {name: one for name, one in self._counts.items() if one[0] > now}
            found = [self._found(bucket, window, now) for bucket in buckets]
            for bucket, (ends, count) in zip(buckets, found, strict=True):
                if count >= bucket.limit:
                    return Charge(wait=max(1, int(ends - now)), full=bucket)
            for bucket, (ends, count) in zip(buckets, found, strict=True):
                self._counts[bucket.name] = (ends, count + bucket.amount)
            return Charge(tuple(self._counts[bucket.name][1] for bucket in buckets))

    def clear(self) -> None:
        with self._lock:
            self._counts.clear()
            self._clean_at = 0.0

    def _found(self, bucket: Bucket, window: int, now: float) -> tuple[float, int]:
        ends, count = self._counts.get(bucket.name, (0.0, 0))
        return (ends, count) if ends > now else (now + (bucket.seconds or window), 0)


_local = LocalCounts()


def charge(buckets: Sequence[Bucket], window: int, *, everyone: Bucket | None = None) -> Charge:
    """Counts one act. A window, in seconds, begins with the first act that is counted in it.

    `everyone` is the ceiling over all callers of one process, which holds while Valkey is down.
    """
    arguments = [
        *(bucket.limit for bucket in buckets),
        *(bucket.seconds or window for bucket in buckets),
        *(bucket.amount for bucket in buckets),
    ]
    try:
        reply = _script(settings.REDIS_URL)(
            keys=[bucket.name for bucket in buckets], args=arguments
        )
    except UNREACHABLE as error:
        logger.warning("limits_local", extra={"error": type(error).__name__})
        return _local.charge([*buckets, *([everyone] if everyone else [])], window, time.time())
    full, *numbers = map(int, reply)
    return Charge(wait=numbers[0], full=buckets[full - 1]) if full else Charge(tuple(numbers))


def counted(name: str) -> int:
    """What a bucket has counted. Raises what `valkey.UNREACHABLE` names."""
    return int(client(settings.REDIS_URL).get(name) or 0)


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
    return client(url).register_script(_CHARGE)
