#!/usr/bin/env python
"""The command line. Every command works with nothing else started: where no server is
configured, the embedded ones run for as long as the command does."""

import os
import signal
import sys
from types import FrameType

# Commands that ask neither the database nor Valkey anything, or start what they need themselves.
WITHOUT_SERVERS = frozenset(
    {"help", "version", "makemessages", "compilemessages", "upgrade_database"}
    | {"--help", "-h", "--version"}
)


def main(argv: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "helpcenter.settings")
    _leave_in_order()
    from django.core.management import execute_from_command_line

    from helpcenter.embedded import configured_servers

    if len(argv) < 2 or argv[1] in WITHOUT_SERVERS:
        execute_from_command_line(argv)
        return
    with configured_servers():
        execute_from_command_line(argv)


def _leave_in_order() -> None:
    """Let a signal end the command as an exception does: the embedded servers are given back."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    main(sys.argv)
