"""A file's bytes as text, and the front matter at its head as checked values.

Nothing becomes public by accident: every sign that a page is not finished (a draft
flag, an unknown status, a date in the future) makes a draft of it, and what cannot
be understood about who may read it fails the file.
"""

from __future__ import annotations

import codecs
import re
import tomllib
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

import yaml
from django.utils import timezone
from django.utils.translation import get_supported_language_variant

from articles.importing.report import CannotImportError
from articles.markup.outline import normalised
from articles.models import Status, Visibility

MAX_FRONT_MATTER = 20_000
EARLIEST_YEAR = 1900
"""Dates before are mistakes, and the very first years cannot be told in every time zone."""

_BOMS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_YAML = re.compile(r"\A---[ \t]*\n(?P<head>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(?P<head>(?:.*\n)*?)\+\+\+[ \t]*(?:\n|\Z)")
_UNCLOSED = re.compile(
    r"\A(?:---[ \t]*\n[A-Za-z_][\w-]*[ \t]*:|\+\+\+[ \t]*\n[A-Za-z_][\w-]*[ \t]*=)"
)

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_KEYS = {
    "title": "title",
    "description": "summary",
    "summary": "summary",
    "excerpt": "summary",
    "slug": "slug",
    "category": "category",
    "categories": "category",
    "status": "status",
    "draft": "draft",
    "published": "published",
    "unlisted": "hidden",
    "hidden": "hidden",
    "private": "hidden",
    "visibility": "visibility",
    "language": "language",
    "lang": "language",
    "locale": "language",
    "date": "date",
    "id": "id",
    "external_id": "id",
    "position": "position",
    "order": "position",
    "weight": "position",
    "sidebar_position": "position",
    "nav_order": "position",
}
_STATUSES = {
    "published": Status.PUBLISHED,
    "publish": Status.PUBLISHED,
    "live": Status.PUBLISHED,
    "public": Status.PUBLISHED,
    "draft": Status.DRAFT,
    "archived": Status.ARCHIVED,
}


@dataclass(slots=True)
class Fields:
    """What front matter says of an article; empty values where it says nothing."""

    title: str = ""
    summary: str = ""
    slug: str = ""
    category: tuple[str, ...] | None = None
    status: Status = Status.PUBLISHED
    visibility: Visibility = Visibility.PUBLIC
    language: str = ""
    date: datetime | None = None
    id: str = ""
    position: int = 0
    notes: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def decode(data: bytes, encoding: str = "") -> str:
    """The text of a file, with `\\n` line ends and without a byte order mark.

    UTF-8, and UTF-16 and UTF-32 with their mark, are recognised; `encoding` names what
    everything else is in. Raises `CannotImportError` for other bytes and for binary files.
    """
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return _checked(_decoded(data[len(mark) :], codec))
    try:
        return _checked(data.decode())
    except UnicodeDecodeError as error:
        if encoding:
            return _checked(_decoded(data, encoding))
        raise CannotImportError(
            f"not UTF-8 (byte {error.start}); save it as UTF-8, or name its encoding "
            "with --encoding"
        ) from error


def _decoded(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        raise CannotImportError(f"not valid {codec} (byte {error.start})") from error


def _checked(text: str) -> str:
    if "\0" in text:
        raise CannotImportError("not a text file: it holds NUL characters")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split(text: str) -> tuple[dict[str, Any], str]:
    """The front matter's values by key, lower case, and the text behind it.

    YAML between `---` lines, or TOML between `+++`. Raises `CannotImportError` where it
    is begun and cannot be read: guessing could publish a draft.
    """
    match = _YAML.match(text) or _TOML.match(text)
    if match is None:
        if _UNCLOSED.match(text):
            raise CannotImportError("its front matter has no closing line")
        return {}, text
    if len(match["head"]) > MAX_FRONT_MATTER:
        raise CannotImportError("its front matter is too long")
    values = _parsed(match["head"], text.startswith("+"))
    if values is None:
        return {}, text[match.end() :]
    if not isinstance(values, dict):
        return {}, text
    return {str(key).strip().lower(): value for key, value in values.items()}, text[match.end() :]


def _parsed(head: str, is_toml: bool) -> object:
    try:
        return tomllib.loads(head) if is_toml else yaml.safe_load(head)
    except tomllib.TOMLDecodeError as error:
        raise CannotImportError(f"its front matter is not valid TOML: {error}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 2})" if mark else ""
        problem = f"its front matter is not valid YAML: {error.problem}{where}"
        raise CannotImportError(problem) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CannotImportError("its front matter is not valid YAML") from error


def interpret(values: dict[str, Any]) -> Fields:
    """Front matter as checked fields. Raises `CannotImportError` for an unknown visibility."""
    found = Fields(ignored=[key for key in values if key not in _KEYS])
    known: dict[str, Any] = {}
    for key, value in values.items():
        if key in _KEYS and value is not None:
            known.setdefault(_KEYS[key], value)
            if _KEYS[key] == "hidden" and _flag(value) is not False:
                known["hidden"] = value
    found.title = _text(known.get("title"))
    found.summary = _text(known.get("summary"))
    found.slug = _text(known.get("slug"))
    found.id = _text(known.get("id"))
    found.category = _category(known.get("category"), found.notes)
    found.visibility = _visibility(known.get("visibility"))
    found.language = language(_text(known.get("language")), found.notes)
    found.position = _position(known.get("position"), found.notes)
    found.date = _date(known, found.notes)
    found.status = _status(known, found.date, found.notes)
    return found


def language(name: str, notes: list[str]) -> str:
    """The site's code for a language (`en_US` may be `en`); empty, with a note, if unknown."""
    if not name:
        return ""
    try:
        return get_supported_language_variant(name.strip().replace("_", "-").lower())
    except LookupError:
        notes.append(f"the language “{name}” is not known; the site's own is used")
        return ""


def _text(value: object) -> str:
    """A scalar as one line of text; nothing for a list or a mapping."""
    is_scalar = isinstance(value, str | int | float | date)
    return " ".join(normalised(str(value)).split()) if is_scalar else ""


def _flag(value: object) -> bool | None:
    """A truth value, also in words and quotes; None for what is neither."""
    word = str(value).strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _category(value: object, notes: list[str]) -> tuple[str, ...] | None:
    """Names from the outermost inwards: `Guides > Billing` is two. None where not stated."""
    if isinstance(value, list):
        names = [name for item in value if (name := _text(item))]
        if len(names) > 1:
            notes.append(f"of {len(names)} categories only the first is used")
        value = names[0] if names else None
    levels = tuple(level for part in _text(value).split(" > ") if (level := part.strip()))
    return levels or None


def _visibility(value: object) -> Visibility:
    if value is None:
        return Visibility.PUBLIC
    name = _text(value).lower().replace("-", "_").replace(" ", "_")
    if name not in Visibility.values:
        raise CannotImportError(
            f"its visibility “{_text(value)}” is none of {', '.join(Visibility.values)}"
        )
    return Visibility(name)


def _position(value: object, notes: list[str]) -> int:
    text = _text(value)
    try:
        number = int(float(text or 0))
    except (ValueError, OverflowError):
        notes.append(f"its position “{text}” is not a number")
        return 0
    return min(max(number, 0), 2_147_483_647)


def _date(known: dict[str, Any], notes: list[str]) -> datetime | None:
    """`date`, or a date that stands under `published`."""
    if "date" not in known:
        return _moment(known.get("published"))
    moment = _moment(known["date"])
    if moment is None:
        notes.append(f"its date “{_text(known['date'])}” is not a date")
    return moment


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime) or value.year < EARLIEST_YEAR:
        return None
    return value if timezone.is_aware(value) else timezone.make_aware(value)


def _status(known: dict[str, Any], moment: datetime | None, notes: list[str]) -> Status:
    """Published, unless anything says otherwise."""
    word = _text(known.get("status")).lower()
    status = _STATUSES.get(word, Status.DRAFT) if word else Status.PUBLISHED
    if word and word not in _STATUSES:
        notes.append(f"its status “{word}” is not known, so it is a draft")
    if status == Status.ARCHIVED:
        return status
    if moment and moment > timezone.now():
        notes.append("it is dated in the future, so it is a draft")
        return Status.DRAFT
    return Status.DRAFT if _is_held_back(known, moment, notes) else status


def _is_held_back(known: dict[str, Any], moment: datetime | None, notes: list[str]) -> bool:
    for key in ("draft", "hidden"):
        if key in known and _flag(known[key]) is not False:
            return True
    if "published" not in known:
        return False
    published = _flag(known["published"])
    if published is None and _moment(known["published"]) is None:
        notes.append("what it says under “published” is not understood, so it is a draft")
        return True
    return published is False
