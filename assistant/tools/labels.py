"""Tool calls in words for the visitor, in the active language: "Searching for …", "Read …"."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

LONGEST = 80
"""Characters of a query or title in a label."""


def searching(query: str) -> str:
    return _("Searching for “%(query)s”") % {"query": _short(query)}


def searched(query: str, count: int) -> str:
    text = ngettext(
        "Searched for “%(query)s”: %(count)d article",
        "Searched for “%(query)s”: %(count)d articles",
        count,
    )
    return text % {"query": _short(query), "count": count}


def reading(title: str) -> str:
    return _("Reading %(title)s") % {"title": _short(title) if title else _("an article")}


def read(title: str) -> str:
    return _("Read %(title)s") % {"title": _short(title)}


def looking() -> str:
    return _("Looking at what there is")


def saw_categories() -> str:
    return _("Looked at the categories")


def saw_articles(total: int) -> str:
    text = ngettext(
        "Looked at the list of %(count)d article", "Looked at the list of %(count)d articles", total
    )
    return text % {"count": total}


def declining(reason: str) -> str:
    labels = {
        "not_in_docs": _("Found no answer in the articles"),
        "unclear_question": _("Asking back"),
        "out_of_scope": _("Not a question for this help center"),
    }
    return labels[reason]


def failing() -> str:
    return _("Trying something else")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
