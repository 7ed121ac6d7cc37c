"""The words that a misspelt one may have meant. Derived by `articles.ranking.spelling`."""

from __future__ import annotations

from django.db import models

LONGEST_WORD = 40


class KnownWord(models.Model):
    """A word of articles that everyone may read, as it is mostly written there.

    A row does not say that the word may be shown: the articles decide when it is about to be.
    """

    language = models.CharField(max_length=12)
    bare = models.CharField(max_length=LONGEST_WORD)
    """Folded and without accents, as it is compared."""
    text = models.CharField(max_length=LONGEST_WORD)
    articles = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["language", "bare"], name="known_word_once"),
        ]

    def __str__(self) -> str:
        return self.text
