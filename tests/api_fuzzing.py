"""Requests made from the OpenAPI document, most of them to what is there, and what is asked of
the answers: for `test_api_fuzzed` in one process, for `proof.api` over HTTP and for longer.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
"""What is asked of every answer. Not `positive_data_acceptance`: what the document cannot say is
refused as well, such as a category that does not exist or a slug that is taken."""

Known = Mapping[str, Sequence[str | int]]
"""Names in paths, and values of them that lead somewhere."""


def seed() -> Known:
    """Articles and categories in every state, and a gap. Returns how paths name them."""
    from django.utils import timezone

    from articles.models import Status, Visibility
    from assistant.models import GapTopic
    from tests.factories import make_article, make_category

    top = make_category("Account")
    category = make_category("Signing in", parent=top)
    make_category("Empty")
    articles = [
        make_article("Reset your password", category=category, external_id="docs/reset.md"),
        make_article("Import articles", visibility=Visibility.STAFF, language="de"),
        make_article("Only for answers", visibility=Visibility.ANSWERS_ONLY),
        make_article("A draft", publish=False, external_id="docs/draft.md"),
        make_article("Archived", status=Status.ARCHIVED),
        make_article("Moved"),
    ]
    moved = articles[-1]
    moved.slug = "moved-here"
    moved.save()
    asked = timezone.now()
    gap = GapTopic.objects.create(kind="gap", name="Fees", first_seen=asked, last_seen=asked)
    return {
        "topic_id": [gap.pk],
        "article_id": [article.pk for article in articles],
        "slug": [*(article.slug for article in articles), "moved", "account", "empty"],
        "external_id": ["docs/reset.md", "docs/draft.md", "docs/new.md"],
    }


def aim(case: Any, known: Known) -> None:
    """Lead three in four requests to what is there, and most changes to its present version.

    By a hash of what was generated, so that an example means the same each time it is tried.
    """
    for name, values in known.items():
        if name in case.path_parameters:
            draw = zlib.crc32(repr(case.path_parameters[name]).encode())
            if draw % 4:
                case.path_parameters[name] = values[draw // 4 % len(values)]
    if "If-Match" in (case.headers or {}) and zlib.crc32(case.headers["If-Match"].encode()) % 4:
        case.headers["If-Match"] = "*"
