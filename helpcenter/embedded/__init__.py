"""Real servers for a machine that has none: PostgreSQL and Valkey in the data folder.

They run where `DATABASE_URL` or `REDIS_URL` is `embedded`, for as long as any process needs them;
`configured_servers` is how a process says that it does. Other programs reach them by URL.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from django.conf import settings

from helpcenter.embedded.postgres import Postgres
from helpcenter.embedded.shared import SharedServer
from helpcenter.embedded.valkey import Valkey


@contextmanager
def configured_servers() -> Iterator[list[SharedServer]]:
    """Inside, the servers that the settings want embedded run. Empty where both are external."""
    servers: list[SharedServer] = []
    if settings.DATABASE_IS_EMBEDDED:
        servers.append(Postgres(settings.DATA_DIR))
    if settings.REDIS_IS_EMBEDDED:
        servers.append(Valkey(settings.DATA_DIR))
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(server)
        yield servers
