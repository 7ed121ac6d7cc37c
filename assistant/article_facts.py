"""What a turn knows of an article: who it was when the turn met it, and which texts were read.

Kept with the answer, and shown to clients as a source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import prefetch_related_objects
from django.urls import reverse

from articles.access import Reader, may_open
from articles.models import Article
from articles.reading import shown_revision
from assistant.events import PassageLink, SourceEntry
from assistant.fencing import on_one_line
from assistant.provenance import Document

PASSAGES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PassageRead:
    """A text as the model was given it."""

    heading: str
    anchor: str
    text: str


@dataclass(slots=True)
class ArticleFacts:
    """An article as it was when the turn met it. `url` is None where nobody may open it.

    `former_urls`: those that redirect to `url`.
    """

    article_id: int
    document_id: str
    slug: str
    title: str
    url: str | None
    category: str | None
    visibility: str
    revision_id: int
    revision: int
    passages: list[PassageRead] = field(default_factory=list)
    former_urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, article: Article, reader: Reader) -> ArticleFacts:
        """Asks the database for old slugs, unless they were fetched with the article."""
        revision = shown_revision(article)
        opens = may_open(article, reader)
        return cls(
            article_id=article.pk,
            document_id=str(article.pk),
            slug=article.slug,
            title=on_one_line(revision.title),
            url=article.get_absolute_url() if opens else None,
            category=article.category.name if article.category else None,
            visibility=article.visibility,
            revision_id=revision.pk,
            revision=revision.number,
            former_urls=_former_urls(article) if opens else (),
        )

    @classmethod
    def of_all(cls, articles: Iterable[Article], reader: Reader) -> list[ArticleFacts]:
        """Those of many articles, with one question to the database."""
        articles = list(articles)
        prefetch_related_objects(articles, "old_slugs")
        return [cls.of(article, reader) for article in articles]

    def absorb(self, later: ArticleFacts) -> None:
        """What a later tool call read of the same article, perhaps in a newer revision."""
        self.passages += [text for text in later.passages if text not in self.passages]
        self.revision_id, self.revision = later.revision_id, later.revision

    def document(self) -> Document:
        return Document(self.document_id, self.title, self.url, self.former_urls)

    def entry(self, number: int | None, consulted: bool, via: str) -> SourceEntry:
        """The article as clients see it, with the first headings that were read."""
        links = dict.fromkeys(
            PassageLink(passage.heading, passage.anchor)
            for passage in self.passages
            if passage.heading
        )
        return SourceEntry(
            id=self.document_id,
            slug=self.slug,
            title=self.title,
            url=self.url,
            number=number,
            consulted=consulted,
            via=via,
            category=self.category,
            visibility=self.visibility,
            passages=tuple(links)[:PASSAGES_SHOWN],
            revision=self.revision,
        )


def _former_urls(article: Article) -> tuple[str, ...]:
    return tuple(reverse("articles:article", args=[old.slug]) for old in article.old_slugs.all())
