"""The last minutes of a server process: nothing new is begun, and what lives may finish.

Whoever starts a task that outlives its request (a turn of the assistant) registers it here with
`track`, and refuses to start one while `is_draining()`. The web server's launcher begins the drain
on the first SIGTERM and waits for the tasks before it closes the connections.

All of this belongs to the one event loop of the process.
"""

import asyncio
from typing import Any

_tasks: set[asyncio.Task[Any]] = set()
_draining = asyncio.Event()


def begin() -> None:
    """From now on nothing new is begun. Idempotent; there is no way back."""
    _draining.set()


def is_draining() -> bool:
    return _draining.is_set()


def track(task: asyncio.Task[Any]) -> None:
    """Let the process wait for this task when it drains. A finished task is forgotten."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def wait(seconds: float) -> int:
    """Wait for the tracked tasks, those too that they start. Returns how many are still alive."""
    deadline = asyncio.get_running_loop().time() + seconds
    while _tasks and (left := deadline - asyncio.get_running_loop().time()) > 0:
        await asyncio.wait(set(_tasks), timeout=left)
    return len(_tasks)
