"""The addresses of the articles' API."""

from __future__ import annotations

from django.urls import path

from articles.api import feedback, reading
from articles.api.editing import articles, categories, documents, steps

urlpatterns = [
    path("categories/", reading.Categories.as_view(), name="api-categories"),
    path("categories/<unicode_slug:slug>/", reading.CategoryDetail.as_view(), name="api-category"),
    path("articles/", reading.Articles.as_view(), name="api-articles"),
    path("articles/<unicode_slug:slug>/", reading.ArticleDetail.as_view(), name="api-article"),
    path(
        "articles/<unicode_slug:slug>/feedback/",
        feedback.ArticleFeedbackView.as_view(),
        name="api-article-feedback",
    ),
    path("search/", reading.Search.as_view(), name="api-search"),
    path("manage/articles/", articles.ManagedArticles.as_view(), name="api-manage-articles"),
    path(
        "manage/articles/<int:article_id>/",
        articles.ManagedArticle.as_view(),
        name="api-manage-article",
    ),
    path("manage/articles/<int:article_id>/publish/", steps.Publish.as_view(), name="api-publish"),
    path(
        "manage/articles/<int:article_id>/unpublish/",
        steps.Unpublish.as_view(),
        name="api-unpublish",
    ),
    path("manage/articles/<int:article_id>/archive/", steps.Archive.as_view(), name="api-archive"),
    path(
        "manage/documents/<external_id:external_id>/",
        documents.ArticleByExternalId.as_view(),
        name="api-document",
    ),
    path(
        "manage/categories/", categories.ManagedCategories.as_view(), name="api-manage-categories"
    ),
    path(
        "manage/categories/<unicode_slug:slug>/",
        categories.ManagedCategory.as_view(),
        name="api-manage-category",
    ),
]
