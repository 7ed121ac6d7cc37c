"""Servers' URLs, as Django, Celery and the mail back ends want them."""

from typing import Any

import pytest

from helpcenter.connections import (
    NETWORK_OPTIONS,
    SEARCH_OPTIONS,
    broker_url,
    database_settings,
    email_settings,
)
from helpcenter.environment import SettingError


def test_a_database_url_is_read_as_libpq_reads_it() -> None:
    found = database_settings("postgresql://user:p%40ss@host:5433/name?sslmode=require")
    assert found["NAME"] == "name"
    assert (found["USER"], found["PASSWORD"]) == ("user", "p@ss")
    assert (found["HOST"], found["PORT"]) == ("host", "5433")
    assert found["OPTIONS"] == {
        **NETWORK_OPTIONS,
        "sslmode": "require",
        "options": SEARCH_OPTIONS,
    }
    assert found["CONN_MAX_AGE"] == 0


def test_the_url_says_how_long_a_connection_may_take() -> None:
    found = database_settings("postgresql://user@host/name?connect_timeout=9")
    assert found["OPTIONS"]["connect_timeout"] == "9"


def test_a_socket_and_further_server_options_are_kept() -> None:
    found = database_settings("postgres://u@/n?host=%2Ftmp%2Fa%20b&options=-c%20work_mem%3D8MB")
    assert found["HOST"] == "/tmp/a b"  # noqa: S108
    assert found["OPTIONS"]["options"] == f"{SEARCH_OPTIONS} -c work_mem=8MB"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("postgresql://host/name?nonsense=1", "not a valid postgresql:// URL"),
        ("postgresql://host", "names no database"),
    ],
)
def test_a_database_url_that_leads_nowhere_is_refused(url: str, problem: str) -> None:
    with pytest.raises(SettingError, match=f"DATABASE_URL: {problem}"):
        database_settings(url)


@pytest.mark.parametrize(
    ("redis", "broker"),
    [
        ("redis://host:6379/2", "redis://host:6379/2"),
        ("rediss://:word@host/0", "rediss://:word@host/0"),
        ("unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3"),
        ("unix:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0"),
    ],
)
def test_celery_finds_the_same_redis(redis: str, broker: str) -> None:
    assert broker_url(redis) == broker


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "smtp://user:p%40ss@mail.example",
            {
                "EMAIL_HOST": "mail.example",
                "EMAIL_PORT": 587,
                "EMAIL_HOST_USER": "user",
                "EMAIL_HOST_PASSWORD": "p@ss",
                "EMAIL_USE_TLS": True,
                "EMAIL_USE_SSL": False,
            },
        ),
        (
            "smtps://mail.example",
            {"EMAIL_PORT": 465, "EMAIL_USE_TLS": False, "EMAIL_USE_SSL": True},
        ),
        (
            "smtp://mail.example:25?tls=off",
            {"EMAIL_PORT": 25, "EMAIL_USE_TLS": False, "EMAIL_USE_SSL": False},
        ),
        (
            "file:///var/mail%20box",
            {
                "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
                "EMAIL_FILE_PATH": "/var/mail box",
            },
        ),
        ("console://", {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}),
    ],
)
def test_an_email_url_says_how_messages_are_sent(url: str, expected: dict[str, Any]) -> None:
    found = email_settings(url)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("smtp://", "names no host"),
        ("smtp://host:many", "the port is not a number"),
        ("smtp://host?tls=perhaps", "expected on or off"),
    ],
)
def test_an_email_url_that_cannot_be_used_is_refused(url: str, problem: str) -> None:
    with pytest.raises(SettingError, match=f"EMAIL_URL: {problem}"):
        email_settings(url)
