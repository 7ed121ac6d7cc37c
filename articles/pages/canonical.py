"""The one address by which the world knows a page, and the one line that describes it.

Addresses are made from `SITE_URL`, never from the request: a page reached through another
host name, or through a proxy that speaks plain HTTP to us, is still the same page.
"""

from __future__ import annotations

from django.conf import settings
from django.utils.text import Truncator

from articles.markup.inline_text import without_payloads
from articles.models import ArticleRevision
from articles.rendering import plain_text

DESCRIPTION_LENGTH = 160
_READ_FOR_DESCRIPTION = 2_000


def absolute(path: str) -> str:
    """The full address of a path of this site."""
    return f"{settings.SITE_URL}{path}"


def description(revision: ArticleRevision) -> str:
    """One line about an article: its summary, or how its text begins. May be empty."""
    text = revision.summary or plain_text(_beginning(revision.body))
    return Truncator(" ".join(text.split())).chars(DESCRIPTION_LENGTH)


def _beginning(body: str) -> str:
    """Without pictures that stand in the text itself: cut within one, it would be no picture."""
    return without_payloads(body)[:_READ_FOR_DESCRIPTION]
