"""The addresses of the help pages and of the articles' API."""

from __future__ import annotations

from django.urls import include, path, register_converter
from django.urls.converters import PathConverter, StringConverter

from articles.api import documentation
from articles.pages import feeds, markdown_pages, search_pages, sitemaps, views

app_name = "articles"


class UnicodeSlug(StringConverter):
    """A slug in any script, as `Article.slug` allows it."""

    regex = r"[-\w]+"


class ExternalId(PathConverter):
    """Any text that the database can hold, slashes too: most are paths."""

    regex = r"[^\x00\ud800-\udfff]+"


register_converter(UnicodeSlug, "unicode_slug")
register_converter(ExternalId, "external_id")

urlpatterns = [
    path("", views.home, name="home"),
    path("articles/<unicode_slug:slug>/", views.article, name="article"),
    path("articles/<unicode_slug:slug>.md", markdown_pages.article, name="article-markdown"),
    path("articles/<unicode_slug:slug>/feedback/", views.feedback, name="feedback"),
    path("categories/", views.topics, name="topics"),
    path("categories/<unicode_slug:slug>/", views.category, name="category"),
    path("feed.atom", feeds.changes, name="feed"),
    path("llms.txt", markdown_pages.llms_txt, name="llms-txt"),
    path("sitemap.xml", sitemaps.index, name="sitemap"),
    path("sitemap-<slug:section>.xml", sitemaps.part, name="sitemap-part"),
    path("search/", search_pages.search_page, name="search"),
    path("search/suggest/", search_pages.suggest, name="suggest"),
    path("search/opened/", search_pages.opened, name="search-opened"),
    path("api/", documentation.reference, name="api-reference"),
    path("api/v1/openapi.json", documentation.openapi, name="api-schema"),
    path("api/v1/", include("articles.api.urls")),
]
