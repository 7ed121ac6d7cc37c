"""The asker's vote on an answer: what may be sent, and how it is stored. The last one counts."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db import models
from django.utils.translation import gettext_lazy as _

from articles.feedback import FeedbackForm
from assistant.models import Answer, AnswerFeedback


class Reason(models.TextChoices):
    """Why an answer did not help, as the page offers it."""

    WRONG = "wrong", _("It is wrong")
    INCOMPLETE = "incomplete", _("Something is missing")
    OFF_TOPIC = "off_topic", _("It answers another question")
    UNCLEAR = "unclear", _("It is hard to follow")


class AnswerFeedbackForm(FeedbackForm):
    """`rating`, and for a negative one `reason` and `comment`, both optional."""

    reason = forms.ChoiceField(choices=Reason.choices, required=False)


def record(answer: Answer, vote: dict[str, Any]) -> AnswerFeedback:
    """Stores a vote that `AnswerFeedbackForm` cleaned."""
    feedback, _created = AnswerFeedback.objects.update_or_create(answer=answer, defaults=vote)
    return feedback
