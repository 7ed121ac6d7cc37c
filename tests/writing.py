"""The forms that writers fill in the admin, as a browser would send them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from articles.models import Article


def form_of(article: Article, **changes: Any) -> dict[str, Any]:
    """The article's form as it was filled, with `changes` typed into it."""
    fields = {
        "title": article.title,
        "slug": article.slug,
        "summary": article.summary,
        "body": article.body,
        "category": article.category_id or "",
        "position": article.position,
        "language": article.language,
        "initial-language": article.language,
        "visibility": article.visibility,
        "author": "",
    }
    return {**fields, **changes}


def article_url(name: str, *args: Any) -> str:
    """The address of an admin page: `article_url("change", article.pk)`."""
    return reverse(f"admin:articles_article_{name}", args=args)


def change_url(article: Article) -> str:
    return article_url("change", article.pk)


def colleague(name: str, *codenames: str) -> User:
    """Staff with these permissions on articles alone, such as "view_article"."""
    user = User.objects.create_user(name, f"{name}@example.com", "a password of tests")
    user.is_staff = True
    user.save()
    user.user_permissions.set(
        Permission.objects.filter(codename__in=codenames, content_type__app_label="articles")
    )
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
