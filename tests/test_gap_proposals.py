"""A text that the model proposes: every sentence rests on something given, or is left out."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.indexing import index_article
from articles.models import Article, Status
from assistant import gaps
from assistant.gaps import drafting, evidence, proposing
from assistant.models import Answer, GapTopic, Grounding
from tests.factories import make_answer, make_article
from tests.scripted_provider import ScriptedProvider

pytestmark = pytest.mark.django_db

CARD = "When will I receive my new card?"


@pytest.fixture
def topic() -> GapTopic:
    near = make_article("Order a card", body="## Ordering\n\nOrder a new card in the settings.")
    index_article(near.pk)
    make_answer(CARD, grounding=Grounding.NO_HITS)
    gaps.update_report()
    return GapTopic.objects.get()


def propose(client: Client, staff: User, topic: GapTopic) -> str:
    client.force_login(staff)
    url = reverse("admin:assistant_gaptopic_propose", args=[topic.pk])
    return client.post(url, follow=True).content.decode()


def test_every_sentence_names_a_passage_or_an_open_question(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic
) -> None:
    provider.answer(
        "## Your new card\n\nOrder it in the settings. [P1] Find out how long the post takes. [Q1] "
        "It takes three days. It is free. [P9]\n- Choose a design. [P1]"
    )
    page = propose(client, staff, topic)

    assert "2 sentences were left out" in page
    article = Article.objects.get(gap_topics=topic)
    assert article.status == Status.DRAFT
    assert "Draft, proposed by a model." in article.body
    assert "Order it in the settings. (P1) Find out how long the post takes. (Q1)" in article.body
    assert "- Choose a design. (P1)" in article.body
    assert "- P1: Order a card › Ordering" in article.body
    assert f"- Q1: {CARD}" in article.body
    assert "three days" not in article.body
    assert "It is free" not in article.body
    (request,) = provider.requests
    given = str(request.body["messages"])
    assert "Order a new card in the settings." in given
    assert CARD in given


def test_what_the_model_writes_is_text_and_nothing_else(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic
) -> None:
    provider.answer("Order <b>it</b> ![x](https://evil.example/x.png) there. [P1]")
    propose(client, staff, topic)
    body = Article.objects.get(gap_topics=topic).body
    assert r"Order \<b\>it\</b\> \!\[x\](https://evil.example/x.png) there." in body


def test_a_model_that_fails_or_rests_on_nothing_changes_nothing(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic
) -> None:
    provider.answer("It takes three days.")
    assert "No sentence of the model rested on anything" in propose(client, staff, topic)
    provider.refuse(400, {"code": "invalid"})
    assert "The model did not answer" in propose(client, staff, topic)
    topic.refresh_from_db()
    assert (topic.article, topic.status) == (None, "open")


def test_it_counts_against_the_limits(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    provider.answer("Order it in the settings. [P1]")
    propose(client, staff, topic)
    propose(client, staff, topic)
    assert len(provider.requests) == 1


def test_without_a_model_or_for_a_live_article_there_is_no_button(
    client: Client, staff: User, topic: GapTopic, settings: Any
) -> None:
    assert not proposing.is_possible(topic)
    assert "no model to ask" in propose(client, staff, topic)
    settings.ASSISTANT_MODEL = "m"
    assert proposing.is_possible(topic)
    topic.article = make_article("Live")
    assert not proposing.is_possible(topic)


def test_erasing_a_conversation_takes_its_question_out_of_the_proposal(
    provider: ScriptedProvider, client: Client, staff: User
) -> None:
    make_answer("Is the card of Jane Doe here?", grounding=Grounding.NO_HITS)
    gaps.update_report()
    topic = GapTopic.objects.get()
    provider.answer("Find out where it is. [Q1]")
    propose(client, staff, topic)
    assert "Jane" in Article.objects.get().body
    Answer.objects.get().conversation.delete()
    assert "Jane" not in Article.objects.get().body


def test_an_outline_stays_above_the_proposal(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic
) -> None:
    drafting.draft(topic, staff)
    topic.refresh_from_db()
    provider.answer("Order it in the settings. [P1]")
    propose(client, staff, topic)
    body = Article.objects.get(gap_topics=topic).body
    assert body.index(evidence.samples(topic)[0].text) < body.index("Draft, proposed")
