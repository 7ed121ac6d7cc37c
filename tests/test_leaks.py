"""The scanner that looks through every request to a model finds what it looks for."""

from __future__ import annotations

import json
import urllib.request
import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from assistant.models import Conversation
from tests.factories import make_answer, make_article
from tests.leaks import assert_people_stay_apart, leaks_in
from tests.scripted_provider import ScriptedProvider


@dataclass
class Request:
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


def asking(*contents: str) -> Request:
    return Request(body={"messages": [{"role": "user", "content": one} for one in contents]})


def test_a_request_without_anything_of_the_kind_has_no_leak() -> None:
    assert leaks_in(asking("How do I export?")) == []


def test_secrets_of_the_site_are_found() -> None:
    assert leaks_in(asking(f"key {settings.SECRET_KEY}"))


@pytest.mark.parametrize("header", ["cookie", "x-csrftoken", "referer", "x-forwarded-for"])
def test_what_a_browser_sends_is_found(header: str) -> None:
    assert leaks_in(Request({header: "x"}))


def test_a_leak_over_the_wire_fails_the_test_that_sent_it() -> None:
    provider = ScriptedProvider()
    provider.answer("Yes.")
    with pytest.raises(AssertionError, match="stands in a request"), provider:
        _post(provider.url, asking(settings.SECRET_KEY).body)


def _post(url: str, body: dict[str, Any]) -> None:
    sent = urllib.request.Request(url, json.dumps(body).encode(), method="POST")  # noqa: S310
    with urllib.request.urlopen(sent) as response:  # noqa: S310
        response.read()


def test_ids_and_accounts_are_found(owner: User) -> None:
    conversation = Conversation.objects.create(visitor_id=uuid.uuid4())
    for private in (owner.email, owner.password, conversation.pk, conversation.visitor_id):
        with pytest.raises(AssertionError):
            assert_people_stay_apart([asking(f"of {private}")])


@pytest.mark.django_db
def test_what_another_visitor_wrote_or_was_told_is_found() -> None:
    mine, theirs = "How do I export my data?", "What is the price of the big plan?"
    make_article("Prices", body="The big plan costs seven a month.")
    make_answer(mine, text="From the settings, as a file.")
    make_answer(theirs, text="Nobody but you knows that it costs 7.")

    assert_people_stay_apart([asking(mine, "From the settings, as a file.", mine)])
    assert_people_stay_apart([asking("The big plan costs seven a month.", mine)])
    for leaked in (theirs, "Nobody but you knows that it costs 7."):
        with pytest.raises(AssertionError, match="another visitor's words"):
            assert_people_stay_apart([asking(leaked, mine)])
