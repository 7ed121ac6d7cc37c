"""What colleagues think of an answer. Beside the answer, never in it: what was told stays."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from articles.models import Article
from assistant.models.conversation import Answer


class AnswerReview(models.Model):
    """A colleague's verdict on an answer, or whom it waits for. The last verdict counts.

    `article` is the one that should have answered, where it was another or none.
    """

    class Verdict(models.TextChoices):
        RIGHT = "right", _("right")
        PARTLY = "partly", _("partly right")
        WRONG = "wrong", _("wrong")
        DECLINE = "decline", _("should not answer")

    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="review")
    verdict = models.CharField(_("verdict"), max_length=8, choices=Verdict.choices, blank=True)
    note = models.TextField(_("note"), max_length=4000, blank=True)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("assignee"),
    )
    article = models.ForeignKey(
        Article,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("article that should have answered"),
    )
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("reviewed by"),
    )
    updated_at = models.DateTimeField(_("when"), auto_now=True)

    class Meta:
        verbose_name = _("review of an answer")
        verbose_name_plural = _("reviews of answers")
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict__in=["", "right", "partly", "wrong", "decline"]),
                name="review_verdict_known",
            ),
        ]

    def __str__(self) -> str:
        return self.get_verdict_display() or str(_("not reviewed yet"))
