"""Search results as the pages show them: where a hit leads, and the passage that made it one."""

from __future__ import annotations

from dataclasses import dataclass

from articles.ranking.snippets import Piece, marked, snippet
from articles.reading import shown_revision
from articles.rendering import plain_text
from articles.search import Hit


@dataclass(frozen=True)
class Result:
    """`heading` and `passage_url` lead into the article, where the passage is under a heading."""

    article_id: int
    url: str
    title: tuple[Piece, ...]
    language: str
    place: str
    text: tuple[Piece, ...]
    heading: str
    passage_url: str


def result(hit: Hit, query: str) -> Result:
    revision = shown_revision(hit.article)
    url = hit.article.get_absolute_url()
    best = hit.passages[0] if hit.passages else None
    return Result(
        article_id=hit.article.pk,
        url=url,
        title=marked(revision.title, query),
        language=revision.language,
        place=hit.article.category.name if hit.article.category else "",
        text=snippet(plain_text(best.text), query) if best else (),
        heading=" › ".join(best.heading_path) if best and best.anchor else "",
        passage_url=f"{url}#{best.anchor}" if best and best.anchor else url,
    )
