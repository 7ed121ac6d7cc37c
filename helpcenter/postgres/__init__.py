"""Django's back end for PostgreSQL, for processes that must not wait for ever: the `ENGINE`.

`base` is where Django looks for it, `pulse` knows whether the server answers. Without a pool, in
workers and commands, it is Django's own.
"""

from django.db import InterfaceError, OperationalError

DATABASE_DOWN = (OperationalError, InterfaceError)
"""What is raised where the database is down, full, or has ended the connection."""
