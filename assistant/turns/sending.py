"""One send, one turn: how a question becomes a row, once.

The database decides: a key is unique per owner, so of many sends of one key at once, over
any transports and processes, one makes the row and the others find it. Whatever is refused
leaves no row, and only a row that was made is counted against the limits.
"""

from __future__ import annotations

import uuid
from contextlib import nullcontext
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from articles.access import Reader, readable
from articles.models import Article
from assistant import limits
from assistant.access import Owner, get_answer, get_conversation
from assistant.models import Answer, Conversation, Origin
from assistant.questions import Ask
from assistant.refusals import Disabled, KeyReused, NotFound, Unavailable
from helpcenter import drain
from helpcenter.models import SiteSettings
from helpcenter.postgres import together

ATTEMPTS = 3
"""A send that lost to another of its key, which then was refused, tries for itself."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends, from where, and the language of their page.

    `origin`: who asks, where the rights alone do not say it; `repeats`: the answer whose
    question is asked again, in a conversation that is erased with it.
    """

    owner: Owner
    reader: Reader
    address: str = ""
    language: str = ""
    origin: Origin | None = None
    repeats: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """A row that was just made, and the settings of the site under which it was."""

    answer: Answer
    site: SiteSettings


@dataclass(frozen=True, slots=True)
class Opened:
    """The turn of a send. `made`: what this send made of it, where it was the first one; whoever
    sent has to run it then."""

    answer_id: uuid.UUID
    conversation_id: uuid.UUID
    turn: int
    made: Made | None = None


def open_turn(sender: Sender, ask: Ask) -> Opened:
    """The turn that this send names, made now where it is the first. Raises a `Refusal`."""
    for _attempt in range(ATTEMPTS):
        known = _known(sender.owner, ask)
        if known is not None:
            return _opened(known)
        site = _refuse_while_off()
        try:
            return _opened(answer := _create(sender, ask), Made(answer, site))
        except IntegrityError as error:
            if "send_key_once_per_owner" not in str(error):
                raise
    raise Unavailable


def _known(owner: Owner, ask: Ask) -> Answer | None:
    if not ask.key:
        return None
    answer = Answer.objects.filter(owner=str(owner), key=ask.key).first()
    if answer is not None and answer.question != ask.question:
        raise KeyReused
    return answer


def _refuse_while_off() -> SiteSettings:
    site = SiteSettings.load()
    if not site.assistant_enabled:
        raise Disabled(site.assistant_message or None)
    if drain.is_draining():
        raise Unavailable
    return site


@transaction.atomic
def _create(sender: Sender, ask: Ask) -> Answer:
    """The row comes first: sends of the same key wait for it. The limits may still undo it."""
    retry_of = _retried(sender.owner, ask.retry_of)
    article = _article(sender.reader, ask.article)
    wanted = ask.conversation_id or (retry_of.conversation_id if retry_of else None)
    # Both rows of a new conversation are sent at once. In one that there is already, how many
    # rows an update has found is asked after.
    with nullcontext() if wanted else together():
        conversation, turn = _place(sender, wanted)
        answer = Answer.objects.create(
            conversation=conversation,
            turn=turn,
            owner=str(sender.owner),
            key=ask.key,
            origin=sender.origin or (Origin.STAFF if sender.reader.is_staff else Origin.VISITOR),
            question=ask.question,
            language=sender.language,
            article=article,
            retry_of=retry_of,
            heartbeat_at=timezone.now(),
        )
    limits.charge(str(sender.owner), sender.address)
    return answer


def _place(sender: Sender, wanted: uuid.UUID | None) -> tuple[Conversation, int]:
    """The conversation, locked until the turn is in it, and the turn's number; a new conversation
    where none is named."""
    owner = sender.owner
    if wanted is None:
        begun = Conversation.objects.create(
            user_id=owner.user_id, visitor_id=owner.visitor_id, repeats_id=sender.repeats
        )
        return begun, 1
    try:
        own = get_conversation(owner, wanted)
        conversation = Conversation.objects.select_for_update().get(pk=own.pk)
    except Conversation.DoesNotExist:
        raise NotFound from None
    conversation.save(update_fields=["updated_at"])
    last = conversation.answers.aggregate(last=Max("turn"))["last"] or 0
    return conversation, last + 1


def _retried(owner: Owner, answer_id: uuid.UUID | None) -> Answer | None:
    if answer_id is None:
        return None
    try:
        return get_answer(owner, answer_id)
    except Answer.DoesNotExist:
        raise NotFound from None


def _article(reader: Reader, slug: str) -> Article | None:
    """The page that is asked about; none where it is gone, which stops nobody from asking."""
    if not slug:
        return None
    articles = readable(reader)
    return articles.filter(slug=slug).first() or articles.filter(old_slugs__slug=slug).first()


def _opened(answer: Answer, made: Made | None = None) -> Opened:
    return Opened(answer.pk, answer.conversation_id, answer.turn, made)
