"""Each citation's support is judged after the answer's end, stored, shown, and erased with it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from kombu.exceptions import OperationalError

from articles import publishing
from articles.embeddings import EmbeddingError, HashedEmbedder
from articles.models import IndexState, Term
from assistant import tasks
from assistant.article_facts import PassageRead
from assistant.classifiers.language_guess import guess_language
from assistant.models import Answer, AnswerDocument, AnswerPassage, CitationSupport
from assistant.support import records, scoring
from assistant.support.scoring import WEAK
from assistant.turns.persistence import DocumentRecord, End, store_end
from helpcenter.celery import app
from tests.factories import make_answer, make_article, make_document
from tests.processes import wait_until

pytestmark = pytest.mark.django_db

LINK = "We send a link at once. The link is valid for 30 minutes and works once."
PLANS = "The Basic plan has 3 projects. The Team plan has no limit of projects."


@pytest.fixture(autouse=True)
def hashed_vectors(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "hashed"


def cited_document(
    answer: Answer, title: str, text: str, number: int | None = 1, **fields: Any
) -> AnswerDocument:
    document = make_document(
        answer,
        make_article(title),
        ref=fields.pop("ref", number or 9),
        number=number,
        cited=number is not None,
        linked=number is None,
        consulted=fields.get("exposure") != "title",
        position=number or 9,
        **fields,
    )
    if text:
        AnswerPassage.objects.create(document=document, position=0, heading="How to", text=text)
    return document


def judged(text: str, **links: Any) -> tuple[Answer, list[CitationSupport]]:
    """The supports of an answer that was given both texts, in the order of the sentences."""
    answer = make_answer(text=text, **links)
    cited_document(answer, "Reset your password", LINK, 1)
    cited_document(answer, "Plans", PLANS, 2)
    records.judge_answer(answer.pk)
    return answer, stored(answer)


def score(found: CitationSupport) -> float:
    assert found.score is not None
    return found.score


def stored(answer: Answer) -> list[CitationSupport]:
    found = CitationSupport.objects.filter(document__answer=answer)
    return list(found.select_related("document").order_by("position", "document__ref"))


def test_each_citation_of_each_sentence_is_judged() -> None:
    _answer, (first, second, third) = judged(
        "The link is valid for 30 minutes. [1] The Basic plan has 3 projects [2][1]."
    )
    assert [one.position for one in (first, second, third)] == [0, 1, 1]
    assert first.sentence == "The link is valid for 30 minutes."
    assert score(first) > WEAK
    assert (second.document.title, third.document.title) == ("Reset your password", "Plans")
    assert score(second) < WEAK < score(third)


def test_it_names_the_passage_and_the_stretch_and_its_parts() -> None:
    _answer, (found,) = judged("The link is valid for 30 minutes [1].")
    assert found.passage is not None
    assert found.passage.text == LINK
    assert found.evidence == "The link is valid for 30 minutes and works once."
    assert found.coverage == 1.0
    assert found.cosine is not None


def test_a_valid_number_on_the_wrong_document_is_caught() -> None:
    _answer, (found,) = judged("The link is valid for 30 minutes and works once [2].")
    assert score(found) < WEAK


def test_a_contradicting_number_is_caught() -> None:
    _answer, (found,) = judged("The link is valid for 90 minutes [1].")
    assert found.contradicts
    assert score(found) < WEAK


def test_a_link_is_a_citation() -> None:
    answer = make_answer(text="[Here](/articles/plans/#x): the Basic plan has 3 projects.")
    answer.allowed_links = ["/articles/plans/#x"]
    answer.save()
    cited_document(answer, "Plans", PLANS, None)
    assert records.judge_answer(answer.pk) == 1
    assert stored(answer)[0].document.slug == "plans"


def test_numbers_in_code_and_unknown_ones_are_no_citations() -> None:
    _answer, found = judged("The link is valid for 30 minutes, `a[1]`, and [7] as well.")
    assert found == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("See [1].", "short"),
        (
            "Der Link gilt nur 30 Minuten, und er ist nicht mehr als einmal zu benutzen [1].",
            "language",
        ),
    ],
)
def test_what_cannot_be_judged_says_why(text: str, reason: str) -> None:
    _answer, (found,) = judged(text)
    assert (found.score, found.unjudged, found.passage) == (None, reason, None)


def test_a_title_alone_supports_nothing_and_is_not_judged() -> None:
    answer = make_answer(text="- [Plans](/articles/plans/) with three projects and more")
    answer.allowed_links = ["/articles/plans/"]
    answer.save()
    cited_document(answer, "Plans", "", None, exposure="title", via="listing")
    records.judge_answer(answer.pk)
    assert stored(answer)[0].unjudged == "no_text"


def test_judged_again_it_is_replaced() -> None:
    answer, before = judged("The link is valid for 30 minutes [1].")
    records.judge_answer(answer.pk)
    after = stored(answer)
    assert len(after) == len(before) == 1
    assert after[0].score == before[0].score


def test_without_vectors_it_is_judged_by_words_alone(settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    _answer, (found,) = judged("The link is valid for 30 minutes [1].")
    assert found.cosine is None
    assert score(found) > WEAK


def test_a_dead_endpoint_leaves_the_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: HashedEmbedder, texts: Any, patient: bool = False) -> Any:
        raise EmbeddingError("gone")

    monkeypatch.setattr(HashedEmbedder, "embed", fail)
    _answer, (found,) = judged("The link is valid for 30 minutes [1].")
    assert found.cosine is None
    assert "support_by_words_alone" in caplog.text


def test_common_words_say_less_than_rare_ones() -> None:
    IndexState.objects.create(language="en", passages=1000)
    Term.objects.create(language="en", text="link", passages=900)
    Term.objects.create(language="en", text="minut", passages=2)
    weights = records.term_weights("en", {"link", "minut"})
    assert weights["link"] < weights["minut"]


def test_an_answer_cites_more_than_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_CITATIONS", 3)
    _answer, found = judged("The link is valid for 30 minutes. [1] " * 5)
    assert len(found) == 3


def test_erasing_the_conversation_erases_it() -> None:
    answer, found = judged("The link is valid for 30 minutes [1].")
    assert found
    answer.conversation.delete()
    assert not CitationSupport.objects.exists()


def test_an_answer_that_is_gone_is_nothing_to_do() -> None:
    assert tasks.judge_support(str(uuid.uuid4())) == 0


def test_one_that_is_erased_meanwhile_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = make_answer(text="The link is valid for 30 minutes [1].")
    cited_document(answer, "Reset", LINK, 1)
    judge = scoring.judge

    def erase(*arguments: Any) -> Any:
        answer.conversation.delete()
        return judge(*arguments)

    monkeypatch.setattr(records, "judge", erase)
    assert records.judge_answer(answer.pk) == 0
    assert not CitationSupport.objects.exists()


def running() -> Answer:
    return make_answer(status="running", grounding="", finished_at=None, text="")


def ended(answer: Answer, *, cited: bool = True) -> End:
    article = make_article(f"Reset {answer.pk}")
    document = DocumentRecord(
        ref=1,
        document_id=str(article.pk),
        article_id=article.pk,
        revision_id=article.live_revision_id,
        title=article.title,
        slug=article.slug,
        exposure="excerpt",
        via="excerpt",
        cited=cited,
        consulted=cited,
        number=1 if cited else None,
        position=0 if cited else None,
        passages=(PassageRead("How to", "how-to", LINK),),
    )
    text = "The link is valid for 30 minutes [1]."
    return End(answer.pk, "completed", "grounded", text, 9, {}, (document,))


def test_a_worker_is_told_on_commit_and_only_of_what_cites(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_options: sent.append((name, args)))
    answer = running()
    with django_capture_on_commit_callbacks(execute=True):
        assert store_end(ended(answer))
        assert store_end(ended(running(), cited=False))
        assert sent == []
    assert sent == [(records.TASK, [str(answer.pk)])]


def test_the_task_has_the_name_that_is_sent() -> None:
    app.loader.import_default_modules()
    assert app.tasks[records.TASK].time_limit


def test_a_broker_that_is_down_does_not_keep_the_answer_from_being_stored(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(app, "send_task", fail)
    answer = running()
    with django_capture_on_commit_callbacks(execute=True):
        assert store_end(ended(answer))
    answer.refresh_from_db()
    assert answer.status == "completed"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_real_worker_judges_what_was_stored(worker: object) -> None:
    answer = running()
    with transaction.atomic():
        store_end(ended(answer))
    wait_until(lambda: stored(answer) != [], "the worker to judge the answer")
    assert stored(answer)[0].score is not None


@pytest.fixture
def admin(client: Client, staff: User) -> Client:
    client.force_login(staff)
    return client


def test_staff_see_sentence_score_and_passage(admin: Client) -> None:
    answer, _found = judged("The link is valid for 90 minutes <b>now</b> [1]. See [2].")
    url = reverse("admin:assistant_answer_change", args=[answer.pk])
    page = admin.get(url).content.decode()
    assert "Support of each citation" in page
    assert "The link is valid for 90 minutes &lt;b&gt;now&lt;/b&gt;." in page
    assert "The link is valid for 30 minutes and works once." in page
    assert "another figure is there" in page
    assert "not judged: the sentence says too little" in page


def test_staff_see_what_was_judged_by_words_alone(admin: Client, settings: Any) -> None:
    settings.EMBEDDING_BACKEND = "off"
    answer, _found = judged("You cannot open the 4 links for 30 minutes [1].")
    url = reverse("admin:assistant_answer_change", args=[answer.pk])
    page = admin.get(url).content.decode()
    assert "judged by words alone" in page
    assert "a figure is missing" in page
    assert "negated on one side only" in page


def test_weakly_supported_answers_are_found(admin: Client) -> None:
    judged("The link is valid for 30 minutes [1].", question="Good one?")
    article = make_answer(text="x", question="Uncited one?")
    weak = make_answer(text="The link is valid for 90 minutes [1].", question="Weak one?")
    cited_document(weak, "Other", LINK, 1)
    records.judge_answer(weak.pk)
    url = reverse("admin:assistant_answer_changelist")

    def listed(value: str) -> list[str]:
        page = admin.get(url, {"support": value} if value else {}).content.decode()
        return [name for name in ("Good", "Uncited", "Weak") if f"{name} one?" in page]

    assert article.documents.count() == 0
    assert listed("weak") == ["Weak"]
    assert listed("good") == ["Good"]
    assert listed("") == ["Good", "Uncited", "Weak"]


def test_the_article_may_be_gone_by_then() -> None:
    answer = make_answer(text="The link is valid for 30 minutes [1].")
    document = cited_document(answer, "Reset", LINK, 1)
    assert document.article is not None
    publishing.withdraw(document.article)
    document.article.delete()
    assert records.judge_answer(answer.pk) == 1
    assert stored(answer)[0].score is not None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("You can do this when the page is open and it is not yours.", "en"),
        ("Das können Sie nur dann, wenn die Seite nicht offen ist.", "de"),
        ("Vous ne pouvez pas le faire quand la page est ouverte.", "fr"),
        ("ページを開いてから保存してください。", "ja"),
        ("打开页面，然后保存。", "zh"),
        ("페이지를 열고 저장하세요.", "ko"),
        ("เปิดหน้าแล้วบันทึก", "th"),
        ("Open Settings.", ""),
        ("", ""),
    ],
)
def test_a_language_is_guessed_or_left_open(text: str, language: str) -> None:
    assert guess_language(text) == language
