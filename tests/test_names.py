"""What rows are called in the admin: "1 vote on an answer", "77 votes on answers"."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from assistant.models import AccessRecord, CostReport
from helpcenter.models import SiteSettings
from tests.pages import page

PAGES = {SiteSettings, CostReport}
"""One row and none: they are named as the page that they are, and nothing counts them."""

OWN = [model for label in ("helpcenter", "articles", "assistant")
       for model in apps.get_app_config(label).get_models()]  # fmt: skip


@pytest.mark.parametrize("model", OWN, ids=lambda model: model.__name__)
def test_one_and_several_have_names_of_their_own(model: type[Model]) -> None:
    one, several = str(model._meta.verbose_name), str(model._meta.verbose_name_plural)
    assert (one == several) == (model in PAGES)
    assert not several.endswith(("ys", "ss", "chs", "xs"))
    assert one[0].islower() or one.startswith("API"), "the admin sets the capitals itself"


@pytest.mark.django_db
def test_a_list_counts_in_them(client: Client, staff: User) -> None:
    client.force_login(staff)
    for number in range(1, 3):
        AccessRecord.objects.create(
            user_id=staff.pk, username="staff", action="listed", detail="list"
        )
        shown = page(client, reverse("admin:assistant_accessrecord_changelist")).text
        assert f"{number} access log {'entry' if number == 1 else 'entries'}" in shown
