"""References: the number by which a model cites a document, the same for a whole conversation.

The database gives them out, so that turns that run at the same time in one conversation
agree: a document has one reference, a reference is one document's, and no reference is
ever given a second time, not even after the document is gone.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Max

from assistant.models import Conversation, ConversationReference


def references_of(conversation_id: uuid.UUID) -> dict[str, int]:
    """Every reference given out so far, by document id."""
    given = ConversationReference.objects.filter(conversation=conversation_id)
    return dict(given.values_list("document_id", "ref"))


@transaction.atomic
def give_references(conversation_id: uuid.UUID, document_ids: Iterable[str]) -> dict[str, int]:
    """The references of these documents: those they have, and the next ones for the others.

    Turns of a conversation wait here for each other. `IntegrityError` where the
    conversation was erased.
    """
    Conversation.objects.select_for_update(no_key=True).filter(pk=conversation_id).first()
    given = ConversationReference.objects.filter(conversation=conversation_id)
    wanted = list(dict.fromkeys(document_ids))
    known = dict(given.filter(document_id__in=wanted).values_list("document_id", "ref"))
    last = given.aggregate(last=Max("ref"))["last"] or 0
    new = [document_id for document_id in wanted if document_id not in known]
    fresh = {document_id: last + place for place, document_id in enumerate(new, start=1)}
    ConversationReference.objects.bulk_create(
        ConversationReference(conversation_id=conversation_id, document_id=document_id, ref=ref)
        for document_id, ref in fresh.items()
    )
    return known | fresh
