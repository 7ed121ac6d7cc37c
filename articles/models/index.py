"""What search reads: passages with their three searchable forms, and the index's state.

All of it is derived from live revisions by `articles.indexing` and may be dropped
and rebuilt. A row here never decides what a reader may see: search checks the
article's own row again.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField, SparseVectorField

from articles.models.category import Category
from articles.models.content import Article, ArticleRevision, Visibility

TERM_DIMENSIONS = 1_000_000_000
"""Terms are hashed to 30-bit dimensions of a `sparsevec`: no table to grow or lock."""


class Passage(models.Model):
    """A piece of a live revision, as search finds it and the model reads it.

    `category`, `visibility` and `language` repeat the article's, as filters that an
    index can serve.
    """

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="passages")
    revision = models.ForeignKey(ArticleRevision, on_delete=models.CASCADE, related_name="passages")
    position = models.PositiveIntegerField()
    heading_path = ArrayField(models.TextField(), default=list)
    anchor = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    content_hash = models.CharField(max_length=64)
    category = models.ForeignKey(
        Category, on_delete=models.SET_NULL, null=True, related_name="+", db_index=True
    )
    visibility = models.CharField(max_length=12, choices=Visibility.choices)
    language = models.CharField(max_length=12)
    terms = SearchVectorField()
    bm25 = SparseVectorField(dimensions=TERM_DIMENSIONS)
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=120, blank=True)

    class Meta:
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        ordering = ["article", "position"]
        indexes = [
            GinIndex(fields=["terms"], name="passage_terms"),
            models.Index(fields=["visibility"]),
            models.Index(fields=["language", "category"], name="passage_language_category"),
            models.Index(fields=["embedding_model"]),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["article", "position"],
                name="passage_position_once",
                deferrable=models.Deferrable.DEFERRED,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.article_id}:{self.position}"


class IndexEntry(models.Model):
    """Which revision of an article the index holds, and with which embedding model."""

    article = models.OneToOneField(
        Article, on_delete=models.CASCADE, primary_key=True, related_name="index_entry"
    )
    revision = models.ForeignKey(ArticleRevision, on_delete=models.CASCADE, related_name="+")
    embedding_model = models.CharField(max_length=120, blank=True)
    error = models.CharField(max_length=300, blank=True)
    indexed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("index entry")
        verbose_name_plural = _("index entries")

    def __str__(self) -> str:
        return f"{self.article_id} at revision {self.revision_id}"


class Term(models.Model):
    """In how many passages of a language a term stands: the source of its idf."""

    language = models.CharField(max_length=12)
    text = models.CharField(max_length=80)
    passages = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["language", "text"], name="term_once"),
        ]

    def __str__(self) -> str:
        return self.text


class IndexState(models.Model):
    """Constants of the index per language, fixed at `reindex`, and when they were counted.

    `outskirts` is the floor of `articles.ranking.outskirts`, None where nothing tells.
    """

    language = models.CharField(max_length=12, primary_key=True)
    passages = models.PositiveIntegerField(default=0)
    average_length = models.FloatField(default=120.0)
    counted_at = models.DateTimeField(null=True)
    outskirts = models.FloatField(null=True)
    outskirts_model = models.CharField(max_length=120, default="")

    def __str__(self) -> str:
        return self.language
