"""Colleagues judge answers one after the other, and say which article should have answered."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles.indexing import index_article
from assistant.audit import reviewing
from assistant.known_answers import from_helpful_answers
from assistant.models import (
    Answer,
    AnswerFeedback,
    AnswerReview,
    CitationSupport,
    Conversation,
    Origin,
    ToolCall,
)
from tests.factories import make_answer, make_article, make_document

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>{{ 7|add:7 }}\u202e"


def change_url(answer: Answer, queue: str = "") -> str:
    url = reverse("admin:assistant_answer_change", args=[answer.pk])
    return f"{url}?queue={queue}" if queue else url


def save(client: Client, answer: Answer, **fields: Any) -> Any:
    url = reverse("admin:assistant_answer_review", args=[answer.pk])
    return client.post(url, {"verdict": "", "note": "", **fields})


def asked_ago(answer: Answer, **ago: float) -> Answer:
    Answer.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(**ago))
    answer.refresh_from_db()
    return answer


class TestVerdict:
    def test_it_is_stored_in_the_colleagues_name(self, staff_client: Client, staff: User) -> None:
        answer, article = make_answer(), make_article("Right one")
        given = {"verdict": "wrong", "note": "Not SSO.", "assignee": staff.pk}
        assert save(staff_client, answer, **given, article=article.pk).status_code == 302
        review = AnswerReview.objects.get()
        assert (review.verdict, review.note, review.reviewer) == ("wrong", "Not SSO.", staff)
        assert (review.assignee, review.article) == (staff, article)

    def test_the_last_one_counts(self, staff_client: Client) -> None:
        answer = make_answer()
        save(staff_client, answer, verdict="wrong", note="x")
        save(staff_client, answer, verdict="right")
        review = AnswerReview.objects.get()
        assert (review.verdict, review.note) == ("right", "")

    def test_without_a_verdict_it_waits_for_somebody(
        self, staff_client: Client, staff: User
    ) -> None:
        answer = make_answer()
        save(staff_client, answer, assignee=staff.pk)
        review = AnswerReview.objects.get()
        assert (review.verdict, review.reviewer) == ("", None)
        assert list(reviewing.to_review("assigned", staff)) == [answer]

    def test_the_answer_itself_stays(self, staff_client: Client) -> None:
        answer = make_answer()
        before = Answer.objects.filter(pk=answer.pk).values().get()
        save(staff_client, answer, verdict="wrong")
        assert Answer.objects.filter(pk=answer.pk).values().get() == before

    @pytest.mark.parametrize(
        "fields", [{"verdict": "nonsense"}, {"assignee": "999"}, {"note": "x" * 4001}]
    )
    def test_what_is_not_offered_is_refused(
        self, fields: dict[str, str], staff_client: Client
    ) -> None:
        response = save(staff_client, make_answer(), **fields)
        assert not AnswerReview.objects.exists()
        assert 'class="error"' in staff_client.get(response["Location"]).content.decode()

    def test_a_note_that_could_not_be_saved_is_given_back(self, staff_client: Client) -> None:
        answer = make_answer()
        refused = save(staff_client, answer, note="Look <here>.", assignee="999")
        page = staff_client.get(refused["Location"]).content.decode()
        assert "Your note was: Look &lt;here&gt;." in page

    def test_what_a_colleague_said_meanwhile_is_not_replaced_unseen(
        self, staff_client: Client, owner: User
    ) -> None:
        answer = make_answer()
        page = staff_client.get(change_url(answer)).content.decode()
        assert '<input type="hidden" name="seen" value="">' in page
        reviewing.review(answer, owner, verdict="wrong", note="Theirs.")
        mine = {"verdict": "right", "note": "Mine."}
        told = save(staff_client, answer, **mine, seen="")
        page = staff_client.get(told["Location"]).content.decode()
        assert "owner reviewed it while you had it open (wrong)" in page
        assert "Your note was: Mine." in page
        assert AnswerReview.objects.get().note == "Theirs."

        seen = AnswerReview.objects.get().updated_at.isoformat()
        assert f'name="seen" value="{seen}"' in page
        save(staff_client, answer, **mine, seen=seen)
        assert AnswerReview.objects.get().note == "Mine."

    def test_a_hostile_note_is_text(self, staff_client: Client) -> None:
        answer = make_answer()
        save(staff_client, answer, verdict="wrong", note=SCRIPT)
        page = staff_client.get(change_url(answer)).content.decode()
        assert "<script>alert" not in page
        assert "{{ 7|add:7 }}" in page

    def test_reading_is_not_judging(self, client: Client, stranger: User) -> None:
        stranger.is_staff = True
        stranger.save()
        stranger.user_permissions.add(Permission.objects.get(codename="view_answer"))
        client.force_login(stranger)
        answer = make_answer()
        assert save(client, answer, verdict="right").status_code == 403
        again = reverse("admin:assistant_answer_again", args=[answer.pk])
        assert client.post(again).status_code == 403
        page = client.get(change_url(answer)).content.decode()
        assert "Nobody has reviewed this answer." in page
        assert 'name="verdict"' not in page

    def test_who_may_not_see_answers_sees_no_queue(self, client: Client, stranger: User) -> None:
        stranger.is_staff = True
        stranger.save()
        client.force_login(stranger)
        answer = make_answer()
        for url in (
            reverse("admin:assistant_answer_review_queues"),
            reverse("admin:assistant_answer_review_begin", args=["negative"]),
            reverse("admin:assistant_answer_again", args=[answer.pk]),
        ):
            assert client.get(url).status_code == 403
        assert save(client, answer).status_code == 403


class TestQueues:
    def test_each_holds_what_it_says(self, staff: User) -> None:
        weak = make_answer("weak")
        document = make_document(weak, make_article("Plans"), 1, cited=True)
        CitationSupport.objects.create(document=document, position=0, sentence="x", score=0.1)
        uncited = make_answer("uncited", grounding="uncited")
        negative = make_answer("negative")
        AnswerFeedback.objects.create(answer=negative, rating="negative")
        AnswerFeedback.objects.create(answer=make_answer("liked"), rating="positive")

        def held(name: str) -> set[str]:
            return {answer.question for answer in reviewing.to_review(name, staff)}

        assert held("weak") == {"weak"}
        assert held("uncited") == {"uncited"}
        assert held("negative") == {"negative"}
        assert held("assigned") == set()
        assert held("sample") == {"weak", "uncited", "negative", "liked"}
        reviewing.review(uncited, staff, verdict="right")
        assert held("uncited") == set()

    def test_only_visitors_finished_answers_are_reviewed(self, staff: User) -> None:
        make_answer(origin=Origin.STAFF, grounding="uncited")
        make_answer(origin=Origin.CHECK, grounding="uncited")
        make_answer(status="running", grounding="", finished_at=None)
        assert not reviewing.to_review("uncited", staff).exists()
        assert not reviewing.to_review("sample", staff).exists()

    def test_the_sample_is_the_same_all_day_and_verdicts_draw_no_others(
        self, staff: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reviewing, "SAMPLE", 3)
        for number in range(10):
            make_answer(f"Question {number}")
        asked_ago(make_answer("old"), days=8)
        first = list(reviewing.to_review("sample", staff))
        assert len(first) == 3
        assert list(reviewing.to_review("sample", staff)) == first
        reviewing.review(first[0], staff, verdict="right")
        assert list(reviewing.to_review("sample", staff)) == first[1:]

    def test_next_and_previous_lead_through_all_of_it(self, staff: User) -> None:
        now = timezone.now()
        answers = [make_answer(f"{number}", grounding="uncited") for number in range(4)]
        Answer.objects.update(created_at=now)  # the same moment: the id decides
        queue = reviewing.to_review("uncited", staff)
        seen = [queue[0]]
        while (following := reviewing.after(queue, seen[-1])) is not None:
            seen.append(following)
        assert {answer.pk for answer in seen} == {answer.pk for answer in answers}
        back = [seen[-1]]
        while (earlier := reviewing.before(queue, back[-1])) is not None:
            back.append(earlier)
        assert back == seen[::-1]

    def test_saving_goes_on_to_the_next_and_ends_with_a_word(self, staff_client: Client) -> None:
        newer = make_answer("newer", grounding="uncited")
        older = asked_ago(make_answer("older", grounding="uncited"), hours=1)
        begin = reverse("admin:assistant_answer_review_begin", args=["uncited"])
        assert staff_client.get(begin)["Location"] == change_url(newer, "uncited")
        page = staff_client.get(change_url(newer, "uncited")).content.decode()
        assert "2 left" in page
        assert f'href="{change_url(older, "uncited")}" rel="next"' in page
        chosen = {"verdict": "right", "queue": "uncited", "_next": "1"}
        assert save(staff_client, newer, **chosen)["Location"] == change_url(older, "uncited")
        response = save(staff_client, older, **chosen)
        page = staff_client.get(response["Location"]).content.decode()
        assert "nothing is left to review" in page

    def test_an_unknown_queue_is_404_or_none(self, staff_client: Client) -> None:
        begin = reverse("admin:assistant_answer_review_begin", args=["nonsense"])
        assert staff_client.get(begin).status_code == 404
        assert (
            "review-queue" not in staff_client.get(change_url(make_answer(), "x")).content.decode()
        )


class TestArticleThatShouldHaveAnswered:
    def test_its_place_and_why_it_lost_are_told_for_each_search(self, staff_client: Client) -> None:
        for title in ("Reset your password", "Change the colours"):
            index_article(make_article(title).pk)
        answer = make_answer("How do I reset my password?")
        calls = [
            '{"query": "passwords"}',
            "broken",
            "[1]",
            '{"query": 7}',
            '{"query": "passwords"}',
        ]
        for position, arguments in enumerate(calls):
            ToolCall.objects.create(
                answer=answer,
                position=position,
                round=1,
                call_id=str(position),
                name="search_articles",
                arguments=arguments,
            )
        article = make_article("Colours")
        index_article(article.pk)
        save(staff_client, answer, verdict="wrong", article=article.pk)
        page = staff_client.get(change_url(answer)).content.decode()
        assert "“Colours” for the question" in page
        assert page.count("For the search “passwords”") == 1
        assert "BM25" in page or "no word in it" in page


class TestKnownAnswers:
    def test_a_verdict_weighs_more_than_a_vote(self, staff: User) -> None:
        right, other = make_article("Right"), make_article("Other")
        fields = {"cited": True, "consulted": True, "number": 1, "position": 1}
        answers = {}
        for name in ("voted", "judged right", "judged wrong", "named", "only assigned"):
            answers[name] = make_answer(name)
            make_document(answers[name], other, 1, **fields)
        for name in ("voted", "judged wrong", "only assigned"):
            AnswerFeedback.objects.create(answer=answers[name], rating="positive")
        reviewing.review(answers["judged right"], staff, verdict="right")
        reviewing.review(answers["judged wrong"], staff, verdict="wrong")
        reviewing.review(answers["only assigned"], staff, verdict="", assignee=staff)
        reviewing.review(answers["named"], staff, verdict="wrong", article=right)
        known = {question.text: question.right for question in from_helpful_answers()}
        assert known == {
            "voted": frozenset({other.pk}),
            "judged right": frozenset({other.pk}),
            "only assigned": frozenset({other.pk}),
            "named": frozenset({right.pk}),
        }


def test_erasing_a_conversation_erases_its_verdicts_and_repetitions(staff: User) -> None:
    answer = make_answer()
    reviewing.review(answer, staff, verdict="right", note="secret")
    repetition = Conversation.objects.create(user=staff, repeats=answer)
    make_answer("again", conversation=repetition, origin=Origin.STAFF)
    answer.conversation.delete()
    assert not AnswerReview.objects.exists()
    assert not Answer.objects.exists()
    assert not Conversation.objects.exists()
