"""What was searched for, and which results were opened. Nothing here says by whom.

No person, address or session is stored, the text is masked, and times are whole hours.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from articles.models.content import Article

QUERY_LENGTH = 400


class SearchQuery(models.Model):
    """A search of the site, with what it found. `strong` of its `results` were above the floor."""

    searched_at = models.DateTimeField(_("hour"))
    text = models.CharField(_("searched for"), max_length=QUERY_LENGTH)
    language = models.CharField(_("language"), max_length=12)
    results = models.PositiveSmallIntegerField(_("results"))
    strong = models.PositiveSmallIntegerField(_("good results"))
    mode = models.CharField(_("searched by"), max_length=8)
    fallback_reason = models.CharField(_("not by everything, because"), max_length=24, blank=True)
    suggestion = models.CharField(_("suggested instead"), max_length=QUERY_LENGTH, blank=True)
    by_staff = models.BooleanField(_("by staff"), default=False)

    class Meta:
        verbose_name = _("search")
        verbose_name_plural = _("searches")
        ordering = ["-searched_at", "-pk"]
        indexes = [
            models.Index(fields=["searched_at"], name="search_hour"),
            models.Index(fields=["text"], name="search_text"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(strong__lte=F("results")), name="strong_is_found"),
        ]

    def __str__(self) -> str:
        return self.text


class SearchClick(models.Model):
    """An article that was opened from a search. `title` is what it was called then."""

    search = models.ForeignKey(SearchQuery, on_delete=models.CASCADE, related_name="clicks")
    article = models.ForeignKey(
        Article, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("article")
    )
    title = models.CharField(_("title"), max_length=250)
    position = models.PositiveSmallIntegerField(_("place"))
    """Among the results, from 1."""

    class Meta:
        verbose_name = _("opened result")
        verbose_name_plural = _("opened results")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["search", "article"], name="opened_once_per_search"),
        ]

    def __str__(self) -> str:
        return self.title
