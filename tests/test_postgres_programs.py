"""PostgreSQL's programs, and the account that runs them for root."""

import pwd
import subprocess
from pathlib import Path

import pytest

from helpcenter.embedded import installation
from helpcenter.environment import SettingError


def test_they_are_found_in_their_package() -> None:
    assert (installation.programs(18, Path("/nowhere")) / "pg_dump").is_file()
    assert (installation.programs(16, Path("/nowhere")) / "pg_dump").is_file()


def test_without_the_package_the_requirement_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "PACKAGE", "a_package_that_is_not_there")
    with pytest.raises(SettingError, match=r"DATABASE_URL: .* install requirements\.txt"):
        installation.programs(18, Path("/nowhere"))


def test_a_copy_is_made_once_with_the_libraries_beside_it_and_open_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / installation.PACKAGE
    original = package / "pginstall18"
    (original / "bin").mkdir(parents=True)
    (original / "bin" / "postgres").touch(mode=0o700)
    (original / "include").mkdir()
    libraries = package.with_name(f"{installation.PACKAGE}.libs")
    libraries.mkdir()
    (libraries / "libpq.so").touch(mode=0o600)

    copy = installation._copied(original, tmp_path / "data")
    assert (copy / "bin" / "postgres").stat().st_mode & 0o777 == 0o755
    assert not (copy / "include").exists()
    assert (copy.parent.parent / libraries.name / "libpq.so").stat().st_mode & 0o777 == 0o644

    (original / "bin" / "postgres").unlink()
    assert installation._copied(original, tmp_path / "data") == copy
    assert (copy / "bin" / "postgres").exists()


class Accounts:
    """The machine's accounts, and a `useradd` that adds to them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, useradd: str) -> None:
        self.names: set[str] = set()
        self.useradd = useradd
        monkeypatch.setattr(pwd, "getpwnam", self.getpwnam)
        monkeypatch.setattr(subprocess, "run", self.run)

    def getpwnam(self, name: str) -> pwd.struct_passwd:
        if name not in self.names:
            raise KeyError(name)
        return pwd.struct_passwd([name, "x", 999, 999, "", "/", "/usr/sbin/nologin"])

    def run(self, command: list[str], **options: object) -> None:
        if self.useradd == "absent":
            raise FileNotFoundError(command[0])
        if self.useradd == "works":
            self.names.add(command[-1])


def test_the_account_is_made_the_first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    accounts = Accounts(monkeypatch, useradd="works")
    assert installation.service_user().pw_name == "pgserver"
    accounts.useradd = "absent"
    assert installation.service_user().pw_name == "pgserver"


@pytest.mark.parametrize("useradd", ["absent", "fails"])
def test_an_account_that_cannot_be_made_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, useradd: str
) -> None:
    Accounts(monkeypatch, useradd=useradd)
    with pytest.raises(SettingError, match=r"DATABASE_URL: as root .* a user named pgserver"):
        installation.service_user()
