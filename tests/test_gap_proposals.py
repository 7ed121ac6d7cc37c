"""A text that the model proposes: every sentence rests on something given, or is left out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from articles.indexing import index_article
from articles.models import Article, Status
from assistant import gaps
from assistant.gaps import drafting, evidence, proposals, proposing
from assistant.models import Answer, GapProposal, GapTopic, Grounding
from helpcenter.celery import app
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
    """Presses the button and waits as the page does: what it shows in the end."""
    client.force_login(staff)
    begun = press(client, topic)
    write(topic)
    return client.get(begun.redirect_chain[-1][0], follow=True).content.decode()


def press(client: Client, topic: GapTopic) -> Any:
    url = reverse("admin:assistant_gaptopic_propose", args=[topic.pk])
    return client.post(url, follow=True)


def write(topic: GapTopic) -> bool:
    """What the worker does with what was handed out."""
    proposal = GapProposal.objects.filter(topic=topic).first()
    return proposal is not None and proposals.write(proposal.run)


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


def test_the_page_says_that_it_is_written_and_a_second_start_joins_the_first(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 2
    provider.answer("Order it in the settings. [P1]")
    client.force_login(staff)
    for _press in range(3):
        response = press(client, topic)
        assert response["Refresh"] == "2"
        assert "The text waits for the worker." in response.content.decode()
    proposal = GapProposal.objects.get()
    GapProposal.objects.update(taken_at=proposal.begun_at)
    waiting = reverse("admin:assistant_gaptopic_propose", args=[topic.pk])
    assert "The model is writing." in client.get(waiting).content.decode()
    page = client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk]))
    assert "A text is being written" in page.content.decode()
    assert "Propose a text" not in page.content.decode()
    GapProposal.objects.update(taken_at=None)

    assert proposals.write(proposal.run)
    assert not proposals.write(proposal.run)  # delivered twice
    response = client.get(waiting, follow=True)
    assert "stands below what was there" in response.content.decode()
    assert response.redirect_chain[-1][0].endswith("/change/")
    assert len(provider.requests) == 1
    assert Article.objects.get(gap_topics=topic).body.count("Order it in the settings.") == 1


def test_it_counts_against_the_limits(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic, settings: Any
) -> None:
    settings.ASSISTANT_TURNS_PER_VISITOR = 1
    provider.answer("Order it in the settings. [P1]")
    propose(client, staff, topic)
    page = press(client, topic).content.decode()
    assert "That was a lot of questions in a short time." in page
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("taken", "said"), [(False, "No worker took it up"), (True, "The worker broke off")]
)
def test_what_nobody_finishes_is_given_up_and_writes_nothing_later(
    provider: ScriptedProvider,
    client: Client,
    staff: User,
    topic: GapTopic,
    taken: bool,
    said: str,
) -> None:
    client.force_login(staff)
    press(client, topic)
    long_ago = timezone.now() - proposals.WAITS - timedelta(seconds=1)
    GapProposal.objects.update(begun_at=long_ago, taken_at=long_ago if taken else None)
    page = client.get(reverse("admin:assistant_gaptopic_change", args=[topic.pk]))
    assert said in page.content.decode()
    assert "Propose a text" in page.content.decode()
    assert not write(topic)
    assert not provider.requests
    assert not Article.objects.filter(gap_topics=topic).exists()


def test_a_text_that_comes_after_it_was_given_up_is_not_kept(
    staff: User, topic: GapTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    GapProposal.objects.create(topic=topic, asked_by=staff, begun_at=timezone.now())

    def late(_topic: GapTopic) -> proposing.Proposal:
        GapProposal.objects.update(finished_at=timezone.now(), problem="given up")
        return proposing.Proposal("Late.", 0)

    monkeypatch.setattr(proposing, "proposed", late)
    assert not write(topic)
    assert not Article.objects.filter(gap_topics=topic).exists()


def test_a_worker_that_breaks_off_says_so(
    staff: User, topic: GapTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    GapProposal.objects.create(topic=topic, asked_by=staff, begun_at=timezone.now())

    def out_of_time(_topic: GapTopic) -> proposing.Proposal:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(proposing, "proposed", out_of_time)
    with pytest.raises(SoftTimeLimitExceeded):
        write(topic)
    assert GapProposal.objects.get().problem == "The worker broke off. Nothing was changed."


def test_the_task_has_the_name_that_is_sent() -> None:
    app.loader.import_default_modules()
    assert app.tasks[proposals.TASK].time_limit


def test_while_the_queue_of_tasks_is_down_nothing_is_begun(
    provider: ScriptedProvider,
    client: Client,
    staff: User,
    topic: GapTopic,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(app, "send_task", fail)
    client.force_login(staff)
    page = press(client, topic).content.decode()
    assert "the queue of tasks is down" in page
    assert "A text is being written" not in page


def test_without_a_model_or_for_a_live_article_there_is_no_button(
    client: Client, staff: User, topic: GapTopic, settings: Any
) -> None:
    assert not proposing.is_possible(topic)
    client.force_login(staff)
    assert "no model to ask" in press(client, topic).content.decode()
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


def test_what_is_erased_while_the_model_writes_is_not_written(
    provider: ScriptedProvider, staff: User, topic: GapTopic
) -> None:
    provider.answer(f"Find out: {CARD} [Q1]")
    text = proposing.proposed(topic)
    Answer.objects.get().conversation.delete()
    with pytest.raises(proposing.ProposalError, match="erased meanwhile"):
        proposing.add(text, topic, staff)
    assert not Article.objects.filter(gap_topics=topic).exists()


def test_an_outline_stays_above_the_proposal(
    provider: ScriptedProvider, client: Client, staff: User, topic: GapTopic
) -> None:
    drafting.draft(topic, staff)
    topic.refresh_from_db()
    provider.answer("Order it in the settings. [P1]")
    propose(client, staff, topic)
    body = Article.objects.get(gap_topics=topic).body
    assert body.index(evidence.samples(topic)[0].text) < body.index("Draft, proposed")
