"""The worker keeps the index like the articles, and makes good what was lost."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from kombu.exceptions import OperationalError

from articles import embeddings, indexing, publishing, tasks, vector_index
from articles.embeddings import EmbeddingError, HashedEmbedder
from articles.models import Article, IndexEntry, IndexState, Passage, Status
from articles.signals import article_published
from helpcenter.celery import app
from tests.factories import make_article
from tests.processes import wait_until
from tests.search_index import index, make_indexed, rows

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hashed_vectors(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "hashed"


@pytest.mark.field_report("B110")
def test_a_task_sends_for_what_was_published_on_commit_only(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.index_article, "delay", sent.append)
    with django_capture_on_commit_callbacks(execute=True):
        article = make_article("Guide")
        assert sent == []
    assert sent == [article.pk]


@pytest.mark.field_report("B110")
def test_a_row_that_is_gone_is_no_error() -> None:
    assert tasks.index_article(404) == "missing"


def test_it_indexes_and_says_what_became_of_it() -> None:
    article = make_article("Guide", body="Text.")
    assert tasks.index_article(article.pk) == "indexed"
    assert tasks.index_article(article.pk) == "unchanged"
    publishing.withdraw(article)
    assert tasks.index_article(article.pk) == "withdrawn"


def test_stale_articles_are_indexed_and_orphans_taken_out() -> None:
    lost = [make_article(f"Lost {number}", body="Text.") for number in range(3)]
    orphan = make_indexed("Orphan", "Text.")
    Article.objects.filter(pk=orphan.pk).update(status=Status.ARCHIVED)

    assert tasks.index_stale() == 3
    assert all(rows(article) for article in lost)
    assert rows(orphan) == []
    assert tasks.index_stale() == 0


def test_one_that_fails_does_not_keep_the_others_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = make_article("Bad", body="Text."), make_article("Good", body="Text.")
    index_articles = indexing.index_articles

    def fail_for_one(article_ids: list[int]) -> Any:
        if bad.pk in article_ids:
            raise ValueError("broken")
        return index_articles(article_ids)

    monkeypatch.setattr(indexing, "index_articles", fail_for_one)
    assert tasks.index_stale() == 2
    assert rows(good)
    assert "article_not_indexed" in caplog.text
    assert list(indexing.stale()) == [bad]


def test_a_dead_endpoint_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        make_article(f"Lost {number}", body="Text.")

    def fail(self: HashedEmbedder, texts: Any, patient: bool = False) -> Any:
        raise EmbeddingError("gone")

    monkeypatch.setattr(HashedEmbedder, "embed", fail)
    monkeypatch.setattr(indexing, "BATCH", 1)
    assert tasks.index_stale() == 1
    assert IndexEntry.objects.count() == 1


def test_a_run_takes_on_so_many_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "PER_RUN", 2)
    for number in range(3):
        make_article(f"Lost {number}", body="Text.")
    assert [tasks.index_stale() for _run in range(3)] == [2, 1, 0]


def test_terms_are_counted_where_the_index_changed() -> None:
    assert tasks.recount_terms() == {}
    article = make_article("Guide", body="Text.")
    indexing.index_article(article.pk)
    assert tasks.recount_terms() == {"en": 1}
    assert tasks.recount_terms() == {}
    indexing.index_article(article.pk)
    assert tasks.recount_terms() == {"en": 1}


def test_an_index_from_before_the_counts_is_counted() -> None:
    make_indexed("Guide", "Text.")
    IndexState.objects.all().delete()
    assert tasks.recount_terms() == {"en": 1}


def test_a_young_index_asks_for_a_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(tasks.recount_terms, "apply_async", lambda **options: asked.append(options))
    first, second = make_article("One"), make_article("Two")
    tasks.index_article(first.pk)
    tasks.index_article(second.pk)
    assert asked == [{"countdown": tasks.PAUSE_SECONDS}]

    index()
    third = Article.objects.create(title="Three")
    tasks.index_article(third.pk)
    assert len(asked) == 1


def test_the_vector_index_is_built_when_the_count_finds_that_it_is_due(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(tasks.build_vector_index, "delay", lambda: asked.append(True))
    monkeypatch.setattr(vector_index, "EXACT_ROWS", 1)
    embedder = embeddings.active()
    assert embedder is not None

    indexing.index_article(make_article("One").pk)
    tasks.recount_terms()
    assert asked == []

    indexing.index_article(make_article("Two").pk)
    tasks.recount_terms()
    assert asked == [True]

    # A vector's row is written in this test's transaction: an index cannot be built behind it.
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert tasks.build_vector_index()
    assert not tasks.build_vector_index()
    assert not vector_index.is_due(embedder)

    settings.EMBEDDING_BACKEND = "off"
    assert not tasks.build_vector_index()
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_DIMENSIONS = "local", 768
    indexing.index_article(make_article("Three").pk)
    tasks.recount_terms()
    assert asked == [True]


def test_the_schedule_names_tasks_that_exist_and_none_runs_for_ever() -> None:
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert {"articles.tasks.index_stale", "articles.tasks.recount_terms"} <= scheduled
    assert scheduled <= set(app.tasks)
    assert app.tasks["articles.tasks.index_article"].time_limit
    assert all(app.tasks[name].time_limit for name in scheduled)


@pytest.mark.field_report("B110")
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_real_worker_indexes_what_is_published(worker: object) -> None:
    article = make_article("Guide", body="Text.")
    wait_until(
        lambda: Passage.objects.filter(article=article, embedding__isnull=False).exists(),
        "the worker to index the article",
    )


def test_listeners_hear_of_a_publication_while_the_broker_is_down(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def fail(article_id: int) -> None:
        raise OperationalError("no broker")

    heard: list[int] = []

    def listen(article_id: int, **kwargs: Any) -> None:
        heard.append(article_id)

    article_published.connect(listen)
    monkeypatch.setattr(tasks.index_article, "delay", fail)
    with django_capture_on_commit_callbacks(execute=True):
        article = make_article("Guide")
    article_published.disconnect(listen)

    assert heard == [article.pk]
    assert list(indexing.stale()) == [article]
