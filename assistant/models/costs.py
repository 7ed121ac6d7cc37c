"""The bill: answers, looked at by day and model."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from assistant.models.conversation import Answer


class CostReport(Answer):
    """No table of its own, but a permission: to see sums, and no question."""

    class Meta:
        proxy = True
        verbose_name = _("cost and budgets")
        verbose_name_plural = _("cost and budgets")
