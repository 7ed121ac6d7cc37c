"""`manage.py reindex`, and what the checks say about the index."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core import checks
from django.core.management import CommandError, call_command
from django.db import connection

from articles import embeddings, indexing, vector_index
from articles.checks import check_embedding_settings, check_index, check_readiness
from articles.embeddings import EmbeddingError, HashedEmbedder
from articles.models import IndexState, Passage, Term
from tests.factories import make_article
from tests.processes import site_environment
from tests.search_index import index, make_indexed
from tests.servers import PROJECT

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def hashed_vectors(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "hashed"


def reindex(*arguments: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    out = StringIO()
    call_command("reindex", *arguments, stdout=out)
    return out.getvalue()


def warnings() -> list[str]:
    return [str(message.id) for message in check_index(databases=["default"])]


def model() -> embeddings.Embedder:
    embedder = embeddings.active()
    assert embedder is not None
    return embedder


# The command


def test_it_indexes_counts_and_builds_the_vector_index() -> None:
    make_article("One", body="apple")
    make_article("Two", body="pear")

    printed = reindex()
    assert "2 articles indexed." in printed
    assert "Vector index built for hashed-256." in printed
    assert Passage.objects.count() == 2
    assert Term.objects.filter(text="pear").exists()
    assert IndexState.objects.get().average_length == 2
    assert vector_index.indexes() == {vector_index.index_name(model()): True}
    assert reindex() == "0 articles indexed.\n"


def test_an_interrupted_run_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        make_article(f"A{number}", body="apple")
    index_articles = indexing.index_articles
    done: list[int] = []

    def stop_after_one(article_ids: list[int]) -> Any:
        if done:
            raise KeyboardInterrupt
        done.extend(article_ids)
        return index_articles(article_ids)

    monkeypatch.setattr(indexing, "BATCH", 1)
    monkeypatch.setattr(indexing, "index_articles", stop_after_one)
    with pytest.raises(KeyboardInterrupt):
        reindex()
    monkeypatch.undo()
    assert "2 articles indexed." in reindex()


def test_all_looks_at_every_article_and_keeps_its_rows() -> None:
    make_indexed("One", "apple")
    row = Passage.objects.get().pk
    assert "1 articles indexed." in reindex("--all")
    assert Passage.objects.get().pk == row


def test_a_change_of_model_builds_a_second_index_and_drops_the_first(settings: Any) -> None:
    make_indexed("One", "apple")
    reindex()
    settings.EMBEDDING_DIMENSIONS = 64
    assert "Vector index built for hashed-64." in reindex()
    assert list(vector_index.indexes()) == [vector_index.index_name(model())]
    assert Passage.objects.get().embedding_model == "hashed-64"


def test_an_index_that_was_not_finished_is_built_anew() -> None:
    make_indexed("One", "apple")
    reindex()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass",
            [vector_index.index_name(model())],
        )
    assert "Vector index built" in reindex()


def test_what_is_not_live_any_more_is_taken_out() -> None:
    article = make_indexed("One", "apple")
    type(article).objects.filter(pk=article.pk).update(status="draft")
    reindex()
    assert not Passage.objects.exists()


def test_without_embeddings_words_are_indexed(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    make_article("One", body="apple")
    assert reindex() == "1 articles indexed.\n"
    assert vector_index.indexes() == {}


@pytest.mark.field_report("B93")
def test_a_model_that_does_not_fit_is_refused_before_anything_is_changed(settings: Any) -> None:
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_DIMENSIONS = "local", 768
    make_article("One", body="apple")
    with pytest.raises(CommandError, match=r"makes 256 dimensions, EMBEDDING_DIMENSIONS is 768"):
        reindex()
    assert not Passage.objects.exists()


def test_articles_that_are_not_wholly_searchable_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("articles.searchable.MOST_PASSAGES", 1)
    make_article("Long", body="## A\n\nOne.\n\n## B\n\nTwo.")
    with pytest.raises(CommandError, match="Long: cut after 1 of 2 passages"):
        reindex()


def test_an_endpoint_that_dies_on_the_way_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    embed = HashedEmbedder.embed

    def fail_for_articles(self: HashedEmbedder, texts: Any, patient: bool = False) -> Any:
        if texts == ["One text"]:
            return embed(self, texts)
        raise EmbeddingError("gone")

    monkeypatch.setattr(HashedEmbedder, "embed", fail_for_articles)
    make_article("One", body="apple")
    with pytest.raises(CommandError, match="One: not found by meaning: gone"):
        reindex()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_while_another_process_builds_there_is_nothing_to_do() -> None:
    make_indexed("One", "apple")
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": None}) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [vector_index.LOCK])
        assert not vector_index.build(model())
        # A server notices the end of a connection a moment later.
        other.execute("SELECT pg_advisory_unlock(%s)", [vector_index.LOCK])
    assert vector_index.build(model())
    with connection.cursor() as cursor:
        cursor.execute("SHOW maintenance_work_mem")
        assert cursor.fetchone() == ("64MB",)
        cursor.execute(f"DROP INDEX {vector_index.index_name(model())}")


@pytest.mark.django_db(transaction=True)
def test_it_runs_as_a_command_of_its_own() -> None:
    make_article("One", body="apple")
    result = subprocess.run(
        [sys.executable, "manage.py", "reindex"],
        cwd=PROJECT, env=site_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "Vector index built for wordllama-l2-supercat-256." in result.stdout
    assert any(vector_index.indexes().values())
    with connection.cursor() as cursor:
        for name in vector_index.indexes():
            cursor.execute(f"DROP INDEX {name}")


# The checks


def test_an_index_that_fits_the_settings_is_fine() -> None:
    make_indexed("One", "apple")
    assert check_embedding_settings() == []
    assert warnings() == []


@pytest.mark.field_report("B93")
def test_settings_that_contradict_each_other_are_an_error(settings: Any) -> None:
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_DIMENSIONS = "local", 768
    (error,) = check_embedding_settings()
    assert error.id == "articles.E001"
    assert error.level == checks.ERROR
    assert "256 dimensions, EMBEDDING_DIMENSIONS is 768" in error.msg
    assert warnings() == []


def test_vectors_of_another_model_are_named(settings: Any) -> None:
    make_indexed("One", "apple")
    settings.EMBEDDING_DIMENSIONS = 64
    make_indexed("Two", "pear")
    (warning,) = check_index(databases=["default"])
    assert warning.id == "articles.W001"
    assert "in use, hashed-64: 1 of hashed-256." in warning.msg
    assert "reindex" in str(warning.hint)


def test_many_vectors_without_an_index_are_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("articles.checks.EXACT_ROWS", 0)
    make_indexed("One", "apple")
    assert warnings() == ["articles.W002"]
    reindex()
    assert warnings() == []


def test_the_database_is_asked_only_where_django_asks_it(settings: Any) -> None:
    make_indexed("One", "apple")
    settings.EMBEDDING_DIMENSIONS = 64
    assert check_index() == []
    assert check_index(databases=["other"]) == []
    settings.EMBEDDING_BACKEND = "off"
    assert warnings() == []


def test_before_the_first_migration_there_is_nothing_to_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection.introspection, "table_names", list)
    assert warnings() == []


def test_a_site_whose_articles_never_reach_the_index_is_not_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert check_readiness() is None
    article = make_article("One", body="apple")
    assert check_readiness() is None
    monkeypatch.setattr("articles.checks.PATIENCE", timedelta(0))
    assert check_readiness() == "no article is indexed"
    index(article)
    assert check_readiness() is None
