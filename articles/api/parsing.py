"""Request bodies: JSON of a limited size, whatever is nested or hidden in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from articles.api.errors import TooLarge

MAX_BYTES = 8 * 1024 * 1024
"""The longest article fits, every character of it escaped."""


class LimitedJSONParser(BaseParser):
    """One JSON object. Of its own, since REST framework's reads the whole body first, up to a
    limit of Django's that is too low for an article in Chinese."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Raises `ParseError`, and `TooLarge` without reading further than the limit."""
        data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise TooLarge
        try:
            value = json.loads(data.decode(), parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise ParseError from None
        if not isinstance(value, dict):
            raise ParseError([_("Expected a JSON object.")])
        return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
