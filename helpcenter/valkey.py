"""Valkey for code on a thread: one attempt of half a second, then the caller does without it."""

from __future__ import annotations

import functools

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

TIMEOUT_SECONDS = 0.5

UNREACHABLE = (RedisError, OSError)
"""What a call raises where Valkey is down, frozen, loading or full."""


@functools.cache
def client(url: str) -> redis.Redis:
    return redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
    )
