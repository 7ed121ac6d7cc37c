"""What others reported of citations and sources, each through the whole product.

Every test is named after the kind of its report; its number is the report's.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from articles import publishing
from articles.models import Article
from assistant.database import db
from assistant.eventlog import EventLog
from assistant.grounding import GAPS
from assistant.models import Answer, Grounding
from tests.chat_clients import Person, in_loop
from tests.everywhere import ActingProvider, everywhere, opened, searched
from tests.factories import make_article
from tests.leaks import assert_people_stay_apart
from tests.search_index import make_indexed
from tests.streams import html_of, of_type

pytestmark = pytest.mark.django_db(transaction=True)

SITE = "https://help.example.test"


@pytest.fixture
def model(settings: Any) -> Iterator[ActingProvider]:
    settings.SITE_URL = SITE
    settings.ASSISTANT_MODEL = "acting"
    settings.ASSISTANT_TURNS_PER_VISITOR = settings.ASSISTANT_TURNS_PER_ADDRESS = 1000
    with ActingProvider() as provider:
        settings.OPENAI_BASE_URL = provider.url
        yield provider
        assert_people_stay_apart(provider.requests)


@pytest.fixture
def reset(transactional_db: None) -> Article:
    return make_article("Reset password", slug="reset")


def test_b01_numbers_in_code_are_no_citations(model: ActingProvider, reset: Article) -> None:
    code = "Take the first cell with `cells[1]`:\n\n```\nx = cells[1]\ny = cells[2]\n```\n\n"
    told = everywhere(model, opened("reset"), f"{code}See [1].")
    assert told.text == f"{code}See [1]."
    assert told.links == [("1", "/articles/reset/")]
    assert [element.text.strip() for element in told.html.all("code")] == [
        "cells[1]",
        "x = cells[1]\ny = cells[2]",
    ]
    assert told.row == [("Reset password", 1)]


def test_b02_a_stray_number_goes_and_code_stays(model: ActingProvider) -> None:
    code = "Use `argv[1]`, then\n\n```sh\necho ${arr[2]}\n```\n\nDone"
    told = everywhere(model, (), f"{code} [3].")
    assert told.text == f"{code}."
    assert told.row == []
    assert told.links == []
    assert told.dropped == [("[3]", "unknown_ref")]


def test_b03_names_in_brackets_stay(model: ActingProvider, reset: Article) -> None:
    text = "Set the pressure in [bar] under [Device] > [Limits], see [1]."
    told = everywhere(model, opened("reset"), text)
    assert told.text == text
    assert told.links == [("1", "/articles/reset/")]
    assert told.dropped == []


def test_b04_a_number_means_the_article_that_was_shown_under_it(
    model: ActingProvider, reset: Article
) -> None:
    make_article("Delete account", slug="delete")
    told = everywhere(model, opened("reset", "delete"), "Open the login page [1].")
    assert told.links == [("1", "/articles/reset/")]
    assert told.row == [("Reset password", 1), ("Delete account", None)]
    assert told.stored.documents.get(number=1).ref == 1


def test_b06_two_passages_of_an_article_are_one_source(model: ActingProvider) -> None:
    body = "## Invoices\n\nInvoices come by mail.\n\n## Refunds\n\nRefunds take a week."
    make_indexed("Billing FAQ", body, slug="billing-faq")
    told = everywhere(
        model,
        searched("invoices by mail", "refunds take a week"),
        "Invoices come by mail [«Billing FAQ»]. Refunds take a week [«Billing FAQ»].",
    )
    assert told.row == [("Billing FAQ", 1)]
    assert told.text.count("[1]") == 2
    assert {address.split("#")[0] for _text, address in told.links} == {"/articles/billing-faq/"}


def test_b07_only_what_is_cited_is_shown(model: ActingProvider) -> None:
    subjects = ("save drafts", "save invoices", "save filters", "save searches", "save themes")
    for subject in subjects:
        make_indexed(f"How to {subject}", f"## Save\n\nTo {subject}, press Save.")
    told = everywhere(model, searched(*subjects), "Press Save [«How to save filters»].")
    assert told.row == [("How to save filters", 1)]
    assert [source["title"] for source in told.payload["sources"]] == ["How to save filters"]
    kept = set(told.stored.documents.values_list("title", flat=True))
    assert kept == {f"How to {subject}" for subject in subjects}
    assert all(title in told.audit for title in kept)


@pytest.mark.parametrize(
    ("question", "answer", "verdict"),
    [
        ("hi there", "Hello! How can I help?", Grounding.SMALLTALK),
        (
            "How do I save a theme?",
            "I could not find that in the help center.",
            Grounding.REJECTED,
        ),
    ],
)
def test_b08_an_answer_that_rests_on_nothing_has_no_row(
    model: ActingProvider, question: str, answer: str, verdict: Grounding
) -> None:
    for name in ("themes", "invoices", "filters"):
        make_indexed(f"How to save {name}", f"## Save\n\nTo save {name}, press Save.")
    told = everywhere(model, searched("save themes"), answer, question=question)
    assert told.stored.documents.exists(), "the search brought something all the same"
    assert told.payload["sources"] == []
    assert told.payload["grounding"] == verdict
    assert (verdict in GAPS) == (verdict == Grounding.REJECTED)


def test_b09_numbers_follow_the_order_of_first_use(model: ActingProvider) -> None:
    names = [f"Part {letter}" for letter in "abcdefgh"]
    for name in names:
        make_article(name)
    slugs = [name.lower().replace(" ", "-") for name in names]
    told = everywhere(model, opened(*slugs), "Do A [7]. Then B [4]. A again [7].")
    assert told.text == "Do A [1]. Then B [2]. A again [1]."
    assert told.row[:2] == [("Part g", 1), ("Part d", 2)]
    numbered = told.stored.documents.exclude(number=None).order_by("number")
    assert list(numbered.values_list("ref", "number")) == [(7, 1), (4, 2)]
    assert told.stored.model_text == "Do A [7]. Then B [4]. A again [7]."


@pytest.mark.parametrize("how", ["carried", "no longer in the prompt", "unpublished"])
def test_b10_a_number_of_an_earlier_turn_is_resolved_by_the_rule_of_what_is_carried(
    model: ActingProvider, settings: Any, how: str
) -> None:
    """While its text stands in front of the model the number is its reference, and says so;
    afterwards it is nobody's."""
    article = make_article("Seats", body="You have 5 seats. " + "More of it. " * 600)
    told: list[dict[str, Any]] = []

    async def body() -> None:
        person = await Person.visitor()
        model.calls, model.text = opened("seats"), "You have seats [1]."
        first = (await person.ask_json("How many seats?")).json()
        if how == "unpublished":
            await db(publishing.withdraw, article)
        elif how == "no longer in the prompt":
            settings.ASSISTANT_CONTEXT_TOKENS = 2000
        model.calls, model.text = (), "You have 5 seats [1]."
        fields = {"conversation_id": first["conversation_id"]}
        told.append((await person.ask_json("And the weather?", **fields)).json())

    in_loop(body)
    (second,) = told
    if how == "carried":
        assert second["text"] == "You have 5 seats [1]."
        assert [(each["title"], each["via"]) for each in second["sources"]] == [
            ("Seats", "carried")
        ]
    else:
        assert second["text"] == "You have 5 seats."
        assert second["sources"] == []
        assert "citation" not in second["html"]


@pytest.mark.parametrize(
    "written",
    [
        "Same steps [[1]](/articles/reset/) apply [ [[1]](/articles/reset/) ](/articles/reset/).",
        f"Same steps [[1]]({SITE}/a/reset) apply [ [[1]](/a/reset) ](/a/reset).",
    ],
    ids=["our addresses", "invented ones"],
)
def test_b12_links_around_markers_are_flat_and_history_holds_plain_numbers(
    model: ActingProvider, reset: Article, written: str
) -> None:
    told = everywhere(model, opened("reset"), written)
    assert "](" not in told.text
    assert told.links == [("1", "/articles/reset/")] * told.text.count("[1]")
    assert 1 <= told.text.count("[1]") <= 2
    for link in told.html.all("a"):
        assert not link.all("a")[1:], "no link in a link"

    async def body() -> None:
        person = await Person.visitor()
        first = (await person.ask_json("How?")).json()
        await person.ask_json("Again?", conversation_id=first["conversation_id"])

    in_loop(body)
    history = [
        message["content"]
        for message in model.requests[-1].body["messages"]
        if message["role"] == "assistant" and message["content"]
    ]
    assert history
    assert all("](" not in text for text in history)


def test_b13_markers_of_other_systems_leave_no_trace(model: ActingProvider, reset: Article) -> None:
    written = "Go to Billing【4:0†source】and pick a plan【4:1†billing-faq】."
    told = everywhere(model, opened("reset"), written)
    assert told.text == "Go to Billing and pick a plan."
    shown = json.dumps([told.payload, told.events], ensure_ascii=False)
    assert not set("【†】") & set(shown)
    assert [reason for _text, reason in told.dropped] == ["unknown_ref"] * 2


def test_b14_all_channels_tell_the_same_text_and_sources(
    model: ActingProvider, reset: Article
) -> None:
    """No placeholder of ours exists; one that a model writes is its text."""
    told = everywhere(model, opened("reset"), "Use the portal ##0$$ or {{source:1}} [1].")
    assert told.text == "Use the portal ##0$$ or {{source:1}} [1]."
    assert told.row == [("Reset password", 1)]


def test_b15_every_form_of_several_references(model: ActingProvider) -> None:
    for number in (1, 2, 3):
        make_article(f"Part {number}")
    written = "A [1, 2]. B [1，2]. C [1][2]. D [1-3]. E [1 and 2]. F [1;2]. G [99]."
    told = everywhere(model, opened("part-1", "part-2", "part-3"), written)
    assert told.text == ("A [1][2]. B [1][2]. C [1][2]. D [1][2][3]. E [1][2]. F [1][2]. G.")
    assert len(told.links) == told.text.count("[")
    assert told.dropped == [("[99]", "unknown_ref")]


def test_b17_links_to_pages_that_nobody_wrote_are_text(
    model: ActingProvider, reset: Article
) -> None:
    written = f"Read [Refund policy](/articles/refund-policy-2024) or {SITE}/en/refunds."
    told = everywhere(model, opened("reset"), written)
    assert told.text.startswith("Read Refund policy or https\\://")
    assert told.links == []
    assert "Refund policy" in told.html.text
    assert told.row == [("Reset password", None)]
    assert [reason for _text, reason in told.dropped] == ["not_retrieved"] * 2


def test_b18_a_path_of_ours_on_another_host_is_not_ours(model: ActingProvider) -> None:
    make_article("Exports", slug="exports")
    foreign = "See [Exports](https://www.example.com/articles/exports)."
    told = everywhere(model, opened("exports"), foreign)
    assert (told.text, told.links) == ("See Exports.", [])
    assert told.row == [("Exports", None)], "read, and not credited by that link"
    ours = everywhere(model, opened("exports"), f"See [Exports]({SITE}/articles/exports).")
    assert ours.links == [("Exports", "/articles/exports/")]


def test_b21_a_reload_shows_the_same_numbers_and_the_same_row(
    model: ActingProvider, reset: Article
) -> None:
    model.calls, model.text = opened("reset"), "Open it [1]."

    async def body() -> None:
        person = await Person.visitor()
        events = await person.ask_sse("How?", html=True)
        page = (await person.get(f"/api/v1/conversations/{events[0]['conversation_id']}/")).json()
        (turn,) = page["turns"]
        assert turn["html"] == events[-1]["html"] == html_of(events)
        assert turn["sources"] == events[-1]["sources"]
        (live,) = {source["id"]: source for source in _told_sources(events)}.values()
        assert live == turn["sources"][0]
        chat = (await person.get("/chat/")).content.decode()
        assert 'class="sources" hidden' in chat, "the welcome has no row"

    in_loop(body)


def _told_sources(events: Any) -> list[Any]:
    return [event["source"] for event in of_type(events, "source")]


@pytest.mark.parametrize("how", ["unpublished", "deleted"])
def test_b22_a_source_that_is_gone_is_a_title_and_no_link(
    model: ActingProvider, client: Client, how: str
) -> None:
    article = make_article("Old plan", slug="old-plan", body="It costs 5.")
    document_id = str(article.pk)
    model.calls, model.text = opened("old-plan"), "It costs 5 [1], see [it](/articles/old-plan/)."

    async def body() -> None:
        person = await Person.visitor()
        events = await person.ask_sse("What does it cost?", html=True)
        answer_id, conversation_id = events[0]["answer_id"], events[0]["conversation_id"]
        await db(_take_away, article, how)
        page = (await person.get(f"/api/v1/conversations/{conversation_id}/")).json()
        (turn,) = page["turns"]
        again = (await person.get(f"/api/v1/answers/{answer_id}/")).json()
        assert again["sources"] == turn["sources"]
        (source,) = turn["sources"]
        assert (source["title"], source["url"], source["available"]) == ("Old plan", None, False)
        assert "href" not in turn["html"]
        assert "a draft nobody may read" not in json.dumps(page)

    in_loop(body)
    document = Answer.objects.get().documents.get()
    assert (document.title, document.slug, document.document_id) == (
        "Old plan",
        "old-plan",
        document_id,
    )


def _take_away(article: Article, how: str) -> None:
    publishing.withdraw(article)
    article.body = "a draft nobody may read"
    article.save()
    if how == "deleted":
        article.delete()


@pytest.mark.parametrize("log", ["kept", "gone"])
def test_b22_what_is_gone_is_gone_from_the_events_of_its_answer(
    model: ActingProvider, log: str
) -> None:
    """The history over SSE and the socket, while the stream is still there and afterwards."""
    article = make_article("Old plan", slug="old-plan")
    model.calls, model.text = opened("old-plan"), "It costs 5 [1]."

    async def body() -> None:
        person = await Person.visitor()
        told = (await person.ask_json("What does it cost?")).json()
        await db(_take_away, article, "unpublished")
        if log == "gone":
            await EventLog.current().store.forget([uuid.UUID(told["id"])])
        events = await person.resume_sse(told["id"], html=True)
        async with person.socket() as socket:
            await socket.send({"type": "resume", "answer_id": told["id"], "after": 0})
            by_socket = await socket.read_answer()
        for shown in (events, by_socket):
            (source,) = shown[-1]["sources"]
            assert (source["url"], source["available"]) == (None, False)
            assert "/articles/old-plan/" not in json.dumps(shown)
        assert "href" not in html_of(events)

    in_loop(body)


def test_b22_what_has_changed_since_says_so_wherever_the_answer_is_read(
    model: ActingProvider,
) -> None:
    article = make_article("Fees", slug="fees", body="The fee is 5.")
    model.calls, model.text = opened("fees"), "The fee is 5 [1]."

    async def body() -> None:
        person = await Person.visitor()
        told = (await person.ask_json("What is the fee?")).json()
        assert "changed" not in told["sources"][0]
        article.body = "The fee is 7."
        await db(publishing.publish, article)
        page = (await person.get(f"/api/v1/conversations/{told['conversation_id']}/")).json()
        answer = (await person.get(f"/api/v1/answers/{told['id']}/")).json()
        events = await person.resume_sse(told["id"])
        for shown in (page["turns"][0], answer, events[-1]):
            (source,) = shown["sources"]
            assert (source["changed"], source["revision"]) == (True, 1)
            assert shown["text"] == "The fee is 5 [1]."
            assert "7" not in shown["text"]

    in_loop(body)


def test_b23_a_renamed_article_is_found_at_its_new_address(
    model: ActingProvider, client: Client
) -> None:
    article = make_article("Setup", slug="setup")
    model.calls, model.text = opened("setup"), "See [1] and [this](/articles/setup/)."

    async def body() -> None:
        person = await Person.visitor()
        told = (await person.ask_json("How?")).json()
        await db(publishing.change_slug, article, "getting-started")
        page = (await person.get(f"/api/v1/conversations/{told['conversation_id']}/")).json()
        (turn,) = page["turns"]
        assert turn["sources"][0]["url"] == "/articles/getting-started/"
        assert turn["html"].count('href="/articles/getting-started/"') == 2
        assert "/articles/setup/" not in turn["html"]

    in_loop(body)
    assert client.get("/articles/setup/")["Location"] == "/articles/getting-started/"


def test_b23_a_link_to_a_former_address_is_a_source(model: ActingProvider) -> None:
    moved = make_indexed("Hooves", "How to trim hooves.", slug="hooves")
    publishing.change_slug(moved, "trimming")
    make_article("Zebras", body="See [hooves](/articles/hooves/).", slug="zebras")
    model.calls = [*searched("trim hooves"), *opened("zebras")]
    model.text = "See [hooves](/articles/hooves/)."

    async def body() -> None:
        person = await Person.visitor()
        told = (await person.ask_json("How?")).json()
        assert told["text"] == "See [hooves](/articles/trimming/)."
        row = [(source["slug"], source["via"]) for source in told["sources"]]
        assert row == [("trimming", "excerpt"), ("zebras", "opened")]

    in_loop(body)


def test_b25_links_sit_on_their_markers_among_any_letters(model: ActingProvider) -> None:
    make_article("Family plan")
    make_article("你好", slug="hello")
    written = "👩‍👩‍👧 Family plan 🎉 costs more [1]. 你好 [2]."
    told = everywhere(model, opened("family-plan", "hello"), written)
    assert told.text == written
    assert told.links == [("1", "/articles/family-plan/"), ("2", "/articles/hello/")]
    assert told.html.text.strip() == "👩‍👩‍👧 Family plan 🎉 costs more 1. 你好 2."


def test_b27_a_near_miss_of_an_address_credits_nobody(model: ActingProvider) -> None:
    make_article("Two-factor", slug="two-factor-authentication-setup")
    told = everywhere(
        model,
        searched("two-factor"),
        "See [Two-factor](/articles/two-factor-authentification-setup).",
    )
    assert (told.text, told.links, told.row) == ("See Two-factor.", [], [])
    assert [reason for _text, reason in told.dropped] == ["not_retrieved"]
