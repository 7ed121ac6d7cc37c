"""Where the live text of an article leads on this site: derived, like the index."""

from __future__ import annotations

from django.db import models

from articles.models.content import Article


class ArticleLink(models.Model):
    """A link or a picture in an article's live revision, written by `articles.writing.links`.

    `slug` is of the article it names, whether or not there is one; empty for other pages.
    """

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="links")
    address = models.CharField(max_length=500)
    path = models.CharField(max_length=500, db_index=True)
    slug = models.CharField(max_length=500, blank=True, db_index=True)
    anchor = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return self.address
