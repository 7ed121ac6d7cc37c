"""What of an answer may become a link, an image or a citation in its HTML.

Everything here starts from sources as clients receive them (`events.source_payload`), so
that the stream, the end of it and the history render by the same facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from articles.markup.answer_rendering import Citation, Registered, render_answer
from assistant.rendering.inert_code import with_inert_code

SourcePayload = Mapping[str, Any]


def citation(source: SourcePayload) -> Citation:
    """What the source's number leads to: the article, at the first heading that was read."""
    first = next(iter(source["passages"]), None) or {"heading": "", "anchor": ""}
    url = source["url"]
    if url and first["anchor"]:
        url = f"{url}#{first['anchor']}"
    return Citation(source["number"], source["title"], url, first["heading"])


def citations(sources: Iterable[SourcePayload]) -> dict[int, Citation]:
    """The numbered sources, by number."""
    return {source["number"]: citation(source) for source in sources if source["number"]}


def answer_html(
    text: str, sources: Iterable[SourcePayload], links: Iterable[str], images: Iterable[str]
) -> str:
    """The safe HTML of a delivered answer. `links`, `images`: the addresses let through."""
    registered = Registered(frozenset(links), frozenset(images), citations(sources))
    return str(render_answer(with_inert_code(text), registered))
