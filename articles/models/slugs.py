"""Slugs that are free, and texts that a database can hold: for every model with an address."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from helpcenter.texts import is_storable

SLUG_LENGTH = 120


def unique_slug(title: str, is_taken: Callable[[str], bool], fallback: str) -> str:
    """A slug for `title` that is not taken: words in any script, never empty.

    A title without a letter or digit in it ("😀", "??") gives `fallback` and a
    random part. Two callers at once may get the same one: the unique constraint decides.
    """
    base = slugify(title, allow_unicode=True).strip("-_")[: SLUG_LENGTH - 8].strip("-_")
    if not base:
        base = f"{fallback}-{uuid.uuid4().hex[:6]}"
    slug, number = base, 1
    while is_taken(slug):
        number += 1
        slug = f"{base}-{number}"
    return slug


def refuse_unstorable(row: models.Model, names: Iterable[str]) -> None:
    """Raises `ValidationError` for the fields of `row` whose text no database could hold: one
    with a NUL or with half of a character. Here rather than in forms, for code that saves."""
    wrong = [name for name in names if not is_storable(getattr(row, name) or "")]
    if wrong:
        message = _("The text has characters that are not text.")
        raise ValidationError(dict.fromkeys(wrong, message))
