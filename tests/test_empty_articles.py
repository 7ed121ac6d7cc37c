"""A draft may be empty. What has nothing to read in it does not go live, whoever publishes it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from articles import publishing
from articles.importing.run import import_articles
from articles.models import Article, Status
from articles.rendering import has_text
from articles.tasks import publish_due
from helpcenter import tokens
from tests.factories import make_article
from tests.pages import JSON
from tests.writing import article_url, change_url, form_of

SAID = "There is no text to publish yet. Headings alone are not enough."
EMPTY = ["", " \n\t\n", "# Plans\n\n## Prices\n", "Plans\n=====\n", "\u200b\n", "&nbsp;", "---",
         "```\n```", "- \n- ", "> ", ":::note\n:::", "[a]: https://example.com"]  # fmt: skip
FULL = ["Words.", "# Plans\n\n## Prices\n\nFour euros.", "![](/media/a.png)", "## A\n\n![](a.png)",
        "```\nls\n```", "- one", ":::note\nMind.\n:::", "| a |\n|---|\n| b |", "1"]  # fmt: skip


@pytest.mark.parametrize("body", EMPTY)
def test_nothing_to_read(body: str) -> None:
    assert not has_text(body)


@pytest.mark.parametrize("body", FULL)
def test_something_to_read(body: str) -> None:
    assert has_text(body)


@pytest.mark.django_db
@pytest.mark.parametrize("body", ["", "## Prices\n"])
def test_the_door_refuses_it(body: str) -> None:
    with pytest.raises(ValidationError) as refused:
        publishing.refuse_empty(Article(title="Plans", body=body))
    assert refused.value.message_dict == {"body": [SAID]}


@pytest.mark.django_db
def test_the_form_says_so_at_the_text_and_keeps_what_was_typed(staff_client: Client) -> None:
    article = make_article("Plans", publish=False)
    typed = form_of(article, title="Plans and prices", body="## Prices\n", _publish="1")
    form = staff_client.post(change_url(article), typed).context["adminform"].form
    assert form.errors == {"body": [SAID]}
    assert form["title"].value() == "Plans and prices"
    article.refresh_from_db()
    assert (article.title, article.status) == ("Plans", Status.DRAFT)

    new = form_of(Article(title="New"), _publish="1")
    form = staff_client.post(article_url("add"), new).context["adminform"].form
    assert form.errors == {"body": [SAID]}
    assert Article.objects.count() == 1


@pytest.mark.django_db
def test_an_empty_draft_is_saved_and_a_live_article_stays_live(staff_client: Client) -> None:
    article = make_article("Plans")
    assert staff_client.post(change_url(article), form_of(article, body="")).status_code == 302
    article.refresh_from_db()
    assert (article.body, article.status) == ("", Status.PUBLISHED)
    assert article.live_revision is not None
    assert article.live_revision.body


@pytest.mark.django_db
def test_an_empty_text_is_given_no_time(staff_client: Client) -> None:
    article = make_article("Plans", publish=False, body="")
    when = {"publish_at_0": "2100-01-01", "publish_at_1": "09:00"}
    form = (
        staff_client.post(change_url(article), form_of(article, **when)).context["adminform"].form
    )
    assert form.errors == {"body": ["Write the text before you set a time to publish it."]}


@pytest.mark.django_db
def test_of_several_none_is_published_and_the_empty_one_is_named(staff_client: Client) -> None:
    articles = [make_article("Plans", publish=False), make_article("Teams", publish=False, body="")]
    chosen = {"action": "publish_selected", "_selected_action": [one.pk for one in articles]}
    page = staff_client.post(article_url("changelist"), chosen, follow=True).content.decode()
    assert "Nothing was published: there is no text in “Teams” yet." in page
    assert not Article.objects.filter(status=Status.PUBLISHED).exists()


@pytest.mark.django_db
def test_what_was_emptied_before_its_time_stays_a_draft_and_its_history_says_so(
    staff: User,
) -> None:
    article = make_article("Plans", publish=False, body="")
    publishing.schedule(article, timezone.now() - timedelta(minutes=5), staff)
    assert [publish_due(), publish_due()] == [0, 0]
    article.refresh_from_db()
    assert (article.status, article.publish_at, article.scheduled_by) == ("draft", None, None)
    entry = LogEntry.objects.get()
    assert (entry.user, entry.change_message) == (
        staff,
        "Not published on schedule: there was no text.",
    )


@pytest.mark.django_db
def test_the_api_names_the_field_and_saves_nothing(client: Client, staff: User) -> None:
    _token, secret = tokens.create(staff, "sync")
    headers = {"Authorization": f"Bearer {secret}"}
    draft = make_article("Teams", publish=False, body="")
    sent = {"title": "Plans", "markdown": "## Prices", "publish": True}
    manage = "/api/v1/manage"
    for response in (
        client.post(f"{manage}/articles/", sent, JSON, headers=headers),
        client.put(f"{manage}/documents/plans.md/", sent, JSON, headers=headers),
        client.post(f"{manage}/articles/{draft.pk}/publish/", headers=headers),
    ):
        assert response.status_code == 400
        assert response.json()["error"]["fields"] == {"markdown": [SAID]}
    assert list(Article.objects.values_list("title", "status")) == [("Teams", Status.DRAFT)]
    kept = client.post(f"{manage}/articles/", {**sent, "publish": False}, JSON, headers=headers)
    assert kept.status_code == 201


@pytest.mark.django_db
def test_an_import_keeps_it_as_a_draft_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "plans.md").write_text("---\ntitle: Plans\n---\n\n## Prices\n\n## Terms\n")
    (tmp_path / "teams.md").write_text("---\ntitle: Teams\n---\n\nInvite people.\n")
    report = import_articles(tmp_path)
    assert [str(problem) for problem in report.problems] == [
        "plans.md: it has no text, so it is a draft"
    ]
    assert dict(Article.objects.values_list("title", "status")) == {
        "Plans": Status.DRAFT,
        "Teams": Status.PUBLISHED,
    }
