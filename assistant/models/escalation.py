"""An answer that did not help, handed to people."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from assistant.models.conversation import Answer


class Escalation(models.Model):
    """The asker wants help from people, and agreed that they read the conversation.

    `email` is where to reply. It goes when the conversation is erased.
    """

    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="escalation")
    email = models.EmailField(_("reply to"))
    message = models.TextField(_("message"), max_length=2000, blank=True)
    created_at = models.DateTimeField(_("when"), auto_now_add=True)
    sent_at = models.DateTimeField(_("sent to support"), null=True, blank=True)

    class Meta:
        verbose_name = _("request for help")
        verbose_name_plural = _("requests for help")
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(sent_at__isnull=True),
                name="escalation_waiting",
            )
        ]

    def __str__(self) -> str:
        return str(self.answer_id)
