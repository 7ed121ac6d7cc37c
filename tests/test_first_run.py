"""From a checkout to a site that can serve: each step, and each refusal in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django.fixtures import Settings

from helpcenter import first_run
from helpcenter.environment import SettingError

pytestmark = pytest.mark.django_db


def test_servers_that_answer_are_accepted() -> None:
    first_run.check_servers()


def test_a_database_that_does_not_answer_is_named_with_its_reason(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    with pytest.raises(
        SettingError, match=r"DATABASE_URL: the database does not answer: .*nowhere"
    ):
        first_run.check_servers()


def test_a_database_without_vectors_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing:
        def execute(self, query: str) -> None: ...

        def fetchall(self) -> list[Any]:
            return []

    @contextmanager
    def cursor() -> Iterator[Nothing]:
        yield Nothing()

    monkeypatch.setattr(connection, "cursor", cursor)
    with pytest.raises(SettingError, match="DATABASE_URL: the server has no pgvector"):
        first_run.check_servers()


def test_a_valkey_that_does_not_answer_is_named(settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock?db=0"
    with pytest.raises(SettingError, match="REDIS_URL: the server does not answer"):
        first_run.check_servers()


def test_the_first_account_comes_once_with_a_password_that_opens_the_admin() -> None:
    password = first_run.create_admin()
    assert password
    assert len(password) >= 16
    user = User.objects.get()
    assert user.username == first_run.ADMIN
    assert user.is_superuser
    assert user.check_password(password)
    assert first_run.create_admin() is None
    assert User.objects.count() == 1


def test_migrations_can_be_applied_again() -> None:
    first_run.migrate()


def test_assets_are_collected_again_only_when_they_have_changed(
    settings: Settings, tmp_path: Path
) -> None:
    source, collected = tmp_path / "source", tmp_path / "collected"
    source.mkdir()
    (source / "own.css").write_text("old")
    settings.STATIC_ROOT = collected
    settings.STATICFILES_DIRS = [source]
    first_run.collect_assets()
    assert (collected / "own.css").read_text() == "old"

    (collected / "own.css").write_text("not collected again")
    first_run.collect_assets()
    assert (collected / "own.css").read_text() == "not collected again"

    (source / "own.css").unlink()
    (source / "new.css").write_text("new")
    first_run.collect_assets()
    assert (collected / "new.css").read_text() == "new"
    assert not (collected / "own.css").exists()
