"""Text that no database could hold is refused by name, whoever saves it."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from articles.models import Article, Category
from articles.writing.forms import ArticleForm
from helpcenter.texts import is_storable

UNSTORABLE = ["a\0b", "a\ud83d", "\udfff"]


@pytest.mark.parametrize("text", UNSTORABLE)
def test_a_nul_and_half_a_character_are_no_text(text: str) -> None:
    assert not is_storable(text)


@pytest.mark.parametrize("text", ["", "plain", "😀", "\u200b\x01"])
def test_everything_else_is(text: str) -> None:
    assert is_storable(text)


@pytest.mark.django_db
@pytest.mark.parametrize("text", UNSTORABLE)
@pytest.mark.parametrize("field", ["title", "summary", "body"])
def test_code_that_saves_such_an_article_is_told_the_field(field: str, text: str) -> None:
    article = Article(**{"title": "Fine", field: text})

    with pytest.raises(ValidationError) as refusal:
        article.save()

    assert list(refusal.value.message_dict) == [field]
    assert not Article.objects.exists()


@pytest.mark.django_db
def test_a_category_too() -> None:
    with pytest.raises(ValidationError) as refusal:
        Category.objects.create(name="Fine", description="a\0b")

    assert list(refusal.value.message_dict) == ["description"]


@pytest.mark.django_db
@pytest.mark.parametrize("text", UNSTORABLE)
def test_the_form_shows_it_at_its_field(text: str) -> None:
    values = {"title": "Fine", "body": text, "position": 0, "language": "en"}
    form = ArticleForm({**values, "visibility": "public"})

    assert not form.is_valid()
    assert list(form.errors) == ["body"]
