"""One article into the index: by content, idempotent, decided by the article's own row."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from articles import embeddings, indexing, publishing
from articles.embeddings import EmbeddingError, HashedEmbedder
from articles.models import Article, IndexEntry, Passage, Status, Visibility
from tests.factories import make_article, make_category
from tests.search_index import found, index, make_indexed, rows

pytestmark = pytest.mark.django_db

SECTIONS = "\n\n".join(f"## Part {number}\n\n{f'Word{number} ' * 120}" for number in range(3))


@pytest.fixture(autouse=True)
def hashed_vectors(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "hashed"


def change(article: Article, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(article, name, value)
    publishing.publish(article)


def ids(article: Article) -> list[int]:
    passages = Passage.objects.filter(article=article).order_by("position")
    return list(passages.values_list("pk", flat=True))


def test_a_passage_has_all_its_forms(settings: Any) -> None:
    category = make_category("Billing")
    article = make_indexed(
        "Refunds", "# Money\n\n## How to\n\nAsk for it.", category=category, language="pt-BR"
    )

    (passage,) = Passage.objects.filter(article=article)
    assert passage.heading_path == ["Money", "How to"]
    assert passage.anchor == "how-to"
    assert passage.text == "Ask for it."
    assert (passage.category, passage.visibility) == (category, Visibility.PUBLIC)
    assert passage.language == "pt"
    assert passage.revision == article.live_revision
    assert "'refunds':1A" in passage.terms
    assert passage.embedding_model == "hashed-256"
    assert len(passage.embedding) == 256
    assert len(passage.bm25.indices()) > 3


def test_a_changed_and_shortened_article_leaves_exactly_its_new_rows() -> None:
    article = make_indexed("Fees", "Fee is 5 EUR.\n\n" + SECTIONS)
    assert len(rows(article)) == 4

    change(article, body="Fee is 7 EUR.")
    for _again in range(2):
        index(article)

    assert rows(article) == ["Fee is 7 EUR."]
    assert found("fee 7 EUR") == ["Fees"]
    assert found("fee 5 EUR word1")[:1] == ["Fees"]
    assert "5 EUR" not in " ".join(rows(article))


def test_an_unchanged_passage_keeps_its_row_wherever_it_moves() -> None:
    article = make_indexed("Guide", SECTIONS)
    before = ids(article)

    change(article, body="## Part new\n\nSomething else.\n\n" + SECTIONS)
    outcome = indexing.index_article(article.pk)

    assert (outcome.written, outcome.kept, outcome.removed) == (1, 3, 0)
    assert ids(article)[1:] == before
    assert set(Passage.objects.values_list("revision", flat=True)) == {article.live_revision_id}


def test_an_unchanged_passage_keeps_its_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    article = make_indexed("Guide", SECTIONS)
    embedded: list[str] = []
    monkeypatch.setattr(
        HashedEmbedder,
        "embed",
        lambda self, texts, patient=False: [
            embedded.append(text) or [1.0] + [0.0] * 255  # type: ignore[func-returns-value]
            for text in texts
        ],
    )

    change(article, body=SECTIONS.replace("Word1", "Other"))
    index(article)

    assert len(embedded) == 1
    assert "Other" in embedded[0]


def test_equal_passages_are_as_many_rows_as_they_are() -> None:
    body = "\n\n".join(["## Same\n\nThe same text."] * 3)
    article = make_indexed("Echo", body)
    anchors = Passage.objects.order_by("position").values_list("anchor", flat=True)
    assert list(anchors) == ["same", "same-1", "same-2"]

    change(article, body=body + "\n\n## Same\n\nThe same text.")
    assert indexing.index_article(article.pk).written == 1


def test_indexing_twice_changes_nothing() -> None:
    article = make_indexed("Guide", SECTIONS)
    before = ids(article)
    assert indexing.index_article(article.pk).status == "unchanged"
    assert ids(article) == before


def test_an_article_without_text_is_found_by_its_title_and_summary() -> None:
    make_indexed("Contact", "", summary="Telephone and post.")
    assert found("telephone") == ["Contact"]
    assert found("contact") == ["Contact"]


def test_a_draft_is_not_indexed_and_a_withdrawn_article_is_taken_out() -> None:
    draft = make_article("Secret", publish=False, body="Nothing to see.")
    assert indexing.index_article(draft.pk).status == "withdrawn"
    assert rows(draft) == []

    article = make_indexed("Old plan", "Its price.")
    publishing.withdraw(article, Status.ARCHIVED)
    assert rows(article) == []
    assert indexing.index_article(article.pk).status == "withdrawn"
    assert not IndexEntry.objects.exists()


def test_withdrawing_from_the_index_spares_what_is_live() -> None:
    article = make_indexed("Guide", SECTIONS)
    assert indexing.withdraw(article.pk).status == "superseded"
    assert len(rows(article)) == 3


def test_a_missing_article_is_nothing_to_do() -> None:
    assert indexing.index_article(404).status == "missing"


def test_what_was_published_meanwhile_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    article = make_article("Guide", body="Old text.")
    embed = HashedEmbedder.embed

    def publish_meanwhile(self: HashedEmbedder, texts: Any, patient: bool = False) -> Any:
        change(Article.objects.get(pk=article.pk), body="New text.")
        return embed(self, texts)

    monkeypatch.setattr(HashedEmbedder, "embed", publish_meanwhile)
    assert indexing.index_article(article.pk).status == "superseded"
    monkeypatch.undo()
    assert rows(article) == []


def test_stale_is_what_the_index_does_not_hold_as_it_is(settings: Any) -> None:
    never, changed, current = (make_article(title) for title in ("Never", "Changed", "Current"))
    index(changed, current)
    change(changed, body="Changed.")
    make_article("Draft", publish=False)

    assert list(indexing.stale()) == [never, changed]
    settings.EMBEDDING_DIMENSIONS = 64
    assert list(indexing.stale()) == [never, changed, current]
    settings.EMBEDDING_BACKEND = "off"
    assert list(indexing.stale()) == [never, changed, current]
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_DIMENSIONS = "local", 768
    assert list(indexing.stale()) == [never, changed]


def test_orphaned_is_what_the_index_still_holds_of_articles_that_are_not_live() -> None:
    make_indexed("Live", "Text.")
    gone = make_indexed("Gone", "Text.")
    Article.objects.filter(pk=gone.pk).update(status=Status.ARCHIVED)
    assert list(indexing.orphaned()) == [gone]


def test_a_change_of_category_or_visibility_reaches_the_passages_without_publishing() -> None:
    article = make_indexed("Guide", SECTIONS)
    category = make_category("Elsewhere")

    Article.objects.filter(pk=article.pk).update(category=category, visibility=Visibility.STAFF)

    passages = Passage.objects.filter(article=article).values_list("category", "visibility")
    assert set(passages) == {(category.pk, Visibility.STAFF)}


def test_a_new_model_gives_new_vectors_to_the_same_rows(settings: Any) -> None:
    article = make_indexed("Guide", SECTIONS)
    before = ids(article)

    settings.EMBEDDING_DIMENSIONS = 64
    outcome = indexing.index_article(article.pk)

    assert (outcome.status, outcome.written) == ("indexed", 0)
    assert ids(article) == before
    assert set(Passage.objects.values_list("embedding_model", flat=True)) == {"hashed-64"}


def test_without_embeddings_the_words_go_in_and_the_entry_says_what_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: HashedEmbedder, texts: Any, patient: bool = False) -> Any:
        raise EmbeddingError("the endpoint is gone")

    monkeypatch.setattr(HashedEmbedder, "embed", fail)
    article = make_article("Guide", body=SECTIONS)
    outcome = indexing.index_article(article.pk)

    assert outcome.lacks_vectors
    assert outcome.error == "not found by meaning: the endpoint is gone"
    assert len(rows(article)) == 3
    assert IndexEntry.objects.get().error == outcome.error
    assert list(indexing.stale()) == [article]
    monkeypatch.undo()
    assert indexing.index_article(article.pk).error == ""
    assert not indexing.stale().exists()


def test_a_giant_article_goes_in_and_what_is_cut_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    giant = make_article("Arabic", body="مرحبا بكم في مركز المساعدة. " * 15_000, language="ar")
    small = make_article("Small", body="Found all the same.")
    monkeypatch.setattr("articles.searchable.MOST_PASSAGES", 100)

    outcomes = {article.title: indexing.index_article(article.pk) for article in (giant, small)}

    assert outcomes["Arabic"].error.startswith("cut after 100 of ")
    assert outcomes["Arabic"].written == 100
    assert outcomes["Small"].error == ""
    assert "cut after 100" in IndexEntry.objects.get(article=giant).error


def test_a_passage_of_one_endless_word_goes_in() -> None:
    article = make_indexed("Blob", "```\n" + "A" * 400_000 + "\n```")
    assert rows(article)


def test_addresses_of_links_are_no_words_of_a_passage() -> None:
    make_indexed("Links", "See [the form](https://example.com/zebra/path) for more.")
    assert found("zebra") == []
    assert found("form") == ["Links"]


def test_deleting_an_article_leaves_nothing_in_the_index() -> None:
    article = make_indexed("Guide", SECTIONS)
    Article.objects.filter(pk=article.pk).update(live_revision=None, status=Status.DRAFT)
    article.delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM articles_passage")
        assert cursor.fetchone() == (0,)


def test_contradicting_settings_leave_what_vectors_there_are(settings: Any) -> None:
    article = make_indexed("Guide", SECTIONS)
    settings.EMBEDDING_BACKEND, settings.EMBEDDING_DIMENSIONS = "local", 768
    assert indexing.index_article(article.pk).lacks_vectors
    assert set(Passage.objects.values_list("embedding_model", flat=True)) == {"hashed-256"}
    with pytest.raises(EmbeddingError, match="makes 256 dimensions"):
        embeddings.active()


# Several at once


def test_several_articles_are_indexed_together_each_with_an_outcome_of_its_own() -> None:
    known = make_indexed("Known", SECTIONS)
    new = make_article("New", body=SECTIONS, language="de")
    draft = make_article("Draft", publish=False)

    outcomes = indexing.index_articles([known.pk, new.pk, draft.pk, 404])

    statuses = {article_id: outcome.status for article_id, outcome in outcomes.items()}
    assert statuses == {
        known.pk: "unchanged", new.pk: "indexed", draft.pk: "withdrawn", 404: "missing",
    }  # fmt: skip
    assert (outcomes[new.pk].written, outcomes[known.pk].kept) == (3, 3)
    assert set(IndexEntry.objects.values_list("article", flat=True)) == {known.pk, new.pk}


def test_equal_passages_of_different_articles_both_get_vectors() -> None:
    twins = [make_article("Twin", body="The same text.") for _twin in range(2)]
    indexing.index_articles([twin.pk for twin in twins])
    assert Passage.objects.filter(embedding__isnull=False).count() == 2


def test_what_copies_badly_is_stored_as_it_is() -> None:
    text = "A\\tab \\N, {braces, \"quotes\"} and 'more'\nunder it \t."
    article = make_indexed('C:\\new "title"', f"## {{a, b}} \\\n\n    {text}")
    (passage,) = Passage.objects.filter(article=article)
    assert "\\N, {braces" in passage.text
    assert passage.heading_path == ["{a, b} \\"]


def test_a_batch_is_no_larger_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [5, 5, 5, 100, 1, 1]
    made = [make_article(f"A{place}", body="x" * size) for place, size in enumerate(sizes)]
    monkeypatch.setattr(indexing, "BATCH", 2)
    monkeypatch.setattr(indexing, "BATCH_CHARACTERS", 50)

    ids_by_batch = list(indexing.batches(Article.objects.order_by("pk")))

    first = made[0].pk
    assert [[pk - first for pk in batch] for batch in ids_by_batch] == [[0, 1], [2], [3], [4, 5]]
    assert list(indexing.batches(Article.objects.none())) == []
