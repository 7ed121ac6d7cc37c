"""The product's own manual as demo content: into an empty site, and out of it again.

Its articles are known by their external ids, so that nothing else is ever removed.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from articles import publishing
from articles.importing import Options, Report, import_articles
from articles.importing.run import Progress
from articles.importing.storing import fingerprint
from articles.models import Article, Category
from helpcenter.models import SiteSettings

PREFIX = "demo:"
FOLDER = settings.BASE_DIR / "docs"
TOPICS = (
    "Getting started",
    "Writing articles",
    "The assistant",
    "Administration",
    "For developers",
)
"""The manual's categories, as somebody new wants them."""

QUESTIONS = """\
How do I import our existing articles?
Which sources does an answer show?
How do I connect a language model?
Who can read an article?
What happens to questions nobody could answer?
"""


@dataclass(frozen=True)
class Removed:
    """How many articles and categories went, and how many edited articles stayed."""

    articles: int
    categories: int
    edited: int


def is_empty() -> bool:
    """Whether the site has no articles at all, drafts included."""
    return not Article.objects.exists()


def is_new() -> bool:
    """Whether nothing was ever done with the site: no articles, and nobody saved its settings."""
    return is_empty() and not SiteSettings.objects.exists()


def load(progress: Progress | None = None) -> Report:
    """Imports the manual, and suggests questions about it where nobody chose others."""
    report = import_articles(FOLDER, Options(prefix=PREFIX), progress)
    _order_topics()
    if not SiteSettings.objects.exists():
        SiteSettings(suggested_questions=QUESTIONS).save()
    return report


def _order_topics() -> None:
    """Those that nobody has given a place."""
    own = Article.objects.filter(external_id__startswith=PREFIX).values("category")
    for position, name in enumerate(TOPICS, start=1):
        Category.objects.filter(pk__in=own, name=name, position=0).update(position=position)


@transaction.atomic
def remove(*, edited_too: bool) -> Removed:
    """Deletes the demo articles, the categories that are empty without them, and the questions.

    An article that was edited on the site stays, unless `edited_too`.
    """
    demo = list(Article.objects.filter(external_id__startswith=PREFIX).select_related("category"))
    edited = [article for article in demo if fingerprint(article) != article.imported_hash]
    going = demo if edited_too else [article for article in demo if article not in edited]
    for article in going:
        publishing.withdraw(article)
        article.delete()
    categories = _remove_empty({article.category for article in going if article.category})
    SiteSettings.objects.filter(suggested_questions=QUESTIONS).update(suggested_questions="")
    return Removed(len(going), categories, len(demo) - len(going))


def _remove_empty(categories: set[Category]) -> int:
    """Deletes those that hold nothing any more, and then those around them."""
    removed = 0
    while categories:
        empty = {
            category
            for category in categories
            if not category.articles.exists() and not category.children.exists()
        }
        categories = {category.parent for category in empty if category.parent}
        for category in empty:
            category.delete()
        removed += len(empty)
    return removed
