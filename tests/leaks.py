"""What no request to a model may hold: secrets of the site, and what belongs to other people.

The scripted provider looks through every request that any test sends it, and the fixture
`provider` looks for what the database knows of people as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.conf import settings

SHORTEST = 8
"""Anything shorter stands in ordinary text by chance."""

SHORTEST_SENTENCE = 16
"""What others wrote: anything shorter may be written by two people."""

_HEADERS_OF_BROWSERS = ("cookie", "x-csrftoken", "referer", "origin", "x-forwarded-for")


class Sent(Protocol):
    """A request as the provider got it. Names of headers are in lower case."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def body(self) -> dict[str, Any]: ...


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


def leaks_in(request: Sent, private: Iterable[str] = ()) -> list[str]:
    """What a request should not have: in its body a secret or any of `private`, in its headers
    what a browser sent to the site."""
    forbidden = [*(site_secrets() if settings.configured else ()), *private]
    assert all(len(text) >= SHORTEST for text in forbidden), "too short to be looked for"
    body = json.dumps(request.body, ensure_ascii=False)
    found = [f"{text[:4]}… stands in a request" for text in forbidden if text in body]
    headers = [name for name in _HEADERS_OF_BROWSERS if name in request.headers]
    return [*found, *(f"the header {name} went to the model" for name in headers)]


def assert_nothing_leaks(requests: Iterable[Sent], private: Iterable[str] = ()) -> None:
    forbidden = list(private)
    for request in requests:
        assert not leaks_in(request, forbidden)


def assert_people_stay_apart(requests: Iterable[Sent]) -> None:
    """No request has an id, a session or an account of anybody, nor a word that another
    person wrote or was told than the one whose question it is. Asks the database."""
    private, written = _private(), _Written.load()
    for request in requests:
        assert not leaks_in(request, private)
        body = json.dumps(request.body, ensure_ascii=False)
        for text in written.of_others_than(_asked(request)):
            assert _as_json(text) not in body, f"another visitor's words: {text[:40]!r}"


def _private() -> list[str]:
    """Ids, sessions and accounts of everybody in the database."""
    from django.contrib.auth.models import User
    from django.contrib.sessions.models import Session

    from assistant.models import Conversation

    people = User.objects.values_list("email", "password")
    visitors = Conversation.objects.exclude(visitor_id=None).values_list("visitor_id", flat=True)
    return [
        *Session.objects.values_list("session_key", flat=True),
        *map(str, visitors),
        *map(str, Conversation.objects.values_list("pk", flat=True)),
        *(value for person in people for value in person if len(value) >= SHORTEST),
    ]


class _Written:
    """What was asked and answered, by owner, without what stands in articles."""

    def __init__(self, by_owner: dict[str, set[str]]) -> None:
        self._by_owner = by_owner

    @classmethod
    def load(cls) -> _Written:
        from articles.models import ArticleRevision
        from assistant.models import Answer

        articles = "\n".join(
            part for row in ArticleRevision.objects.values_list("title", "body") for part in row
        )
        by_owner: dict[str, set[str]] = {}
        for owner, *texts in Answer.objects.values_list("owner", "question", "text"):
            kept = {text for text in texts if len(text) >= SHORTEST_SENTENCE}
            by_owner.setdefault(owner, set()).update(t for t in kept if t not in articles)
        return cls(by_owner)

    def of_others_than(self, question: str) -> set[str]:
        """The words of everybody who did not ask this, and that nobody who did wrote as well."""
        asking = {
            owner
            for owner, texts in self._by_owner.items()
            if any(text in question for text in texts)
        }
        own = "\n".join(text for owner in asking for text in self._by_owner[owner])
        others = {
            text for owner in self._by_owner.keys() - asking for text in self._by_owner[owner]
        }
        return {text for text in others if asking and text not in own}


def _asked(request: Sent) -> str:
    """The question that a request is about: an embedding's input, or the last thing told."""
    if "input" in request.body:
        return str(request.body["input"])
    told = [message for message in request.body["messages"] if message["role"] == "user"]
    return str(told[-1]["content"]) if told else ""


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
