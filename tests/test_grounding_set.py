"""What messages are taken for, measured on labelled ones; the manual has the figures."""

from __future__ import annotations

from typing import Any

import pytest

from articles.access import ANONYMOUS
from articles.models import IndexState
from articles.ranking import outskirts
from assistant.classifiers.small_talk import is_small_talk
from assistant.scope import is_outside
from tests.factories import make_article
from tests.grounding_set import (
    Judged,
    Label,
    Labelled,
    judge_all,
    labelled,
    load_site,
    share_right,
)

HALVES = ["development", "held out", ""]


def by_words(message: Labelled) -> Label:
    """What a message is taken for where nothing is known but its words."""
    if is_small_talk(message.message):
        return "smalltalk"
    return "substantive" if message.label == "smalltalk" else message.label


def test_the_set_has_what_it_should() -> None:
    messages = labelled()
    assert len(messages) >= 300
    assert len({message.message for message in messages}) == len(messages)
    languages = {message.language for message in messages}
    assert languages >= {"zh", "ja", "ko", "ar", "hi", "ru", "th"}
    assert len(languages) >= 12


@pytest.mark.parametrize("half", HALVES)
def test_small_talk_and_questions_are_told_apart_by_their_words(half: str) -> None:
    found = [Judged(message, by_words(message)) for message in labelled(half)]
    assert share_right(found, kind="greeting") >= 0.95
    assert share_right(found, label="smalltalk") >= 0.95
    assert share_right(found, label="substantive") >= 0.99


@pytest.fixture(scope="module")
def found(django_db_setup: None, django_db_blocker: Any) -> list[Judged]:
    """Every message asked of the site, once for all tests here."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        load_site()
        found = judge_all(labelled())
        transaction.set_rollback(True)
    return found


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("half", HALVES)
def test_the_verdict_is_right_about_labelled_messages(found: list[Judged], half: str) -> None:
    assert share_right(found, half=half, kind="greeting") >= 0.95
    assert share_right(found, half=half, label="smalltalk") >= 0.95
    assert share_right(found, half=half, label="substantive") >= 0.95
    assert share_right(found, half=half, label="out_of_scope") >= OUT_OF_SCOPE


OUT_OF_SCOPE = 0.15
OUT_OF_SCOPE_ENGLISH = 0.3
"""Of questions in any language, and in English; meaning tells only in a language with enough
articles. Two questions of slack: the manual is part of the site, and whoever writes a page of it
moves the floor a little. `bench/grounding.py` prints where it stands."""


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("half", HALVES)
def test_what_is_foreign_to_the_site_is_known_in_its_own_language(
    found: list[Judged], half: str
) -> None:
    english = [one for one in found if one.message.language == "en"]
    assert share_right(english, half=half, label="out_of_scope") >= OUT_OF_SCOPE_ENGLISH
    assert share_right(english, half=half, label="substantive") >= 0.9


@pytest.mark.django_db
def test_a_few_articles_do_not_tell_what_a_site_is_about() -> None:
    make_article("Set up single sign-on")
    assert outskirts.measure() == {}
    assert not is_outside("what is the weather in Paris", ANONYMOUS, "en")


@pytest.mark.django_db
def test_without_vectors_nothing_is_outside(settings: Any) -> None:
    IndexState.objects.create(language="en", passages=500, outskirts=0.9, outskirts_model="other")
    assert not is_outside("what is the weather in Paris", ANONYMOUS, "en")
    settings.EMBEDDING_BACKEND = "off"
    assert not is_outside("what is the weather in Paris", ANONYMOUS, "en")
    assert outskirts.measure() == {}
