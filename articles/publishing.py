"""How an article goes live, is withdrawn, and changes its address.

The only code that sets `status`, `live_revision`, the schedule and redirects. Each step is one
transaction; indexing and signals follow on commit, so a rollback leaves no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from articles import signals, tasks
from articles.models import Article, ArticleRevision, Passage, SlugRedirect, Status
from articles.rendering import has_text
from articles.writing import links

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.base_user import AbstractBaseUser


NO_TEXT = _("There is no text to publish yet. Headings alone are not enough.")
_STANDING = ["live_revision", "status", "publish_at", "scheduled_by"]


@transaction.atomic
def publish(
    article: Article, author: AbstractBaseUser | None = None, *, index: bool = True
) -> ArticleRevision:
    """Makes the working copy live. Unchanged content keeps its revision.

    Saves `article` as given; returns the live revision. `index=False` leaves the indexing
    to a caller who publishes many and then indexes them in bulk. Whoever lets people
    publish has asked `refuse_empty` first.
    """
    article.save()
    locked = Article.objects.select_for_update().get(pk=article.pk)
    revision, first = locked.live_revision, locked.published_at is None
    if revision is None or revision.content_hash != locked.content_hash():
        revision = _new_revision(locked, author)
    article.live_revision = revision
    article.status = Status.PUBLISHED
    article.published_at = locked.published_at or timezone.now()
    article.publish_at = article.scheduled_by = None
    article.save(update_fields=[*_STANDING, "published_at", "updated_at"])
    SlugRedirect.objects.filter(slug=article.slug).delete()
    links.record(article, revision.body)
    _announce_published(article.pk, revision.pk, first, index)
    return revision


@transaction.atomic
def withdraw(article: Article, status: Status = Status.DRAFT) -> None:
    """Takes an article off the site at once, as a draft or archived. Its revisions stay."""
    if status == Status.PUBLISHED:
        raise ValueError("a withdrawn article is a draft or archived")
    article.status = status
    article.publish_at = article.scheduled_by = None
    article.save(update_fields=[*_STANDING, "updated_at"])
    _announce_withdrawn(article)


@transaction.atomic
def return_to(article: Article, status: Status, revision: ArticleRevision | None) -> None:
    """Puts an article back to how it stood: its status, and the revision that was live.

    The working copy stays. A revision that was made in between stays as well, for answers
    may point at it.
    """
    article.status, article.live_revision = status, revision
    article.save(update_fields=["status", "live_revision", "updated_at"])
    if status == Status.PUBLISHED and revision is not None:
        links.record(article, revision.body)
        _announce_published(article.pk, revision.pk, first=False, index=True)
    else:
        _announce_withdrawn(article)


def refuse_empty(article: Article) -> None:
    """Raises `ValidationError` for an article with nothing to read in it: an empty page helps
    nobody."""
    if not has_text(article.body):
        raise ValidationError({"body": NO_TEXT})


def schedule(article: Article, when: datetime | None, by: AbstractBaseUser | None = None) -> None:
    """Lets the working copy go live at a time, whatever it says then; None cancels that."""
    article.publish_at = when
    article.scheduled_by_id = by.pk if when and by else None
    article.save(update_fields=["publish_at", "scheduled_by", "updated_at"])


@transaction.atomic
def restore(article: Article, revision: ArticleRevision) -> None:
    """Makes the working copy say what a revision of the article says. Nothing goes live.

    With the live revision, that discards what was not published.
    """
    if revision.article_id != article.pk:
        raise ValueError("the revision is another article's")
    article.title, article.summary = revision.title, revision.summary
    article.body, article.language = revision.body, revision.language
    article.save(update_fields=["title", "summary", "body", "language", "updated_at"])


def refresh(article: Article) -> None:
    """Lets the index follow a published article whose category or visibility changed."""
    article_id = article.pk
    transaction.on_commit(lambda: tasks.index_article.delay(article_id), robust=True)


@transaction.atomic
def change_slug(article: Article, slug: str) -> None:
    """Moves an article to a new address and redirects the old one to it."""
    old = Article.objects.select_for_update().get(pk=article.pk).slug
    article.slug = slug
    article.save(update_fields=["slug", "updated_at"])
    SlugRedirect.objects.filter(slug=slug).delete()
    if old != slug:
        SlugRedirect.objects.update_or_create(slug=old, defaults={"article": article})


def _new_revision(article: Article, author: AbstractBaseUser | None) -> ArticleRevision:
    last = article.revisions.aggregate(last=Max("number"))["last"] or 0
    return ArticleRevision.objects.create(
        article=article,
        number=last + 1,
        title=article.title,
        summary=article.summary,
        body=article.body,
        language=article.language,
        content_hash=article.content_hash(),
        author_id=author.pk if author else article.author_id,
    )


def _announce_withdrawn(article: Article) -> None:
    Passage.objects.filter(article=article).delete()
    article_id = article.pk
    transaction.on_commit(
        lambda: signals.article_withdrawn.send(sender=Article, article_id=article_id), robust=True
    )


def _announce_published(article_id: int, revision_id: int, first: bool, index: bool) -> None:
    def announce() -> None:
        signals.article_published.send(
            sender=Article, article_id=article_id, revision_id=revision_id, first=first
        )

    transaction.on_commit(announce, robust=True)
    if index:
        # Of its own: while the broker is down it fails, and the listeners must hear all the same.
        transaction.on_commit(lambda: tasks.index_article.delay(article_id), robust=True)
