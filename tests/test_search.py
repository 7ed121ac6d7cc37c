"""The one search function: what it finds, in what order, and how it degrades."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from articles import embeddings, publishing, vector_index
from articles.access import ANONYMOUS
from articles.embeddings import EmbeddingError, LocalEmbedder
from articles.models import Article, Passage
from articles.search import search
from articles.terms import frequencies
from tests.factories import make_category
from tests.search_index import found, index, make_indexed

pytestmark = pytest.mark.django_db


@pytest.fixture
def help_center() -> None:
    make_indexed("Reset your password", "Follow the link in the e-mail that we send you.")
    make_indexed("Download an invoice", "Open Billing and choose the month.\n\n## Error E-1042\n\n"
                 "The invoice is not ready yet. Try again tomorrow.")  # fmt: skip
    make_indexed("Invite people", "Add colleagues by their address. They get a link by e-mail.")


# What is found


@pytest.mark.usefixtures("help_center")
@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("How do I reset my password?", "Reset your password"),
        ("resetting passwords", "Reset your password"),
        ("INVOICES", "Download an invoice"),
        ("e1042", "Download an invoice"),
        ("E-1042", "Download an invoice"),
        ("invite a colleague", "Invite people"),
        ("I forgot my passphrase and cannot log in", "Reset your password"),
    ],
)
def test_the_right_article_comes_first(query: str, title: str) -> None:
    assert found(query)[0] == title


@pytest.mark.usefixtures("help_center")
def test_a_hit_says_where_and_how_well() -> None:
    results = search("error E-1042", reader=ANONYMOUS)
    hit = results.hits[0]
    best = hit.passages[0]

    assert (results.mode, results.fallback_reason, results.languages) == ("hybrid", None, ("en",))
    assert hit.article.title == "Download an invoice"
    assert (best.heading_path, best.anchor) == (("Error E-1042",), "error-e-1042")
    assert best.text.startswith("The invoice is not ready")
    assert best.lexical_rank == best.dense_rank == 1
    assert best.coverage == hit.coverage == 1.0
    assert hit.score == best.strength > 0.3
    assert hit.above_floor
    assert results.strong[0] == hit
    assert [one.score for one in results.hits] == sorted(
        (one.score for one in results.hits), reverse=True
    )


@pytest.mark.usefixtures("help_center")
def test_what_the_site_has_nothing_about_is_below_the_floor() -> None:
    for query in ("Which wines go with fish?", "train the neural network on two GPUs"):
        assert search(query, reader=ANONYMOUS).strong == ()


def test_an_article_is_one_hit_with_its_best_passages_first() -> None:
    sections = "\n\n".join(
        f"## Way {n}\n\nExport a report, way {n}. " + "x " * 400 for n in range(5)
    )
    make_indexed("Export", sections + "\n\n## CSV\n\nExport a report as CSV.")

    (hit,) = search("export report csv", reader=ANONYMOUS, passages_per_article=2).hits
    assert len(hit.passages) == 2
    assert hit.passages[0].anchor == "csv"
    assert hit.passages[0].strength >= hit.passages[1].strength


def test_the_limit_is_kept_and_a_hit_costs_no_query_of_its_own() -> None:
    for number in range(8):
        make_indexed(f"Plan {number}", "Change your plan.", category=make_category(f"C{number}"))
    with CaptureQueriesContext(
        connection,
    ) as few:
        assert len(search("change plan", reader=ANONYMOUS, limit=2).hits) == 2
    with CaptureQueriesContext(connection) as many:
        hits = search("change plan", reader=ANONYMOUS, limit=8).hits
        assert {hit.article.category.name for hit in hits if hit.article.category}
        assert {hit.article.live_revision.title for hit in hits if hit.article.live_revision}
    assert len(hits) == 8
    assert len(many) == len(few) <= 8


def test_title_and_heading_say_what_a_passage_is_about() -> None:
    make_indexed("Okta", "## Setup\n\nCreate an application and copy the key.")
    make_indexed("Entra", "## Setup\n\nCreate an application and copy the key.")
    assert found("okta setup")[0] == "Okta"
    assert found("set up entra")[0] == "Entra"


def test_words_side_by_side_count_for_more(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    make_indexed("One", "The time of the polar zone, in which we are.")
    make_indexed("Two", "In which time zone we are, of the polar.")
    assert found("time zone") == ["Two", "One"]


def test_a_word_that_is_still_being_typed_finds_titles(settings: Any) -> None:
    make_indexed("Réinitialiser le mot de passe", "Texte.", language="fr")
    make_indexed("Invoices", "Text.")
    settings.EMBEDDING_BACKEND = "off"
    assert found("invoi") == ["Invoices"]
    assert found("réinit", language="fr") == ["Réinitialiser le mot de passe"]
    assert found("reinit", language="fr") == ["Réinitialiser le mot de passe"]
    assert found("invoi text") == ["Invoices"]


# Filters


def test_a_category_is_searched_with_all_below_it() -> None:
    billing = make_category("Billing")
    invoices = make_category("Invoices", parent=billing)
    make_indexed("Pay", "How to pay.", category=billing)
    make_indexed("Pay an invoice", "How to pay.", category=invoices)
    make_indexed("Pay attention", "How to pay.")

    assert sorted(found("pay", category=billing)) == ["Pay", "Pay an invoice"]
    assert found("pay", category=invoices) == ["Pay an invoice"]
    assert found("the", category=make_category("Empty")) == []


def test_a_move_to_another_category_is_followed_at_once() -> None:
    old, new = make_category("Old"), make_category("New")
    article = make_indexed("Pay", "How to pay.", category=old)
    Article.objects.filter(pk=article.pk).update(category=new)
    assert found("pay", category=old) == []
    assert found("pay", category=new) == ["Pay"]


def few_in_a_crowd(crowd: int, few: int) -> Any:
    """A category of few articles far from the query, among a crowd that is near to it."""
    billing = make_category("Billing")
    article = make_indexed("Pay", "Pay")
    index()
    passage = Passage.objects.get(article=article)
    near, far = [1.0] + [0.0] * 255, [0.0] * 255 + [1.0]
    with connection.cursor() as cursor:
        for number, (category, vector, text) in enumerate(
            [(None, near, "crowd")] * crowd + [(billing.pk, far, "few")] * few
        ):
            cursor.execute(
                """
                WITH article AS (
                    INSERT INTO articles_article (title, slug, summary, body, category_id, position,
                        language, status, visibility, imported_hash, created_at, updated_at)
                    VALUES (%(text)s, %(slug)s, '', '', %(category)s, 0, 'en', 'draft', 'public',
                        '', now(), now()) RETURNING id
                ), revision AS (
                    INSERT INTO articles_articlerevision (article_id, number, title, summary, body,
                        language, content_hash, created_at)
                    SELECT id, 1, %(text)s, '', '', 'en', '', now() FROM article
                    RETURNING id, article_id
                )
                INSERT INTO articles_passage (article_id, revision_id, position, heading_path,
                    anchor, text, content_hash, category_id, visibility, language, terms, bm25,
                    embedding, embedding_model)
                SELECT article_id, id, 0, '{}', '', %(text)s, '', %(category)s, 'public', 'en',
                    '', '{}/1000000000', %(vector)s::halfvec, %(model)s FROM revision
                """,
                {"text": text, "slug": f"crowd-{number}", "category": category,
                 "vector": str(vector), "model": passage.embedding_model},
            )  # fmt: skip
        cursor.execute("""
            UPDATE articles_article a SET status = 'published', live_revision_id = r.id
            FROM articles_articlerevision r WHERE r.article_id = a.id
        """)
    return billing


def nearest_of(category: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("articles.ranking.weighing.MIN_COSINE", -1.0)
    monkeypatch.setattr(
        LocalEmbedder,
        "embed",
        lambda self, texts, patient=False: [[1.0] + [0.0] * 255] * len(texts),
    )
    return found("nothing of this stands anywhere", category=category)


@pytest.mark.slow
@pytest.mark.parametrize("exact_rows", [5_000, 100, 5])
def test_a_narrow_filter_gives_all_it_should(
    monkeypatch: pytest.MonkeyPatch, exact_rows: int
) -> None:
    billing = few_in_a_crowd(300, 12)
    index()
    monkeypatch.setattr("articles.ranking.candidates.EXACT_ROWS", exact_rows)
    assert nearest_of(billing, monkeypatch) == ["few"] * 10


@pytest.mark.field_report("B82")
@pytest.mark.slow
def test_a_narrow_filter_gives_all_it_should_among_ten_thousand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    billing = few_in_a_crowd(10_000, 50)
    embedder = embeddings.active()
    assert embedder is not None
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    vector_index.build(embedder)
    frequencies.recount()
    assert nearest_of(billing, monkeypatch) == ["few"] * 10
    monkeypatch.setattr("articles.ranking.candidates.EXACT_ROWS", 10)
    assert nearest_of(billing, monkeypatch) == ["few"] * 10


# Languages


def test_the_pages_language_is_searched_first_and_then_the_sites() -> None:
    make_indexed("Passwort zurücksetzen", "Das Passwort neu setzen.", language="de")
    make_indexed("Password", "How to reset it. Passwort.")
    make_indexed("Mot de passe", "Passwort.", language="fr")

    results = search("Passwort zurücksetzen", reader=ANONYMOUS, language="de-at", limit=1)
    assert [hit.article.title for hit in results.hits] == ["Passwort zurücksetzen"]
    assert results.languages == ("de",)

    results = search("passwort xyz", reader=ANONYMOUS, language="es", limit=5)
    assert [hit.article.title for hit in results.hits] == ["Password"]
    assert results.languages == ("en",)

    results = search("reset password", reader=ANONYMOUS, language="de", limit=5)
    assert results.hits[0].article.title == "Password" or len(results.hits) > 1
    assert results.languages == ("de", "en")


def test_without_a_language_every_one_is_searched() -> None:
    make_indexed("电子发票", "您可以在账单页面下载电子发票。", language="zh-hans")
    assert found("账单") == ["电子发票"]


def test_a_site_in_another_language_than_its_settings_say_is_searched_all_the_same() -> None:
    make_indexed("电子发票", "您可以在账单页面下载电子发票。", language="zh-hans")
    assert found("账单", language="en") == ["电子发票"]


def test_an_index_that_holds_nothing_finds_nothing() -> None:
    results = search("password", reader=ANONYMOUS)
    assert (results.hits, results.languages) == ((), ())


@pytest.mark.parametrize("query", ["账单", "电子发票"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_chinese_is_found_without_embeddings(settings: Any, query: str, language: str) -> None:
    settings.EMBEDDING_BACKEND = "off"
    make_indexed("发票", "您可以在账单页面下载电子发票", language=language)
    make_indexed("密码", "忘记密码时请重置", language=language)
    assert found(query, language=language) == ["发票"]


@pytest.mark.parametrize("query", ["reinitialiser", "RE\u0301INITIALISER", "Réinitialiser"])
def test_accents_are_no_matter(settings: Any, query: str) -> None:
    settings.EMBEDDING_BACKEND = "off"
    make_indexed("Réinitialiser le mot de passe", "Voici comment.", language="fr")
    assert found(query, language="fr") == ["Réinitialiser le mot de passe"]


# Queries that are hard


@pytest.mark.parametrize("query", ["", "  ", "\0", "\u200b\ufeff", "\ud800", "\n\t"])
def test_a_query_without_text_finds_nothing(query: str) -> None:
    results = search(query, reader=ANONYMOUS)
    assert (results.hits, results.fallback_reason) == ((), "no_text")


@pytest.mark.usefixtures("help_center")
@pytest.mark.parametrize("query", ["how do I", "on", "the who", "IT", "?", "(.*", "it's"])
def test_a_query_of_common_words_alone_is_no_error(query: str) -> None:
    results = search(query, reader=ANONYMOUS)
    assert results.fallback_reason == "only_common_words"
    assert not results.strong


def test_common_words_find_the_title_that_they_are() -> None:
    make_indexed("The Who", "A band.")
    make_indexed("Editing", "It is done here.")
    results = search("the who", reader=ANONYMOUS)
    assert (results.hits[0].article.title, results.mode) == ("The Who", "title")
    assert results.hits[0].passages == ()
    make_indexed("IT", "The department.")
    assert found("it")[0] == "IT"
    assert found("the who", category=make_category("Other")) == []


@pytest.mark.usefixtures("help_center")
def test_a_nul_or_a_surrogate_in_a_query_is_ignored() -> None:
    assert found("\0reset\0 \ud800password")[0] == "Reset your password"


@pytest.mark.usefixtures("help_center")
def test_a_query_of_any_length_is_searched_by_its_beginning() -> None:
    results = search("reset password " * 4000, reader=ANONYMOUS)
    assert results.hits[0].article.title == "Reset your password"


@pytest.mark.usefixtures("help_center")
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_no_query_is_an_error(query: str) -> None:
    assert len(search(query, reader=ANONYMOUS).hits) <= 10


@pytest.mark.usefixtures("help_center")
@pytest.mark.parametrize(
    "query", ["'; DROP TABLE articles_article; --", "a & b | !c", "reset:*", "'reset' <-> \\", "%s"]
)
def test_the_language_of_queries_is_no_language_of_ours(query: str) -> None:
    search(query, reader=ANONYMOUS)
    assert Article.objects.count() == 3


# Degraded


@pytest.mark.usefixtures("help_center")
def test_with_embeddings_off_words_answer(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    results = search("reset password", reader=ANONYMOUS)
    assert (results.mode, results.fallback_reason) == ("lexical", "embeddings_off")
    assert results.hits[0].article.title == "Reset your password"
    assert results.hits[0].cosine is None
    assert results.hits[0].above_floor


@pytest.mark.usefixtures("help_center")
def test_with_embeddings_down_words_answer_and_the_result_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: LocalEmbedder, texts: Any, patient: bool = False) -> Any:
        raise EmbeddingError("gone")

    monkeypatch.setattr(LocalEmbedder, "embed", fail)
    results = search("reset password", reader=ANONYMOUS)
    assert (results.mode, results.fallback_reason) == ("lexical", "embeddings_failed")
    assert results.hits[0].article.title == "Reset your password"


@pytest.mark.usefixtures("help_center")
def test_settings_that_contradict_each_other_leave_words(settings: Any) -> None:
    settings.EMBEDDING_DIMENSIONS = 768
    results = search("reset password", reader=ANONYMOUS)
    assert (results.mode, results.fallback_reason) == ("lexical", "embeddings_failed")
    assert results.hits[0].article.title == "Reset your password"


@pytest.mark.usefixtures("help_center")
def test_vectors_of_another_model_are_not_compared(settings: Any) -> None:
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_DIMENSIONS = "hashed", 64
    results = search("reset password", reader=ANONYMOUS)
    assert (results.mode, results.fallback_reason) == ("lexical", "embeddings_missing")
    assert results.hits[0].article.title == "Reset your password"
    index()
    assert search("reset password", reader=ANONYMOUS).mode == "hybrid"


def test_a_text_that_changed_is_not_found_by_what_it_said(settings: Any) -> None:
    article = make_indexed("Fees", "The fee is five zloty.")
    article.body = "The fee is seven euros."
    publishing.publish(article)
    assert found("five zloty") == []
    index()
    assert found("seven euros") == ["Fees"]
    assert "five" not in search("fee", reader=ANONYMOUS).hits[0].passages[0].text
