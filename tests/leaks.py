"""What no request to a model may hold: secrets of the site, and what belongs to people."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings

from tests.scripted_provider import Request

SHORTEST = 8
"""Anything shorter stands in ordinary text by chance."""


def site_secrets() -> list[str]:
    """The keys and passwords that the settings hold."""
    addresses = (settings.REDIS_URL, settings.CELERY_BROKER_URL)
    secrets = [
        settings.SECRET_KEY,
        settings.OPENAI_API_KEY,
        settings.DATABASES["default"].get("PASSWORD"),
        *(urlsplit(address).password for address in addresses),
    ]
    return [secret for secret in secrets if secret and len(secret) >= SHORTEST]


def assert_nothing_leaks(requests: Iterable[Request], private: Iterable[str] = ()) -> None:
    """No body has a secret or any of `private` in it, and no header is a browser's."""
    forbidden = [*site_secrets(), *private]
    assert all(len(text) >= SHORTEST for text in forbidden), "too short to be looked for"
    for request in requests:
        body = json.dumps(request.body, ensure_ascii=False)
        for text in forbidden:
            assert text not in body, f"{text[:4]}… stands in a request to the model"
        assert "cookie" not in request.headers
        assert "x-csrftoken" not in request.headers
