"""Asking a visitor's question again: on today's articles, by the asker's rights, outside their
conversation.

The turn is a colleague's (`origin` staff), in a conversation that is erased together with
the answer it repeats, and that no list of the colleague's own conversations shows. What was
said before the question is not repeated.
"""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from articles.access import ANONYMOUS, Reader
from assistant import chat
from assistant.access import Owner
from assistant.models import Answer, Origin
from assistant.questions import Ask
from assistant.turns.sending import Opened, Sender


def reader_of(answer: Answer) -> Reader:
    """What the asker may read now: a visitor as anybody, an account by its present rights."""
    user = answer.conversation.user
    return Reader.of(user) if user else ANONYMOUS


def ask_again(answer: Answer, colleague: User, latest: Answer | None = None) -> Opened:
    """Begins the turn and returns; it runs on in this process. Raises a `Refusal`.

    `latest` is the last repetition that the colleague had seen: pressed twice at the same moment,
    the second press joins the first one's turn.
    """
    key = f"again:{answer.pk.hex}:{latest.pk.hex if latest else ''}"
    sender = Sender(
        owner=Owner(user_id=colleague.pk),
        reader=reader_of(answer),
        language=answer.language,
        origin=Origin.STAFF,
        repeats=answer.pk,
    )
    page = answer.article.slug if answer.article else ""
    return async_to_sync(chat.ask)(sender, Ask(answer.question, key=key, article=page))
