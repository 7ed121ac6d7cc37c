#!/usr/bin/env python
"""The command line. Every command works with nothing else started: where no server is
configured, the embedded ones run for as long as the command does."""

import os
import signal
import sys
from types import FrameType

# Commands that never ask the database or Valkey anything.
WITHOUT_SERVERS = frozenset(
    {"help", "version", "--help", "-h", "--version", "makemessages", "compilemessages"}
)


def main(argv: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")
    signal.signal(signal.SIGTERM, _leave)
    from django.core.management import execute_from_command_line

    from helpcenter.embedded import configured_servers

    if len(argv) < 2 or argv[1] in WITHOUT_SERVERS:
        execute_from_command_line(argv)
        return
    with configured_servers():
        execute_from_command_line(argv)


def _leave(signum: int, frame: FrameType | None) -> None:
    """End as by an exception, so that the embedded servers are given back."""
    sys.exit(128 + signum)


if __name__ == "__main__":
    main(sys.argv)
