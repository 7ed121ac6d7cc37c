"""The ledger: what was given, what is a source, in which order, under which number."""

import pytest

from assistant.citations import CitationWriter
from assistant.provenance import Document, Dropped, Exposure, Ledger, Source
from assistant.writing.addresses import parse

A = Document("a", "Reset password", "/articles/reset-password/")
B = Document("b", "Delete account", "/articles/delete-account/")
C = Document("c", "Billing", "/articles/billing/")
D = Document("d", "Plans", "/articles/plans/")


def test_documents_get_their_references_in_the_order_they_are_given() -> None:
    ledger = Ledger()

    refs = [ledger.expose(document, Exposure.TITLE) for document in (A, B, A, C)]

    assert refs == [1, 2, 1, 3]
    assert ledger.by_ref(3) == C
    assert ledger.by_ref(4) is None


def test_a_document_brings_the_reference_it_has_in_the_conversation() -> None:
    ledger = Ledger()

    assert ledger.expose(A, Exposure.EXCERPT, carried=True, ref=7) == 7
    assert ledger.expose(B, Exposure.EXCERPT) == 8
    assert ledger.expose(A, Exposure.EXCERPT) == 7
    assert ledger.expose(A, Exposure.EXCERPT, ref=7) == 7


def test_a_reference_belongs_to_one_document() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.TITLE, ref=2)

    with pytest.raises(ValueError, match="reference 2 is another document's"):
        ledger.expose(B, Exposure.FULL, ref=2)
    with pytest.raises(ValueError, match="document a has reference 2, not 3"):
        ledger.expose(A, Exposure.FULL, "https://status.example.org", ref=3)

    assert ledger.entries() == [ledger.entries()[0]]
    assert ledger.entries()[0].exposure == Exposure.TITLE
    assert not ledger.was_given("https://status.example.org")


@pytest.mark.parametrize("ref", [0, -1])
def test_references_begin_at_one(ref: int) -> None:
    with pytest.raises(ValueError, match="reference"):
        Ledger().expose(A, Exposure.TITLE, ref=ref)


def test_a_document_keeps_the_highest_exposure() -> None:
    ledger = Ledger()
    for exposure in (Exposure.TITLE, Exposure.FULL, Exposure.EXCERPT):
        ledger.expose(A, exposure)

    assert ledger.sources() == [Source(A, None, True, "opened")]


def test_a_document_keeps_its_newest_title() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.EXCERPT, carried=True)
    renamed = Document("a", "Reset your password", "/articles/reset/")
    ledger.expose(renamed, Exposure.FULL)

    assert ledger.sources() == [Source(renamed, None, True, "opened")]
    assert ledger.by_address(parse("/articles/reset/")) == renamed
    assert ledger.by_address(parse("/articles/reset-password/")) == renamed


def test_a_link_to_a_former_address_is_a_link_to_the_document() -> None:
    ledger = Ledger()
    moved = Document("a", "Reset", "/articles/reset/", ("/articles/old/", "/articles/taken/"))
    ledger.expose(moved, Exposure.EXCERPT, text="See [it](/articles/old/).")
    taken = Document("b", "Taken", "/articles/taken/")
    ledger.expose(taken, Exposure.EXCERPT)
    writer = CitationWriter(ledger)

    assert writer.feed("[it](/articles/old/#how)") + writer.close() == "[it](/articles/reset/#how)"
    assert ledger.sources() == [Source(moved, None, True, "excerpt")]
    assert ledger.by_address(parse("/articles/taken/")) == taken


@pytest.mark.parametrize(
    ("exposure", "via"),
    [(Exposure.TITLE, "listing"), (Exposure.EXCERPT, "excerpt"), (Exposure.FULL, "opened")],
)
def test_a_source_says_how_it_was_given(exposure: Exposure, via: str) -> None:
    ledger = Ledger()
    ledger.expose(A, exposure)
    ledger.link(A, A.url)

    assert ledger.sources() == [Source(A, None, exposure > Exposure.TITLE, via)]  # type: ignore[arg-type]


def test_what_was_opened_is_a_source_cited_or_not() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.FULL)
    ledger.expose(B, Exposure.EXCERPT)
    ledger.expose(C, Exposure.TITLE)

    assert ledger.sources() == [Source(A, None, True, "opened")]


def test_what_was_opened_in_an_earlier_turn_is_a_source_when_this_answer_cites_it() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.FULL, carried=True)
    assert ledger.sources() == []

    ledger.cite(A)
    assert ledger.sources() == [Source(A, 1, True, "carried")]


def test_a_carried_title_is_no_source_when_it_is_linked() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.TITLE, carried=True)
    ledger.link(A, A.url)

    assert ledger.sources() == [Source(A, None, False, "carried")]


@pytest.mark.parametrize("exposure", Exposure)
def test_any_exposure_of_this_turn_ends_carried(exposure: Exposure) -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.FULL, carried=True)
    ledger.expose(A, exposure)
    ledger.expose(A, Exposure.FULL, carried=True)
    ledger.cite(A)

    assert ledger.sources() == [Source(A, 1, True, "opened")]


@pytest.mark.parametrize(
    ("exposure", "is_source"),
    [(Exposure.TITLE, False), (Exposure.EXCERPT, False), (Exposure.FULL, True)],
)
def test_what_an_earlier_turn_opened_and_this_one_found_again_is_a_source_when_opened_again(
    exposure: Exposure, is_source: bool
) -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.FULL, carried=True)
    ledger.expose(A, exposure)

    assert bool(ledger.sources()) == is_source


def test_articles_stand_in_the_order_in_which_this_turn_opened_them() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.FULL, carried=True)
    ledger.expose(B, Exposure.FULL)
    ledger.expose(A, Exposure.FULL)

    assert [source.document for source in ledger.sources()] == [B, A]


def test_the_order_of_sources() -> None:
    ledger = Ledger()
    title_1, title_2, linked_1, linked_2, opened_1, opened_2, number_1, number_2 = documents = [
        Document(f"d{n}", f"Topic {n}", f"/articles/topic-{n}/") for n in range(8)
    ]
    for document in documents:
        ledger.expose(document, Exposure.TITLE)
    for document in (opened_1, linked_2, opened_2, number_1):
        ledger.expose(document, Exposure.FULL)
    for document in (number_2, linked_1):
        ledger.expose(document, Exposure.EXCERPT)

    for document in (title_1, linked_1, title_2, number_1, linked_2):
        ledger.link(document, document.url)
    for document in (number_1, number_2):
        ledger.cite(document)

    assert [source.document for source in ledger.sources()] == [
        *(number_1, number_2, linked_1, linked_2, opened_1, opened_2, title_1, title_2)
    ]
    assert [source.number for source in ledger.sources()] == [1, 2, *[None] * 6]


def test_the_order_of_sources_is_not_that_of_time() -> None:
    ledger = Ledger()
    title, linked, opened, *numbered = [
        Document(f"d{n}", f"Topic {n}", f"/articles/topic-{n}/") for n in range(9)
    ]
    ledger.expose(title, Exposure.TITLE)
    ledger.link(title, title.url)
    ledger.expose(linked, Exposure.EXCERPT)
    ledger.link(linked, linked.url)
    for document in numbered:
        ledger.expose(document, Exposure.EXCERPT)
        ledger.cite(document)
    ledger.expose(opened, Exposure.FULL)

    assert [source.document for source in ledger.sources()] == [*numbered, linked, opened, title]


def test_the_first_time_that_an_article_is_opened_or_linked_decides_its_place() -> None:
    ledger = Ledger()
    for document in (A, B, A):
        ledger.expose(document, Exposure.FULL)
    for document in (C, D):
        ledger.expose(document, Exposure.EXCERPT)
    for document in (C, D, C):
        ledger.link(document, document.url)

    assert [source.document for source in ledger.sources()] == [C, D, A, B]


def test_documents_of_a_list_stand_between_those_linked_and_those_opened() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.FULL)
    ledger.expose(B, Exposure.EXCERPT)
    ledger.expose(C, Exposure.EXCERPT)
    ledger.expose(D, Exposure.TITLE)
    ledger.name_in_list([C, B, C, D])

    assert ledger.sources() == [
        Source(C, None, True, "excerpt"),
        Source(B, None, True, "excerpt"),
        Source(A, None, True, "opened"),
    ]


def test_what_the_text_links_stands_before_a_list_that_was_named_first() -> None:
    ledger = Ledger()
    for document in (A, B):
        ledger.expose(document, Exposure.EXCERPT)
    ledger.name_in_list([A])
    ledger.link(B, B.url)

    assert [source.document for source in ledger.sources()] == [B, A]


def test_a_list_counts_only_where_nothing_else_cites() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.EXCERPT)
    ledger.expose(B, Exposure.EXCERPT)
    ledger.cite(A)
    ledger.name_in_list([B])

    assert ledger.sources() == [Source(A, 1, True, "excerpt")]


def test_a_linked_title_counts_as_citing_something() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.EXCERPT)
    ledger.expose(D, Exposure.TITLE)
    ledger.link(D, D.url)
    ledger.name_in_list([A])

    assert ledger.sources() == [Source(D, None, False, "listing")]


def test_the_uncited_list_is_shown_in_prompt_order_once_the_text_is_finished() -> None:
    ledger = Ledger(show_uncited=True)
    ledger.expose(B, Exposure.EXCERPT)
    ledger.expose(A, Exposure.EXCERPT)
    ledger.expose(C, Exposure.EXCERPT, carried=True)
    ledger.expose(D, Exposure.TITLE)
    assert ledger.sources() == []
    before = ledger.changes

    ledger.finish()

    assert ledger.changes > before
    assert ledger.cites_nothing
    assert ledger.sources() == [
        Source(B, None, True, "excerpt"),
        Source(A, None, True, "excerpt"),
    ]
    assert [entry.consulted for entry in ledger.entries()] == [True, True, False, False]
    assert not any(entry.cited or entry.linked or entry.listed for entry in ledger.entries())


def test_the_uncited_list_is_not_shown_beside_a_citation() -> None:
    ledger = Ledger(show_uncited=True)
    ledger.expose(A, Exposure.EXCERPT)
    ledger.expose(B, Exposure.EXCERPT)
    ledger.cite(B)
    ledger.finish()

    assert ledger.sources() == [Source(B, 1, True, "excerpt")]
    assert not ledger.cites_nothing


def test_with_tools_the_uncited_are_no_sources() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.EXCERPT)
    ledger.finish()

    assert ledger.sources() == []


def test_the_audit_keeps_every_document_by_reference() -> None:
    ledger = Ledger()
    ledger.expose(B, Exposure.TITLE, ref=3)
    ledger.expose(A, Exposure.FULL, carried=True, ref=1)
    ledger.expose(C, Exposure.EXCERPT)
    ledger.cite(A)
    ledger.link(B, B.url)
    ledger.name_in_list([C])

    a, b, c = ledger.entries()

    assert (a.document, a.ref, a.exposure, a.carried) == (A, 1, Exposure.FULL, True)
    assert (a.cited, a.linked, a.listed, a.number) == (True, False, False, 1)
    assert (a.via, a.consulted) == ("carried", True)
    assert (b.document, b.ref, b.cited, b.linked, b.consulted) == (B, 3, False, True, False)
    assert (c.document, c.ref, c.listed, c.consulted) == (C, 4, False, False)


def test_the_audit_says_that_only_a_list_named_a_document() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.EXCERPT)
    ledger.name_in_list([A])

    (entry,) = ledger.entries()

    assert (entry.cited, entry.linked, entry.listed, entry.consulted) == (False, False, True, True)


def test_a_document_has_one_number() -> None:
    ledger = Ledger()
    for document in (A, B):
        ledger.expose(document, Exposure.EXCERPT)

    assert [ledger.cite(document) for document in (B, A, B)] == [1, 2, 1]
    assert ledger.numbers == {1: B, 2: A}


def test_changes_grow_with_what_the_sources_show_and_stay_with_what_they_do_not() -> None:
    ledger = Ledger()
    seen = [ledger.changes]

    def changed() -> bool:
        seen.append(ledger.changes)
        return seen[-1] > seen[-2]

    ledger.expose(A, Exposure.EXCERPT)
    assert changed()
    ledger.cite(A)
    assert changed()
    ledger.cite(A)
    ledger.drop("[9]", "unknown_ref")
    assert not changed()
    ledger.link(A, A.url)
    assert changed()
    ledger.link(A, f"{A.url}#part")
    assert not changed()


def test_links_are_what_the_text_may_lead_to() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.EXCERPT)
    closed = Document("x", "Internal limits", None)
    ledger.expose(closed, Exposure.TITLE)

    ledger.link(A, f"{A.url}#part")
    ledger.link(closed, None)

    assert ledger.links == {"/articles/reset-password/#part"}
    assert ledger.sources()[1] == Source(closed, None, False, "listing")


def test_an_address_leads_to_the_document_on_this_site_only() -> None:
    ledger = Ledger(site_hosts=["Help.Example.com", "localhost:8000"])
    ledger.expose(A, Exposure.TITLE)

    def found(dest: str) -> Document | None:
        return ledger.by_address(parse(dest))

    for ours in (
        "/articles/reset-password/",
        "/articles/reset-password",
        "/articles/reset-password/?utm=1#top",
        "/articles/reset%2Dpassword/",
        "https://help.example.com/articles/reset-password/",
        "http://HELP.example.com:80/articles/reset-password",
        "//help.example.com/articles/reset-password",
        "http://localhost:8000/articles/reset-password/",
    ):
        assert found(ours) == A, ours
    for other in (
        "/articles/reset-passwords/",
        "/Articles/reset-password/",
        "https://example.com/articles/reset-password/",
        "https://help.example.com:8443/articles/reset-password/",
        "https://help.example.com.evil.example/articles/reset-password/",
        "https://help.example.com@evil.example/articles/reset-password/",
        "http://localhost/articles/reset-password/",
        "javascript:/articles/reset-password/",
    ):
        assert found(other) is None, other


def test_a_document_whose_address_is_decoded_is_found_by_either_spelling() -> None:
    ledger = Ledger(site_hosts=["help.example.com"])
    chinese = Document("z", "密码重置", "/articles/%E5%AF%86%E7%A0%81/")
    ledger.expose(chinese, Exposure.EXCERPT)

    for dest in (
        "/articles/密码/",
        "/articles/密码",
        "/articles/%e5%af%86%e7%a0%81/",
        "https://help.example.com/articles/密码/",
    ):
        assert ledger.by_address(parse(dest)) == chinese, dest


def test_an_address_was_given_where_it_stands_exactly() -> None:
    ledger = Ledger()
    ledger.expose(A, Exposure.EXCERPT, "See https://status.example.org/now.")
    ledger.expose(B, Exposure.EXCERPT, "And [mail](mailto:help@example.org).")

    assert ledger.was_given("https://status.example.org/now")
    assert ledger.was_given("mailto:help@example.org")
    assert not ledger.was_given("https://status.example.org/")
    assert not ledger.was_given("https://status.example.org/now.")


def test_what_was_dropped_keeps_its_order() -> None:
    ledger = Ledger()
    ledger.drop("[9]", "unknown_ref")
    ledger.drop("[x](javascript:1)", "unsafe_link")

    assert ledger.dropped == [
        Dropped("[9]", "unknown_ref"),
        Dropped("[x](javascript:1)", "unsafe_link"),
    ]
