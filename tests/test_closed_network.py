"""Tests reach nothing outside this machine."""

import asyncio
import socket
from urllib.request import urlopen

import pytest

OUTSIDE = ("203.0.113.1", 80)


def test_a_connection_to_the_outside_fails_the_test() -> None:
    with socket.socket() as sock, pytest.raises(pytest.fail.Exception, match=r"203\.0\.113\.1"):
        sock.connect(OUTSIDE)
    with socket.socket() as sock, pytest.raises(pytest.fail.Exception, match=r"203\.0\.113\.1"):
        sock.connect_ex(OUTSIDE)


def test_libraries_and_event_loops_are_held_too() -> None:
    with pytest.raises(pytest.fail.Exception):
        urlopen(f"http://{OUTSIDE[0]}/", timeout=1)
    with pytest.raises(pytest.fail.Exception):
        asyncio.run(connect())


async def connect() -> None:
    await asyncio.open_connection(*OUTSIDE)


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(listener.getsockname()).close()
