"""Context mode's one search: threshold, reranking, cap per article, budget; and whole turns."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core import checks
from django.db import connections

from articles import publishing
from articles.access import ANONYMOUS
from articles.models import Article
from assistant import reranking, tokens
from assistant.article_facts import ArticleFacts, PassageRead
from assistant.models import Answer, Grounding
from assistant.tools import context_search
from assistant.tools.context_search import by_article, choose
from assistant.tools.queries import Candidate
from tests.chat_clients import Person, in_loop
from tests.factories import make_article
from tests.scripted_provider import ScriptedProvider
from tests.search_index import make_indexed
from tests.streams import Event

QUESTION = "How do I export a project as CSV?"
EXPORT = (
    "## Export\n\nExport a project as CSV.\n\n## Columns\n\nA project's CSV export has columns."
)


def facts(name: str) -> ArticleFacts:
    return ArticleFacts(1, name, name, name.title(), f"/articles/{name}/", None, "public", 1, 1)


def candidates(*named: tuple[str, str]) -> list[Candidate]:
    """Passages `(article, text)`, each with the facts of its own search hit."""
    articles = {name: facts(name) for name, _text in named}
    return [Candidate(articles[name], PassageRead("H", "h", text), 0.9) for name, text in named]


def texts(chosen: list[Candidate]) -> list[str]:
    return [candidate.passage.text for candidate in chosen]


# Choosing


def test_no_article_has_more_passages_than_its_share() -> None:
    found = candidates(("a", "1"), ("a", "2"), ("b", "3"), ("a", "4"), ("b", "5"))
    assert texts(choose(found, per_article=2, budget=1000)) == ["1", "2", "3", "5"]
    assert texts(choose(found, per_article=1, budget=1000)) == ["1", "3"]


def test_the_budget_cuts_and_what_still_fits_is_taken() -> None:
    long, short = "word " * 100, "word"
    found = candidates(("a", short), ("b", long), ("c", short))
    assert texts(choose(found, per_article=3, budget=tokens.estimate(short) * 3)) == [short, short]


def test_the_best_passage_is_given_whatever_it_costs() -> None:
    long = "word " * 100
    assert texts(choose(candidates(("a", long), ("b", "x")), per_article=3, budget=1)) == [long]


def test_articles_stand_in_the_order_of_their_best_passages() -> None:
    found = candidates(("b", "1"), ("a", "2"), ("b", "3"))
    shown = [(each.slug, [one.text for one in each.passages]) for each in by_article(found)]
    assert shown == [("b", ["1", "3"]), ("a", ["2"])]


# Searching


async def db(step: Any, /, *args: Any) -> Any:
    return await sync_to_async(step)(*args)


def given(query: str = QUESTION) -> list[tuple[str, list[str]]]:
    """The articles and headings that a search puts into the prompt."""
    found = async_to_sync(context_search.find)(db, ANONYMOUS, "en", query, "")
    return [(each.title, [one.heading for one in each.passages]) for each in found.articles]


@pytest.fixture
def articles(db: None) -> None:
    make_indexed("Export a project", EXPORT)
    make_indexed("Import a project", "## Import\n\nImport a project from CSV, not export.")
    make_indexed("Opening hours", "## Hours\n\nFrom nine to five.")


def test_what_fits_the_question_is_given_and_nothing_else(articles: None) -> None:
    found = dict(given())
    assert set(found["Export a project"]) == {"Export", "Columns"}
    assert "Opening hours" not in found


def test_a_higher_threshold_gives_less(articles: None, settings: Any) -> None:
    everything = given()
    settings.ASSISTANT_CONTEXT_MIN_SCORE = 100
    assert given() == []
    settings.ASSISTANT_CONTEXT_MIN_SCORE = 0
    assert len(given()) >= len(everything)


def test_the_cap_per_article_is_a_setting(articles: None, settings: Any) -> None:
    settings.ASSISTANT_CONTEXT_PER_ARTICLE = 1
    assert [len(headings) for _title, headings in given()] == [1, 1]


# Reranking


def imports_first(query: str, passages: list[str]) -> list[float]:
    assert query == QUESTION
    return [float(passage.startswith("Import a project › Import\n")) for passage in passages]


def fails(query: str, passages: list[str]) -> list[float]:
    raise ValueError(query)


def too_few(query: str, passages: list[str]) -> list[float]:
    return [1.0]


def no_number(query: str, passages: list[str]) -> list[float]:
    return [float("nan") for _ in passages]


NOT_A_FUNCTION = 5


def rerank_by(settings: Any, name: str) -> None:
    settings.ASSISTANT_RERANKER = f"tests.test_context_search.{name}"


def reranker_events(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the reranker logged; the first search of a test may log its calibration too."""
    own = [record for record in caplog.records if record.name == "assistant.reranking"]
    return [record.getMessage() for record in own]


def test_a_reranker_of_the_sites_own_decides_the_order(articles: None, settings: Any) -> None:
    assert given()[0][0] == "Export a project"
    rerank_by(settings, "imports_first")
    assert given()[0][0] == "Import a project"


@pytest.mark.parametrize("name", ["fails", "too_few", "no_number"])
def test_a_reranker_that_fails_leaves_the_order_and_is_logged_without_the_question(
    articles: None, settings: Any, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = given()
    rerank_by(settings, name)
    assert given() == before
    assert reranker_events(caplog) == ["reranker_failed"]
    assert QUESTION not in caplog.text


def test_a_reranker_that_is_too_slow_is_not_waited_for(
    articles: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = given()
    release = threading.Event()

    def slow(query: str, passages: list[str]) -> list[float]:
        release.wait(20)
        return [0.0 for _ in passages]

    monkeypatch.setattr(reranking, "active", lambda: slow)
    monkeypatch.setattr(reranking, "SECONDS", 0.05)
    # Released first: a loop that closes waits for its threads.
    timer = threading.Timer(0.5, release.set)
    timer.start()
    assert given() == before
    timer.join()


def test_what_goes_while_the_reranker_thinks_is_not_given(
    articles: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def goes(rerank: Any, query: str, found: list[Candidate]) -> list[Candidate]:
        article = await Article.objects.aget(slug="export-a-project")
        await sync_to_async(publishing.withdraw)(article)
        return found

    monkeypatch.setattr(reranking, "active", lambda: imports_first)
    monkeypatch.setattr(reranking, "reranked", goes)
    assert [title for title, _headings in given()] == ["Import a project"]


class RerankServer:
    """A server of `POST /v1/rerank`, over real HTTP; it answers with `reply`."""

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.status, self.reply = 200, b""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.sent.append((headers, json.loads(body)))
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(outer.reply)))
                self.end_headers()
                self.wfile.write(outer.reply)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/rerank"

    def scores(self, *scores: float) -> None:
        rows = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        self.reply = json.dumps({"results": rows[::-1]}).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def server(settings: Any) -> Iterator[RerankServer]:
    started = RerankServer()
    settings.ASSISTANT_RERANKER = "assistant.reranking.endpoint"
    settings.RERANKER_URL, settings.RERANKER_MODEL = started.url, "small-reranker"
    settings.RERANKER_API_KEY = "a-key-of-the-reranker"
    yield started
    started.close()


def test_the_endpoint_is_asked_in_the_form_that_servers_share(server: RerankServer) -> None:
    server.scores(0.1, 0.9)
    assert reranking.endpoint("q", ["one", "two"]) == [0.1, 0.9]
    ((headers, body),) = server.sent
    assert body == {"model": "small-reranker", "query": "q", "documents": ["one", "two"]}
    assert headers["authorization"] == "Bearer a-key-of-the-reranker"


def test_an_endpoint_without_a_key_is_sent_none(server: RerankServer, settings: Any) -> None:
    settings.RERANKER_API_KEY = ""
    server.scores(0.5)
    reranking.endpoint("q", ["one"])
    assert "authorization" not in server.sent[0][0]


def test_the_endpoint_decides_the_order_of_a_search(articles: None, server: RerankServer) -> None:
    server.scores(*range(len([one for _title, passages in given() for one in passages])))
    assert given()[0][0] == "Import a project", "the last one of the search has the best score"


@pytest.mark.parametrize(
    ("status", "reply"),
    [
        (500, b"{}"),
        (401, b"{}"),
        (200, b"not json"),
        (200, b'{"results": []}'),
        (200, b'{"results": [{"index": 0}]}'),
        (200, b"[]"),
    ],
)
def test_an_endpoint_that_answers_nonsense_costs_no_answer(
    articles: None, server: RerankServer, settings: Any, status: int, reply: bytes
) -> None:
    server.status, server.reply = status, reply
    assert given()[0][0] == "Export a project"


def test_settings_that_name_no_reranker_are_found_by_a_check(settings: Any) -> None:
    def found() -> list[str]:
        return [each.id or "" for each in checks.run_checks() if "E001" in (each.id or "")]

    assert found() == []
    for name in ("nowhere.at.all", "tests.test_context_search.NOT_A_FUNCTION"):
        settings.ASSISTANT_RERANKER = name
        assert found() == ["assistant.E001"]


# Whole turns


@pytest.fixture
def small_model(settings: Any, provider: ScriptedProvider) -> ScriptedProvider:
    settings.ASSISTANT_MODE = "context"
    return provider


def asked(*questions: str) -> list[list[Event]]:
    """The events of each, in one conversation; and what is stored says the same."""
    told: list[list[Event]] = []

    async def body() -> None:
        person = await Person.visitor()
        fields: dict[str, Any] = {}
        for question in questions:
            events = await person.ask_sse(question, **fields)
            told.append(events)
            stored = await person.get(f"/api/v1/answers/{events[0]['answer_id']}/")
            assert stored.json()["sources"] == events[-1]["sources"]
            fields = {"conversation_id": events[0]["conversation_id"]}

    in_loop(body)
    return told


def row(events: list[Event]) -> list[tuple[str, int | None]]:
    shown = [source for source in events[-1]["sources"] if source["consulted"]]
    return [(source["title"], source["number"]) for source in shown]


def sent_last(provider: ScriptedProvider) -> str:
    return str(provider.requests[-1].body["messages"][-1]["content"])


@pytest.mark.django_db(transaction=True)
def test_a_question_is_searched_for_once_and_its_passages_are_numbered(
    small_model: ScriptedProvider, articles: None
) -> None:
    small_model.answer("Choose CSV [1].")
    (events,) = asked(QUESTION)
    assert row(events) == [("Export a project", 1)]
    assert events[-1]["grounding"] == Grounding.GROUNDED
    assert [event["name"] for event in events if event["type"] == "tool"] == ["search_articles"] * 2
    assert "tools" not in small_model.requests[0].body
    prompt = sent_last(small_model)
    assert prompt.startswith("[1] Export a project › ")
    assert prompt.endswith(QUESTION)
    assert "Opening hours" not in prompt


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_cites_nothing_shows_what_was_searched_at_its_end(
    small_model: ScriptedProvider, articles: None
) -> None:
    small_model.answer("Choose CSV, I think.")
    (events,) = asked(QUESTION)
    assert events[-1]["grounding"] == Grounding.UNCITED
    assert row(events) == [("Export a project", None), ("Import a project", None)]
    assert [event for event in events if event["type"] == "source"] == [], "no source on the way"
    prompt = sent_last(small_model)
    assert prompt.index("Export a project") < prompt.index("Import a project"), "in this order"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("I could not find that in the help center.", Grounding.REJECTED),
        ("Choose CSV [7].", Grounding.UNCITED),
    ],
)
def test_an_answer_that_found_nothing_shows_no_row(
    small_model: ScriptedProvider, articles: None, text: str, verdict: Grounding
) -> None:
    small_model.answer(text)
    (events,) = asked(QUESTION)
    assert events[-1]["grounding"] == verdict
    assert bool(row(events)) == (verdict == Grounding.UNCITED)
    assert "[7]" not in json.dumps(events)


@pytest.mark.django_db(transaction=True)
def test_a_greeting_and_thanks_are_not_searched_for(
    small_model: ScriptedProvider, articles: None
) -> None:
    for text in ("Hello.", "Choose CSV [1].", "You are welcome."):
        small_model.answer(text)
    hello, answer, thanks = asked("hi there", QUESTION, "ok thanks")
    for events in (hello, thanks):
        assert events[-1]["grounding"] == Grounding.SMALLTALK
        assert row(events) == []
        assert [event for event in events if event["type"] == "tool"] == []
    assert row(answer) == [("Export a project", 1)]


@pytest.mark.django_db(transaction=True)
def test_a_follow_up_is_searched_for_anew_and_keeps_its_references(
    small_model: ScriptedProvider, articles: None
) -> None:
    make_article("Nothing of it")
    small_model.answer("Choose CSV [1].")
    small_model.answer("It has columns [1].")
    first, second = asked(QUESTION, "Which columns does a project's CSV export have?")
    assert row(first) == row(second) == [("Export a project", 1)]
    refs = {document.ref for answer in Answer.objects.all() for document in answer.documents.all()}
    assert refs <= {1, 2}
    connections.close_all()
