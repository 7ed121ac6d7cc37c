"""The web server, which kills itself in the moment in which it has committed a certain question.

Run by a test as `python -m tests.web_that_dies`: nobody outside could kill it so exactly.
"""

from __future__ import annotations

import os
import signal

from helpcenter import web

LAST_QUESTION = "What is the last thing that you hear?"


def _arm() -> None:
    """Django is set up by now, and nothing is served yet."""
    from assistant import chat
    from assistant.questions import Ask
    from assistant.turns.sending import Opened, Sender, open_turn

    def commit_and_die(sender: Sender, ask: Ask) -> Opened:
        opened = open_turn(sender, ask)
        if ask.question == LAST_QUESTION:
            os.kill(os.getpid(), signal.SIGKILL)
        return opened

    chat.open_turn = commit_and_die  # type: ignore[attr-defined]
    _use_connection_pool()


_use_connection_pool = web.use_connection_pool

if __name__ == "__main__":
    web.use_connection_pool = _arm
    web.main()
