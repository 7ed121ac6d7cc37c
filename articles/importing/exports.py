"""Saved JSON of two common help desks: Zendesk's help center and Intercom's articles.

An export is the answers of their APIs, saved page by page. What says that an article
is not public is believed, and what does not say that it is, is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from articles.importing.report import CannotImportError
from articles.markup.outline import normalised


@dataclass(slots=True)
class Entry:
    """One article of an export, with its HTML; empty values where the export says nothing."""

    id: str
    title: str
    html: str
    summary: str = ""
    language: str = ""
    group: str = ""
    addresses: tuple[str, ...] = ()
    is_draft: bool = False
    is_restricted: bool = False
    date: datetime | None = None


@dataclass(slots=True)
class Export:
    """What one JSON file holds. `groups` names sections and collections by their id.

    `next_page` is the address at which the export goes on, empty at its end.
    """

    entries: list[Entry] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    next_page: str = ""
    names_itself_next: bool = False
    problems: list[str] = field(default_factory=list)


def read_export(text: str) -> Export | None:
    """The export in a JSON file, or None where the file is something else.

    Raises `CannotImportError` for text that is not JSON.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CannotImportError(f"not valid JSON: {error}") from error
    articles, groups = _rows(data)
    if articles is None and groups is None:
        return None
    export = Export()
    for row in groups or []:
        export.groups[str(row.get("id"))] = _line(row.get("name"))
    for number, row in enumerate(articles or [], start=1):
        if not isinstance(row, dict) or row.get("id") in (None, ""):
            export.problems.append(f"entry {number} has no id")
        else:
            export.entries.append(_entry(row))
    if isinstance(data, dict):
        export.next_page = _next_page(data)
        export.names_itself_next = _names_itself(data, export.next_page)
    return export


def _rows(data: object) -> tuple[list[Any] | None, list[Any] | None]:
    """The articles and the groups of a file; None where it is no list of such things."""
    if isinstance(data, list):
        return (data, None) if data and all(map(_is_article, data)) else (None, None)
    if not isinstance(data, dict):
        return None, None
    groups = [
        row
        for key in ("sections", "categories", "collections")
        for row in _dicts(data.get(key))
        if "name" in row
    ]
    if isinstance(data.get("articles"), list):
        return data["articles"], groups
    if isinstance(data.get("article"), dict):
        return [data["article"]], groups
    if data.get("type") == "list" and isinstance(data.get("data"), list):
        return _intercom_rows(data["data"])
    if _is_article(data):
        return [data], None
    return None, groups or None


def _intercom_rows(rows: list[Any]) -> tuple[list[Any], list[Any]]:
    groups = [row for row in _dicts(rows) if row.get("type") in ("collection", "section")]
    return [row for row in rows if row not in groups], groups


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    return (row for row in value if isinstance(row, dict)) if isinstance(value, list) else iter(())


def _is_article(row: object) -> bool:
    return isinstance(row, dict) and {"id", "title", "body"} <= row.keys()


def _entry(row: dict[str, Any]) -> Entry:
    is_intercom = row.get("type") == "article" or "state" in row
    group = row.get("parent_id") if is_intercom else row.get("section_id")
    body = row.get("body")
    return Entry(
        id=f"{'intercom' if is_intercom else 'zendesk'}:{_line(row['id'])}",
        title=_line(row.get("title") or row.get("name")),
        html=normalised(body) if isinstance(body, str) else "",
        summary=_line(row.get("description")),
        language=_line(row.get("locale") or row.get("default_locale")),
        group=_line(group),
        addresses=tuple(
            address for key in ("html_url", "url") if isinstance(address := row.get(key), str)
        ),
        is_draft=_is_draft(row, is_intercom),
        is_restricted=bool(row.get("user_segment_id") or row.get("user_segment_ids")),
        date=_moment(row.get("created_at")),
    )


def _is_draft(row: dict[str, Any], is_intercom: bool) -> bool:
    """Intercom says that an article is published; Zendesk says that it is a draft."""
    flag = row.get("draft")
    is_flagged = flag not in (None, False, 0, "", "false", "0")
    return is_flagged or (is_intercom and row.get("state") != "published")


def _next_page(data: dict[str, Any]) -> str:
    pages = data.get("pages")
    following = data.get("next_page") or (pages.get("next") if isinstance(pages, dict) else None)
    return following if isinstance(following, str) else json.dumps(following) if following else ""


def _names_itself(data: dict[str, Any], next_page: str) -> bool:
    """Whether a page gives its own number as the next one."""
    pages = data.get("pages")
    own = data.get("page", pages.get("page") if isinstance(pages, dict) else None)
    numbers = re.findall(r"""[?&"]page"?[=:]\s*(\d+)""", next_page)
    return own is not None and str(own) in numbers


def _line(value: object) -> str:
    return " ".join(normalised(str(value)).split()) if isinstance(value, str | int | float) else ""


def _moment(value: object) -> datetime | None:
    """A time as text, or in seconds since 1970."""
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
