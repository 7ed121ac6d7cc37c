"""How often articles were cited, where the answers themselves are gone."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class ErasedUsage(models.Model):
    """Of answers that were erased: how many cited an article, or anything of a category, in a
    month. Holds no text and nothing about who asked, so it stays when they are erased.

    `key` is the article's or the category's id as it was; `title` what it was called.
    """

    class Kind(models.TextChoices):
        ARTICLE = "article", _("article")
        CATEGORY = "category", _("category")

    month = models.DateField(_("month"), help_text="Its first day.")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    key = models.CharField(max_length=40)
    title = models.CharField(max_length=250)
    answers = models.PositiveIntegerField(_("answers"), default=0)

    class Meta:
        verbose_name = _("count of erased answers")
        verbose_name_plural = _("counts of erased answers")
        ordering = ["month", "kind", "key"]
        default_permissions = ()
        permissions = [("view_usage", "Can see how often articles were cited")]
        constraints = [
            models.UniqueConstraint(fields=["month", "kind", "key"], name="erased_usage_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["article", "category"]), name="erased_usage_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month} {self.title}"
