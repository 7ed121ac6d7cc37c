"""How categories, articles and search results look to readers."""

from __future__ import annotations

from typing import Any, cast

from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from articles.categories import Branch
from articles.models import Article, Category, Visibility
from articles.ranking import spelling
from articles.reading import shown_revision
from articles.rendering import ContentsEntry, Rendered, plain_text, render_article
from articles.search import Hit, PassageHit, Results


class CategoryLink(serializers.ModelSerializer[Category]):
    class Meta:
        model = Category
        fields = ["slug", "name"]


class CategorySerializer(serializers.Serializer[Branch]):
    """A category as its reader sees it. `articles` counts those here and in all below."""

    slug = serializers.CharField(source="category.slug")
    name = serializers.CharField(source="category.name")
    description = serializers.CharField(source="category.description")
    parent = serializers.SerializerMethodField()  # type: ignore[assignment]
    articles = serializers.IntegerField(min_value=0)
    url = serializers.SerializerMethodField()

    @extend_schema_field({"type": ["string", "null"]})
    def get_parent(self, branch: Branch) -> str | None:
        return branch.path[-1].slug if branch.path else None

    @extend_schema_field({"type": "string", "format": "uri"})
    def get_url(self, branch: Branch) -> str:
        return absolute(self, branch.category.get_absolute_url())


class CategoryList(serializers.Serializer[dict[str, Any]]):
    results = CategorySerializer(many=True)


class ArticleSummary(serializers.Serializer[Article]):
    """The live revision of an article, without its text. `updated_at`: when it was published."""

    id = serializers.IntegerField()
    slug = serializers.CharField()
    title = serializers.CharField(source="live_revision.title")
    summary = serializers.CharField(source="live_revision.summary")
    language = serializers.CharField(source="live_revision.language")
    category = CategoryLink(allow_null=True)
    visibility = serializers.ChoiceField(choices=Visibility.choices)
    revision = serializers.IntegerField(source="live_revision.number", min_value=1)
    published_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(source="live_revision.created_at")
    url = serializers.SerializerMethodField()

    @extend_schema_field({"type": "string", "format": "uri"})
    def get_url(self, article: Article) -> str:
        return absolute(self, article.get_absolute_url())


class Heading(serializers.Serializer[ContentsEntry]):
    level = serializers.IntegerField(min_value=2, max_value=6)
    text = serializers.CharField()
    anchor = serializers.CharField()


class ArticleSerializer(ArticleSummary):
    """With its text, as it was written and as the page shows it.

    `html` is sanitised; its links to pages of the site are relative to the site.
    """

    markdown = serializers.CharField(source="live_revision.body")
    html = serializers.SerializerMethodField()
    contents = serializers.SerializerMethodField()

    @cached_property
    def rendered(self) -> Rendered:
        return render_article(shown_revision(cast(Article, self.instance)).body)

    def get_html(self, article: Article) -> str:
        return self.rendered.html

    @extend_schema_field(Heading(many=True))
    def get_contents(self, article: Article) -> Any:
        return [Heading(entry).data for entry in self.rendered.contents]


class Moved(serializers.Serializer[Article]):
    """Where an article is whose slug has changed."""

    slug = serializers.CharField()


class Passage(serializers.Serializer[PassageHit]):
    """A passage that matches, as plain text. `url` leads to its heading."""

    headings = serializers.ListField(child=serializers.CharField(), source="heading_path")
    anchor = serializers.CharField(allow_blank=True)
    text = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    def get_text(self, passage: PassageHit) -> str:
        return plain_text(passage.text)

    @extend_schema_field({"type": "string", "format": "uri"})
    def get_url(self, passage: PassageHit) -> str:
        article: Article = self.context["article"]
        anchor = f"#{passage.anchor}" if passage.anchor else ""
        return absolute(self, article.get_absolute_url() + anchor)


class SearchResult(serializers.Serializer[Hit]):
    """An article that matches, with its best passages; one found by its title alone has none."""

    article = ArticleSummary()
    passages = serializers.SerializerMethodField()

    @extend_schema_field(Passage(many=True))
    def get_passages(self, hit: Hit) -> Any:
        context = {**self.context, "article": hit.article}
        return [Passage(passage, context=context).data for passage in hit.passages]


class SearchResults(serializers.Serializer[Results]):
    """Best first. `mode` is what was searched by, `fallback_reason` why it was not everything.
    `suggestion` is what may have been meant, where nothing good was found."""

    query = serializers.CharField()
    mode = serializers.ChoiceField(choices=["hybrid", "lexical", "dense", "title"])
    fallback_reason = serializers.ChoiceField(
        choices=[
            "no_text",
            "only_common_words",
            "embeddings_off",
            "embeddings_failed",
            "embeddings_missing",
        ],
        allow_null=True,
    )
    languages = serializers.ListField(child=serializers.CharField())
    suggestion = serializers.SerializerMethodField()
    results = SearchResult(many=True, source="hits")

    def get_suggestion(self, found: Results) -> str | None:
        return spelling.suggestion(found)


def absolute(serializer: serializers.BaseSerializer[Any], path: str) -> str:
    request: Request = serializer.context["request"]
    return request.build_absolute_uri(path)
