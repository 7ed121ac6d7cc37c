"""What was done to several articles at once, for as long as it can be undone."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from articles.models.content import Article


class BulkChange(models.Model):
    """One use of a bulk action by one person. `label` is what was said about it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    label = models.CharField(max_length=200)
    made_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return self.label


class BulkChangeItem(models.Model):
    """One article of it: where it stood before and after, as `articles.writing.undo` writes it."""

    change = models.ForeignKey(BulkChange, on_delete=models.CASCADE, related_name="items")
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="+")
    before = models.JSONField()
    after = models.JSONField()

    def __str__(self) -> str:
        return f"{self.change_id}: {self.article_id}"
