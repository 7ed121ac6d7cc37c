"""Articles, their immutable published revisions, and slug redirects.

An `Article` is the writer's working copy. What the public reads is its
`live_revision`, made by `articles.publishing`; status and visibility change only
there, so that index, revisions and signals follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from articles.models.category import Category
from articles.models.slugs import SLUG_LENGTH, refuse_unstorable, unique_slug

BODY_LENGTH = 1_000_000
"""Characters of Markdown that an import or the API takes for one article."""


class Status(models.TextChoices):
    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")
    ARCHIVED = "archived", _("archived")


LANGUAGE = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?$"
"""What the code of a language looks like: `en`, `pt-BR`."""


class Visibility(models.TextChoices):
    """Who may open a published article. `answers_only`: nobody, but answers may use it."""

    PUBLIC = "public", _("everyone")
    SIGNED_IN = "signed_in", _("signed-in readers")
    STAFF = "staff", _("staff")
    ANSWERS_ONLY = "answers_only", _("answers only")


def default_language() -> str:
    return settings.LANGUAGE_CODE


class Article(models.Model):
    """The working copy of an article, and where its live version is."""

    title = models.CharField(_("title"), max_length=250)
    slug = models.SlugField(
        _("slug"),
        max_length=SLUG_LENGTH,
        unique=True,
        allow_unicode=True,
        blank=True,
        help_text=_("Part of the address. Made from the title when empty; changing it redirects."),
    )
    summary = models.CharField(_("summary"), max_length=500, blank=True)
    body = models.TextField(_("text"), blank=True, help_text=_("Markdown."))
    category = models.ForeignKey(
        Category,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="articles",
        verbose_name=_("category"),
    )
    position = models.PositiveIntegerField(_("order"), default=0)
    language = models.CharField(_("language"), max_length=12, default=default_language)
    status = models.CharField(
        _("status"), max_length=12, choices=Status.choices, default=Status.DRAFT, editable=False
    )
    visibility = models.CharField(
        _("who may read it"),
        max_length=12,
        choices=Visibility.choices,
        default=Visibility.PUBLIC,
    )
    external_id = models.CharField(
        _("external id"),
        max_length=300,
        null=True,
        blank=True,
        unique=True,
        editable=False,
        help_text=_("Where an import found the article; a second import updates the same one."),
    )
    imported_hash = models.CharField(max_length=64, blank=True, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    live_revision = models.OneToOneField(
        "ArticleRevision",
        on_delete=models.RESTRICT,
        null=True,
        blank=True,
        editable=False,
        related_name="live_for",
    )
    publish_at = models.DateTimeField(
        _("publish on"),
        null=True,
        blank=True,
        help_text=_("The working copy as it is then goes live. Empty it to cancel."),
    )
    scheduled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    review_on = models.DateField(
        _("review on"),
        null=True,
        blank=True,
        help_text=_("When somebody should check that it still holds. Visitors notice nothing."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)
    published_at = models.DateTimeField(_("first published"), null=True, blank=True, editable=False)

    TEXTS = ("title", "slug", "summary", "body", "language", "external_id")

    class Meta:
        verbose_name = _("article")
        verbose_name_plural = _("articles")
        permissions = [("publish_article", _("Can publish, unpublish and archive articles"))]
        ordering = ["position", "title", "pk"]
        indexes = [
            models.Index(fields=["status", "visibility"]),
            models.Index(fields=["category", "position"]),
            models.Index(
                fields=["publish_at"],
                condition=Q(publish_at__isnull=False),
                name="article_scheduled",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(slug=""), name="article_slug_not_empty"),
            models.CheckConstraint(condition=~Q(title=""), name="article_title_not_empty"),
            models.CheckConstraint(
                condition=Q(status__in=Status.values), name="article_status_known"
            ),
            models.CheckConstraint(
                condition=Q(visibility__in=Visibility.values), name="article_visibility_known"
            ),
            models.CheckConstraint(
                condition=~Q(status=Status.PUBLISHED) | Q(live_revision__isnull=False),
                name="published_article_has_a_revision",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def save(self, **kwargs: Any) -> None:
        refuse_unstorable(self, self.TEXTS)
        self._fill_slug()
        super().save(**kwargs)

    def get_absolute_url(self) -> str:
        return reverse("articles:article", args=[self.slug])

    def clean(self) -> None:
        self._fill_slug()
        refuse_unstorable(self, self.TEXTS)

    def content_hash(self) -> str:
        """Names what would be published: equal hashes, equal revisions."""
        parts = (self.title, self.summary, self.body, self.language)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def has_unpublished_changes(self) -> bool:
        """Whether the working copy differs from what was published last."""
        live = self.live_revision
        return live is not None and live.content_hash != self.content_hash()

    @property
    def is_live(self) -> bool:
        """Whether readers see the live revision now; one that was withdrawn keeps it."""
        return self.status == Status.PUBLISHED

    def _fill_slug(self) -> None:
        if not self.slug:
            others = Article.objects.exclude(pk=self.pk)
            self.slug = unique_slug(
                self.title, lambda slug: others.filter(slug=slug).exists(), "article"
            )


class ArticleRevision(models.Model):
    """One published version of an article. Immutable: here, and by a trigger in the database."""

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField(_("number"))
    title = models.CharField(_("title"), max_length=250)
    summary = models.CharField(_("summary"), max_length=500, blank=True)
    body = models.TextField(_("text"), blank=True)
    language = models.CharField(_("language"), max_length=12)
    content_hash = models.CharField(max_length=64)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    created_at = models.DateTimeField(_("published"), auto_now_add=True)

    class Meta:
        verbose_name = _("revision")
        verbose_name_plural = _("revisions")
        ordering = ["article", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["article", "number"], name="revision_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.number})"

    def save(
        self,
        *,
        force_insert: Any = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        if not self._state.adding:
            raise TypeError("a published revision cannot be changed")
        super().save(
            force_insert=force_insert,
            force_update=force_update,
            using=using,
            update_fields=update_fields,
        )


class SlugRedirect(models.Model):
    """A slug an article had before. A live article with the slug wins over it."""

    slug = models.SlugField(max_length=SLUG_LENGTH, unique=True, allow_unicode=True)
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="old_slugs")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("redirect")
        verbose_name_plural = _("redirects")

    def __str__(self) -> str:
        return self.slug
