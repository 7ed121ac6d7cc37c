"""What a configuration makes of the site, in processes that start with it, as operators do."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpcenter import settings as module
from tests.servers import PROJECT, documented_variables

PUBLIC = {
    "DEBUG": "off",
    "SECRET_KEY": "a secret",
    "ALLOWED_HOSTS": "help.example.com",
    "DATABASE_URL": "postgresql://user@host/name",
}
SHOW = """
import json
from helpcenter import settings
print(json.dumps({name: getattr(settings, name) for name in %r}, default=str))
"""


def python(
    script: str, folder: Path, variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a script with these variables and none that this process has for the site."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in documented_variables()
    }
    environment = {**inherited, "HELPCENTER_DATA_DIR": str(folder / "data"), **variables}
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        env={**environment, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )


def settings_of(folder: Path, variables: dict[str, str], *names: str) -> dict[str, object]:
    result = python(SHOW % (names,), folder, variables)
    assert result.returncode == 0, result.stderr
    found: dict[str, object] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("missing", ["SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL"])
def test_a_public_site_without_its_key_hosts_or_database_does_not_start(
    missing: str, tmp_path: Path
) -> None:
    result = python("import helpcenter.settings", tmp_path, PUBLIC | {missing: ""})
    assert result.returncode == 1
    assert re.fullmatch(f"{missing}: not set, and DEBUG is off; .*\n", result.stderr)


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
def test_a_wrong_value_is_named_in_one_line(variable: str, value: str, tmp_path: Path) -> None:
    result = python("import helpcenter.settings", tmp_path, PUBLIC | {variable: value})
    assert result.returncode == 1
    assert re.fullmatch(f"{variable}: [^\n]+\n", result.stderr)


def test_a_provider_of_embeddings_needs_the_name_of_its_model(tmp_path: Path) -> None:
    result = python(
        "import helpcenter.settings", tmp_path, PUBLIC | {"EMBEDDING_BACKEND": "openai"}
    )
    assert result.stderr == "EMBEDDING_MODEL: not set, and EMBEDDING_BACKEND is openai\n"


def test_a_checkout_without_any_configuration_serves_its_own_machine(tmp_path: Path) -> None:
    found = settings_of(
        tmp_path, {}, "DEBUG", "ALLOWED_HOSTS", "DATABASE_IS_EMBEDDED", "REDIS_IS_EMBEDDED", "HOST"
    )
    assert found == {
        "DEBUG": False,
        "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
        "DATABASE_IS_EMBEDDED": True,
        "REDIS_IS_EMBEDDED": True,
        "HOST": "127.0.0.1",
    }


def test_a_generated_key_is_kept(tmp_path: Path) -> None:
    first = settings_of(tmp_path, {}, "SECRET_KEY")
    assert len(str(first["SECRET_KEY"])) > 50
    assert settings_of(tmp_path, {}, "SECRET_KEY") == first


def test_local_defaults_fill_in_what_is_missing_and_only_that(tmp_path: Path) -> None:
    found = settings_of(
        tmp_path,
        {"LOCAL_DEFAULTS": "on", "ALLOWED_HOSTS": "help.example.com"},
        "ALLOWED_HOSTS",
        "DATABASE_IS_EMBEDDED",
    )
    assert found == {"ALLOWED_HOSTS": ["help.example.com"], "DATABASE_IS_EMBEDDED": True}


def test_a_public_site_over_https_protects_its_cookies_and_says_so_to_browsers(
    tmp_path: Path,
) -> None:
    names = ["SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_HSTS_SECONDS"]
    https = PUBLIC | {"SITE_URL": "https://help.example.com/"}
    assert settings_of(tmp_path, https, *names) == {
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_HSTS_SECONDS": 31_536_000,
    }
    assert not any(settings_of(tmp_path, PUBLIC, *names).values())


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
