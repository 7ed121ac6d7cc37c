"""Django's back end for PostgreSQL, for processes that must not wait for ever: the `ENGINE`.

`base` is where Django looks for it, `pulse` knows whether the server answers. In
commands it is Django's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import InterfaceError, OperationalError, connection

DATABASE_DOWN = (OperationalError, InterfaceError)
"""What is raised where the database is down, full, or has ended the connection."""


@contextmanager
def together() -> Iterator[None]:
    """Inserts inside are sent without waiting for one another's result. What is wrong with one of
    them is raised at the end. Not for statements whose rows are counted: there is no count yet."""
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield
