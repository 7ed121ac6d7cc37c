"""When an endpoint is left alone for a while: five failures in a row open its circuit.

While it is open, a call fails at once: the visitor is told soon, or another model answers.
After some seconds one call is let through, to look. If the endpoint answers it, the circuit
closes; if not, it stays open as long again. Valkey has the state, a key for each endpoint, so
all processes share it; while Valkey is down, each process keeps one of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from assistant.agent import ProviderError
from assistant.metrics import CIRCUITS_OPENED
from assistant.providers.refusals import ToolsRefusedError
from helpcenter.valkey import UNREACHABLE, client

FAILURES = 5
LOOK_SECONDS = 20.0
"""How long the one call that looks keeps the others waiting, if it ends without a word."""

KEPT_SECONDS = 3600
"""Failures longer ago than this are not in a row with the next one."""

QUIET_SECONDS = 1.0
"""For so long after all was well a process does not ask again what others have seen."""

LOCAL_SECONDS = 5.0
"""How long Valkey is not asked again after it did not answer."""

Verb = Literal["admit", "fail", "succeed", "abandon", "look"]
Reply = tuple[int, int]
"""Failures in a row, and milliseconds for which nobody may call; -1 for the call that looks."""

_FAILED = frozenset({"unavailable", "timeout", "rate_limited", "misconfigured"})
"""What says that the endpoint does not work. Other errors are answers: it does."""

_SCRIPT = """
local key, verb = KEYS[1], ARGV[1]
local open_for, look_for, most, kept = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if verb == 'succeed' then
  redis.call('DEL', key)
  return {0, 0}
end
local failures = tonumber(redis.call('HGET', key, 'failures') or '0')
if verb == 'fail' then
  failures = redis.call('HINCRBY', key, 'failures', 1)
  if failures >= most then redis.call('HSET', key, 'again', now + open_for) end
  redis.call('EXPIRE', key, kept)
end
if failures < most then return {failures, 0} end
local wait = math.max(redis.call('HGET', key, 'again') - now, 0)
if verb == 'abandon' then
  redis.call('HSET', key, 'again', now)
elseif verb == 'admit' and wait == 0 then
  redis.call('HSET', key, 'again', now + look_for)
  return {failures, -1}
end
return {failures, wait}
"""

logger = logging.getLogger(__name__)


class CircuitOpenError(ProviderError):
    """The endpoint was not asked."""

    def __init__(self, seconds: float) -> None:
        super().__init__("unavailable", "circuit open", retry_after=seconds)


@dataclass(frozen=True, slots=True)
class State:
    """`seconds`: for how long an open circuit stays so, 0 where the next call looks."""

    failures: int
    seconds: float

    @property
    def is_open(self) -> bool:
        return self.failures >= FAILURES


class Circuit:
    """Of one model behind one endpoint. It opens for `seconds`."""

    def __init__(self, endpoint: str, model: str, seconds: float) -> None:
        name = hashlib.sha256(f"{endpoint} {model}".encode()).hexdigest()[:16]
        self._key = f"circuit:{name}"
        self._model = model
        self._seconds = seconds
        self._local = _Local()
        self._local_until = 0.0
        self._failures = 0  # as this process heard last
        self._quiet_until = 0.0

    def look_ahead(self) -> None:
        """Asks, from a thread, what others have seen, so that a call in the next moment need not
        wait for that."""
        if time.monotonic() >= self._quiet_until - QUIET_SECONDS / 2:
            self._tell("look")

    @asynccontextmanager
    async def attempt(self) -> AsyncGenerator[None, None]:
        """Around one call. Raises `CircuitOpenError` where it must not be made. A call that its
        caller breaks off says nothing of the endpoint."""
        wait = 0
        if time.monotonic() >= self._quiet_until:
            _failures, wait = await asyncio.to_thread(self._tell, "admit")
        if wait > 0:
            raise CircuitOpenError(wait / 1000)
        try:
            yield
        except ProviderError as error:
            await self._failed(error, looked=wait < 0)
            raise
        except BaseException:
            if wait < 0:
                await asyncio.to_thread(self._tell, "abandon")
            raise
        await self._succeeded()

    def state(self) -> State:
        failures, wait = self._tell("look")
        return State(failures, max(wait, 0) / 1000)

    async def _failed(self, error: ProviderError, *, looked: bool) -> None:
        if error.code not in _FAILED or isinstance(error, ToolsRefusedError):
            await self._succeeded()
            return
        failures, _wait = await asyncio.to_thread(self._tell, "fail")
        if failures == FAILURES or (looked and failures > FAILURES):
            CIRCUITS_OPENED.inc()
            extra = {"model": self._model, "failures": failures, "seconds": self._seconds}
            logger.error("provider_circuit_opened", extra=extra)

    async def _succeeded(self) -> None:
        """Where nobody has failed there is nothing to tell."""
        if self._failures:
            await asyncio.to_thread(self._tell, "succeed")

    def _tell(self, verb: Verb) -> Reply:
        reply = self._reply(verb)
        self._failures, _wait = reply
        self._quiet_until = 0.0 if self._failures else time.monotonic() + QUIET_SECONDS
        return reply

    def _reply(self, verb: Verb) -> Reply:
        if time.monotonic() >= self._local_until:
            try:
                return self._ask_valkey(verb)
            except UNREACHABLE as error:
                self._local_until = time.monotonic() + LOCAL_SECONDS
                logger.warning("circuit_local", extra={"error": type(error).__name__})
        return self._local.tell(verb, self._seconds)

    def _ask_valkey(self, verb: Verb) -> Reply:
        times = (round(self._seconds * 1000), round(LOOK_SECONDS * 1000))
        failures, wait = client(settings.REDIS_URL).eval(
            _SCRIPT, 1, self._key, verb, *times, FAILURES, KEPT_SECONDS
        )
        return int(failures), int(wait)


class _Local:
    """The same for one process. `_again`: when the next call may look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._again = 0.0

    def tell(self, verb: Verb, seconds: float) -> Reply:
        with self._lock:
            now = time.monotonic()
            if verb == "succeed":
                self._failures = 0
            elif verb == "fail":
                self._failures += 1
                self._again = now + seconds
            elif verb == "abandon":
                self._again = now
            if self._failures < FAILURES:
                return self._failures, 0
            wait = max(round((self._again - now) * 1000), 0)
            if verb == "admit" and wait == 0:
                self._again = now + LOOK_SECONDS
                return self._failures, -1
            return self._failures, wait
