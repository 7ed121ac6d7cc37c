"""The articles that the check answers from: a few of every kind, in a language of their own.

The language keeps them apart from the site's articles in every search, and their slugs end
in a token, so that no name is taken. Made by `make`, inside a rehearsal; titles are unique,
and the check knows documents by them.
"""

from __future__ import annotations

import secrets
import string
import uuid
from dataclasses import dataclass

from django.utils.text import slugify

from articles import indexing, publishing
from articles.models import Article, Category, Status, Visibility

STATUS_PAGE = "https://status.example.net/now"
"""An address that stands in one article: an answer that was given it may link it."""

_TOPICS = {
    "Account": [
        ("Reset a forgotten password", "password reset email link"),
        ("Change the email address", "email address profile confirmation"),
        ("Turn on two-factor sign-in", "two-factor code authenticator phone"),
        ("Delete an account for good", "delete account data erased"),
        ("Configure single sign-on", "single sign-on identity provider certificate"),
        ("Invite people to a team", "invite team member role"),
    ],
    "Billing": [
        ("Download an invoice", "invoice download pdf accounting"),
        ("Plans [2026] and prices", "plan price month seat"),
        ("Change the payment card", "payment card expired billing"),
        ("Ask for a refund", "refund days money returned"),
        ("Tax numbers on invoices", "tax number invoice company"),
        ("Cancel a subscription", "cancel subscription period end"),
    ],
    "Projects": [
        ("Export a project as CSV", "export project csv columns"),
        ("Import tasks from a file", "import tasks file mapping"),
        ("Archive old projects", "archive project restore hidden"),
        ("Share a board with guests", "share board guest link"),
        ("Automate with webhooks", "webhook endpoint signature retry"),
        ("When the service is down", "status outage incident maintenance"),
    ],
}
_KEPT_BACK = [
    ("Escalate a hard ticket", "escalate ticket supervisor", Visibility.STAFF),
    ("Codes for goodwill credit", "goodwill credit code", Visibility.STAFF),
    ("Early access features", "early access beta feature", Visibility.SIGNED_IN),
    ("Limits of signed-in readers", "limits quota reader", Visibility.SIGNED_IN),
    ("Answers about known defects", "known defect workaround", Visibility.ANSWERS_ONLY),
    ("Answers about old versions", "old version support end", Visibility.ANSWERS_ONLY),
]
_WITHDRAWN = [
    ("Prices of next year", "next year price plan", Status.DRAFT),
    ("The retired mobile app", "retired mobile app", Status.ARCHIVED),
]


@dataclass(frozen=True, slots=True)
class Library:
    """What there is: titles to slugs, the words to search each by, slugs of categories.

    `language`: that of the articles. `passing`: the one public article that comes and goes
    between turns.
    """

    language: str
    slugs: dict[str, str]
    queries: tuple[str, ...]
    categories: tuple[str, ...]
    withheld: tuple[str, ...]
    passing: str


def make() -> Library:
    """Makes and indexes the articles. Asks the database."""
    token, language = uuid.uuid4().hex[:12], _private_language()
    slugs: dict[str, str] = {}
    queries: list[str] = []
    categories = []
    for name, topics in _TOPICS.items():
        category = Category.objects.create(name=name, slug=f"{name.lower()}-{token}")
        categories.append(category.slug)
        for title, words in topics:
            slugs[title] = _published(title, words, token, category, language).slug
            queries += [words, f"How do I {title.lower()}?"]
    for title, words, visibility in _KEPT_BACK:
        slugs[title] = _published(title, words, token, category, language, visibility).slug
        queries.append(words)
    for title, words, status in _WITHDRAWN:
        article = _published(title, words, token, category, language)
        publishing.withdraw(article, status)
        slugs[title] = article.slug
        queries.append(words)
    words = "promotion discount voucher"
    passing = _published("A promotion that ends", words, token, category, language)
    slugs[passing.title] = passing.slug
    queries += [words, "weather on the moon tomorrow"]
    withheld = tuple(title for title, _words, _why in (*_KEPT_BACK, *_WITHDRAWN))
    return Library(language, slugs, tuple(queries), tuple(categories), withheld, passing.title)


def _private_language() -> str:
    """A code that is reserved for private use, so that no site has articles in it. A different
    one each time: two checks at once would wait for each other's row of the index's state."""
    return f"q{secrets.choice('abcdefghijklmnopqrst')}{secrets.choice(string.ascii_lowercase)}"


def withdraw(library: Library, title: str) -> None:
    publishing.withdraw(Article.objects.get(slug=library.slugs[title]))


def put_back(library: Library, title: str) -> None:
    article = Article.objects.get(slug=library.slugs[title])
    if article.status != Status.PUBLISHED:
        publishing.publish(article, index=False)
        indexing.index_article(article.pk)


def _published(
    title: str,
    words: str,
    token: str,
    category: Category,
    language: str,
    visibility: Visibility = Visibility.PUBLIC,
) -> Article:
    article = Article(
        title=title,
        slug=f"{slugify(title)}-{token}",
        summary=f"About {words}.",
        body=_body(title, words),
        category=category,
        visibility=visibility,
        language=language,
    )
    publishing.publish(article, index=False)
    indexing.index_article(article.pk)
    return article


def _body(title: str, words: str) -> str:
    first, *rest = words.split()
    steps = "\n".join(f"{n}. Choose **{word}**." for n, word in enumerate(rest, start=1))
    more = f"\n\nThe state of the service: <{STATUS_PAGE}>." if first == "status" else ""
    return (
        f"## {title}, step by step\n\nThis is how it goes with {words}.\n\n{steps}\n\n"
        f"## What to know about {first}\n\nRows [1] and [2] of the table are about {words}."
        f"{more}\n"
    )
