"""The web server: uvicorn under a launcher that owns SIGTERM. `python -m helpcenter.web`.

uvicorn by itself closes its listeners first and knows nothing of the assistant's turns. Here the
first SIGTERM (or Ctrl-C) begins the drain: /readyz says so, new turns are refused, live ones may
finish. Then uvicorn closes. A second signal closes at once.
"""

import asyncio
import gc
import logging
import os
import sys
from types import FrameType
from typing import Any

import django
import uvicorn
from django.conf import settings
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries

from helpcenter import drain
from helpcenter.connections import IMPATIENT_BROKER
from helpcenter.postgres.base import RECONNECT_SECONDS, WatchedConnection
from helpcenter.proxies import Proxies, ProxyHeaders
from helpcenter.request_ids import Application, RequestIds
from helpcenter.sizes import BoundedBodies, BoundedHttp

logger = logging.getLogger("helpcenter.web")  # it runs as __main__

# A turn that is alive when the drain begins may use all of its time, and store its answer.
STORE_SECONDS = 10
CLOSE_SECONDS = 5
MAX_FRAME_BYTES = 64 * 1024

GARBAGE_THRESHOLDS = (10_000, 20, 20)
"""Python's own first one is 700: hundreds of live answers reach it many times a second, and each
time what they all hold is looked through in vain."""


class Server(uvicorn.Server):
    _loop: asyncio.AbstractEventLoop
    _drain: asyncio.Task[None] | None = None

    async def startup(self, sockets: Any = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        # What is there by now stays: looking through it for garbage again and again, some 150,000
        # objects each time, was paid for by every streamed word.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        logger.info("web_started", extra={"host": self.config.host, "port": self.config.port})

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if drain.is_draining():
            self.should_exit = True
            self.force_exit = True
        else:
            drain.begin()
            self._loop.call_soon_threadsafe(self._begin_drain)

    def _begin_drain(self) -> None:
        self._drain = self._loop.create_task(self._wait_and_exit())

    async def _wait_and_exit(self) -> None:
        logger.info("drain_started")
        left = await drain.wait(settings.ASSISTANT_TURN_SECONDS + STORE_SECONDS)
        logger.info("drain_finished", extra={"tasks_left": left})
        self.should_exit = True


def use_connection_pool() -> None:
    """Pool the database's connections. Only here: a pool does not survive a worker's fork. Each
    is asked whether it lives before it is handed out: PostgreSQL may have ended it since."""
    settings.DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    settings.DATABASES["default"]["OPTIONS"]["pool"] = {
        "connection_class": WatchedConnection,
        "min_size": 1,
        "max_size": settings.DATABASE_POOL_SIZE,
        "reconnect_timeout": RECONNECT_SECONDS,
    }


def hand_out_impatiently() -> None:
    """Whoever publishes an article does not wait half a minute for a Valkey that is frozen."""
    settings.CELERY_BROKER_TRANSPORT_OPTIONS.update(IMPATIENT_BROKER)


def spare_threads() -> None:
    """Middleware that waits for nothing gets none. And nothing has to be done when a request
    begins: each that needs a thread has one of its own, on which nothing is left of another."""
    from helpcenter.middleware import at_once

    settings.MIDDLEWARE = at_once(settings.MIDDLEWARE)
    request_started.disconnect(reset_queries)
    request_started.disconnect(close_old_connections)


def application() -> Application:
    """The site. The request's id comes first: it depends on who is at the connection's other
    end, and what follows puts the visitor's address in that place."""
    from helpcenter import asgi

    asgi.load_model()
    site: Any = BoundedBodies(asgi.application)
    proxies = Proxies(settings.TRUSTED_PROXIES)
    return RequestIds(ProxyHeaders(site, proxies), proxies)


def config() -> uvicorn.Config:
    return uvicorn.Config(
        application(),
        host=settings.HOST,
        port=settings.PORT,
        http=BoundedHttp,
        lifespan="off",
        ws_per_message_deflate=False,
        ws_max_size=MAX_FRAME_BYTES,
        ws_ping_interval=15,
        ws_ping_timeout=30,
        proxy_headers=False,  # see `application`
        server_header=False,
        # A request's URL may hold what somebody searched for.
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")
    django.setup(set_prefix=False)
    use_connection_pool()
    hand_out_impatiently()
    spare_threads()
    server = Server(config())
    server.run()
    sys.exit(0 if server.started else 1)


if __name__ == "__main__":
    main()
