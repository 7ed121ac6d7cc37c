"""Categories, articles and search for readers: what the caller may open, as it is live."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.access import Reader, gone, readable
from articles.api import examples
from articles.api.errors import Gone
from articles.api.pagination import LARGEST_PAGE, PAGE_SIZE, Pages
from articles.api.serializers import (
    ArticleSerializer,
    ArticleSummary,
    CategoryList,
    CategorySerializer,
    Moved,
    SearchResults,
)
from articles.api.views import View
from articles.categories import Branch, branch, tree
from articles.models import LANGUAGE, Article
from articles.search import search

QUERY_LENGTH = 400
LARGEST_SEARCH = 50


class PageQuery(serializers.Serializer[Any]):
    page_size = serializers.IntegerField(
        min_value=1, max_value=LARGEST_PAGE, default=PAGE_SIZE, help_text="How many on a page."
    )
    cursor = serializers.CharField(
        required=False,
        help_text="Where a page begins: part of the addresses in `next` and `previous`.",
    )


class ArticleQuery(PageQuery):
    category = serializers.CharField(
        required=False, max_length=120, help_text="A category's slug; those below it count too."
    )
    language = serializers.RegexField(
        LANGUAGE, required=False, help_text="Such as `en`; `en-GB` is in `en`, and not the reverse."
    )
    updated_since = serializers.DateTimeField(
        required=False, help_text="Only what was published at this time or later."
    )


class SearchQuery(serializers.Serializer[Any]):
    q = serializers.CharField(max_length=QUERY_LENGTH, help_text="What to look for, in any words.")
    category = serializers.CharField(
        required=False, max_length=120, help_text="A category's slug; those below it count too."
    )
    language = serializers.RegexField(
        LANGUAGE,
        required=False,
        help_text="Searched first, then the site's own where that was not enough; "
        "without it, every language is.",
    )
    limit = serializers.IntegerField(
        min_value=1, max_value=LARGEST_SEARCH, default=10, help_text="How many articles at most."
    )


class Categories(View):
    @extend_schema(
        operation_id="list_categories",
        tags=["Reading"],
        summary="List categories",
        description="All categories that hold something the caller may open, in their order, "
        "each before those inside it.",
        responses=CategoryList,
        examples=[examples.CATEGORIES],
    )
    def get(self, request: Request) -> Response:
        nodes = [node for top in tree(self.reader()) for node in top.walk()]
        context = {"request": request}
        return Response(CategoryList({"results": nodes}, context=context).data)


class CategoryDetail(View):
    @extend_schema(
        operation_id="get_category",
        tags=["Reading"],
        summary="Get a category",
        responses=CategorySerializer,
        examples=[examples.CATEGORY],
    )
    def get(self, request: Request, slug: str) -> Response:
        found = branch(tree(self.reader()), slug)
        if found is None:
            raise NotFound
        return Response(CategorySerializer(found, context={"request": request}).data)


class Articles(View):
    pagination_class: ClassVar[type[Pages]] = Pages

    @extend_schema(
        operation_id="list_articles",
        tags=["Reading"],
        summary="List articles",
        description="The articles that the caller may open, the latest publication first.",
        parameters=[ArticleQuery],
        responses=ArticleSummary(many=True),
        examples=[examples.ARTICLE_SUMMARY],
    )
    def get(self, request: Request) -> Response:
        query = checked(ArticleQuery, request)
        pages = Pages()
        page = pages.paginate_queryset(_filtered(self.reader(), query), request, self) or []
        context = {"request": request}
        return pages.get_paginated_response(
            [ArticleSummary(article, context=context).data for article in page]
        )


class ArticleDetail(View):
    @extend_schema(
        operation_id="get_article",
        tags=["Reading"],
        summary="Get an article",
        description="The live revision, as Markdown and as HTML. An address from before a slug "
        "changed redirects to the present one; where an article was archived, the answer is 410.",
        responses={
            200: ArticleSerializer,
            301: OpenApiResponse(Moved, "The slug has changed; `Location` is where it is now."),
        },
        examples=[examples.ARTICLE],
    )
    def get(self, request: Request, slug: str) -> Response:
        articles = readable(self.reader())
        article = articles.filter(slug=slug).first()
        if article is None:
            return self._moved(articles, slug)
        return Response(ArticleSerializer(article, context={"request": request}).data)

    def _moved(self, articles: QuerySet[Article], slug: str) -> Response:
        """Where an article is whose slug was this one."""
        article = articles.filter(old_slugs__slug=slug).first()
        if article is None:
            was_there = gone(self.reader()).filter(slug=slug).exists()
            raise Gone if was_there else NotFound
        path = reverse("articles:api-article", args=[article.slug])
        headers = {"Location": self.request.build_absolute_uri(path)}
        return Response(Moved(article).data, status=301, headers=headers)


class Search(View):
    @extend_schema(
        operation_id="search",
        tags=["Reading"],
        summary="Search",
        description="The articles that match, best first, each with up to three passages. Scores "
        "are left out: they mean something inside one version of the search only. Where a part "
        "of the search is down, the rest answers, and `fallback_reason` says so.",
        parameters=[SearchQuery],
        responses=SearchResults,
        examples=[examples.SEARCH],
    )
    def get(self, request: Request) -> Response:
        query = checked(SearchQuery, request)
        reader = self.reader()
        within = _branch(reader, query.get("category"))
        found = search(
            query["q"],
            reader=reader,
            language=query.get("language"),
            category=within.category if within else None,
            limit=query["limit"],
        )
        return Response(SearchResults(found, context={"request": request}).data)


def checked(query: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """The parameters, or a `ValidationError` that names the wrong ones."""
    serializer = query(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


def _filtered(reader: Reader, query: dict[str, Any]) -> QuerySet[Article]:
    articles = readable(reader).annotate(changed_at=F("live_revision__created_at"))
    articles = articles.defer("body", "live_revision__body")
    if within := _branch(reader, query.get("category")):
        articles = articles.filter(category__in=[node.category.pk for node in within.walk()])
    if language := query.get("language"):
        own = Q(live_revision__language__iexact=language)
        articles = articles.filter(own | Q(live_revision__language__istartswith=f"{language}-"))
    since: datetime | None = query.get("updated_since")
    return articles.filter(changed_at__gte=since) if since else articles


def _branch(reader: Reader, slug: str | None) -> Branch | None:
    """The category to look in; raises `ValidationError` where this reader has none like it."""
    if not slug:
        return None
    found = branch(tree(reader), slug)
    if found is None:
        raise ValidationError({"category": [_("There is no such category.")]})
    return found
