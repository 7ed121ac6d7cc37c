"""The Atom feed of what was published or changed lately, for a reader without an account.

An entry is one revision: a feed reader shows an article again when it has changed, and the
older entry goes, because only the live revision is ever shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from articles.access import ANONYMOUS, readable
from articles.caching import public_document
from articles.models import Article
from articles.pages.canonical import absolute, description
from articles.reading import shown_revision
from helpcenter.models import SiteSettings

ENTRIES = 50
SECONDS = 300

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Changes(Feed[Article, SiteSettings]):
    feed_type = Atom1Feed

    def get_object(self, request: HttpRequest) -> SiteSettings:
        return SiteSettings.load()

    def title(self, obj: SiteSettings) -> str:
        return _in_xml(_("%(site)s: new and changed articles") % {"site": obj.name})

    def author_name(self, obj: SiteSettings) -> str:
        return _in_xml(obj.name)

    def link(self, obj: SiteSettings) -> str:
        return absolute(reverse("articles:home"))

    def feed_url(self, obj: SiteSettings) -> str:
        return absolute(reverse("articles:feed"))

    def items(self, obj: SiteSettings) -> Sequence[Article]:
        found = readable(ANONYMOUS).defer("body")
        return list(found.order_by("-live_revision__created_at", "-pk")[:ENTRIES])

    def item_title(self, item: Article) -> str:
        return _in_xml(shown_revision(item).title)

    def item_description(self, item: Article) -> str:
        """The format calls it HTML, so the text is escaped once here and once as XML."""
        return escape(_in_xml(description(shown_revision(item))))

    def item_link(self, item: Article) -> str:
        return absolute(item.get_absolute_url())

    def item_guid(self, item: Article) -> str:
        """A tag URI: it outlives a change of the article's address."""
        host, since = urlsplit(settings.SITE_URL).hostname, item.created_at.date()
        return f"tag:{host},{since}:articles/{item.pk}/{shown_revision(item).number}"

    def item_pubdate(self, item: Article) -> datetime:
        return item.published_at or shown_revision(item).created_at

    def item_updateddate(self, item: Article) -> datetime:
        return shown_revision(item).created_at

    def item_categories(self, item: Article) -> list[str]:
        return [_in_xml(item.category.name)] if item.category else []


_CHANGES = _Changes()


@require_safe
@public_document(SECONDS)
def changes(request: HttpRequest) -> HttpResponseBase:
    return _CHANGES(request)


def _in_xml(text: str) -> str:
    """The text without characters that no XML document may contain."""
    return _NO_XML.sub("", text)
