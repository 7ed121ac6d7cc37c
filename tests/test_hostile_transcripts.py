"""Hostile conversations do nothing on any page of the staff: they are text, and stay in place."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles import publishing
from assistant.audit import reviewing
from assistant.models import (
    Answer,
    AnswerFeedback,
    AnswerPassage,
    CitationSupport,
    Conversation,
    DroppedCitation,
    Escalation,
    ToolCall,
)
from tests.factories import make_answer, make_article, make_document

pytestmark = pytest.mark.django_db

TEMPLATE = "{{ 7|add:7 }}{% debug %}{# x #}"
FORMATS = "%(site)s %s {0} {answer.question}"
OVERRIDE = "\u202e"
HOSTILE = (
    f"</script><script>hacked()</script><img src=x onerror=hacked()>\"'><svg onload=hacked()>"
    f"[x](javascript:hacked()) {TEMPLATE} {FORMATS} {OVERRIDE}txet &lt;b&gt;"
)
ISOLATING = {"td", "th", "pre", "title", "option", "textarea", "h1", "label", "li", "p", "div"}
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "path", "use"}


class Page(HTMLParser):
    """What a browser would run, and where right-to-left overrides stand."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.dangers: list[str] = []
        self.loose_overrides: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name.startswith("on") or (value or "").strip().lower().startswith("javascript:"):
                self.dangers.append(f"{tag} {name}={value}")
        if tag == "img" and dict(attrs).get("src") == "x":
            self.dangers.append("img")
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        names = [name for name, _attrs in self.open]
        if tag in names:
            del self.open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        tag = self.open[-1][0] if self.open else ""
        is_data = tag == "script" and self.open[-1][1].get("type") == "application/json"
        if tag == "script" and not is_data and "hacked" in data:
            self.dangers.append(data)
        if OVERRIDE in data and not is_data:
            isolated = any(
                name in ISOLATING or name == "bdi" or "dir" in attrs for name, attrs in self.open
            )
            if not isolated:
                self.loose_overrides.append(tag)


@pytest.fixture
def answer(staff: User) -> Answer:
    """Hostile in every text that it has."""
    answer = make_answer(
        HOSTILE, text=HOSTILE, model_text=f"{HOSTILE} [9]", grounding="uncited", model=HOSTILE[:60]
    )
    article = make_article(HOSTILE[:120])
    fields = {"cited": True, "consulted": True, "number": 1, "position": 1}
    document = make_document(answer, article, 1, **fields)
    passage = AnswerPassage.objects.create(
        document=document, position=0, heading=HOSTILE, text=HOSTILE
    )
    CitationSupport.objects.create(
        document=document,
        position=0,
        sentence=HOSTILE,
        evidence=HOSTILE,
        score=0.1,
        passage=passage,
    )
    ToolCall.objects.create(
        answer=answer,
        position=0,
        round=1,
        call_id="c",
        name="search_articles",
        arguments=HOSTILE,
        result=HOSTILE,
        error=HOSTILE[:300],
    )
    DroppedCitation.objects.create(answer=answer, position=0, text=HOSTILE, reason="image")
    AnswerFeedback.objects.create(answer=answer, rating="negative", comment=HOSTILE)
    Escalation.objects.create(answer=answer, email="jo@example.com", message=HOSTILE)
    reviewing.review(answer, staff, verdict="", note=HOSTILE, assignee=staff, article=article)
    again = Conversation.objects.create(user=staff, repeats=answer)
    make_answer(HOSTILE, conversation=again, text=HOSTILE, origin="staff")
    article.body += HOSTILE
    publishing.publish(article)
    return answer


def addresses(answer: Answer) -> Iterator[str]:
    document = answer.documents.get()
    pages: dict[str, list[Any]] = {
        "answer_change": [answer.pk],
        "answer_history": [answer.pk],
        "answer_delete": [answer.pk],
        "answer_again": [answer.pk],
        "answer_of_article": [document.article_id],
        "conversation_change": [answer.conversation_id],
        "answer_changelist": [],
        "conversation_changelist": [],
        "answer_review_queues": [],
        "answer_overview": [],
        "answer_usage": [],
        "accessrecord_changelist": [],
    }
    for name, arguments in pages.items():
        yield reverse(f"admin:assistant_{name}", args=arguments)
    yield f"{reverse('admin:assistant_answer_change', args=[answer.pk])}?queue=weak"


def test_no_page_of_the_staff_runs_anything_of_it(staff_client: Client, answer: Answer) -> None:
    seen = 0
    for url in addresses(answer):
        response = staff_client.get(url)
        assert response.status_code == 200, url
        html = response.content.decode()
        page = Page(html)
        assert page.dangers == [], url
        assert page.loose_overrides == [], url
        seen += html.count("{{ 7|add:7 }}")
    assert seen > 20


def test_the_guard_of_this_test_sees_what_would_run() -> None:
    page = Page(f"<span>{OVERRIDE}</span><a href='javascript:x'></a><script>hacked()</script>")
    assert len(page.dangers) == 2
    assert page.loose_overrides == ["span"]


def test_a_hostile_search_is_text(staff_client: Client, answer: Answer) -> None:
    for name in ("answer", "conversation", "accessrecord"):
        url = reverse(f"admin:assistant_{name}_changelist")
        html = staff_client.get(url, {"q": HOSTILE, "article": HOSTILE}).content.decode()
        assert Page(html).dangers == [], name
