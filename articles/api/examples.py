"""What the reference shows beside each operation. A test holds them to the schema."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

_LINK = {"slug": "account", "name": "Account"}
_SUMMARY: dict[str, Any] = {
    "id": 12,
    "slug": "reset-your-password",
    "title": "Reset your password",
    "summary": "What to do when you cannot sign in",
    "language": "en",
    "category": _LINK,
    "visibility": "public",
    "revision": 3,
    "published_at": "2026-03-02T09:00:00Z",
    "updated_at": "2026-11-17T14:30:00Z",
    "url": "https://help.example.com/articles/reset-your-password/",
}
_CATEGORY: dict[str, Any] = {
    "slug": "account",
    "name": "Account",
    "description": "Signing in, and what we know about you",
    "parent": None,
    "articles": 7,
    "url": "https://help.example.com/categories/account/",
}
_EDITED_CATEGORY = {
    "slug": "account",
    "name": "Account",
    "description": "Signing in, and what we know about you",
    "parent": None,
    "position": 1,
}
_MARKDOWN = "## By e-mail\n\nOpen **Settings** and choose *Send a link*.\n"
_WRITTEN = {
    "title": "Reset your password",
    "summary": "What to do when you cannot sign in",
    "markdown": _MARKDOWN,
    "language": "en",
    "category": "account",
}


def _answer(name: str, value: Any, *statuses: str) -> OpenApiExample:
    return OpenApiExample(name, value, response_only=True, status_codes=statuses or ("200",))


def _body(name: str, value: Any) -> OpenApiExample:
    return OpenApiExample(name, value, request_only=True)


CATEGORIES = _answer("Categories", {"results": [_CATEGORY]})
CATEGORY = _answer("A category", _CATEGORY)
ARTICLE_SUMMARY = _answer("An article", _SUMMARY)
ARTICLE = _answer(
    "An article",
    {
        **_SUMMARY,
        "markdown": _MARKDOWN,
        "html": '<h2 id="by-e-mail">By e-mail</h2>\n<p>Open <strong>Settings</strong> and choose '
        "<em>Send a link</em>.</p>\n",
        "contents": [{"level": 2, "text": "By e-mail", "anchor": "by-e-mail"}],
    },
)
SEARCH = _answer(
    "Found",
    {
        "query": "forgot password",
        "mode": "hybrid",
        "fallback_reason": None,
        "languages": ["en"],
        "suggestion": None,
        "results": [
            {
                "article": _SUMMARY,
                "passages": [
                    {
                        "headings": ["By e-mail"],
                        "anchor": "by-e-mail",
                        "text": "Open Settings and choose Send a link.",
                        "url": "https://help.example.com/articles/reset-your-password/#by-e-mail",
                    }
                ],
            }
        ],
    },
)
VOTE = _body(
    "A negative vote",
    {"rating": "negative", "reason": "outdated", "comment": "The menu has moved."},
)
NEW_ARTICLE = _body("A draft", {**_WRITTEN, "visibility": "public"})
SYNCED_ARTICLE = _body("A document", {**_WRITTEN, "publish": True})
ARTICLE_CHANGE = _body("A new title", {"title": "Choose a new password"})
WORKING_COPY = _answer(
    "A published article",
    {
        "id": 12,
        "external_id": "docs/account/password.md",
        "slug": "reset-your-password",
        **_WRITTEN,
        "position": 2,
        "visibility": "public",
        "status": "published",
        "revision": 3,
        "has_unpublished_changes": False,
        "created_at": "2026-03-01T16:20:00Z",
        "updated_at": "2026-11-17T14:30:00Z",
        "published_at": "2026-03-02T09:00:00Z",
        "url": "https://help.example.com/articles/reset-your-password/",
    },
    "200",
    "201",
)
NEW_CATEGORY = _body("A category", {"name": "Signing in", "parent": "account"})
CATEGORY_CHANGE = _body("A new place", {"parent": None, "position": 1})
EDITED_CATEGORY = _answer("A category", _EDITED_CATEGORY, "200", "201")
