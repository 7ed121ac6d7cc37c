"""Working copies and categories as their editors see and send them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.validators import UniqueValidator

from articles.api.fields import (
    CategoryField,
    ChoiceField,
    NumberField,
    SlugField,
    StrictSerializer,
    SwitchField,
    TextField,
)
from articles.api.serializers import absolute
from articles.models import LANGUAGE, Article, Category, Status, Visibility
from articles.models.content import BODY_LENGTH
from articles.models.slugs import SLUG_LENGTH

GREATEST_POSITION = 2_147_483_647
EXTERNAL_ID_LENGTH = 300


class LanguageField(TextField, serializers.RegexField):
    def __init__(self, **options: Any) -> None:
        super().__init__(LANGUAGE, **options)


class WorkingCopy(serializers.ModelSerializer[Article]):
    """An article as its writers have it. `revision` is the number of the live one."""

    markdown = serializers.CharField(source="body")
    category = serializers.SlugRelatedField[Category](
        "slug", read_only=True, allow_null=True, default=None
    )
    status = serializers.ChoiceField(choices=Status.choices)
    visibility = serializers.ChoiceField(choices=Visibility.choices)
    revision = serializers.SerializerMethodField()
    has_unpublished_changes = serializers.BooleanField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Article
        fields = [
            "id",
            "external_id",
            "slug",
            "title",
            "summary",
            "markdown",
            "language",
            "category",
            "position",
            "visibility",
            "status",
            "revision",
            "has_unpublished_changes",
            "created_at",
            "updated_at",
            "published_at",
            "url",
        ]
        read_only_fields = fields

    @extend_schema_field({"type": ["integer", "null"]})
    def get_revision(self, article: Article) -> int | None:
        return article.live_revision.number if article.live_revision else None

    @extend_schema_field({"type": ["string", "null"], "format": "uri"})
    def get_url(self, article: Article) -> str | None:
        """Its page; null where it has none."""
        if article.status != Status.PUBLISHED:
            return None
        return absolute(self, article.get_absolute_url())


class ArticleChange(StrictSerializer):
    """What an editor changes; what is left out stays as it is."""

    title = TextField(required=False, max_length=250)
    slug = SlugField(
        required=False,
        max_length=SLUG_LENGTH,
        validators=[UniqueValidator(Article.objects.all(), "Another article has this slug.")],
        help_text="Part of the address: letters and digits of any script, `-` and `_`. The old one "
        "redirects to the new one.",
    )
    summary = TextField(required=False, max_length=500, allow_blank=True)
    markdown = TextField(
        source="body",
        required=False,
        max_length=BODY_LENGTH,
        allow_blank=True,
        trim_whitespace=False,
    )
    language = LanguageField(required=False, max_length=12, help_text="Such as `en` or `pt-BR`.")
    category = CategoryField(
        required=False, allow_null=True, help_text="A category's slug; null for none."
    )
    position = NumberField(
        required=False,
        min_value=0,
        max_value=GREATEST_POSITION,
        help_text="Its place in the category, lowest first.",
    )
    visibility = ChoiceField(required=False, choices=Visibility.choices)


class NewArticle(ArticleChange):
    title = TextField(max_length=250)
    external_id = TextField(
        required=False,
        allow_null=True,
        max_length=EXTERNAL_ID_LENGTH,
        validators=[UniqueValidator(Article.objects.all(), "Another article has this id.")],
        help_text="The article's name where it comes from, such as a path.",
    )
    publish = SwitchField(default=False, help_text="Whether to make it live at once.")


class SyncedArticle(ArticleChange):
    """A document of another system: created, or brought to what is sent."""

    title = TextField(max_length=250)
    markdown = TextField(
        source="body", max_length=BODY_LENGTH, allow_blank=True, trim_whitespace=False
    )
    publish = SwitchField(default=False, help_text="Whether to make it live, if it is not.")


class EditedCategory(serializers.ModelSerializer[Category]):
    """A category as it is, empty or not."""

    parent = serializers.SlugRelatedField[Category](  # type: ignore[assignment]
        "slug", read_only=True, allow_null=True, default=None
    )

    class Meta:
        model = Category
        fields = ["slug", "name", "description", "parent", "position"]
        read_only_fields = fields


class CategoryChange(StrictSerializer):
    name = TextField(required=False, max_length=120)
    slug = SlugField(
        required=False,
        max_length=SLUG_LENGTH,
        validators=[UniqueValidator(Category.objects.all(), "Another category has this slug.")],
        help_text="Part of the address: letters and digits of any script, `-` and `_`. The old one "
        "does not redirect.",
    )
    description = TextField(required=False, max_length=300, allow_blank=True)
    parent = CategoryField(  # type: ignore[assignment]
        required=False, allow_null=True, help_text="The category it is in; null for none."
    )
    position = NumberField(required=False, min_value=0, max_value=GREATEST_POSITION)


class NewCategory(CategoryChange):
    name = TextField(max_length=120)
