"""What was learned of the endpoints that models stand behind."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class ToolsRefusal(models.Model):
    """A model that was given tools and whose endpoint refused them.

    While the row is there the model answers from one search; deleting it is trying again.
    """

    provider = models.CharField(_("provider"), max_length=40, help_text="The endpoint's host.")
    model = models.CharField(_("model"), max_length=120)
    since = models.DateTimeField(_("since"), auto_now_add=True)

    class Meta:
        verbose_name = _("model without tools")
        verbose_name_plural = _("models without tools")
        ordering = ["provider", "model"]
        constraints = [
            models.UniqueConstraint(fields=["provider", "model"], name="refusal_once_per_model"),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.provider})"
