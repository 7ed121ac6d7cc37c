"""A second import changes what changed in the files, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from articles import indexing, publishing
from articles.importing import Outcome, storing
from articles.models import (
    Article,
    ArticleRevision,
    Category,
    Passage,
    SlugRedirect,
    Status,
    Visibility,
)
from tests.import_folders import Content, import_files, imported, messages, picture, run, write
from tests.search_index import found

pytestmark = pytest.mark.django_db


def test_a_second_import_of_the_same_files_touches_no_row(tmp_path: Path) -> None:
    files = {"a.md": "# A\n\n[b](sub/b.md)", "sub/b.md": "---\ndraft: true\n---\nB."}
    import_files(tmp_path, files)
    before = list(Article.objects.order_by("pk").values())
    report = run(tmp_path)

    assert report.count(Outcome.UNCHANGED) == 2
    assert not report.wrote
    assert list(Article.objects.order_by("pk").values()) == before
    assert ArticleRevision.objects.count() == 1
    assert Category.objects.count() == 1


def test_a_changed_text_makes_a_new_revision_and_is_found(tmp_path: Path) -> None:
    import_files(tmp_path, {"a.md": "The fee is five.", "b.md": "Other."})
    report = import_files(tmp_path, {"a.md": "The fee is seven."})

    assert report.outcomes == {"a.md": Outcome.UPDATED, "b.md": Outcome.UNCHANGED}
    assert imported("a.md").revisions.count() == 2
    assert [p.text for p in Passage.objects.filter(article=imported("a.md"))] == [
        "The fee is seven."
    ]
    assert report.passages == 1


def test_a_renamed_title_updates_and_keeps_the_slug(tmp_path: Path) -> None:
    import_files(tmp_path, {"a.md": "---\nid: 9\ntitle: Old\n---\nText."})
    slug = Article.objects.get().slug
    (tmp_path / "a.md").rename(tmp_path / "renamed.md")
    report = import_files(tmp_path, {"renamed.md": "---\nid: 9\ntitle: New\n---\nText."})

    article = Article.objects.get()
    assert report.count(Outcome.UPDATED) == 1
    assert (article.title, article.slug) == ("New", slug)
    assert article.live_revision is not None
    assert article.live_revision.title == "New"


@pytest.mark.field_report("B106")
def test_an_export_with_a_changed_title_updates_the_same_article(tmp_path: Path) -> None:
    def export(title: str) -> dict[str, Any]:
        return {"articles": [{"id": 1, "title": title, "draft": False, "body": "<p>x</p>"}]}

    import_files(tmp_path, {"one.json": export("Old")})
    (tmp_path / "one.json").unlink()
    import_files(tmp_path, {"two.json": export("New")})

    assert Article.objects.get().title == "New"
    assert Article.objects.get().slug == "old"
    indexing.index_article(Article.objects.get().pk)
    assert found("new") == ["New"]
    assert found("old") == []


def test_a_new_slug_in_the_front_matter_moves_the_article_and_redirects(tmp_path: Path) -> None:
    import_files(tmp_path, {"a.md": "---\nslug: one\n---\nText.", "b.md": "[a](a.md)"})
    import_files(tmp_path, {"a.md": "---\nslug: two\n---\nText."})

    assert imported("a.md").slug == "two"
    assert SlugRedirect.objects.get().slug == "one"
    assert imported("b.md").body == "[a](/articles/two/)"


def test_a_slug_of_another_article_is_not_taken_from_it(tmp_path: Path) -> None:
    Article.objects.create(title="Mine", slug="one")
    Article.objects.create(title="Moved", slug="old-name")
    publishing.change_slug(Article.objects.get(slug="old-name"), "moved")
    files = {"a.md": "---\nslug: one\n---\nText.", "old-name.md": "Text."}
    first = import_files(tmp_path, files)
    second = run(tmp_path)

    assert imported("a.md").slug == "one-2"
    assert imported("old-name.md").slug == "old-name-2"
    assert messages(first) == ["a.md: the slug “one” is another article's"]
    assert second.count(Outcome.UNCHANGED) == 2


def edit_text(article: Article) -> None:
    article.body = "Edited here."
    publishing.publish(article)


def unpublish(article: Article) -> None:
    publishing.withdraw(article)


def restrict(article: Article) -> None:
    article.visibility = Visibility.STAFF
    article.save()


def refile(article: Article) -> None:
    article.category = Category.objects.create(name="Elsewhere")
    article.save()


@pytest.mark.field_report("B106")
@pytest.mark.parametrize("edit", [edit_text, unpublish, restrict, refile])
def test_what_was_edited_on_the_site_is_kept_and_reported(tmp_path: Path, edit: Any) -> None:
    import_files(tmp_path, {"a.md": "From the file."})
    edit(imported("a.md"))
    before = Article.objects.values().get()
    report = import_files(tmp_path, {"a.md": "Changed in the file."})

    assert report.outcomes == {"a.md": Outcome.KEPT}
    assert messages(report) == ["a.md: edited on the site since, so it is kept"]
    assert Article.objects.values().get() == before


@pytest.mark.parametrize("edit", [edit_text, unpublish, restrict, refile])
def test_overwrite_replaces_what_was_edited_on_the_site(tmp_path: Path, edit: Any) -> None:
    import_files(tmp_path, {"a.md": "From the file."})
    edit(imported("a.md"))
    report = run(tmp_path, overwrite=True)

    article = imported("a.md")
    assert report.outcomes == {"a.md": Outcome.UPDATED}
    assert (article.body, article.status) == ("From the file.", Status.PUBLISHED)
    assert (article.visibility, article.category) == (Visibility.PUBLIC, None)
    assert run(tmp_path).outcomes == {"a.md": Outcome.UNCHANGED}


def test_a_category_that_was_given_up_on_the_site_does_not_come_back(tmp_path: Path) -> None:
    import_files(tmp_path, {"billing/old/a.md": "A."})
    refile(imported("billing/old/a.md"))
    Category.objects.filter(name="Old").delete()
    Category.objects.filter(name="Billing").delete()

    assert run(tmp_path).outcomes == {"billing/old/a.md": Outcome.KEPT}
    assert Category.objects.get().name == "Elsewhere"
    assert run(tmp_path, overwrite=True).outcomes == {"billing/old/a.md": Outcome.UPDATED}
    assert str(imported("billing/old/a.md").category) == "Old"


def test_the_same_edit_in_file_and_site_is_no_conflict(tmp_path: Path) -> None:
    import_files(tmp_path, {"a.md": "From the file."})
    edit_text(imported("a.md"))

    assert import_files(tmp_path, {"a.md": "Edited here."}).outcomes == {"a.md": Outcome.UNCHANGED}
    assert import_files(tmp_path, {"a.md": "And again."}).outcomes == {"a.md": Outcome.UPDATED}


def test_a_category_renamed_on_the_site_stays_the_folders(tmp_path: Path) -> None:
    import_files(tmp_path, {"billing/a.md": "A."})
    Category.objects.update(name="Money matters")
    report = import_files(tmp_path, {"billing/b.md": "B."})

    assert report.outcomes == {"billing/a.md": Outcome.UNCHANGED, "billing/b.md": Outcome.NEW}
    assert Category.objects.get().name == "Money matters"


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_a_page_taken_back_in_the_files_leaves_the_site_and_may_return(
    tmp_path: Path, status: str
) -> None:
    import_files(tmp_path, {"a.md": "Text."})
    report = import_files(tmp_path, {"a.md": f"---\nstatus: {status}\n---\nText."})

    assert report.outcomes == {"a.md": Outcome.UPDATED}
    assert imported("a.md").status == status
    assert not Passage.objects.exists()
    import_files(tmp_path, {"a.md": "Text."})
    assert imported("a.md").status == Status.PUBLISHED
    assert Passage.objects.exists()
    assert ArticleRevision.objects.count() == 1


def test_a_changed_visibility_reaches_the_index(tmp_path: Path) -> None:
    import_files(tmp_path, {"a.md": "Text."})
    import_files(tmp_path, {"a.md": "---\nvisibility: staff\n---\nText."})

    assert imported("a.md").visibility == Visibility.STAFF
    assert Passage.objects.get().visibility == Visibility.STAFF


def test_two_folders_are_kept_apart_by_a_name_for_each(tmp_path: Path) -> None:
    import_files(tmp_path / "one", {"faq.md": "One."}, prefix="one:")
    import_files(tmp_path / "two", {"faq.md": "Two."}, prefix="two:")

    assert imported("one:faq.md").body == "One."
    assert imported("two:faq.md").body == "Two."


def test_a_dry_run_reports_the_same_and_writes_nothing(tmp_path: Path, media: Path) -> None:
    files: dict[str, Content] = {
        "sub/a.md": "![x](x.png)",
        "sub/x.png": picture(),
        "bad.md": "---\na: b: c\n---",
    }
    write(tmp_path / "in", files)
    dry = run(tmp_path / "in", dry_run=True)

    assert not Article.objects.exists()
    assert not Category.objects.exists()
    assert not list(media.iterdir())
    assert dry.outcomes == run(tmp_path / "in").outcomes


def test_what_the_database_refuses_is_reported_and_the_rest_goes_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_title_too_long(document: Any, *args: Any, **kwargs: Any) -> Any:
        if document.path == "sub/bad.md":
            document.title = "x" * 300
        return storing.store(document, *args, **kwargs)

    monkeypatch.setattr("articles.importing.run.store", with_a_title_too_long)
    report = import_files(tmp_path, {"sub/bad.md": "A.", "sub/good.md": "B."})

    assert report.outcomes == {"sub/bad.md": Outcome.FAILED, "sub/good.md": Outcome.NEW}
    assert messages(report) == ["sub/bad.md: the database refused it: DataError"]
    assert str(imported("sub/good.md").category) == "Sub"
