"""From an answer to people: the asker's conversation goes to the support address by e-mail.

Only with the asker's consent, once for each answer, and to `SUPPORT_EMAIL` alone: what a visitor
types decides where a reply goes, never where the conversation does. The row comes first and
marks the answer; a worker sends, and sends again later what could not be sent.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django import forms
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from assistant.models import Answer, AnswerDocument, Escalation
from assistant.reference_numbers import reference_number
from helpcenter.models import SiteSettings
from helpcenter.texts import is_storable

TRIED_FOR = timedelta(days=3)
AT_ONCE = 50
SUBJECT_LENGTH = 80

logger = logging.getLogger(__name__)


class EscalationForm(forms.Form):
    """`email`, `consent`, and perhaps a `message`."""

    email = forms.EmailField(max_length=254)
    message = forms.CharField(max_length=2000, required=False)
    consent = forms.BooleanField()

    def clean_message(self) -> str:
        message: str = self.cleaned_data["message"]
        if not is_storable(message):
            raise forms.ValidationError(_("The message contains characters that are not text."))
        return message


def is_possible() -> bool:
    """Whether there is anybody to send it to."""
    return bool(settings.SUPPORT_EMAIL)


def escalate(answer: Answer, email: str, message: str) -> Escalation:
    """Marks the answer and has the conversation sent. Asked again, it changes nothing."""
    with transaction.atomic():
        escalation, is_new = Escalation.objects.get_or_create(
            answer=answer, defaults={"email": email, "message": message}
        )
        if is_new:
            transaction.on_commit(lambda: _hand_out(escalation.pk), robust=True)
    return escalation


def send(escalation_id: int) -> bool:
    """Sends one that was not sent yet. False where there is nothing to send (any more).

    The row stays locked while the server takes the message: of two workers one sends. A crash
    between the two may send it twice, never not at all.
    """
    with transaction.atomic():
        waiting = Escalation.objects.select_for_update(of=("self",)).filter(sent_at=None)
        found = waiting.select_related("answer").filter(pk=escalation_id).first()
        if found is None or not is_possible():
            return False
        _message(found).send()
        found.sent_at = timezone.now()
        found.save(update_fields=["sent_at"])
    logger.info("escalation_sent", extra={"answer_id": str(found.answer_id)})
    return True


def waiting() -> list[int]:
    """What could not be sent so far and is worth another try, the oldest first."""
    since = timezone.now() - TRIED_FOR
    unsent = Escalation.objects.filter(sent_at=None, created_at__gte=since)
    return list(unsent.order_by("created_at").values_list("pk", flat=True)[:AT_ONCE])


def _hand_out(escalation_id: int) -> None:
    # By its name: the tasks import this module.
    from helpcenter.celery import app

    try:
        app.send_task("assistant.tasks.send_escalation", args=[escalation_id])
    except OperationalError as error:
        logger.warning("escalation_waits", extra={"error": type(error).__name__})


def _message(escalation: Escalation) -> EmailMessage:
    answer = escalation.answer
    number = reference_number(answer.pk)
    question = " ".join(answer.question.split())[:SUBJECT_LENGTH]
    return EmailMessage(
        subject=f"[{number}] {question}",
        body=_body(escalation, number),
        to=[settings.SUPPORT_EMAIL],
        reply_to=[escalation.email],
    )


def _body(escalation: Escalation, number: str) -> str:
    answer = escalation.answer
    page = reverse("admin:assistant_answer_by_reference", args=[number])
    head = [
        _("Somebody still needs help after an answer of %(site)s.")
        % {"site": SiteSettings.load().name},
        "",
        f"{_('Reference number')}: {number}",
        f"{_('Reply to')}: {escalation.email}",
        f"{_('What the assistant did')}: {settings.SITE_URL}{page}",
        "",
        *([escalation.message, ""] if escalation.message else []),
        f"--- {_('The conversation so far')} ---",
    ]
    turns = Answer.objects.filter(conversation=answer.conversation_id, turn__lte=answer.turn)
    told = turns.prefetch_related("documents").order_by("turn")
    return "\n".join([*head, *(line for turn in told for line in _turn(turn))]) + "\n"


def _turn(answer: Answer) -> list[str]:
    sources = sorted(
        (document for document in answer.documents.all() if document.consulted),
        key=lambda document: document.position or 0,
    )
    return [
        "",
        f"{_('Question')}: {answer.question}",
        "",
        answer.text or _("Nothing was delivered."),
        *(["", f"{_('Sources')}:"] if sources else []),
        *(_source(document) for document in sources),
    ]


def _source(document: AnswerDocument) -> str:
    return f"[{document.number}] {document.title}" if document.number else f"- {document.title}"
