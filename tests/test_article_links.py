"""Where articles lead: links that lead nowhere are named, and who links here is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from articles import publishing
from articles.indexing import index_article
from articles.models import Article, ArticleLink, Status
from articles.writing import links
from tests.factories import make_article, make_category
from tests.writing import article_url, change_url, colleague, form_of, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


def problem_of(address: str, **fields: Any) -> str:
    article = make_article("Start", body=f"## Here {{#own}}\n\n[x]({address})", **fields)
    found = links.problems(article)
    assert [link.address for link in found] in ([], [address])
    return found[0].problem if found else ""


@pytest.fixture
def target() -> Article:
    return make_article("Plans", body="## Prices\n\nx")


@pytest.mark.usefixtures("target")
@pytest.mark.parametrize(
    "address",
    [
        *("/articles/plans/", "/articles/plans/#prices", "/articles/plans/?x=1#prices", "#own"),
        *("../plans/#prices", "http://localhost:8000/articles/plans/", "/articles/start/#own"),
        *("https://example.com/nowhere", "mailto:a@example.com", "tel:1", "/", "/search/?q=x"),
        "//[broken",
    ],
)
def test_links_that_lead_somewhere_or_elsewhere_are_fine(address: str) -> None:
    assert problem_of(address) == ""


@pytest.mark.usefixtures("target")
@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("/articles/plan/", "there is no such article"),
        ("/articles/plans/#price", "no heading has the anchor #price"),
        ("#other", "no heading has the anchor #other"),
        ("plans.html", "the site has no such page"),
        ("/nowhere", "the site has no such page"),
        ("/categories/billing/", "there is no such category"),
        ("/media/articles/gone.png", "there is no such file"),
        ("/media/../../etc/passwd", "the site has no such page"),
    ],
)
def test_links_that_lead_nowhere_say_why(address: str, problem: str) -> None:
    assert problem_of(address) == problem


def test_pictures_and_categories_that_exist_are_fine(media: Path) -> None:
    (media / "a.png").write_bytes(b"x")
    make_category("Billing")
    article = make_article("Start", body="![x](/media/a.png) [y](/categories/billing/)")
    assert links.problems(article) == []


def test_a_former_address_still_leads_there_and_a_withdrawn_article_does_not(
    target: Article,
) -> None:
    publishing.change_slug(target, "prices")
    article = make_article("Start", body="[x](/articles/plans/#prices)")
    assert links.problems(article) == []

    publishing.withdraw(target, Status.ARCHIVED)
    assert [link.problem for link in links.problems(article)] == [
        "the article is not published (archived)"
    ]
    assert [(link.article, link.address) for link in links.broken_links()] == [
        (article, "/articles/plans/#prices")
    ]


def test_links_in_any_script_are_followed() -> None:
    make_article("密码重置", body="## 步骤\n\nx")
    article = make_article("Start", body="[x](/articles/密码重置/#步骤)")
    assert links.problems(article) == []
    assert links.leading_to(Article.objects.get(title="密码重置")).count() == 1


def test_code_holds_no_links() -> None:
    assert links.targets("`[x](/articles/gone/)`\n\n    [y](/articles/gone/)", "/") == []


def test_what_links_here_is_what_is_live(target: Article) -> None:
    first = make_article("Start", body="[x](/articles/plans/) [again](/articles/plans/#prices)")
    make_article("Draft", body="[x](/articles/plans/)", publish=False)
    hidden = make_article("Hidden", body="[x](/articles/plans/)")
    publishing.withdraw(hidden)
    publishing.publish(target)

    assert [link.article for link in links.leading_to(target)] == [first, first]
    first.body = "No link any more."
    first.save()
    assert links.leading_to(target).count() == 2
    publishing.publish(first)
    assert not links.leading_to(target).exists()
    assert not ArticleLink.objects.filter(article=first).exists()


def test_what_links_here_is_told_beside_the_slug(staff_client: Client, target: Article) -> None:
    assert (
        "0 published articles link here." in staff_client.get(change_url(target)).content.decode()
    )
    make_article("Start", body="[x](/articles/plans/) [y](/articles/plans/#prices)")
    page = staff_client.get(change_url(target)).content.decode()
    assert "1 published article links here." in page
    assert page.count(article_url("links", target.pk)) == 2


@pytest.mark.parametrize("action", ["archive_selected", "unpublish_selected"])
def test_links_that_will_break_are_shown_first(
    staff_client: Client, target: Article, action: str
) -> None:
    article = make_article("Start", body="[x](/articles/plans/)")
    changelist, chosen = (
        article_url("changelist"),
        {"action": action, "_selected_action": target.pk},
    )
    page = staff_client.post(changelist, chosen).content.decode()
    assert change_url(article) in page
    target.refresh_from_db()
    assert target.is_live
    assert staff_client.post(changelist, {**chosen, "seen": "yes"}).status_code == 302
    target.refresh_from_db()
    assert not target.is_live


def test_links_among_what_goes_together_hold_nothing_up(
    staff_client: Client, target: Article
) -> None:
    article = make_article("Start", body="[x](/articles/plans/)")
    chosen = {"action": "archive_selected", "_selected_action": [target.pk, article.pk]}
    assert staff_client.post(article_url("changelist"), chosen).status_code == 302
    target.refresh_from_db()
    assert not target.is_live


def test_saving_warns_and_saves_all_the_same(staff_client: Client, target: Article) -> None:
    body = "[x](/articles/gone/) [y](/articles/plans/#gone)"
    page = staff_client.post(change_url(target), form_of(target, body=body), follow=True)
    text = page.content.decode()
    assert "The link to “/articles/gone/” leads nowhere: there is no such article." in text
    target.refresh_from_db()
    assert target.body == body


def test_the_pages_show_what_leads_here_and_what_is_broken(
    staff_client: Client, target: Article
) -> None:
    article = make_article("Start", body="[x](/articles/plans/#prise)")
    here = staff_client.get(article_url("links", target.pk)).content.decode()
    assert change_url(article) in here
    own = staff_client.get(article_url("links", article.pk)).content.decode()
    assert "no heading has the anchor #prise" in own
    assert "No published article links to this one." in own
    everything = staff_client.get(article_url("broken_links")).content.decode()
    assert "1 link in a published article leads nowhere." in everything
    assert change_url(article) in everything


def test_a_site_without_broken_links_says_so(staff_client: Client, target: Article) -> None:
    page = staff_client.get(article_url("broken_links")).content.decode()
    assert "Every link within the site leads somewhere" in page
    assert (
        article_url("broken_links") in staff_client.get(article_url("changelist")).content.decode()
    )


def test_the_whole_site_is_checked_in_few_queries(
    target: Article, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        make_article(
            f"Page {number}", body=f"[x](/articles/plans/#prices) [y](/articles/{number}/)"
        )
    with django_assert_max_num_queries(4):
        assert len(links.broken_links()) == 12


def test_staff_without_the_permission_see_no_links(target: Article) -> None:
    client = signed_in(colleague("someone"))
    assert client.get(article_url("links", target.pk)).status_code == 403
    assert client.get(article_url("broken_links")).status_code == 403


def test_before_deleting_the_links_that_break_are_named_and_no_rows_of_the_index(
    staff_client: Client, target: Article
) -> None:
    make_article("Start <here>", body="[x](/articles/plans/#prices)")
    index_article(target.pk)
    page = staff_client.get(article_url("delete", target.pk)).content.decode()
    assert "A link in “Start &lt;here&gt;” breaks: /articles/plans/#prices" in page
    assert "“Plans”" in page
    assert "Revisions: 1" in page
    assert "Passage" not in page
    chosen = {"action": "delete_selected", "_selected_action": [target.pk]}
    several = staff_client.post(article_url("changelist"), chosen).content.decode()
    assert "A link in “Start &lt;here&gt;” breaks: /articles/plans/#prices" in several
    assert staff_client.post(article_url("delete", target.pk), {"post": "yes"}).status_code == 302
    assert not Article.objects.filter(pk=target.pk).exists()


def test_an_article_that_is_gone_leads_to_the_list(staff_client: Client) -> None:
    response = staff_client.get(article_url("change", 999), follow=True)
    assert response.redirect_chain == [(article_url("changelist"), 302)]
    assert "doesn’t exist. Perhaps it was deleted?" in response.content.decode()
