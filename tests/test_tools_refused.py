"""Models whose endpoints refuse tools: found out once, remembered, shown, and cleared."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from assistant import tools_refused
from assistant.models import Answer, ToolsRefusal
from assistant.providers.context import ContextModel
from tests.chat_clients import Person, in_loop
from tests.scripted_model import ScriptedModel
from tests.scripted_provider import ScriptedProvider
from tests.search_index import make_indexed

QUESTION = "How do I export a project as CSV?"
NO_TOOLS = {"message": "scripted does not support tools", "type": "invalid_request_error"}


def ask(*questions: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []

    async def body() -> None:
        person = await Person.visitor()
        for question in questions:
            told.append((await person.ask_json(question)).json())

    in_loop(body)
    return told


@pytest.fixture
def export(transactional_db: None) -> None:
    make_indexed("Export a project", "## Export\n\nExport a project as CSV.")


@pytest.mark.django_db(transaction=True)
def test_a_refusal_moves_the_model_to_context_mode_until_it_is_cleared(
    provider: ScriptedProvider, export: None, settings: Any, staff: User, client: Client
) -> None:
    settings.ASSISTANT_FIRST_TOKEN_SECONDS = 14  # a model of its own, whatever ran before
    provider.refuse(400, NO_TOOLS)
    provider.answer("Choose CSV [1].")
    provider.answer("Choose CSV [1], I said.")
    first, second = ask(QUESTION, QUESTION)

    for told in (first, second):
        assert [source["title"] for source in told["sources"]] == ["Export a project"]
    assert [("tools" in sent.body) for sent in provider.requests] == [True, False, False]
    refusal = ToolsRefusal.objects.get()
    assert (refusal.model, refusal.provider) == ("scripted", "127.0.0.1")
    assert set(Answer.objects.values_list("mode", flat=True)) == {"context"}

    client.force_login(staff)
    pages = (reverse("admin:index"), reverse("admin:assistant_answer_changelist"))
    for page in pages:
        shown = client.get(page).content.decode()
        assert "refuses tools for the model scripted" in shown
        assert "ASSISTANT_MODE=context" in shown
        assert reverse("admin:assistant_toolsrefusal_delete", args=[refusal.pk]) in shown
    client.post(reverse("admin:assistant_toolsrefusal_delete", args=[refusal.pk]), {"post": "yes"})
    for page in pages:
        assert "refuses tools" not in client.get(page).content.decode()

    provider.call("search_articles", {"query": "export project csv"})
    provider.answer("Choose CSV [1].")
    ask(QUESTION)
    assert "tools" in provider.requests[3].body, "it is tried again"
    assert not ToolsRefusal.objects.exists()


@pytest.mark.django_db
def test_the_warning_is_for_the_settings_as_they_are(settings: Any) -> None:
    settings.OPENAI_BASE_URL, settings.ASSISTANT_MODEL = "http://127.0.0.1:9/v1", "scripted"
    refusal = ToolsRefusal.objects.create(provider="127.0.0.1", model="scripted")
    assert tools_refused.of_this_site() == refusal
    settings.ASSISTANT_MODEL = "another"
    assert tools_refused.of_this_site() is None
    settings.ASSISTANT_MODEL, settings.ASSISTANT_MODE = "scripted", "context"
    assert tools_refused.of_this_site() is None, "it was made permanent"
    settings.ASSISTANT_MODEL = ""
    assert tools_refused.of_this_site() is None


@pytest.mark.django_db
@pytest.mark.parametrize("may", [[], ["view_toolsrefusal"]])
def test_the_warning_is_shown_to_those_who_may_see_it(
    client: Client, settings: Any, owner: User, may: list[str]
) -> None:
    settings.OPENAI_BASE_URL, settings.ASSISTANT_MODEL = "http://127.0.0.1:9/v1", "scripted"
    ToolsRefusal.objects.create(provider="127.0.0.1", model="scripted")
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    owner.user_permissions.set(Permission.objects.filter(codename__in=may))
    client.force_login(owner)
    page = client.get(reverse("admin:index")).content.decode()
    assert ("refuses tools" in page) == bool(may)
    assert "Try tools again" not in page


@pytest.mark.django_db
def test_a_model_that_was_set_to_context_mode_stays_there() -> None:
    model = ContextModel(ScriptedModel(), "context")
    tools_refused.recall(model)
    assert model.mode == "context"


@pytest.mark.django_db
def test_what_one_process_found_out_holds_in_another() -> None:
    here, there = ContextModel(ScriptedModel()), ContextModel(ScriptedModel())
    tools_refused.remember(here)
    tools_refused.remember(here)
    modes = []
    for _found_out in (True, False):
        tools_refused.recall(there)
        modes.append(there.mode)
        ToolsRefusal.objects.all().delete()
    assert modes == ["context", "tools"]


@pytest.mark.django_db
def test_the_database_is_asked_again_only_about_a_model_that_was_refused(
    django_assert_num_queries: Any,
) -> None:
    model = ContextModel(ScriptedModel())
    tools_refused.recall(model)
    with django_assert_num_queries(0):
        tools_refused.recall(model)
    model.mode = "context"  # as if its endpoint had refused the call in between
    tools_refused.remember(model)
    with django_assert_num_queries(2):
        tools_refused.recall(model)
        tools_refused.recall(model)
    assert model.mode == "context"
