"""Who among the staff looked at which conversation. Written once, changed by nobody.

No foreign keys: a record outlives the account and the conversation it names, and holds no
text of either. The database itself refuses changes (migration `access_log_is_fixed`), and
there are no permissions to change or delete.
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class AccessRecord(models.Model):
    """One look. `count` is the number of answers that a list or an export held."""

    class Action(models.TextChoices):
        LISTED = "listed", _("saw a list")
        VIEWED = "viewed", _("opened")
        EXPORTED = "exported", _("exported")

    at = models.DateTimeField(_("when"), auto_now_add=True, db_index=True)
    user_id = models.BigIntegerField(_("account's id"))
    username = models.CharField(_("who"), max_length=150)
    action = models.CharField(_("what"), max_length=10, choices=Action.choices)
    conversation_id = models.UUIDField(_("conversation"), null=True, db_index=True)
    answer_id = models.UUIDField(_("answer"), null=True)
    count = models.PositiveIntegerField(_("answers"), default=1)
    detail = models.CharField(_("page"), max_length=60, blank=True)

    class Meta:
        verbose_name = _("access log entry")
        verbose_name_plural = _("access log entries")
        ordering = ["-at", "-pk"]
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(action__in=["listed", "viewed", "exported"]),
                name="access_record_action_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.username} {self.get_action_display()}"
