"""What a configuration makes of the site."""

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpcenter import settings as module
from helpcenter.environment import SettingError
from tests.servers import PROJECT, documented_variables

PUBLIC = {
    "DEBUG": "off",
    "SECRET_KEY": "a secret",
    "ALLOWED_HOSTS": "help.example.com",
    "DATABASE_URL": "postgresql://user@host/name",
}

Load = Callable[[dict[str, str]], dict[str, Any]]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> Load:
    """Reads the settings anew, with these variables and none that this process has."""
    data_dir.parent.chmod(0o711)

    def read(variables: dict[str, str]) -> dict[str, Any]:
        for name in documented_variables():
            monkeypatch.setenv(name, "")
        for name, value in {"HELPCENTER_DATA_DIR": str(data_dir), **variables}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(PROJECT / "helpcenter" / "settings.py"))

    return read


@pytest.mark.parametrize("missing", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"])
def test_a_public_site_without_its_key_hosts_or_database_does_not_start(
    load: Load, missing: str
) -> None:
    with pytest.raises(SettingError, match=f"^{missing}: not set, and DEBUG is off; "):
        load(PUBLIC | {missing: ""})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DEBUG", "perhaps"),
        ("PORT", "eighty"),
        ("DATABASE_URL", "mysql://host/name"),
        ("REDIS_URL", "http://host"),
        ("EMAIL_URL", "pigeon://host"),
        ("TIME_ZONE", "Mars/Olympus"),
        ("LANGUAGE_CODE", "xx-none"),
        ("ASSISTANT_MODE", "magic"),
        ("ASSISTANT_MODEL", "set without a provider"),
        ("OPENAI_BASE_URL", "localhost:1234"),
        ("SITE_URL", "help.example.com"),
        ("CSRF_TRUSTED_ORIGINS", "help.example.com"),
        ("TRUSTED_PROXIES", "proxy"),
    ],
)
def test_a_wrong_value_is_named(load: Load, variable: str, value: str) -> None:
    with pytest.raises(SettingError, match=f"^{variable}: "):
        load(PUBLIC | {variable: value})


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [["manage.py", "check"], ["-m", "celery", "-A", "helpcenter", "report"]]
)
def test_a_process_ends_with_the_one_line_and_no_traceback(command: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "PORT": "eighty"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr == "PORT: expected a whole number from 1 to 65535, not 'eighty'\n"


def test_a_provider_of_embeddings_needs_the_name_of_its_model(load: Load) -> None:
    with pytest.raises(SettingError, match="EMBEDDING_MODEL: not set, and EMBEDDING_BACKEND is"):
        load(PUBLIC | {"EMBEDDING_BACKEND": "openai"})


def test_a_checkout_without_any_configuration_serves_its_own_machine(load: Load) -> None:
    found = load({})
    assert found["DEBUG"] is False
    assert found["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert found["DATABASE_IS_EMBEDDED"]
    assert found["REDIS_IS_EMBEDDED"]
    assert found["HOST"] == "127.0.0.1"


def test_a_generated_key_is_kept(load: Load) -> None:
    key = load({})["SECRET_KEY"]
    assert len(key) > 50
    assert load({})["SECRET_KEY"] == key


def test_local_defaults_fill_in_what_is_missing_and_only_that(load: Load) -> None:
    found = load({"LOCAL_DEFAULTS": "on", "ALLOWED_HOSTS": "help.example.com"})
    assert found["ALLOWED_HOSTS"] == ["help.example.com"]
    assert found["DATABASE_IS_EMBEDDED"]


def test_a_public_site_over_https_protects_its_cookies_and_says_so_to_browsers(
    load: Load,
) -> None:
    names = ["SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_HSTS_SECONDS"]
    https = load(PUBLIC | {"SITE_URL": "https://help.example.com/"})
    assert [https[name] for name in names] == [True, True, 31_536_000]
    http = load(PUBLIC)
    assert not any(http[name] for name in names)


def test_what_is_documented_is_what_is_read() -> None:
    assert sorted(documented_variables()) == sorted(module.env.names)


def test_the_manual_describes_every_variable_and_no_other() -> None:
    manual = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `([A-Z_]+)` \|", manual, flags=re.MULTILINE)
    assert sorted(described) == sorted(module.env.names)


def test_the_example_shows_the_defaults() -> None:
    example = (PROJECT / ".env.example").read_text(encoding="utf-8")
    manual = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, value in re.findall(r"^#([A-Z_]+)=(.+)$", example, flags=re.MULTILINE):
        row = re.search(rf"^\| `{name}` \| ([^|]*) \|", manual, flags=re.MULTILINE)
        assert row is not None
        assert f"`{value}`" in row[1]
