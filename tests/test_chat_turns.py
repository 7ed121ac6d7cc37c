"""A turn over every transport: its events, the row, the links, the numbers, the stored ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from articles.indexing import index_article
from articles.models import Article
from assistant.models import Answer, AnswerDocument
from tests.chat_clients import Person, in_loop
from tests.factories import make_article
from tests.scripted_provider import DONE, ScriptedProvider, call, finish, say, usage
from tests.streams import Event, html_of, of_type

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Told:
    """What a client was told at the end, and the events before, where it saw any."""

    end: dict[str, Any]
    events: list[Event]

    @property
    def row(self) -> list[str]:
        """The chips, by the rule of the page: a flag that is not false, or missing."""
        return [source["title"] for source in self.end["sources"] if source.get("consulted", True)]


@pytest.fixture(params=["ws", "sse", "json"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ask(transport: str, question: str, **fields: Any) -> Told:
    """Asks as a new visitor, over one of the three transports."""
    told: list[Told] = []

    async def body() -> None:
        person = await Person.visitor()
        if transport == "json":
            response = await person.ask_json(question, **fields)
            assert response.status_code == 200, response.content
            told.append(Told(response.json(), []))
        else:
            send = person.ask_ws if transport == "ws" else person.ask_sse
            events = await send(question, **fields)
            told.append(Told(events[-1], events))

    in_loop(body)
    return told[0]


def published(title: str, body: str = "", **fields: Any) -> Article:
    article = make_article(title, body=body or f"## How to\n\nEverything about {title}.", **fields)
    index_article(article.pk)
    return article


def stored() -> Answer:
    return Answer.objects.get()


def ledger(answer: Answer) -> dict[str, AnswerDocument]:
    return {document.title: document for document in answer.documents.all()}


def test_an_answer_that_opens_an_article(transport: str, provider: ScriptedProvider) -> None:
    article = published("Set up SSO", "## Steps\n\nOpen Settings and choose SSO.")
    provider.call("open_article", {"slug": "set-up-sso"})
    provider.answer("Open Settings and choose SSO. Then save.")

    told = ask(transport, "How do I set up SSO?")

    assert told.end["text"] == "Open Settings and choose SSO. Then save."
    assert told.row == ["Set up SSO"]
    source = told.end["sources"][0]
    assert source["url"] == "/articles/set-up-sso/"
    assert source["number"] is None, "opened, and not cited by number"
    assert (source["via"], source["revision"]) == ("opened", 1)
    assert told.end["references"] == told.end["sources"]
    assert told.end["grounding"] == "grounded"

    answer = stored()
    assert (answer.status, answer.grounding) == ("completed", "grounded")
    assert answer.text == told.end["text"]
    assert (answer.provider, answer.model, answer.mode) == ("127.0.0.1", "scripted", "tools")
    assert (answer.prompt_tokens, answer.completion_tokens) == (40, 10)
    assert not answer.usage_estimated
    assert answer.first_token_at is not None
    assert answer.prompt_version
    document = ledger(answer)["Set up SSO"]
    assert (document.exposure, document.via, document.position) == ("full", "opened", 0)
    assert (document.article, document.revision) == (article, article.live_revision)
    assert (document.consulted, document.cited, document.linked) == (True, False, False)
    assert [passage.text for passage in document.passages.all()] == [
        "## Steps\n\nOpen Settings and choose SSO."
    ]
    tool = answer.tool_calls.get()
    assert (tool.name, tool.arguments, tool.count) == ("open_article", '{"slug": "set-up-sso"}', 1)
    assert "Open Settings and choose SSO." in tool.result
    assert answer.finished_at is not None
    assert tool.began_at is not None
    assert answer.created_at < tool.began_at < answer.finished_at


def test_an_answer_that_searches_and_cites(transport: str, provider: ScriptedProvider) -> None:
    published("Export invoices", "## Download\n\nOpen Billing and download the invoice as PDF.")
    published("Change the invoice address", "## Address\n\nThe invoice address is in Billing.")
    provider.call("search_articles", {"query": "download invoice pdf"})
    provider.reply(
        say("Open Billing"), say(" [1"), say("]. "), say("It is a PDF [1][9]."), finish(), DONE
    )

    told = ask(transport, "How do I download an invoice?")

    assert told.end["text"] == "Open Billing [1]. It is a PDF [1]."
    assert told.row == ["Export invoices"]
    assert told.end["sources"][0]["number"] == 1
    assert told.end["sources"][0]["via"] == "excerpt"
    assert told.end["sources"][0]["passages"] == [{"heading": "Download", "anchor": "download"}]
    assert 'href="/articles/export-invoices/#download"' in told.end["html"]
    assert told.end["grounding"] == "grounded"

    answer = stored()
    assert answer.search_mode
    assert [(drop.text, drop.reason) for drop in answer.dropped.all()] == [("[9]", "unknown_ref")]
    documents = ledger(answer)
    assert documents["Export invoices"].cited
    assert documents["Export invoices"].number == 1
    other = documents["Change the invoice address"]
    assert (other.exposure, other.consulted, other.position) == ("excerpt", False, None)
    assert other.passages.count() == 1, "what it read of it is kept for the audit"
    assert answer.usage_estimated, "the provider told no usage"


def test_a_listing_of_thirty_with_one_wrong_address(
    transport: str, provider: ScriptedProvider
) -> None:
    titles = [f"Topic {number:02}" for number in range(1, 31)]
    for title in titles:
        make_article(title)
    provider.call("list_articles", {})
    slugs = [f"topic-{number:02}" for number in range(1, 31)]
    slugs[16] = "topic-17-old"
    lines = [f"- [{title}](/articles/{slug}/)\n" for title, slug in zip(titles, slugs, strict=True)]
    provider.reply(say("Here is everything:\n\n"), *map(say, lines), finish(), usage(), DONE)

    told = ask(transport, "What articles do you have?")

    assert told.row == [], "a listing has no sources"
    assert len(told.end["sources"]) == 29
    assert {source["via"] for source in told.end["sources"]} == {"listing"}
    assert {source["consulted"] for source in told.end["sources"]} == {False}
    assert told.end["html"].count('<a href="/articles/topic-') == 29
    assert "topic-17-old" not in told.end["html"]
    assert "Topic 17" in told.end["text"], "the label stays"
    assert "topic-17-old" not in told.end["text"]
    assert told.end["grounding"] == "listing"

    answer = stored()
    assert [drop.reason for drop in answer.dropped.all()] == ["not_retrieved"]
    assert answer.documents.count() == 30
    assert answer.documents.filter(linked=True, exposure="title", consulted=False).count() == 29
    assert answer.documents.filter(position=None).get().title == "Topic 17"


def test_a_model_that_cites_nothing(transport: str, provider: ScriptedProvider) -> None:
    published("Export invoices", "## Download\n\nDownload the invoice as PDF.")
    provider.call("search_articles", {"query": "download invoice"})
    provider.answer("Open Billing and download it.")

    told = ask(transport, "How do I download an invoice?")

    assert told.row == []
    assert told.end["sources"] == []
    assert told.end["grounding"] == "uncited"
    document = stored().documents.get()
    assert (document.exposure, document.consulted, document.position) == ("excerpt", False, None)


def test_a_model_without_tools_that_cites_nothing(
    transport: str, provider: ScriptedProvider, settings: Any
) -> None:
    """The untouched list is shown, so that a grounded answer is not left without sources."""
    settings.ASSISTANT_MODE = "context"
    published("Export invoices", "## Download\n\nDownload the invoice as PDF.")
    published("Pay an invoice", "## Pay\n\nPay the invoice by card.")
    provider.answer("Open Billing and download it.")

    told = ask(transport, "How do I download an invoice?")

    assert sorted(told.row) == ["Export invoices", "Pay an invoice"]
    assert [source["number"] for source in told.end["sources"]] == [None, None]
    assert told.end["grounding"] == "uncited"
    answer = stored()
    assert answer.mode == "context"
    assert answer.documents.filter(consulted=True, exposure="excerpt").count() == 2


def test_a_model_without_tools_that_cites(
    transport: str, provider: ScriptedProvider, settings: Any
) -> None:
    settings.ASSISTANT_MODE = "context"
    published("Export invoices", "## Download\n\nDownload the invoice as PDF.")
    published("Pay an invoice", "## Pay\n\nPay the invoice by card.")
    provider.answer("Open Billing and download it [1].")

    told = ask(transport, "How do I download an invoice as PDF?")

    assert len(told.row) == 1
    assert told.end["grounding"] == "grounded"


def test_a_model_that_reads_two_articles_and_says_that_they_do_not_answer(
    transport: str, provider: ScriptedProvider
) -> None:
    published("Set up SSO", "## Steps\n\nChoose SAML.")
    published("Export invoices", "## Download\n\nDownload the invoice.")
    provider.reply(
        call("open_article", {"slug": "set-up-sso"}, call_id="a"),
        call("open_article", {"slug": "export-invoices"}, call_id="b", index=1),
        finish("tool_calls"),
        usage(),
        DONE,
    )
    provider.call("cannot_answer", {"reason": "not_in_docs"}, call_id="c")
    provider.answer("The help center does not say how to dance.")

    told = ask(transport, "How do I dance the tango?")

    assert told.row == ["Set up SSO", "Export invoices"], "it was read, so it stays in the row"
    assert told.end["grounding"] == "rejected"
    answer = stored()
    assert (answer.grounding, answer.declined) == ("rejected", "not_in_docs")
    assert [tool.name for tool in answer.tool_calls.all()] == [
        "open_article",
        "open_article",
        "cannot_answer",
    ]


def test_the_three_transports_tell_the_same_turn(provider: ScriptedProvider) -> None:
    published("Set up SSO", "## Steps\n\nOpen Settings.")
    ends = []
    for transport in ("ws", "sse", "json"):
        provider.call("open_article", {"slug": "set-up-sso"})
        provider.answer("Open Settings [1]. 👩‍👩‍👧 Ready 🎉.")
        ends.append(ask(transport, "How do I set up SSO?").end)
    for name in ("text", "html", "sources", "references", "grounding", "status"):
        assert ends[0][name] == ends[1][name] == ends[2][name], name


def test_the_order_of_events(provider: ScriptedProvider) -> None:
    published("Set up SSO", "## Steps\n\nOpen Settings.")
    provider.call("open_article", {"slug": "set-up-sso"})
    provider.answer("Open Settings [1].")

    events = ask("sse", "How do I set up SSO?").events

    assert [event["type"] for event in events[:5]] == [
        "started",
        "tool",
        "tool",
        "references",
        "source",
    ]
    assert [tool["state"] for tool in of_type(events, "tool")] == ["running", "finished"]
    assert of_type(events, "tool")[1]["label"] == "Read Set up SSO"
    (references,) = of_type(events, "references")
    assert [ref["title"] for ref in references["references"]] == ["Set up SSO"]
    numbered = next(e for e in events if e["type"] == "source" and e["source"]["number"] == 1)
    citing = next(e for e in events if e["type"] == "delta" and "[1]" in e["text"])
    assert numbered["seq"] < citing["seq"], "a number is told before it is written"


@pytest.mark.parametrize("transport", ["ws", "sse"])
def test_rendered_blocks_make_the_page_that_the_end_has(
    transport: str, provider: ScriptedProvider
) -> None:
    published("Set up SSO", "## Steps\n\nOpen Settings.")
    provider.call("open_article", {"slug": "set-up-sso"})
    provider.reply(
        say("First **open** Settings [1].\n\n"),
        say("1. Choose SSO\n2. Save\n\n"),
        say("```\na[1]\n```\n\nThen `b"),
        say("[1]` is done."),
        finish(),
        usage(),
        DONE,
    )
    fields: dict[str, Any] = {"html": True} if transport == "sse" else {"render": "html"}

    told = ask(transport, "How do I set up SSO?", **fields)

    assert not of_type(told.events, "delta")
    assert html_of(told.events) == told.end["html"]
    assert told.end["html"].count('class="citation"') == 1


def test_a_page_that_is_asked_about_is_named_to_the_model(provider: ScriptedProvider) -> None:
    published("Set up SSO", "## Steps\n\nOpen Settings.")
    provider.call("open_article", {"ref": 1})
    provider.answer("Open Settings [1].")

    told = ask("json", "How does this work?", article="set-up-sso")

    asked = provider.requests[0].body["messages"][-1]["content"]
    assert "Set up SSO" in asked
    assert asked.endswith("How does this work?")
    assert told.row == ["Set up SSO"]
    assert stored().article == Article.objects.get()


def test_a_page_that_is_gone_stops_nobody_from_asking(provider: ScriptedProvider) -> None:
    make_article("Secret", publish=False)
    provider.answer("Hello.")
    ask("json", "Hi", article="secret")
    assert "Secret" not in str(provider.requests[0].body)
    assert stored().article is None


def test_staff_are_told_apart_from_visitors(provider: ScriptedProvider, staff: Any) -> None:
    provider.answer("Hello.")

    async def body() -> None:
        person = await Person.signed_in(staff)
        assert (await person.ask_json("Hi")).status_code == 200

    in_loop(body)
    assert stored().origin == "staff"
