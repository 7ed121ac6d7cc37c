"""The manual is a help center that this product can serve: complete, linked, and it answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from articles import demo
from articles.access import ANONYMOUS
from articles.importing import Kind, Options, Outcome, Report, frontmatter, import_articles
from articles.search import search
from tests.import_folders import messages

pytestmark = pytest.mark.django_db

PAGES = sorted(demo.FOLDER.glob("*.md"))
QUESTIONS = json.loads(Path(__file__).with_name("manual_questions.json").read_text())
FORBIDDEN = re.compile(r"\b(?:TODO|FIXME|lorem ipsum)\b|!(?=\s|$)", re.IGNORECASE)


@pytest.fixture
def report() -> Report:
    return import_articles(demo.FOLDER, Options(prefix=demo.PREFIX))


def front_matter(page: Path) -> frontmatter.Fields:
    values, _text = frontmatter.split(page.read_text())
    return frontmatter.interpret(values)


def test_the_manual_has_the_pages_of_a_help_center() -> None:
    assert len(PAGES) >= 28


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_says_what_it_is(page: Path) -> None:
    fields = front_matter(page)

    assert fields.title
    assert 20 <= len(fields.summary) <= 160
    assert fields.category
    assert not fields.notes
    assert not fields.ignored


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_finished_and_calm(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)

    assert FORBIDDEN.findall(prose) == []


def test_each_place_in_a_category_is_taken_once() -> None:
    places = [(front_matter(page).category, front_matter(page).position) for page in PAGES]

    assert [place for place in places if places.count(place) > 1] == []


def test_every_topic_has_its_place_in_the_demo() -> None:
    topics = {(front_matter(page).category or ("",))[0] for page in PAGES}

    assert topics == set(demo.TOPICS)


def test_titles_are_unique() -> None:
    titles = [front_matter(page).title for page in PAGES]

    assert len(set(titles)) == len(titles)


@pytest.mark.slow
def test_every_page_goes_in_without_a_word_and_every_link_and_anchor_leads_somewhere(
    report: Report,
) -> None:
    assert messages(report) == []
    assert report.count(Outcome.NEW) == len(PAGES)
    assert not report.of(Kind.NOTE)


def test_every_page_is_linked_from_another() -> None:
    texts = {page.name: page.read_text() for page in PAGES}

    for name in texts:
        linking = [other for other in texts if other != name and f"({name}" in texts[other]]
        assert linking, f"no page links to {name}"


@pytest.mark.slow
def test_twenty_questions_about_the_product_find_the_page_that_answers_them() -> None:
    import_articles(demo.FOLDER, Options(prefix=demo.PREFIX))

    assert len(QUESTIONS) == 20
    assert {q["question"]: best_page(q["question"]) for q in QUESTIONS if not found(q)} == {}


def found(asked: dict[str, Any]) -> bool:
    return best_page(asked["question"]) in asked["pages"]


def best_page(question: str) -> str:
    """The page that answers would be made from; empty where none is sure enough."""
    hits = search(question, reader=ANONYMOUS, for_answers=True).strong
    external_id = hits[0].article.external_id if hits else None
    return (external_id or "").removeprefix(demo.PREFIX)
