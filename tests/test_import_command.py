"""`manage.py import_articles`: what it prints, and how it ends."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from articles import vector_index
from articles.access import ANONYMOUS
from articles.management.commands import import_articles as command
from articles.models import Article
from articles.search import search
from tests.import_folders import imported, picture, write

pytestmark = pytest.mark.django_db


def import_articles(path: Path, *arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("import_articles", path, *arguments, stdout=out, **options)
    return out.getvalue()


def test_it_says_what_it_did_and_a_second_time_that_nothing_changed(tmp_path: Path) -> None:
    write(
        tmp_path, {"a.md": "---\nmood: good\n---\n## One\n\nText.\n\n## Two\n\nMore.", "x.css": ""}
    )

    first = import_articles(tmp_path)
    assert "2 passages indexed." in first
    assert "Articles: 1 new, 0 updated, 0 unchanged, 0 kept, 0 failed." in first
    assert "Front matter ignored: mood (1)." in first
    assert "Files left alone: .css (1)." in first
    assert import_articles(tmp_path).splitlines()[-1] == "Nothing changed."


def test_a_fresh_import_can_be_searched_when_the_command_ends(tmp_path: Path) -> None:
    write(
        tmp_path, {"a.md": "# Reset your password\n\nOpen the sign-in page.", "b.md": "Invoices."}
    )
    import_articles(tmp_path)

    results = search("reset password", reader=ANONYMOUS)
    assert [hit.article.title for hit in results.hits][:1] == ["Reset your password"]


def test_a_bulk_import_ends_with_the_vector_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rows that wait for a check at the commit are in a test's way, not in an import's.
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    monkeypatch.setattr(vector_index, "EXACT_ROWS", 1)
    write(tmp_path, {"a.md": "# One\n\nText."})
    import_articles(tmp_path)
    assert vector_index.indexes() == {}

    write(tmp_path, {"b.md": "# Two\n\nText."})
    import_articles(tmp_path)
    assert list(vector_index.indexes().values()) == [True]


def test_images_are_counted(tmp_path: Path, media: Path) -> None:
    write(tmp_path / "in", {"a.md": "![x](x.png)", "x.png": picture()})

    assert "1 images copied." in import_articles(tmp_path / "in")


def test_it_fails_when_a_file_could_not_go_in(tmp_path: Path) -> None:
    write(tmp_path, {"good.md": "Good.", "bad.md": "---\na: b: c\n---"})
    out = StringIO()

    with pytest.raises(CommandError, match=r"1 could not be imported\.") as raised:
        call_command("import_articles", tmp_path, stdout=out)
    assert raised.value.returncode == 1
    assert "Not imported (1):\n  bad.md: its front matter is not valid YAML" in out.getvalue()
    assert Article.objects.get().external_id == "good.md"
    with pytest.raises(CommandError):
        call_command("import_articles", tmp_path, stdout=(again := StringIO()))
    assert "Nothing changed" not in again.getvalue()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--encoding", "klingon"], "is not an encoding"),
        (["--source", "demo"], "demo content"),
        ([], "does not exist"),
    ],
)
def test_arguments_that_make_no_sense_are_named(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        import_articles(tmp_path / "missing", *arguments)


def test_options_reach_the_import(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "Größe".encode("cp1252"), "b.md": "[a](https://old.example/a)"})
    dry = import_articles(tmp_path, "--dry-run", encoding="cp1252")
    assert dry.splitlines()[-1] == "Dry run: nothing was written."
    assert not Article.objects.exists()
    import_articles(tmp_path, source="kb", site="https://old.example", encoding="cp1252")

    assert imported("kb:a.md").body == "Größe"
    assert imported("kb:b.md").body == "[a](/articles/a/)"


def test_edited_articles_are_named_with_what_to_do(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "One."})
    import_articles(tmp_path)
    Article.objects.update(body="Edited.")

    assert "import with --overwrite" in import_articles(tmp_path)
    assert "1 updated" in import_articles(tmp_path, overwrite=True)


def test_what_the_index_cannot_hold_of_an_article_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "".join(f"## Part {n}\n\nText {n}.\n\n" for n in range(1001))})

    assert "a.md: cut after 1000 of 1001 passages" in import_articles(tmp_path)


def test_a_long_list_of_problems_is_cut_unless_all_are_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": " ".join(f"[x](gone-{number}.md)" for number in range(20))})

    short = import_articles(tmp_path, "--dry-run")
    assert "Links that lead nowhere (20):" in short
    assert "… and 5 more; --verbosity 2 shows all" in short
    assert "gone-19.md" in import_articles(tmp_path, "--dry-run", verbosity=2)


def test_a_hostile_file_name_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, {"\x1b[2Ja.md": "---\nposition: x\n---\nText."})

    assert "\x1b" not in import_articles(tmp_path)


def test_the_progress_bar_shows_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run() -> str:
        with command.ProgressBar() as progress:
            progress("read", 1, 2)
            progress("read", 2, 2)
            progress("store", 1, 1)
        return capsys.readouterr().err

    assert run() == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert "Reading" in run()
