"""What a file says of itself decides what the article is; nothing goes public by accident."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from articles.access import ANONYMOUS, readable
from articles.importing import Kind, Outcome
from articles.models import Article, Status, Visibility
from tests.import_folders import import_files, imported, messages

pytestmark = pytest.mark.django_db


def page(front_matter: str, text: str = "Some text.") -> str:
    return f"---\n{front_matter}\n---\n\n{text}\n"


def import_page(folder: Path, front_matter: str, text: str = "Some text.") -> Article:
    import_files(folder, {"page.md": page(front_matter, text)})
    return Article.objects.get()


def test_every_known_key_lands_in_its_field(tmp_path: Path) -> None:
    article = import_page(
        tmp_path,
        "title: Reset your password\ndescription: When you forgot it.\nslug: reset\n"
        "category: Account\nvisibility: signed_in\nlanguage: de\ndate: 2024-03-05\n"
        "id: kb-7\nposition: 3",
    )

    assert article.title == "Reset your password"
    assert article.summary == "When you forgot it."
    assert article.slug == "reset"
    assert article.category is not None
    assert article.category.name == "Account"
    assert article.visibility == Visibility.SIGNED_IN
    assert article.language == "de"
    assert article.external_id == "kb-7"
    assert article.position == 3
    assert article.body == "Some text."
    assert article.status == Status.PUBLISHED
    assert article.published_at is not None
    assert article.published_at.date().isoformat() == "2024-03-05"
    assert article.live_revision is not None
    assert article.live_revision.body == "Some text."


def test_what_is_not_stated_has_a_default(tmp_path: Path) -> None:
    import_files(tmp_path, {"billing/invoices/pay_an-invoice.md": "Open **Billing**."})

    article = imported("billing/invoices/pay_an-invoice.md")
    assert article.title == "Pay an invoice"
    assert article.slug == "pay_an-invoice"
    assert article.category is not None
    assert article.category.name == "Invoices"
    assert article.category.parent is not None
    assert article.category.parent.name == "Billing"
    assert article.visibility == Visibility.PUBLIC
    assert article.status == Status.PUBLISHED
    assert article.language == "en"


def test_the_folder_in_which_site_generators_keep_all_pages_is_no_category(tmp_path: Path) -> None:
    import_files(tmp_path, {"docs/a.md": "A.", "docs/billing/b.md": "B."})

    assert imported("docs/a.md").category is None
    assert str(imported("docs/billing/b.md").category) == "Billing"


def test_a_category_may_be_a_path_and_the_first_of_a_list(tmp_path: Path) -> None:
    report = import_files(
        tmp_path,
        {
            "a.md": page("category: Guides > Billing"),
            "b.md": page("categories: [Guides, News]"),
            "guides/c.md": page("category: ''"),
            "guides/d.md": page("categories: []"),
        },
    )

    billing, guides = imported("a.md").category, imported("b.md").category
    assert billing is not None
    assert billing.name == "Billing"
    assert billing.parent == guides == imported("guides/c.md").category
    assert imported("guides/d.md").category == guides
    assert "b.md: of 2 categories only the first is used" in messages(report)


@pytest.mark.parametrize(
    "front_matter",
    [
        "draft: true",
        "draft: 'true'",
        "draft: maybe",
        "published: false",
        "published: 'no'",
        "published: perhaps",
        "status: draft",
        "status: in review",
        "unlisted: true",
        "hidden: yes",
        "private: 1",
        "date: 2999-01-01",
        "draft: false\nhidden: true",
        "status: published\ndraft: true",
    ],
)
def test_every_sign_of_an_unfinished_page_makes_a_draft(tmp_path: Path, front_matter: str) -> None:
    article = import_page(tmp_path, f"title: Secret pricing\n{front_matter}")

    assert article.status == Status.DRAFT
    assert article.live_revision is None
    assert not readable(ANONYMOUS).exists()


@pytest.mark.parametrize(
    "front_matter",
    [
        "draft: false",
        "draft:",
        "hidden: false",
        "published: true",
        "published: 2024-01-01",
        "status: Published",
    ],
)
def test_a_page_that_says_it_is_finished_is_published(tmp_path: Path, front_matter: str) -> None:
    assert import_page(tmp_path, f"title: Pricing\n{front_matter}").status == Status.PUBLISHED


def test_toml_front_matter_holds_a_draft_back_as_well(tmp_path: Path) -> None:
    import_files(tmp_path, {"a.md": "+++\ntitle = 'Plan B'\ndraft = true\n+++\nText."})

    article = Article.objects.get()
    assert (article.title, article.body, article.status) == ("Plan B", "Text.", Status.DRAFT)


def test_an_archived_page_is_archived(tmp_path: Path) -> None:
    assert import_page(tmp_path, "title: Old\nstatus: archived").status == Status.ARCHIVED


@pytest.mark.field_report("B100")
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    lines = ["---", "title: Reset", "slug: reset", "published: false", "---", "# Reset", "", "Ok."]
    import_files(tmp_path, {"x.md": "\ufeff" + "\r\n".join(lines)})

    article = Article.objects.get()
    assert (article.title, article.slug, article.status) == ("Reset", "reset", Status.DRAFT)
    assert article.body == "Ok."


def test_utf_16_is_read_and_other_encodings_only_by_name(tmp_path: Path) -> None:
    files: dict[str, Any] = {
        "a.md": "# Größe\n\nText.".encode("utf-16"),
        "b.md": "# Größe\n\nText.".encode("cp1252"),
    }
    report = import_files(tmp_path, files)

    assert imported("a.md").title == "Größe"
    assert report.outcomes["b.md"] == Outcome.FAILED
    assert "not UTF-8 (byte 4)" in messages(report)[0]
    again = import_files(tmp_path, files, encoding="cp1252")
    assert again.failures == 0
    assert imported("b.md").title == "Größe"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"---\ntitle: 'Unfinished\n---\nText.", "not valid YAML"),
        (
            b"---\ntitle: a: b\n---\nText.",
            "not valid YAML: mapping values are not allowed here (line 2)",
        ),
        (b"+++\ntitle = \n+++\nText.", "not valid TOML"),
        (b"---\ntitle: Never closed\n\nText.", "no closing line"),
        (b"---\nvisibility: friends\n---\nText.", "visibility “friends” is none of public,"),
        (b"\x89PNG\r\n\x00\x00", "not UTF-8"),
        (b"Text with \x00.", "NUL"),
        (b"\xff\xfe\x00\xd8", "not valid utf-16-le"),
        (b"---\nx: " + b"a" * 30_000 + b"\n---\nText.", "too long"),
        (b"---\ndate: 2024-99-99\n---\nText.", "not valid YAML"),
        (b"Word. " * 200_000, "longer than"),
    ],
)
def test_a_file_that_cannot_be_understood_is_reported_and_the_rest_goes_in(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    report = import_files(tmp_path, {"bad.md": content, "good.md": "Good."})

    assert report.outcomes == {"bad.md": Outcome.FAILED, "good.md": Outcome.NEW}
    assert [problem.kind for problem in report.problems] == [Kind.FAILED]
    assert reason in report.problems[0].message
    assert Article.objects.get().external_id == "good.md"


def test_rules_at_the_head_of_a_text_are_no_front_matter(tmp_path: Path) -> None:
    import_files(tmp_path, {"a.md": "---\nA quotation.\n---\n\nText."})

    assert Article.objects.get().body.startswith("---\nA quotation.\n---")


def test_unknown_keys_are_counted_and_ignored(tmp_path: Path) -> None:
    report = import_files(
        tmp_path,
        {
            "a.md": page("title: A\nsidebar_label: X\ntags: [a]"),
            "b.md": page("title: B\nsidebar_label: Y"),
        },
    )

    assert report.ignored_keys == {"sidebar_label": 2, "tags": 1}


@pytest.mark.parametrize(
    ("files", "title", "body"),
    [
        ({"x.md": "# Set up *SSO* {#sso}\n\nText."}, "Set up SSO", "Text."),
        ({"x.md": "Set up\n======\n\nText."}, "Set up", "Text."),
        ({"x.md": "Set up\nnow\n---\n\nText."}, "Set up now", "Text."),
        ({"x.md": "---\n---\n## Set up\n\nText."}, "Set up", "Text."),
        ({"x.md": "Intro.\n\n# Set up\n\nText."}, "Set up", "Intro.\n\n\nText."),
        ({"x.md": "Intro.\n\n## Set up\n\nText."}, "Set up", "Intro.\n\n## Set up\n\nText."),
        ({"x.md": "---\ntitle: Set up\n---\n# Set up\n\nText."}, "Set up", "Text."),
        ({"x.md": "---\ntitle: Set up\n---\n# Other\n\nText."}, "Set up", "# Other\n\nText."),
        ({"set-up.md": "Text."}, "Set up", "Text."),
        ({"set-up/index.md": "Text."}, "Set up", "Text."),
        ({"x.md": "---\ntitle: 2024\n---\nText."}, "2024", "Text."),
    ],
)
def test_a_missing_title_is_the_first_heading_which_is_not_repeated(
    tmp_path: Path, files: dict[str, str], title: str, body: str
) -> None:
    import_files(tmp_path, files)

    article = Article.objects.get()
    assert article.title == title
    assert article.body.replace("\n\n\n", "\n\n") == body.replace("\n\n\n", "\n\n")


@pytest.mark.field_report("B101")
def test_titles_in_any_script_get_slugs_that_are_unique_and_stay(tmp_path: Path) -> None:
    titles = ["密码重置", "إعادة", "😀", "??", "FAQ!", "FAQ!"]
    files = {
        f"{chr(0x1F600 + number)}.md": page(f"title: '{title}'")
        for number, title in enumerate(titles)
    }
    import_files(tmp_path, files)
    slugs = dict(Article.objects.values_list("external_id", "slug"))
    again = import_files(tmp_path, files)

    assert len(set(slugs.values())) == 6
    assert all(slugs.values())
    assert again.count(Outcome.UNCHANGED) == 6
    assert dict(Article.objects.values_list("external_id", "slug")) == slugs


@pytest.mark.field_report("B101")
def test_pages_with_such_slugs_open(tmp_path: Path, client: Any) -> None:
    import_files(tmp_path, {"密码重置.md": "文本", "😀.md": "Text."})

    for article in Article.objects.all():
        assert client.get(article.get_absolute_url()).status_code == 200


def test_a_page_without_text_is_a_draft_and_reported(tmp_path: Path) -> None:
    report = import_files(tmp_path, {"a.md": page("title: Contact", "")})

    assert Article.objects.get().status == Status.DRAFT
    assert messages(report) == ["a.md: it has no text, so it is a draft"]


def test_long_titles_and_descriptions_are_cut_and_reported(tmp_path: Path) -> None:
    report = import_files(
        tmp_path, {"a.md": page(f"title: {'word ' * 80}\ndescription: {'word ' * 200}")}
    )

    article = Article.objects.get()
    assert len(article.title) <= 250
    assert article.title.endswith("word…")
    assert len(article.summary) <= 500
    assert len(messages(report)) == 2


def test_a_regional_language_is_the_sites_own_and_an_unknown_one_is_reported(
    tmp_path: Path,
) -> None:
    report = import_files(
        tmp_path,
        {"a.md": page("lang: de_AT"), "b.md": page("locale: tlh"), "c.md": page("lang: [x]")},
    )

    assert imported("a.md").language == "de"
    assert imported("b.md").language == imported("c.md").language == "en"
    assert messages(report) == ["b.md: the language “tlh” is not known; the site's own is used"]


def test_a_date_or_position_that_is_none_is_reported(tmp_path: Path) -> None:
    report = import_files(
        tmp_path, {"a.md": page("date: soon\nposition: first"), "b.md": page("date: 0001-01-01")}
    )

    assert messages(report) == [
        "a.md: its position “first” is not a number",
        "a.md: its date “soon” is not a date",
        "b.md: its date “0001-01-01” is not a date",
    ]
    published_at = imported("a.md").published_at
    assert published_at is not None
    assert published_at <= timezone.now()


def test_two_files_with_one_id_are_reported_and_the_first_goes_in(tmp_path: Path) -> None:
    report = import_files(tmp_path, {"a.md": page("id: 5"), "b.md": page("id: 5")})

    assert report.outcomes == {"a.md": Outcome.NEW, "b.md": Outcome.FAILED}
    assert "b.md: has the same id as a.md" in messages(report)


def test_an_id_longer_than_the_database_takes_fails_its_file(tmp_path: Path) -> None:
    report = import_files(tmp_path, {"a.md": page(f"id: {'x' * 301}"), "b.md": "B."})

    assert report.failures == 1
    assert Article.objects.count() == 1
