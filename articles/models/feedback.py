"""What readers say about an article: one vote per reader and revision, changeable."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from articles.models.content import Article, ArticleRevision


class Rating(models.TextChoices):
    POSITIVE = "positive", _("helpful")
    NEGATIVE = "negative", _("not helpful")


class ArticleFeedback(models.Model):
    """A vote. `voter` is `user:<id>` or `visitor:<uuid>`; the last vote counts."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="feedback")
    revision = models.ForeignKey(ArticleRevision, on_delete=models.CASCADE, related_name="+")
    voter = models.CharField(max_length=60)
    rating = models.CharField(_("rating"), max_length=8, choices=Rating.choices)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    comment = models.TextField(_("comment"), max_length=2000, blank=True)
    updated_at = models.DateTimeField(_("when"), auto_now=True)

    class Meta:
        verbose_name = _("vote on an article")
        verbose_name_plural = _("votes on articles")
        constraints = [
            models.UniqueConstraint(fields=["revision", "voter"], name="one_vote_per_reader"),
            models.CheckConstraint(
                condition=Q(rating__in=Rating.values), name="article_rating_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.article}: {self.get_rating_display()}"
