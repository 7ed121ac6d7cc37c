"""Two web processes with a Valkey and a provider of their own, each of which can fail.

A process that is killed or told to end is replaced at once, as whoever runs a site does it. All
of this starts processes, and so belongs to the main thread: what a thread has started ends with it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import redis

from helpcenter.embedded.valkey import Valkey
from tests.processes import WebProcess, wait_until
from tests.scripted_provider import ScriptedProvider
from tests.site_visitors import until


class Cluster:
    """`webs`: the two that serve, or are about to."""

    def __init__(self, provider: ScriptedProvider, valkey_url: str, reaper_seconds: int) -> None:
        self.provider = provider
        self.valkey_url = valkey_url
        self.valkey_up_since = 0.0
        self._variables = {
            "REDIS_URL": valkey_url,
            "OPENAI_BASE_URL": provider.url,
            "ASSISTANT_MODEL": "scripted",
            "ASSISTANT_REAPER_SECONDS": str(reaper_seconds),
            "ASSISTANT_CIRCUIT_SECONDS": "1",
            "ASSISTANT_TURNS_PER_VISITOR": "100000",
            "ASSISTANT_TURNS_PER_ADDRESS": "100000",
        }
        self._leaving: list[WebProcess] = []
        self._gone: list[WebProcess] = []
        self._valkey_pid = _pid_of(valkey_url)
        self._is_frozen = False
        self.webs = [self._started() for _ in range(2)]

    @classmethod
    @contextmanager
    def running(cls, reaper_seconds: int) -> Iterator[Self]:
        """It serves inside."""
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="helpcenter-data-"))
            valkey = stack.enter_context(Valkey(Path(folder)))
            provider = stack.enter_context(ScriptedProvider())
            provider.forgives_leaving = provider.forgives_unused = True
            cluster = cls(provider, valkey.url, reaper_seconds)
            stack.callback(cluster._end)
            for web in cluster.webs:
                wait_until(web.is_up, "a web server")
            yield cluster

    # What goes wrong

    def kill(self, web: WebProcess) -> None:
        web.child.kill()
        self._replace(web)

    async def tell_to_end(self, web: WebProcess) -> None:
        """One that has not begun to serve just goes; any other has to end in good order."""
        if await asyncio.to_thread(web.is_up):
            self._leaving.append(web)
        else:
            self._gone.append(web)
        web.child.signal(signal.SIGTERM)
        self._replace(web)

    def freeze_valkey(self) -> None:
        os.kill(self._valkey_pid, signal.SIGSTOP)
        self._is_frozen = True

    def thaw_valkey(self) -> None:
        os.kill(self._valkey_pid, signal.SIGCONT)
        if self._is_frozen:
            self._is_frozen = False
            self.valkey_up_since = time.monotonic()

    def valkey_was_away(self, seconds: float) -> bool:
        """Whether it is, or was within the last seconds."""
        return self._is_frozen or time.monotonic() - self.valkey_up_since < seconds

    # What comes after it

    async def a_site(self, place: int = 0) -> str:
        """The address of a process that serves: the one at this place, or else the other one."""
        while True:
            for number in range(len(self.webs)):
                web = self.webs[(place + number) % len(self.webs)]
                if await asyncio.to_thread(web.is_up):
                    return web.url
            await asyncio.sleep(0.1)

    async def is_whole_again(self) -> None:
        """Waits for those that were started, and for the end of those that were told to end."""
        for web in self.webs:

            async def is_up(web: WebProcess = web) -> bool:
                return await asyncio.to_thread(web.is_up)

            await until(is_up, "a web server")
        for web in self._leaving:

            async def has_ended(web: WebProcess = web) -> bool:
                return web.child.exit_status() is not None

            await until(has_ended, "the end of a web server that was told to end")
            assert web.child.exit_status() == 0
        self._leaving = []

    def _replace(self, web: WebProcess) -> None:
        self.webs[self.webs.index(web)] = self._started()

    def _started(self) -> WebProcess:
        web = WebProcess(**self._variables)
        web.child.start()
        return web

    def _end(self) -> None:
        self.thaw_valkey()
        for web in [*self.webs, *self._leaving, *self._gone]:
            web.child.end()


def _pid_of(valkey_url: str) -> int:
    with redis.Redis.from_url(valkey_url) as client:
        return int(client.info("server")["process_id"])
