"""What went wrong with search in other help centers, one report after the other."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client

from articles import indexing, publishing
from articles.access import ANONYMOUS
from articles.checks import check_embedding_settings
from articles.models import Passage
from articles.ranking import spelling
from articles.search import search
from assistant.tools import queries
from assistant.tools.arguments import BadCallError
from tests.factories import make_article, make_category
from tests.search_index import found, index, make_indexed

pytestmark = pytest.mark.django_db


def assistant_finds(query: str) -> list[str]:
    results = queries.find(ANONYMOUS, "en", query, "", False)
    return [facts.title for facts in results.articles]


@pytest.mark.field_report("B82")
def test_few_articles_of_a_category_far_from_the_query_fill_the_list() -> None:
    """A narrow filter: ten of the fifty in 'billing', though a crowd elsewhere is nearer."""
    billing, other = make_category("Billing"), make_category("Other")
    for number in range(12):
        make_article(f"Receipt {number}", body="Paper.", category=billing)
    for number in range(30):
        make_article(f"Export data {number}", body="Export your data.", category=other)
    index()
    near, far = [1.0] + [0.0] * 255, [0.6, 0.8] + [0.0] * 254
    with connection.cursor() as cursor:
        for vector, category in ((near, other), (far, billing)):
            cursor.execute(
                "UPDATE articles_passage SET embedding = %s::halfvec WHERE category_id = %s",
                [str(vector), category.pk],
            )
    from_category = search("receipt", reader=ANONYMOUS, category=billing, limit=10)
    assert len(from_category.hits) == 10
    assert {hit.article.category for hit in from_category.hits} == {billing}


@pytest.mark.field_report("B83")
def test_a_draft_is_in_no_hit_count_snippet_suggestion_nor_correction(client: Client) -> None:
    """A draft's words leak nowhere: results, as you type, did you mean, the assistant."""
    make_indexed("Public pricing", "What it costs.")
    draft = make_article("Secret pricing 2027", publish=False, body="Unobtainium is 42 EUR.")
    index()
    indexing.index_article(draft.pk)
    spelling.collect()

    for query in ("secret pricing", "unobtainum", "secrt", "unobtainium"):
        for address in ("/search/", "/search/suggest/"):
            text = client.get(address, {"q": query}).content.decode()
            assert draft.slug not in text
            assert "42 EUR" not in text
            assert "2027" not in text
            assert "mean “" not in text
        assert "did-you-mean" not in client.get("/search/", {"q": query}).content.decode()
        assert draft.title not in assistant_finds(query)


@pytest.mark.field_report("B84")
def test_an_unpublished_article_is_closed_to_both_tools_while_its_vectors_exist() -> None:
    """A stale index: rights are checked when they are used, in search and in opening."""
    article = make_indexed("Old plan", "Its price is 5 EUR.")
    assert assistant_finds("old plan price") == ["Old plan"]
    stale = list(Passage.objects.filter(article=article))
    publishing.withdraw(article)
    Passage.objects.bulk_create(stale)  # as if the index had not followed
    assert Passage.objects.filter(article=article, embedding__isnull=False).exists()

    assert assistant_finds("old plan price") == []
    with pytest.raises(BadCallError, match="no such article"):
        queries.read(ANONYMOUS, "", "old-plan")


@pytest.mark.field_report("B86")
def test_a_changed_and_shortened_article_is_found_by_its_new_text_alone() -> None:
    """Re-indexing twice after an edit leaves exactly one row, and no old text."""
    long_text = "\n\n".join(f"## Part {n}\n\nThe fee is 5 EUR. " + "x " * 300 for n in range(3))
    article = make_indexed("Fees", long_text)
    assert Passage.objects.filter(article=article).count() == 3
    article.body = "The fee is 7 EUR."
    publishing.publish(article)
    for _ in range(2):
        indexing.index_article(article.pk)

    (passage,) = Passage.objects.filter(article=article)
    assert passage.text == "The fee is 7 EUR."
    texts = [one.text for hit in search("fee 5 EUR", reader=ANONYMOUS).hits for one in hit.passages]
    assert texts == ["The fee is 7 EUR."]


@pytest.mark.field_report("B87")
@pytest.mark.parametrize("query", ["how do I", "on", "the who", "IT"])
def test_a_query_of_stop_words_alone_gets_a_page(client: Client, query: str) -> None:
    """Nothing but common words: the title that they are, or a calm page; no error."""
    make_indexed("The Who", "A band.")
    response = client.get("/search/", {"q": query})
    assert response.status_code == 200
    if query == "the who":
        assert found(query)[0] == "The Who"


@pytest.mark.field_report("B89")
@pytest.mark.parametrize("query", ["账单", "电子发票"])
def test_chinese_is_found_with_embeddings_off(settings: Any, query: str) -> None:
    """Words of a script without spaces, inside a sentence."""
    settings.EMBEDDING_BACKEND = "off"
    make_indexed("发票", "您可以在账单页面下载电子发票", language="zh")
    assert found(query) == ["发票"]
    assert found(query, language="zh") == ["发票"]


@pytest.mark.parametrize(
    "query", ["reset 密码", "密码 reset", "password 密码重置", "пароль reset", "SSO 密码"]
)
def test_both_scripts_of_a_mixed_query_count(settings: Any, query: str) -> None:
    settings.EMBEDDING_BACKEND = "off"
    make_indexed("Reset 密码重置", "Open the SSO password page. Пароль.", language="zh")
    (hit,) = search(query, reader=ANONYMOUS).hits
    assert hit.coverage == 1.0


@pytest.mark.field_report("B91")
@pytest.mark.parametrize("query", ["reinitialiser", "RE\u0301INITIALISER", "réinitialiser"])
def test_accents_are_found_in_all_forms(settings: Any, query: str) -> None:
    """Without accents, composed and decomposed, in either case."""
    settings.EMBEDDING_BACKEND = "off"
    make_indexed("Réinitialiser le mot de passe", "Texte.", language="fr")
    assert found(query, language="fr") == ["Réinitialiser le mot de passe"]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("SSO", "SSO"),
        ("sso", "SSO"),
        ("E-1042", "Error E-1042"),
        ("e1042", "Error E-1042"),
        ("1042", "Error E-1042"),
        ("api.v2", "Move to api.v2"),
        ("v2", "Move to api.v2"),
        ("API V2", "Move to api.v2"),
    ],
)
def test_product_terms_and_codes_are_found_whole_and_in_parts(
    settings: Any, query: str, title: str
) -> None:
    settings.EMBEDDING_BACKEND = "off"
    for made in ("SSO", "Error E-1042", "Error E-1043", "Move to api.v2"):
        make_article(made, body="Text.")
    index()
    assert found(query)[0] == title


@pytest.mark.field_report("B92")
def test_a_question_of_sixty_thousand_characters_is_limited_with_a_clear_message(
    client: Client,
) -> None:
    """Too long a text: the chat says how long it may be, a search takes its beginning."""
    make_indexed("Refunds", "Ask for a refund.")
    answer = client.post(
        "/api/v1/answers/", {"question": "refund " * 9_000}, content_type="application/json"
    )
    assert answer.status_code == 400
    assert "at most 4000 are possible" in answer.content.decode()
    assert found("refund " * 9_000) == ["Refunds"]


@pytest.mark.field_report("B92")
def test_one_giant_article_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch with 400 kB of Arabic in it: the others are indexed, what was cut is reported."""
    monkeypatch.setattr("articles.searchable.MOST_PASSAGES", 50)
    giant = make_article("Arabic", body="مرحبا بكم في مركز المساعدة. " * 15_000, language="ar")
    for number in range(4):
        make_article(f"Small {number}", body="Found all the same.")
    outcomes = [indexing.index_article(article.pk) for article in indexing.stale()]

    assert [bool(outcome.error) for outcome in outcomes].count(True) == 1
    assert giant.index_entry.error.startswith("cut after 50 of ")
    assert len(found("found same")) == 4


@pytest.mark.field_report("B93")
def test_a_model_of_another_length_than_the_settings_say_is_named_and_words_go_on(
    settings: Any,
) -> None:
    """768 numbers where the model has others: a check says so, words answer, the chat too."""
    make_indexed("Reset your password", "Follow the link in the e-mail that we send.")
    settings.EMBEDDING_DIMENSIONS = 768
    (problem,) = check_embedding_settings()
    assert problem.id == "articles.E001"
    assert "768" in problem.msg
    results = search("reset password", reader=ANONYMOUS)
    assert (results.mode, results.fallback_reason) == ("lexical", "embeddings_failed")
    assert assistant_finds("reset password") == ["Reset your password"]
