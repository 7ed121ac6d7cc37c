"""Backups: one private file, and all of a site back from it, or nothing changed."""

import stat
import subprocess
import tarfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from helpcenter import backups
from helpcenter.models import SiteSettings

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def test_database(settings: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs are given the URL of the settings: here, that of the test database."""
    from tests.processes import site_environment

    monkeypatch.setattr("django.conf.settings.DATABASE_URL", site_environment()["DATABASE_URL"])


def test_a_backup_brings_back_the_database_and_the_media(media: Path, tmp_path: Path) -> None:
    SiteSettings(name="Then").save()
    (media / "image.png").write_bytes(b"then")
    file = tmp_path / "backup.tar"
    call_command("backup", str(file), stdout=StringIO())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    SiteSettings.objects.update(name="Now")
    (media / "image.png").write_bytes(b"now")
    (media / "later.png").write_bytes(b"later")
    call_command("restore", str(file), replace=True, stdout=StringIO())
    assert SiteSettings.load().name == "Then"
    assert (media / "image.png").read_bytes() == b"then"
    assert not (media / "later.png").exists()


def test_a_site_is_not_overwritten_unless_that_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is a site here"):
        call_command("restore", str(tmp_path / "backup.tar"))


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(CommandError, match="exists already"):
        call_command("backup", str(tmp_path / "letter"))
    assert (tmp_path / "letter").read_text() == "dear"


def test_what_is_no_backup_changes_nothing(media: Path, tmp_path: Path) -> None:
    SiteSettings(name="Now").save()
    (media / "image.png").write_bytes(b"now")
    text, archive, broken = (tmp_path / name for name in ("text", "archive.tar", "broken.tar"))
    text.write_text("not an archive")
    with tarfile.open(archive, "w") as file:
        file.add(text, "text")
    with tarfile.open(broken, "w") as file:
        file.add(text, backups.DUMP)
    for source, problem in [
        (text, "cannot be read as a backup"),
        (archive, "is not a backup"),
        (broken, "pg_restore"),
        (tmp_path / "absent", "cannot be read as a backup"),
    ]:
        with pytest.raises(CommandError, match=problem):
            call_command("restore", str(source), replace=True)
    assert SiteSettings.load().name == "Now"
    assert (media / "image.png").read_bytes() == b"now"


def test_a_backup_that_fails_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://nobody:s3cret@/nowhere?host=/nonexistent"
    monkeypatch.setattr("django.conf.settings.DATABASE_URL", url)
    with pytest.raises(CommandError, match="pg_dump") as failure:
        call_command("backup", str(tmp_path / "backup.tar"))
    assert "s3cret" not in str(failure.value)
    assert list(tmp_path.iterdir()) == []


def test_the_password_is_on_no_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str]] = []

    def run(command: list[str], env: dict[str, str], **options: object) -> object:
        seen.append((" ".join(command), env["PGPASSWORD"]))
        return subprocess.CompletedProcess(command, 1, "", "refused")

    url = "postgresql://user:s3cret@host/name"
    monkeypatch.setattr("django.conf.settings.DATABASE_URL", url)
    monkeypatch.setattr("helpcenter.backups.subprocess.run", run)
    with pytest.raises(backups.BackupError, match="pg_dump: refused"):
        backups.write(tmp_path / "backup.tar")
    [(command, password)] = seen
    assert "host=host" in command
    assert "s3cret" not in command
    assert password == "s3cret"
