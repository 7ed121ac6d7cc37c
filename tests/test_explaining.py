"""Why a question finds what it finds, and why the article that should have won did not."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from articles import publishing
from articles.access import ANONYMOUS, Reader
from articles.explaining import Explanation, Reason, Verdict, explain, explanation, in_words
from articles.models import Article, Passage, Status, SynonymGroup, Visibility
from articles.search import run, search
from tests.factories import make_article, make_category
from tests.search_index import index, make_indexed

pytestmark = pytest.mark.django_db

QUESTION = "reset my password"


@pytest.fixture(autouse=True)
def words_alone(request: pytest.FixtureRequest, settings: Any) -> None:
    """Exact figures, and no vectors where a test is not about them."""
    if "with_vectors" not in request.fixturenames:
        settings.EMBEDDING_BACKEND = "off"


@pytest.fixture
def with_vectors() -> None:
    """Asked for by tests that are about meaning."""


def judged(article: Article, question: str = QUESTION, **options: Any) -> Verdict:
    options.setdefault("reader", ANONYMOUS)
    found = explain(question, expected=article, **options).verdict
    assert found is not None
    return found


def told(question: str = QUESTION, **options: Any) -> Explanation:
    return explain(question, reader=ANONYMOUS, **options)


def test_it_tells_about_the_search_itself_and_no_other() -> None:
    make_article("Reset your password", body="Open Settings and choose a new password.")
    make_article("Invoices", body="A password protects your invoices.")
    index()

    explained = told()
    plain = search(QUESTION, reader=ANONYMOUS)

    assert [hit.article for hit in explained.results.hits] == [hit.article for hit in plain.hits]
    assert [hit.score for hit in explained.results.hits] == [hit.score for hit in plain.hits]
    (steps,) = explained.languages
    assert [row.title for row in steps.weighed] == [hit.article.title for hit in plain.hits]
    assert explained.verdict is None


def test_words_come_with_their_weight_and_what_else_finds_them() -> None:
    make_article("Passwords", body="A password.")
    make_article("Billing", body="Pay here.")
    index()
    SynonymGroup(terms=["passphrase", "password"]).remember(None)

    (steps,) = told("passphrase nonsense").languages
    known, unknown = steps.words

    assert known.text == "passphras"
    assert known.synonyms == ("password",)
    assert (known.passages, unknown.passages) == (0, 0)
    assert (known.is_prefix, unknown.is_prefix) == (False, True)
    assert known.idf > 0
    assert steps.synonyms == ("password",)


def test_a_word_that_is_everywhere_makes_no_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        make_article(f"Plan {number}", body="A plan." + " Rare." * (number == 0))
    index()
    monkeypatch.setattr("articles.ranking.queries.COMMON_ROWS", 2)

    (steps,) = told("rare plan").languages
    assert [(word.text, word.makes_candidates) for word in steps.words] == [
        ("rare", True),
        ("plan", False),
    ]


@pytest.mark.usefixtures("with_vectors")
def test_each_step_says_what_it_made_of_a_passage() -> None:
    article = make_indexed("Reset your password", "Open Settings and choose a new password.")
    (steps,) = told().languages
    (row,) = steps.rows

    assert (row.article_id, row.title, row.text) == (
        article.pk,
        "Reset your password",
        "Open Settings and choose a new password.",
    )
    assert (row.candidate.lexical_rank, row.candidate.dense_rank, row.place) == (1, 1, 1)
    assert row.lexical_worth == row.dense_worth == row.fused / 2
    assert set(row.words) == {"reset", "password"}
    assert row.weighed is not None
    assert sum(row.shares.values()) == pytest.approx(row.weighed.judgement.strength)
    assert (steps.lexical, steps.dense, steps.too_far) == ([row], [row], [])


def test_the_winner_is_told_so() -> None:
    article = make_indexed("Reset your password", "Open Settings.")
    found = judged(article)
    assert (found.reason, found.place) == ("won", 1)
    assert found.best is not None
    assert found.best.candidate.lexical_rank == 1
    assert found.deserved is None


@pytest.mark.parametrize("status", [Status.DRAFT, Status.ARCHIVED])
def test_what_is_not_published_is_told_so(status: Status) -> None:
    article = make_indexed("Reset your password", "Open Settings.")
    publishing.withdraw(article, status)
    found = judged(article)
    assert (found.reason, found.place, found.best) == ("not_published", None, None)


def test_a_draft_that_was_never_published_is_told_so() -> None:
    article = make_article("Reset your password", publish=False)
    assert judged(article).reason == "not_published"


def test_what_this_reader_may_not_open_is_told_with_the_place_it_would_have() -> None:
    make_indexed("Password rules", "A password has ten characters.")
    article = make_indexed(
        "Reset your password", "Reset my password here.", visibility=Visibility.STAFF
    )
    found = judged(article)

    assert (found.reason, found.place, found.deserved) == ("not_for_reader", None, 1)
    assert found.best is not None
    assert found.best.candidate.lexical_rank == 1
    staff = Reader(is_authenticated=True, is_staff=True)
    assert judged(article, reader=staff).reason == "won"
    assert all(row.article_id != article.pk for row in told().languages[0].rows)


def test_what_is_for_answers_only_is_found_by_answers() -> None:
    article = make_indexed(
        "Reset your password", "Open Settings.", visibility=Visibility.ANSWERS_ONLY
    )
    assert judged(article).reason == "not_for_reader"
    assert judged(article, for_answers=True).reason == "won"


def test_what_stands_in_another_category_is_told_with_its_ranks() -> None:
    article = make_indexed(
        "Reset your password", "Open Settings.", category=make_category("Account")
    )
    found = judged(article, category=make_category("Billing"))
    assert found.reason == "other_category"
    assert found.best is not None
    assert found.best.candidate.lexical_rank == 1


def test_what_the_index_does_not_hold_yet_is_told_so() -> None:
    make_indexed("Password rules", "A password has ten characters.")
    article = make_article("Reset your password")
    assert judged(article).reason == "not_indexed"


def test_a_new_version_that_the_index_does_not_hold_yet_is_told_so() -> None:
    article = make_indexed("Reset your password", "Open Settings.")
    article.body = "Open Preferences."
    publishing.publish(article)
    assert judged(article).reason == "not_indexed"


def test_a_language_whose_turn_never_came_is_told_so() -> None:
    make_indexed("Reset your password", "Open Settings.")
    article = make_indexed("Das Passwort reset", "Password reset.", language="de")
    found = judged(article)
    assert found.reason == "language_not_searched"
    assert found.best is not None
    assert found.best.candidate.lexical_rank == 1
    assert "“de”" in in_words(found, ["en"])[0]


def test_no_word_of_the_question_is_told_so() -> None:
    make_indexed("Password rules", "A password has ten characters.")
    article = make_indexed("Sign in again", "Choose another secret.")
    found = judged(article)
    assert (found.reason, found.place) == ("no_word", None)
    assert found.best is not None
    assert found.best.candidate.lexical_rank is None
    assert found.strength is None


@pytest.mark.usefixtures("with_vectors")
def test_without_a_word_in_common_the_rank_by_meaning_is_told() -> None:
    make_indexed("Password rules", "A password has ten characters.")
    article = make_indexed("Bananas", "Yellow fruit grows in the tropics.")
    found = judged(article)
    assert found.reason == "no_word"
    assert found.best is not None
    assert found.best.candidate.dense_rank == 2
    assert "number 2" in in_words(found)[0]


def test_an_article_beyond_both_lists_is_told_its_exact_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(4):
        make_article(f"Reset your password {number}", body="Reset my password.")
    article = make_article("Plans", body="A long text about much else, and a password.")
    index()
    monkeypatch.setattr("articles.ranking.candidates.PER_LIST", 2)

    found = judged(article)
    assert (found.reason, found.place, found.deserved) == ("not_a_candidate", None, 3)
    assert found.best is not None
    assert found.best.candidate.lexical_rank == 5


def test_an_article_that_has_only_the_common_words_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_article("Rare", body="A rare plan.")
    article = make_article("Plans", body="A plan, and a plan.")
    for number in range(3):
        make_article(f"More {number}", body="A plan.")
    index()
    monkeypatch.setattr("articles.ranking.queries.COMMON_ROWS", 2)

    found = judged(article, "rare plan")
    assert found.reason == "not_a_candidate"
    assert "very many passages" in in_words(found)[0]


def test_a_candidate_that_was_not_weighed_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        make_article(f"Reset your password {number}", body="Reset my password.")
    article = make_article("Plans", body="A long text about much else, and a password.")
    index()
    for module in ("ranking.weighing", "explaining.rows"):
        monkeypatch.setattr(f"articles.{module}.WEIGHED", 2)

    found = judged(article)
    assert found.reason == "not_weighed"
    assert found.best is not None
    assert (found.best.place, found.best.candidate.lexical_rank) == (4, 4)
    (steps,) = told().languages
    assert [row.place for row in steps.beyond_weighing] == [3, 4]


def test_the_first_below_the_floor_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    article = make_indexed("Plans", "A long text about much else, and a password.")
    monkeypatch.setattr("articles.ranking.relevance.FLOOR", 0.99)
    found = judged(article)
    assert (found.reason, found.place) == ("below_floor", 1)
    assert "below the floor" in in_words(found)[0]


def test_an_article_that_was_outranked_is_told_by_whom_and_why() -> None:
    winner = make_indexed("Reset your password", "Reset my password here.")
    article = make_indexed("Password rules", "A password has ten characters, and much else.")
    found = judged(article)

    assert (found.reason, found.place, found.first) == ("outranked", 2, winner)
    assert found.lacking == ("reset",)
    assert "title" in [lead.part for lead in found.leads]
    assert all(lead.other > lead.own for lead in found.leads)
    differences = [lead.other - lead.own for lead in found.leads]
    assert differences == sorted(differences, reverse=True)
    said = in_words(found)
    assert said[0] == "It was found, in place 2."
    assert said[1].startswith("“Reset your password” comes first because of ")
    assert said[2] == "Words of the question that only its passage has: reset."


def test_a_place_beyond_the_ones_shown_counts() -> None:
    for number in range(3):
        make_article(f"Reset your password {number}", body="Reset my password.")
    article = make_article("Password rules", body="A password has ten characters.")
    index()
    assert (judged(article, limit=1).reason, judged(article, limit=1).place) == ("outranked", 4)


def test_a_title_that_is_the_question_comes_before_all_else() -> None:
    winner = make_indexed("The Who", "A band.")
    article = make_indexed("The Whom", "Another band.")
    assert judged(winner, "the who").reason == "below_floor"
    assert judged(article, "the who").reason == "only_common_words"


def test_an_empty_question_is_told_so() -> None:
    article = make_indexed("Reset your password", "Open Settings.")
    assert judged(article, " \0 ").reason == "no_text"
    assert told("").languages == ()


def test_an_article_in_a_language_searched_later_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("articles.ranking.relevance.FLOOR", 0.99)
    make_indexed("Password", "A password.")
    article = make_indexed("Password reset", "Reset my password.", language="de")
    found = judged(article)
    assert (found.reason, found.place, found.searched_later) == ("outranked", 2, True)
    assert "its language is searched first" in in_words(found)[1]


def test_passages_that_go_meanwhile_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    article = make_indexed("Reset your password", "Open Settings.")
    original = run

    def run_and_delete(*arguments: Any, **options: Any) -> Any:
        done = original(*arguments, **options)
        Passage.objects.all().delete()
        return done

    monkeypatch.setattr(explanation, "run", run_and_delete)
    explained = told(expected=article)
    assert explained.languages[0].rows == ()
    assert explained.verdict is not None
    assert explained.verdict.reason == "not_indexed"


def test_every_reason_has_words() -> None:
    article = make_article("Reset your password")
    said = {reason: in_words(Verdict(article, reason, 1), ["en"])[0] for reason in get_args(Reason)}
    assert len(set(said.values())) == len(said)
    assert all(said.values())
