"""The languages that a site's articles are written in, and what people call them."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import get_language_info

from articles.models import Article
from articles.terms.analysis import base_language


def languages_of_articles() -> list[str]:
    """Base codes, drafts' too, and the site's own: the language of the first article."""
    codes = Article.objects.order_by().values_list("language", flat=True).distinct()
    return sorted({base_language(code) for code in [*codes, settings.LANGUAGE_CODE]})


def language_name(code: str) -> str:
    """As its speakers call it; the code where that is not known."""
    try:
        return str(get_language_info(code)["name_local"])
    except KeyError:
        return code
