"""Publishing makes a revision live; withdrawing takes it off; addresses redirect."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, transaction

from articles import publishing, signals, tasks
from articles.models import Article, ArticleRevision, Category, SlugRedirect, Status
from tests.factories import make_article

pytestmark = pytest.mark.django_db


def test_publishing_makes_the_working_copy_live() -> None:
    article = make_article("Plans", body="Three plans.")

    assert article.status == Status.PUBLISHED
    assert article.live_revision is not None
    assert (article.live_revision.number, article.live_revision.body) == (1, "Three plans.")
    assert article.published_at is not None


def test_unchanged_content_keeps_its_revision() -> None:
    article = make_article()
    first = article.live_revision

    assert publishing.publish(article) == first
    assert article.revisions.count() == 1


def test_an_edit_is_live_only_after_publishing() -> None:
    article = make_article(body="Fee is 5 EUR.")
    article.body = "Fee is 7 EUR."
    article.save()

    live = Article.objects.get(pk=article.pk).live_revision
    assert live is not None
    assert live.body == "Fee is 5 EUR."
    assert article.has_unpublished_changes

    assert publishing.publish(article).number == 2
    assert not article.has_unpublished_changes


def test_a_revision_cannot_be_changed() -> None:
    revision = make_article().live_revision
    assert revision is not None
    revision.body = "Rewritten history."
    with pytest.raises(TypeError):
        revision.save()
    with pytest.raises(DatabaseError, match="cannot be changed"), transaction.atomic():
        ArticleRevision.objects.update(body="Rewritten history.")


def test_withdrawing_keeps_the_revisions() -> None:
    article = make_article()
    publishing.withdraw(article, Status.ARCHIVED)

    assert article.status == Status.ARCHIVED
    assert article.revisions.count() == 1
    with pytest.raises(ValueError, match="draft or archived"):
        publishing.withdraw(article, Status.PUBLISHED)


def test_a_new_address_redirects_the_old_one() -> None:
    article = make_article("Setup", slug="setup")
    publishing.change_slug(article, "getting-started")

    assert SlugRedirect.objects.get(slug="setup").article == article
    publishing.change_slug(article, "setup")
    assert list(SlugRedirect.objects.values_list("slug", flat=True)) == ["getting-started"]


def test_a_live_article_takes_the_address_back_from_a_redirect() -> None:
    publishing.change_slug(make_article("Setup", slug="setup"), "getting-started")
    make_article("Another setup", slug="setup")

    assert not SlugRedirect.objects.filter(slug="setup").exists()


def test_keeping_the_address_makes_no_redirect() -> None:
    publishing.change_slug(make_article("Setup", slug="setup"), "setup")
    assert not SlugRedirect.objects.exists()


@pytest.mark.parametrize("title", ["密码重置", "إعادة", "😀", "??", "FAQ!", "FAQ?"])
def test_every_title_gets_a_slug_of_its_own(title: str) -> None:
    first, second = make_article(title), make_article(title)

    assert first.slug
    assert second.slug
    assert first.slug != second.slug
    slug = first.slug
    first.save()
    assert first.slug == slug


def test_a_title_without_letters_gets_a_neutral_slug() -> None:
    assert make_article("😀").slug.startswith("article-")


def test_the_task_and_the_signal_follow_the_commit(
    django_capture_on_commit_callbacks: Any,
) -> None:
    heard = mock.Mock()
    signals.article_published.connect(heard)
    try:
        with mock.patch.object(tasks.index_article, "delay") as delay:
            with django_capture_on_commit_callbacks(execute=True):
                article = make_article()
                delay.assert_not_called()
            delay.assert_called_once_with(article.pk)
        assert heard.call_args.kwargs["first"] is True
        assert heard.call_args.kwargs["article_id"] == article.pk
    finally:
        signals.article_published.disconnect(heard)


def test_nothing_follows_a_rollback(django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks() as callbacks, transaction.atomic():
        make_article()
        transaction.set_rollback(True)
    assert callbacks == []
    assert not Article.objects.exists()


def test_deleting_an_article_takes_its_revisions_along() -> None:
    make_article().delete()
    assert not ArticleRevision.objects.exists()


def test_the_database_refuses_a_published_article_without_a_revision() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Article.objects.create(title="Plans", status=Status.PUBLISHED)


def test_a_category_is_not_inside_itself() -> None:
    top = Category.objects.create(name="Top")
    inner = Category.objects.create(name="Inner", parent=top)
    top.parent = inner
    with pytest.raises(ValidationError, match="inside itself"):
        top.full_clean()
    Category.objects.get(pk=inner.pk).full_clean()
