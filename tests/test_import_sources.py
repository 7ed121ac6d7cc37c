"""Folders and archives: what must not be read is refused by itself, and the rest goes in."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from articles.importing import CannotImportError, Kind, Outcome, sources
from articles.models import Article
from tests.import_folders import (
    Content,
    import_files,
    imported,
    messages,
    picture,
    run,
    write,
    write_zip,
)

pytestmark = pytest.mark.django_db


def refused(path: Path) -> dict[str, str]:
    return {
        problem.path: problem.message
        for problem in run(path).problems
        if problem.kind == Kind.REFUSED
    }


def test_an_archive_goes_in_like_the_folder_it_holds(tmp_path: Path, media: Path) -> None:
    files: dict[str, Content] = {
        "a.md": "[b](sub/b.md) ![x](x.png)",
        "sub/b.md": "B.",
        "x.png": picture(),
    }
    from_folder = import_files(tmp_path / "folder", files)
    from_archive = run(write_zip(tmp_path / "a.zip", files))

    assert from_folder.count(Outcome.NEW) == 2
    assert from_archive.count(Outcome.UNCHANGED) == 2


def test_the_one_folder_that_holds_everything_is_no_category(tmp_path: Path) -> None:
    run(write_zip(tmp_path / "a.zip", {"help-main/a.md": "A.", "help-main/sub/b.md": "B."}))

    assert imported("a.md").category is None
    assert str(imported("sub/b.md").category) == "Sub"


@pytest.mark.field_report("B103")
def test_entries_that_lead_out_of_an_archive_are_refused_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    link = ZipInfo("link.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("good.md", "Good.")
        archive.writestr("../../etc/x.md", "x")
        archive.writestr("a/../../x.md", "x")
        archive.writestr("/etc/absolute.md", "x")
        archive.writestr("C:/windows.md", "x")
        archive.writestr("..\\up.md", "x")
        archive.writestr(link, "/etc/passwd")
        archive.writestr("bomb.md", b"0" * 5_000_000)
        archive.writestr("large.md", b"0" * (sources.MAX_FILE_BYTES + 1))

    assert refused(path) == {
        "../../etc/x.md": "refused: a path that leads out of the archive",
        "a/../../x.md": "refused: a path that leads out of the archive",
        "/etc/absolute.md": "refused: an absolute path",
        "C:/windows.md": "refused: an absolute path",
        "..\\up.md": "refused: an absolute path",
        "link.md": "refused: a symbolic link",
        "bomb.md": "refused: unpacks to more than 200 times its size",
        "large.md": "refused: larger than 20 MB",
    }
    assert Article.objects.get().external_id == "good.md"


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.md": "A.", "secret.md": "B."})
    data = bytearray(path.read_bytes())
    # The flag stands in the entry's own header and in the directory at the end.
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = data.rfind(signature)
        data[position + offset] |= 1
    path.write_bytes(data)

    assert refused(path) == {"secret.md": "refused: encrypted"}


@pytest.mark.field_report("B103")
def test_an_entry_that_unpacks_to_more_than_it_says_is_stopped_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zip(tmp_path / "a.zip", {"a.md": "A" * 5000, "b.md": "B."})
    monkeypatch.setattr(sources, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(sources, "_refusal", lambda info: "")
    report = run(path)

    assert report.outcomes == {"a.md": Outcome.FAILED, "b.md": Outcome.NEW}


def test_damaged_entries_are_reported_and_the_rest_goes_in(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("broken.md", "A" * 2000, ZIP_BZIP2)
        archive.writestr("good.md", "Good.")
    data = bytearray(path.read_bytes())
    data[50:60] = bytes(10)
    path.write_bytes(data)
    report = run(path)

    assert report.outcomes == {"broken.md": Outcome.FAILED, "good.md": Outcome.NEW}
    assert "cannot be unpacked" in messages(report)[0]


@pytest.mark.field_report("B103")
def test_an_archive_has_a_limit_for_all_its_files_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zip(tmp_path / "a.zip", {f"{number}.md": "A" * 100 for number in range(5)})
    monkeypatch.setattr(sources, "MAX_TOTAL_BYTES", 250)
    report = run(path)

    assert report.count(Outcome.NEW) == 2
    assert report.count(Outcome.FAILED) == 3


@pytest.mark.field_report("B103")
@pytest.mark.parametrize("packed", [False, True])
def test_more_files_than_the_limit_are_refused_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    files = {f"{number}.md": "A." for number in range(4)}
    path = write_zip(tmp_path / "a.zip", files) if packed else write(tmp_path / "in", files)
    monkeypatch.setattr(sources, "MAX_FILES", 3)

    with pytest.raises(CannotImportError, match="more than 3 files"):
        run(path)


def test_links_out_of_a_folder_and_what_is_no_file_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", {"a.md": "A.", "sub/b.md": "B."})
    (tmp_path / "secret.md").write_text("Secret.")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "inside.md").symlink_to(folder / "a.md")
    (folder / "out").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    (folder / os.fsdecode(b"bad\xff.md")).write_text("x")
    report = run(folder)

    assert {problem.path: problem.message for problem in report.problems} == {
        "out.md": "refused: a symbolic link that leads out of the folder",
        "pipe.md": "refused: not a regular file",
        "bad?.md": "refused: its name is not valid UTF-8",
    }
    assert set(report.outcomes) == {"a.md", "inside.md", "sub/b.md"}


def test_a_file_that_is_gone_when_it_is_read_is_named(tmp_path: Path) -> None:
    source = sources.open_source(write(tmp_path, {"a.md": "A."}))
    (tmp_path / "a.md").unlink()

    with pytest.raises(CannotImportError, match="cannot be read: No such file"):
        source.read("a.md")


def test_what_is_no_content_is_left_alone_and_counted(tmp_path: Path) -> None:
    report = import_files(
        tmp_path,
        {
            "a.md": "A.",
            "LICENSE.md": "MIT",
            "_partial.mdx": "Partial.",
            "theme.css": "x",
            "Makefile": "x",
            "unused.png": picture(),
            ".git/readme.md": "x",
            ".hidden.md": "x",
            "node_modules/x/readme.md": "x",
        },
    )

    assert set(report.outcomes) == {"a.md"}
    assert report.skipped == {"LICENSE.md": 1, "_…": 1, ".css": 1, "Makefile": 1}


@pytest.mark.parametrize("name", ["missing", "file.txt", "broken.zip"])
def test_what_is_neither_folder_nor_archive_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    whole = write_zip(tmp_path / "broken.zip", {"a.md": "A."}).read_bytes()
    (tmp_path / "broken.zip").write_bytes(whole.replace(b"PK\x01\x02", b"PK\x00\x00"))

    with pytest.raises(CannotImportError):
        run(tmp_path / name)
