"""The gate to articles: who may open what, and what answers may use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User

from articles.access import ANONYMOUS, Reader, answerable, gone, may_open, may_use, readable
from articles.models import Article, Status, Visibility
from tests.factories import make_article

pytestmark = pytest.mark.django_db


@pytest.fixture
def articles() -> dict[str, Article]:
    published = {
        str(visibility): make_article(f"About {visibility}", visibility=visibility)
        for visibility in Visibility
    }
    make_article("A draft", publish=False)
    make_article("Archived", status=Status.ARCHIVED)
    return published


@pytest.mark.parametrize(
    ("who", "may_open_these"),
    [
        ("anonymous", {"public"}),
        ("owner", {"public", "signed_in"}),
        ("staff", {"public", "signed_in", "staff"}),
    ],
)
def test_each_reader_opens_what_is_meant_for_them(
    who: str, may_open_these: set[str], articles: dict[str, Article], owner: User, staff: User
) -> None:
    cast: dict[str, User | AnonymousUser] = {
        "anonymous": AnonymousUser(),
        "owner": owner,
        "staff": staff,
    }
    reader = Reader.of(cast[who])

    assert {article.visibility for article in readable(reader)} == may_open_these
    used = {article.visibility for article in answerable(reader)}
    assert used == may_open_these | {"answers_only"}
    opened = {name for name, article in articles.items() if may_open(article, reader)}
    assert opened == may_open_these
    usable = {name for name, article in articles.items() if may_use(article, reader)}
    assert usable == may_open_these | {"answers_only"}


def test_a_deactivated_user_reads_as_anonymous(owner: User) -> None:
    owner.is_active = False
    assert Reader.of(owner) == ANONYMOUS


def test_an_account_of_another_kind_is_no_colleague() -> None:
    account: Any = SimpleNamespace(is_authenticated=True, is_active=True, pk=1)
    assert Reader.of(account) == Reader(user_id=1, is_authenticated=True)


def test_a_withdrawn_article_is_open_to_nobody(staff: User) -> None:
    article = make_article(status=Status.DRAFT)
    assert not may_open(article, Reader.of(staff))
    assert not may_use(article, Reader.of(staff))
    assert not readable(Reader.of(staff)).exists()


@pytest.mark.parametrize(
    ("visibility", "who_learns_of_it"),
    [
        (Visibility.PUBLIC, {"anonymous", "owner", "staff"}),
        (Visibility.SIGNED_IN, {"owner", "staff"}),
        (Visibility.STAFF, {"staff"}),
        (Visibility.ANSWERS_ONLY, set()),
    ],
)
def test_an_archived_article_is_gone_for_those_who_could_open_it(
    visibility: str, who_learns_of_it: set[str], owner: User, staff: User
) -> None:
    archived = make_article(visibility=visibility, status=Status.ARCHIVED)
    cast = {"anonymous": ANONYMOUS, "owner": Reader.of(owner), "staff": Reader.of(staff)}
    assert {who for who, reader in cast.items() if archived in gone(reader)} == who_learns_of_it


def test_a_draft_was_never_there_even_when_it_was_archived(staff: User) -> None:
    Article.objects.create(title="Never published", status=Status.ARCHIVED)
    make_article(status=Status.DRAFT)
    assert not gone(Reader.of(staff)).exists()
