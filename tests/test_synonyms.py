"""Synonyms: what a search finds besides what was typed, at once and in every process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from articles.access import ANONYMOUS
from articles.models import SynonymGroup, SynonymVersion
from articles.ranking.queries import Analysed, analyse
from articles.search import search
from articles.terms import frequencies, synonyms
from tests.factories import make_article
from tests.pages import page
from tests.search_index import found, index

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


def group(*terms: str, **fields: Any) -> SynonymGroup:
    made = SynonymGroup(terms=list(terms), **fields)
    made.full_clean()
    made.remember(None)
    return made


def analysed(text: str, language: str) -> Analysed:
    return analyse(text, language, frequencies.held().get(language))


@pytest.fixture(autouse=True)
def words_alone(settings: Any) -> None:
    """By meaning, much of this is found without a synonym."""
    settings.EMBEDDING_BACKEND = "off"


@pytest.fixture
def help_center() -> None:
    for title, body in [
        ("Cancel your subscription", "Open Billing and end the subscription."),
        ("Sign in with Okta", "Your team uses single sign-on: ask your administrator."),
        ("One sign for a single person", "Hang it on the door."),
        ("Invoices", "A plan has invoices."),
    ]:
        make_article(title, body=body)
    index()


@pytest.mark.usefixtures("help_center")
def test_a_synonym_finds_what_the_typed_word_does_not() -> None:
    assert found("membership") == []
    group("membership", "subscription")
    assert found("membership") == ["Cancel your subscription"]
    assert found("Memberships") == ["Cancel your subscription"]
    assert found("cancel membership") == ["Cancel your subscription"]


@pytest.mark.usefixtures("help_center")
def test_an_abbreviation_finds_its_phrase_and_not_the_phrases_single_words() -> None:
    group("SSO", "single sign-on")
    assert found("sso") == ["Sign in with Okta"]
    assert search("sso", reader=ANONYMOUS).hits[0].coverage == 1.0


def test_a_phrase_finds_its_abbreviation() -> None:
    make_article("SSO", body="With SAML.")
    make_article("A single person", body="Sign here, and go on.")
    index()
    group("SSO", "single sign-on")
    for query in ("single sign-on", "Single Sign-On setup", "single sign on", "single signon"):
        assert "SSO" in found(query)
    assert found("sign") == ["A single person"]


def test_one_direction_is_not_the_other() -> None:
    make_article("Payment methods", body="Text.")
    make_article("Visa", body="Text.")
    index()
    group("visa", targets=["payment method"])
    assert found("visa") == ["Visa", "Payment methods"]
    assert found("payment method") == ["Payment methods"]


def test_what_was_typed_comes_before_what_is_only_a_synonym_of_it() -> None:
    for number in range(6):
        make_article(f"Car {number}", body="The car.")
    make_article("Automobile", body="The automobile.")
    index()
    group("car", "automobile")
    titles = found("car")
    assert len(titles) == 7
    assert titles[-1] == "Automobile"
    assert found("automobile")[0] == "Automobile"


def test_a_synonym_never_weighs_more_than_what_it_stands_for() -> None:
    for number in range(9):
        make_article(f"Car {number}", body="The car.")
    make_article("Rare", body="One horseless carriage.")
    index()
    group("car", "horseless carriage", "automobile")
    query = analysed("car", "en")
    weights = {term: weight for term, weight in query.idfs.items() if term != "car"}
    assert set(weights) == {"horseless", "carriag", "automobil"}
    assert weights["horseless"] + weights["carriag"] <= 0.8 * query.idfs["car"] + 1e-9
    assert weights["automobil"] <= 0.8 * query.idfs["car"] + 1e-9


def test_a_synonym_that_was_typed_as_well_keeps_its_own_weight() -> None:
    make_article("Car", body="The car.")
    index()
    plain = analysed("car automobile", "en").idfs
    group("car", "automobile")
    assert analysed("car automobile", "en").idfs == plain


@pytest.mark.usefixtures("help_center")
def test_a_group_counts_in_its_language_alone() -> None:
    make_article("Abo beenden", body="So endet ein Abonnement.", language="de")
    index()
    group("mitgliedschaft", "abonnement", language="de")
    group("membership", "subscription", language="en-GB")
    assert found("Mitgliedschaft", language="de") == ["Abo beenden"]
    assert found("membership", language="de") == ["Cancel your subscription"]  # the site's own
    assert analysed("membership", "de").words[0].also == ()


def test_scripts_without_spaces_have_synonyms_too() -> None:
    make_article("单点登录", body="如何设置单点登录。", language="zh")
    index()
    group("SSO", "单点登录")
    assert found("sso", language="zh") == ["单点登录"]


@pytest.mark.usefixtures("help_center")
def test_a_compound_is_more_than_what_is_left_of_it_without_common_words() -> None:
    make_article("Sign a contract", body="With a pen.")
    index()
    group("sign-on", "okta")
    assert "Sign in with Okta" in found("sign-on")
    assert analysed("sign a contract", "en").words[0].also == ()


@pytest.mark.usefixtures("help_center")
def test_every_change_counts_from_the_next_search_on() -> None:
    membership = group("membership", "subscription")
    assert found("membership") == ["Cancel your subscription"]
    membership.is_active = False
    membership.remember(None)
    assert found("membership") == []
    assert membership.undo(None)
    assert found("membership") == ["Cancel your subscription"]
    membership.delete()
    assert found("membership") == []


@pytest.mark.usefixtures("help_center")
def test_another_process_is_followed() -> None:
    """What this process has read is told apart from what is there by the stamp alone."""
    group("membership", "subscription")
    assert found("membership") == ["Cancel your subscription"]
    with connection.cursor() as cursor:  # as another process would
        cursor.execute(
            "UPDATE articles_synonymgroup SET terms = '{membership,invoice}', changed_at = now()"
            " + interval '1 second'"
        )
    assert found("membership") == ["Invoices"]


@pytest.mark.usefixtures("help_center")
def test_synonyms_cost_no_query_of_their_own() -> None:
    found("membership")  # whatever is read once
    with CaptureQueriesContext(connection) as without:
        found("subscription")
    group("membership", "subscription")
    found("membership")
    with CaptureQueriesContext(connection) as with_groups:
        found("membership")
    assert len(with_groups) == len(without)


@pytest.mark.usefixtures("help_center")
def test_people_are_told_what_else_was_searched_for() -> None:
    group("SSO", "single sign-on", "SAML")
    results = search("sso", reader=ANONYMOUS)
    assert synonyms.also_searched("sso", results.languages) == ["single sign-on", "SAML"]
    assert synonyms.also_searched("billing", results.languages) == []


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"terms": ["alone"]}, "terms"),
        ({"terms": []}, "terms"),
        ({"terms": ["twice", " TWICE "]}, "terms"),
        ({"terms": ["how do I", "guide"]}, "terms"),
        ({"terms": [f"term {n}" for n in range(21)]}, "terms"),
        ({"terms": ["a" * 81, "b"]}, "terms"),
        ({"terms": ["car"], "targets": ["CAR"]}, "targets"),
        ({"terms": ["car"], "targets": ["?!"]}, "targets"),
        ({"terms": ["car", "auto"], "language": "German"}, "language"),
        ({"terms": ["car", "auto"], "language": "d"}, "language"),
    ],
)
def test_a_group_that_search_could_not_use_is_refused(fields: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as refused:
        SynonymGroup(**fields).full_clean()
    assert where in refused.value.message_dict


def test_terms_are_tidied() -> None:
    made = group("  single   sign-on ", "SSO", "sso")
    assert made.terms == ["single sign-on", "sso"]


def test_undo_takes_a_change_back_and_undoing_twice_gives_it_again() -> None:
    made = group("a1", "b2")
    assert not made.undo(None)
    made.terms = ["a1", "c3"]
    made.remember(None)
    for terms in (["a1", "b2"], ["a1", "c3"]):
        assert made.undo(None)
        assert SynonymGroup.objects.get().terms == terms
    assert SynonymVersion.objects.count() == 4


# In the admin


def test_writers_keep_synonyms_in_the_admin(client: Client, staff: User) -> None:
    client.force_login(staff)
    empty = {"versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0}
    add = reverse("admin:articles_synonymgroup_add")
    refused = client.post(add, {"terms": "alone\n", "targets": "", "language": "", **empty})
    assert "at least two terms" in refused.content.decode()

    fields = {"terms": "SSO\r\n\r\nsingle sign-on\r\n", "targets": "", "language": ""}
    client.post(add, {**fields, "is_active": "on", **empty})
    made = SynonymGroup.objects.get()
    assert made.terms == ["SSO", "single sign-on"]

    change = reverse("admin:articles_synonymgroup_change", args=[made.pk])
    assert "SSO\nsingle sign-on" in client.get(change).content.decode()
    client.post(change, {**fields, "terms": "SSO\nSAML", "is_active": "on", **empty})
    shown = page(client, change).text
    assert "SSO = single sign-on" in shown
    assert staff.username in shown
    assert "SSO = SAML" in page(client, reverse("admin:articles_synonymgroup_changelist")).text


def test_the_language_is_one_that_articles_are_written_in(client: Client, staff: User) -> None:
    client.force_login(staff)
    make_article("Konto", language="de-AT", publish=False)
    add = reverse("admin:articles_synonymgroup_add")

    def saved(language: str) -> bool:
        response = client.post(add, {"terms": "SSO\nSAML", "targets": "", "language": language})
        return bool(response.status_code == 302)

    offered = page(client, add).all("option")
    assert [one.attributes["value"] for one in offered] == ["", "de", "en"]
    assert saved("de")
    assert not saved("fr")
    assert not saved("nothing")
    assert list(SynonymGroup.objects.values_list("language", flat=True)) == ["de"]

    old = group("auto", "voiture", language="fr")
    change = reverse("admin:articles_synonymgroup_change", args=[old.pk])
    shown = page(client, change).all("option")
    assert [one.text for one in shown if "selected" in one.attributes] == ["français (fr)"]


def test_no_terms_are_refused_at_the_field(client: Client, staff: User) -> None:
    client.force_login(staff)
    response = client.post(
        reverse("admin:articles_synonymgroup_add"), {"terms": " ", "targets": "", "language": ""}
    )
    assert response.context["adminform"].form.errors == {"terms": ["This field is required."]}


def test_changes_are_undone_and_groups_switched_off_and_on(client: Client, staff: User) -> None:
    client.force_login(staff)
    made = group("SSO", "SAML")
    made.terms = ["SSO", "OIDC"]
    made.remember(staff)
    changelist = reverse("admin:articles_synonymgroup_changelist")

    def act(action: str) -> SynonymGroup:
        client.post(changelist, {"action": action, "_selected_action": [made.pk]})
        return SynonymGroup.objects.get()

    assert act("undo_last_change").terms == ["SSO", "SAML"]
    assert not act("switch_off").is_active
    assert act("switch_on").is_active
    assert made.versions.count() == 5
    assert made.versions.first().changed_by == staff  # type: ignore[union-attr]
    history = reverse("admin:articles_synonymgroup_history", args=[made.pk])
    assert "Undid the last change." in page(client, history).text


def test_undoing_what_never_changed_says_so(client: Client, staff: User) -> None:
    client.force_login(staff)
    made = group("SSO", "SAML")
    changelist = reverse("admin:articles_synonymgroup_changelist")
    data = {"action": "undo_last_change", "_selected_action": [made.pk]}
    answer = client.post(changelist, data, follow=True)
    assert "nothing to undo" in answer.content.decode()


def test_a_group_is_found_by_its_terms(client: Client, staff: User) -> None:
    client.force_login(staff)
    group("SSO", "SAML")
    group("car", "automobile")
    listed = page(client, reverse("admin:articles_synonymgroup_changelist") + "?q=saml").text
    assert "SSO = SAML" in listed
    assert "automobile" not in listed
