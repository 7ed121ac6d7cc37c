"""An article as schema.org data, for search engines: `Article`, its way, its questions.

It stands on the page as a block of JSON that no browser runs. The text of an article is
hostile: whatever could end the block is escaped, so nothing in it is markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from articles.markup.outline import Section, sections
from articles.models import Article, ArticleRevision, Category
from articles.pages.canonical import absolute, description
from articles.rendering import plain_text

QUESTION_MARKS = ("?", "？", "؟")
LEAST_QUESTIONS = 2
"""Headings that ask, from which on an article counts as a list of questions."""

_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}

Data = dict[str, Any]


def article_json(
    article: Article, revision: ArticleRevision, path: Sequence[Category]
) -> SafeString:
    """The contents of a `script` element of type `application/ld+json`."""
    graph = [_article(article, revision), _breadcrumb(article, revision, path)]
    questions = list(_questions(sections(revision.body)))
    if len(questions) >= LEAST_QUESTIONS:
        graph.append({"@type": "FAQPage", "mainEntity": questions})
    data = {"@context": "https://schema.org", "@graph": graph}
    text = json.dumps(data, ensure_ascii=False).translate(_ESCAPES)
    return mark_safe(text)  # noqa: S308, what could end the element was escaped


def _article(article: Article, revision: ArticleRevision) -> Data:
    address = absolute(article.get_absolute_url())
    return {
        "@type": "Article",
        "@id": address,
        "url": address,
        "mainEntityOfPage": address,
        "headline": revision.title,
        "description": description(revision),
        "inLanguage": revision.language,
        "datePublished": (article.published_at or revision.created_at).isoformat(),
        "dateModified": revision.created_at.isoformat(),
    }


def _breadcrumb(article: Article, revision: ArticleRevision, path: Sequence[Category]) -> Data:
    steps = [
        (_("Home"), reverse("articles:home")),
        *((category.name, category.get_absolute_url()) for category in path),
        (revision.title, article.get_absolute_url()),
    ]
    items = [
        {"@type": "ListItem", "position": position, "name": name, "item": absolute(address)}
        for position, (name, address) in enumerate(steps, start=1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": items}


def _questions(outline: Sequence[Section]) -> Iterator[Data]:
    """The headings that ask, each with the text below it."""
    for index, section in enumerate(outline):
        if not section.title.rstrip().endswith(QUESTION_MARKS):
            continue
        answer = plain_text("\n".join(_below(outline, index)))
        if answer:
            yield {
                "@type": "Question",
                "name": section.title,
                "acceptedAnswer": {"@type": "Answer", "text": answer},
            }


def _below(outline: Sequence[Section], index: int) -> Iterator[str]:
    """The lines of a section and of the deeper ones in it."""
    yield from outline[index].body
    for section in outline[index + 1 :]:
        if section.level <= outline[index].level:
            return
        yield ""
        yield from section.body
