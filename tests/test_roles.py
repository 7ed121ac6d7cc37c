"""What a group is for, a member of it alone can do to the end, and nothing of the others'."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from articles.models import Article, Status
from assistant import gaps
from assistant.gaps import proposals
from assistant.models import AccessRecord, Answer, GapProposal, GapTopic, Grounding
from tests.factories import make_answer, make_article
from tests.scripted_provider import ScriptedProvider
from tests.test_groups import MIGRATION
from tests.writing import form_of

pytestmark = pytest.mark.django_db

CARD = "When will I receive my new card?"
CURRENCY = "Which currencies do you support for exchange?"


@pytest.fixture(autouse=True)
def groups() -> None:
    MIGRATION.make_groups(apps, None)


def member(name: str) -> tuple[User, Client]:
    """Somebody who is in this group alone, and a browser in which they are signed in."""
    user = User.objects.create_user(f"one of {name}", is_staff=True)
    user.groups.add(Group.objects.get(name=name))
    client = Client()
    client.force_login(user)
    return user, client


def make_topics() -> tuple[GapTopic, GapTopic]:
    for question in (CARD, CARD, CURRENCY):
        make_answer(question, grounding=Grounding.NO_HITS)
    gaps.update_report()
    card, currency = GapTopic.objects.order_by("-questions_count")
    return card, currency


def of_topic(name: str, topic: GapTopic) -> str:
    return reverse(f"admin:assistant_gaptopic_{name}", args=[topic.pk])


LIST = "admin:assistant_gaptopic_changelist"


def test_a_writer_works_the_whole_queue(provider: ScriptedProvider) -> None:
    card, currency = make_topics()
    writer, client = member("Writers")
    other, _browser = member("Editors")
    page = client.get(of_topic("change", card)).content.decode()
    assert "Claim for me" in page

    client.post(of_topic("status", card), {"act": "claim"})
    form = {"assignee": writer.pk, "due_on": "2100-01-05", "comment": "Ask the card team."}
    assert client.post(of_topic("change", card), form).status_code == 302
    card.refresh_from_db()
    assert (card.status, card.assignee, str(card.due_on)) == ("claimed", writer, "2100-01-05")
    assert card.steps.filter(note="Ask the card team.").exists()

    assert client.post(of_topic("draft", card)).status_code == 302
    provider.answer("Find out how long it takes. [Q1]")
    client.post(of_topic("propose", card))
    assert proposals.write(GapProposal.objects.get().run)
    proposed = client.get(of_topic("propose", card), follow=True).content.decode()
    assert "Find out how long it takes. (Q1)" in proposed
    assert client.get(of_topic("try", card)).status_code == 200
    article = Article.objects.get(gap_topics=card)
    edit = reverse("admin:articles_article_change", args=[article.pk])
    assert client.post(edit, form_of(article, _publish="1")).status_code == 302
    article.refresh_from_db()
    assert article.status == Status.PUBLISHED

    several = {"action": "assign", "person": other.pk, "_selected_action": [currency.pk]}
    client.post(reverse(LIST), several)
    currency.refresh_from_db()
    assert currency.assignee == other
    client.post(of_topic("status", currency), {"act": "out_of_scope"})
    currency.refresh_from_db()
    assert currency.status == "dismissed"
    client.post(reverse("admin:assistant_gaptopic_undo"))
    currency.refresh_from_db()
    assert currency.status == "claimed"
    split = client.post(of_topic("split", card), {"question": []}, follow=True)
    assert split.status_code == 200
    exported: Any = client.get(reverse("admin:assistant_gaptopic_export"), {"status": "all"})
    assert CARD in exported.content.decode()
    assert client.post(reverse("admin:assistant_gaptopic_update")).status_code == 302
    assert client.get("/api/v1/manage/gaps/").status_code == 200


def test_where_writers_may_not_publish_an_editor_does() -> None:
    card, _currency = make_topics()
    Group.objects.get(name="Writers").permissions.remove(
        Permission.objects.get(codename="publish_article")
    )
    _writer, client = member("Writers")
    client.post(of_topic("draft", card))
    article = Article.objects.get(gap_topics=card)
    edit = reverse("admin:articles_article_change", args=[article.pk])
    assert "Save and publish" not in client.get(edit).content.decode()
    client.post(edit, form_of(article, body="By post.", _publish="1"))
    article.refresh_from_db()
    assert article.status == Status.DRAFT

    _editor, client = member("Editors")
    client.post(edit, form_of(article, body="By post.", _publish="1"))
    article.refresh_from_db()
    assert article.status == Status.PUBLISHED


def test_support_does_the_whole_audit() -> None:
    """Asking again: see `test_asking_again`."""
    writer, _browser = member("Writers")
    answer = make_answer(grounding="uncited")
    article = make_article("Reset your password")
    colleague, client = member("Support")
    for url in (
        reverse("admin:assistant_answer_overview"),
        reverse("admin:assistant_answer_changelist"),
        reverse("admin:assistant_answer_change", args=[answer.pk]),
        reverse("admin:assistant_conversation_change", args=[answer.conversation_id]),
        reverse("admin:assistant_answer_of_article", args=[article.pk]),
        reverse("admin:assistant_answer_review_queues"),
        reverse("admin:assistant_answer_again", args=[answer.pk]),
    ):
        assert client.get(url).status_code == 200, url
    begun = client.get(reverse("admin:assistant_answer_review_begin", args=["uncited"]))
    assert str(answer.pk) in begun["Location"]
    choices = client.get(
        reverse("admin:autocomplete"),
        {"term": "reset", "app_label": "assistant", "model_name": "answerreview",
         "field_name": "article"},
    )  # fmt: skip
    assert [row["text"] for row in choices.json()["results"]] == [article.title]
    page = client.get(reverse("admin:assistant_answer_change", args=[answer.pk]))
    offered = page.context["review_form"].fields["assignee"].queryset
    assert (colleague in offered, writer in offered) == (True, False)
    verdict = {"verdict": "wrong", "note": "Old.", "article": article.pk, "assignee": colleague.pk}
    client.post(reverse("admin:assistant_answer_review", args=[answer.pk]), verdict)
    review = Answer.objects.get().review
    assert (review.verdict, review.note, review.reviewer) == ("wrong", "Old.", colleague)
    assert AccessRecord.objects.filter(user_id=colleague.pk).count() == 6

    export = reverse("admin:assistant_answer_export", args=["csv"])
    assert client.get(export).status_code == 403
    colleague.user_permissions.add(Permission.objects.get(codename="export_answer"))
    assert client.get(export).status_code == 200


def test_writers_do_nothing_of_supports() -> None:
    answer = make_answer(grounding="uncited")
    _writer, client = member("Writers")
    for name, args in (
        ("answer_overview", []),
        ("answer_changelist", []),
        ("answer_change", [answer.pk]),
        ("conversation_change", [answer.conversation_id]),
        ("answer_review_queues", []),
        ("answer_review_begin", ["uncited"]),
        ("answer_again", [answer.pk]),
        ("answer_export", ["csv"]),
        ("answer_by_reference", ["0000-0000"]),
        ("answer_usage", []),
    ):
        assert client.get(reverse(f"admin:assistant_{name}", args=args)).status_code == 403, name
    for name in ("answer_review", "answer_again"):
        url = reverse(f"admin:assistant_{name}", args=[answer.pk])
        assert client.post(url, {"verdict": "right"}).status_code == 403
    assert not AccessRecord.objects.exists()


def test_support_does_nothing_of_the_writers() -> None:
    card, _currency = make_topics()
    article = make_article("Fees")
    GapTopic.objects.filter(pk=card.pk).update(article=article)
    colleague, client = member("Support")
    page = client.get(of_topic("change", card)).content.decode()
    assert "Claim for me" not in page
    for name in ("status", "split", "draft", "propose"):
        assert client.post(of_topic(name, card), {"act": "claim"}).status_code == 403, name
    assert client.post(of_topic("change", card), {"assignee": colleague.pk}).status_code == 403
    for name in ("undo", "update"):
        assert client.post(reverse(f"admin:assistant_gaptopic_{name}")).status_code == 403
    action = {"action": "claim", "_selected_action": [card.pk]}
    client.post(reverse(LIST), action)
    edit = reverse("admin:articles_article_change", args=[article.pk])
    assert client.post(edit, form_of(article, title="Mine")).status_code == 403
    card.refresh_from_db()
    article.refresh_from_db()
    assert (card.status, card.assignee, card.steps.count()) == ("open", None, 0)
    assert article.title == "Fees"
