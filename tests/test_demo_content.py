"""The demo content comes into an empty site only, and goes out again without a trace."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from articles import demo, publishing
from articles.models import Article, Category, Passage, Status
from helpcenter.models import SiteSettings
from tests.factories import make_article, make_category
from tests.import_folders import write

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small manual in place of the product's."""
    pages = {
        "start.md": "---\ntitle: Start\ncategory: Basics\n---\nSee [more](more.md).",
        "more.md": "---\ntitle: More\ncategory: Basics > Deeper\n---\nText.",
    }
    monkeypatch.setattr(demo, "FOLDER", write(tmp_path / "docs", pages))
    return tmp_path / "docs"


def run(command: str, *arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def test_an_empty_site_gets_the_manual_and_questions_about_it() -> None:
    said = run("load_demo")

    assert "2 articles, 2 passages" in said
    assert Article.objects.filter(status=Status.PUBLISHED).count() == 2
    assert set(Article.objects.values_list("external_id", flat=True)) == {
        "demo:start.md",
        "demo:more.md",
    }
    assert SiteSettings.load().questions() == demo.QUESTIONS.splitlines()


def test_topics_come_in_the_order_of_the_manual(manual: Path) -> None:
    write(manual, {"use.md": "---\ntitle: Use\ncategory: The assistant\n---\n# Use\n\nText."})
    write(manual, {"a.md": "---\ntitle: Set\ncategory: Administration\n---\n# Set\n\nText."})
    run("load_demo")
    Category.objects.filter(name="Administration").update(position=9)
    demo.load()

    places = Category.objects.filter(position__gt=0).order_by("position")
    assert [*places.values_list("name", "position")] == [
        ("The assistant", 3),
        ("Administration", 9),
    ]


def test_a_site_with_a_single_draft_is_left_alone() -> None:
    make_article(publish=False)

    assert "nothing was loaded" in run("load_demo")
    assert Article.objects.count() == 1
    assert not SiteSettings.objects.exists()


def test_settings_that_somebody_saved_are_left_alone() -> None:
    SiteSettings(name="Ours", suggested_questions="").save()
    run("load_demo")

    assert SiteSettings.load().suggested_questions == ""
    assert Article.objects.count() == 2


def test_removing_takes_exactly_what_loading_brought() -> None:
    run("load_demo")
    make_article("Ours", category=Category.objects.get(name="Basics"))
    mine = make_category("Empty but ours")

    assert "Removed 2 demo articles and 1 categories." in run("remove_demo")
    assert [article.title for article in Article.objects.all()] == ["Ours"]
    assert set(Category.objects.values_list("name", flat=True)) == {"Basics", mine.name}
    assert set(Passage.objects.values_list("article__title", flat=True)) <= {"Ours"}
    assert SiteSettings.load().questions() == []


def test_removing_leaves_questions_that_somebody_chose() -> None:
    run("load_demo")
    SiteSettings.objects.update(suggested_questions="Our question?")
    run("remove_demo")

    assert SiteSettings.load().questions() == ["Our question?"]
    assert not Category.objects.exists()
    assert "Removed 0 demo articles" in run("remove_demo")


def test_an_edited_demo_article_stays_unless_asked_for() -> None:
    run("load_demo")
    article = Article.objects.get(title="Start")
    article.body = "Our own text now."
    publishing.publish(article)

    assert "Kept 1 that were edited" in run("remove_demo")
    assert Article.objects.get().title == "Start"
    run("remove_demo", "--edited-too")
    assert not Article.objects.exists()


def test_what_was_removed_stays_away_at_the_next_start() -> None:
    run("load_demo", "--once")
    assert Article.objects.count() == 2
    run("remove_demo")

    assert run("load_demo", "--once") == ""
    assert not Article.objects.exists()
    run("load_demo")
    assert Article.objects.count() == 2


def test_a_page_that_cannot_go_in_fails_the_command(manual: Path) -> None:
    write(manual, {"broken.md": "---\na: b: c\n---\nText."})

    with pytest.raises(CommandError, match=r"1 pages of the manual could not be loaded\."):
        run("load_demo")
