"""Providers cache what prompts have in common from their first word on: a next turn repeats it."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

import pytest

from tests.chat_clients import Person, in_loop
from tests.scripted_provider import DONE, ScriptedProvider, call, finish, say, usage
from tests.search_index import make_indexed

pytestmark = pytest.mark.django_db(transaction=True)

BODY = "## Export\n\nExport a project as CSV. " + "Choose what to export. " * 40


def prompt(body: dict[str, Any]) -> str:
    """A request as a provider's cache sees it: tools and messages, in this order."""
    tools = json.dumps(body.get("tools", []), ensure_ascii=False)
    return tools + json.dumps(body["messages"], ensure_ascii=False)


def share(first: dict[str, Any], second: dict[str, Any]) -> float:
    """How much of the second prompt is the beginning of the first one."""
    one, other = prompt(first), prompt(second)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return same / len(other)


def turns(provider: ScriptedProvider, *questions: str, **fields: Any) -> None:
    async def body() -> None:
        person = await Person.visitor()
        told: dict[str, Any] = {}
        for question in questions:
            within = {"conversation_id": told["conversation_id"]} if told else {}
            told = (await person.ask_json(question, **within, **fields)).json()

    in_loop(body)


@pytest.mark.parametrize("page", ["", "export-a-project"])
def test_a_second_turn_repeats_the_first_ones_prompt(provider: ScriptedProvider, page: str) -> None:
    make_indexed("Export a project", BODY)
    make_indexed("Delete a project", BODY.replace("xport", "elete"))
    provider.reply(
        call("search_articles", {"query": "export"}, call_id="one"),
        call("search_articles", {"query": "csv"}, call_id="two", index=1),
        finish("tool_calls"),
        usage(),
        DONE,
    )
    provider.call("open_article", {"slug": "export-a-project"}, "three")
    provider.reply(say("Choose CSV [1]."), finish(), usage(), DONE)
    provider.answer("Yes [1].")
    fields = {"article": page} if page else {}
    turns(provider, "How do I export a project?", "Is that quick?", **fields)
    first, second, third, next_turn = (sent.body for sent in provider.requests)
    assert share(first, second) > 0.7
    assert share(second, third) > 0.8
    assert share(third, next_turn) > 0.97, "all but the answer and the new question"
    assert third["messages"] == next_turn["messages"][: len(third["messages"])]
    assert next_turn["messages"][-1]["content"].endswith("Is that quick?")


def test_an_id_that_a_model_gives_again_is_made_another_in_the_turn_and_stays_so(
    provider: ScriptedProvider,
) -> None:
    make_indexed("Export a project", BODY)
    for _ in range(2):
        provider.call("search_articles", {"query": "export"}, "call_0")
        provider.answer("Choose CSV [1].")
    provider.answer("Yes.")
    turns(provider, "How do I export?", "And as CSV?", "Really?")
    before, after = (sent.body["messages"] for sent in provider.requests[-2:])
    assert before == after[: len(before)]
    ids = [call["id"] for message in after for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == 2
