"""Document frequencies and average lengths: what BM25 knows about a language."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from pgvector import SparseVector

from articles import indexing, publishing
from articles.models import Article, IndexState, Passage, Term
from articles.searchable import MOST_TOKENS, Source, forms, quoted
from articles.terms import frequencies, lengths
from tests.factories import make_article, make_category
from tests.search_index import found, index, make_indexed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def words_alone(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"


def counts(language: str) -> dict[str, int]:
    return dict(Term.objects.filter(language=language).values_list("text", "passages"))


def same_vector(one: SparseVector, other: SparseVector) -> bool:
    """Equal to the precision of a column."""
    return one.indices() == other.indices() and one.values() == pytest.approx(other.values())


def test_a_term_counts_the_passages_it_stands_in() -> None:
    make_indexed("One", "apple apple pear")
    make_indexed("Two", "apple")
    make_indexed("Drei", "apfel", language="de")

    assert counts("en") == {"one": 1, "two": 1, "appl": 2, "pear": 1}
    assert counts("de") == {"drei": 1, "apfel": 1}
    assert IndexState.objects.get(language="en").passages == 2


def test_a_recount_follows_what_changed_and_what_went() -> None:
    make_indexed("One", "apple")
    gone = make_indexed("Zwei", "apfel", language="de")
    other = make_indexed("Two", "apple pear")
    publishing.withdraw(gone)
    publishing.withdraw(other)

    assert frequencies.recount() == {"en": 1}
    assert counts("en") == {"one": 1, "appl": 1}
    assert counts("de") == {}
    assert not IndexState.objects.filter(language="de").exists()


def test_a_recount_leaves_nothing_to_be_read_through() -> None:
    indexing.index_article(make_article("One", body="apple").pk)
    frequencies.recount()
    with connection.cursor() as cursor:
        cursor.execute("SELECT gin_clean_pending_list('passage_terms')")
        assert cursor.fetchone() == (0,)


def test_a_recount_of_nothing_is_nothing() -> None:
    assert frequencies.recount() == {}


def test_rare_words_decide() -> None:
    for number in range(6):
        make_indexed(f"Common {number}", "export export export of reports")
    make_indexed("Rare", "The zebra is in a report.")
    assert found("export zebra")[0] == "Rare"


def test_the_average_length_is_made_true_when_it_is_far_off() -> None:
    make_indexed("One", "apple " * 10)
    before = Passage.objects.get().bm25

    assert lengths.fix("en")
    state = IndexState.objects.get(language="en")
    assert state.average_length == lengths.average_length("en") == 11
    assert Passage.objects.get().bm25 != before
    assert not lengths.fix("en")


def test_many_passages_are_remade_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "BATCH", 2)
    articles = [make_article(f"A{number}", body="apple " * 10) for number in range(5)]
    index(*articles)
    assert lengths.fix("en")
    average = IndexState.objects.get(language="en").average_length
    for passage in Passage.objects.select_related("revision"):
        source = Source(passage.revision.title, (), "", passage.text, "en")
        assert same_vector(passage.bm25, forms(source, average).bm25)


def test_a_first_index_knows_how_long_its_passages_will_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lengths, "SAMPLE", 2)
    for number in range(5):
        make_article(f"A{number}", body="apple " * 10)
    make_article("Eins", body="apfel " * 3, language="de-AT")
    lengths.expect(indexing.stale())
    known = IndexState.objects.order_by("language").values_list("language", "average_length")
    assert list(known) == [("de", 4), ("en", 11)]

    index()
    before = {passage.pk: passage.bm25 for passage in Passage.objects.all()}
    assert not lengths.fix("en")
    assert {passage.pk: passage.bm25 for passage in Passage.objects.all()} == before


def test_a_constant_that_is_there_stays() -> None:
    IndexState.objects.create(language="en", average_length=5.0)
    make_article("One", body="apple " * 10)
    lengths.expect(indexing.stale())
    lengths.expect(Article.objects.none())
    assert IndexState.objects.get().average_length == 5.0


def test_a_language_without_passages_has_no_average() -> None:
    assert lengths.average_length("xx") == 0
    assert not lengths.fix("xx")


def test_new_passages_use_the_constant_of_their_language() -> None:
    IndexState.objects.create(language="en", average_length=5.0)
    article = make_article("One", body="apple")
    indexing.index_article(article.pk)
    expected = forms(Source("One", (), "", "apple", "en"), 5.0).bm25
    assert same_vector(Passage.objects.get().bm25, expected)


def test_common_words_do_not_pick_candidates_where_rarer_ones_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("articles.ranking.queries.COMMON_ROWS", 3)
    for number in range(5):
        make_indexed(f"Common {number}", "export reports")
    make_indexed("Rare", "The zebra.")
    assert found("zebra export") == ["Rare"]
    assert len(found("export")) == 5


def test_a_narrowed_search_looks_at_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("articles.ranking.queries.FEW_ROWS", 3)
    category = make_category()
    for number in range(5):
        make_indexed(f"Common {number}", "export reports", category=category)
    make_indexed("Rare", "The zebra.")
    assert found("zebra export") == ["Rare"]
    assert len(found("zebra export", category=category)) == 5


def test_a_long_query_counts_its_rarest_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("articles.ranking.queries.MOST_WORDS", 2)
    for number in range(3):
        make_indexed(f"Common {number}", "export reports")
    make_indexed("Rare", "The zebra grazes.")
    assert found("export reports zebra grazes") == ["Rare"]


def test_a_phrase_does_not_go_from_the_title_into_the_text() -> None:
    source = Source("Reset", ("Section",), "", "password now", "en")
    assert forms(source, 100.0).terms == "'reset':1A 'section':3B 'password':5"


def test_a_passage_of_too_many_words_keeps_its_first() -> None:
    source = Source("T", (), "", " ".join(f"w{n}" for n in range(MOST_TOKENS + 10)), "en")
    assert forms(source, 100.0).length == MOST_TOKENS + 1


def test_a_lexeme_is_quoted() -> None:
    assert quoted("o'b\\c") == "'o''b\\\\c'"


def test_other_titles_and_headings_give_other_hashes() -> None:
    base = Source("T", ("A", "B"), "b", "Text.", "en")
    others = [
        Source("U", ("A", "B"), "b", "Text.", "en"),
        Source("T", ("A",), "b", "Text.", "en"),
        Source("T", ("A", "B"), "c", "Text.", "en"),
        Source("T", ("A", "B"), "b", "Text", "en"),
        Source("T", ("A", "B"), "b", "Text.", "de"),
    ]
    assert len({source.content_hash() for source in [base, *others]}) == 6
