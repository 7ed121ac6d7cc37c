"""Changes that know what they change: ETags of representations, and `If-Match`.

A tag is the hash of what its client was shown. Two clients that read the same and both
write: the second is told, and loses nothing.
"""

from __future__ import annotations

import hashlib
from typing import Any

from django.utils.http import parse_etags
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from articles.api.errors import PreconditionRequired, Stale


def etag(representation: Any) -> str:
    """A strong tag, in quotes."""
    digest = hashlib.sha256(JSONRenderer().render(representation)).hexdigest()
    return f'"{digest[:32]}"'


def check_if_match(request: Request, representation: Any, *, required: bool) -> None:
    """Raises `Stale` where `If-Match` names another version, `PreconditionRequired` where it has
    to be sent and is not. Call it with the row locked."""
    sent = parse_etags(request.headers.get("If-Match", ""))
    if not sent:
        if required:
            raise PreconditionRequired
        return
    if "*" not in sent and etag(representation) not in sent:
        raise Stale
