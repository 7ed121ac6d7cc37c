"""The category tree as one reader sees it: only branches that hold something they may open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q

from articles.access import Reader, readable
from articles.models import Category


@dataclass(frozen=True)
class Branch:
    """A category, its ancestors from the root down, and what is in it and below it."""

    category: Category
    path: tuple[Category, ...]
    children: tuple[Branch, ...]
    articles: int
    """How many articles the reader may open here and in all categories below."""

    def walk(self) -> Iterator[Branch]:
        """This branch and every one below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree(reader: Reader) -> tuple[Branch, ...]:
    """The top branches for `reader`, in their order. One query.

    Categories without a readable article are left out, names included, except for
    staff, who set them up.
    """
    own = Count("articles", filter=Q(articles__in=readable(reader).order_by().values("pk")))
    children: dict[int | None, list[tuple[Category, int]]] = defaultdict(list)
    for category in Category.objects.annotate(own=own).order_by("position", "name"):
        children[category.parent_id].append((category, category.own))
    return _branches(children, None, (), keep_empty=reader.is_staff)


def branch(branches: tuple[Branch, ...], slug: str) -> Branch | None:
    """The branch of the category with this slug, or None."""
    nodes = (node for top in branches for node in top.walk())
    return next((node for node in nodes if node.category.slug == slug), None)


def _branches(
    children: dict[int | None, list[tuple[Category, int]]],
    parent: int | None,
    path: tuple[Category, ...],
    *,
    keep_empty: bool,
) -> tuple[Branch, ...]:
    built = []
    for category, own in children[parent]:
        below = _branches(children, category.pk, (*path, category), keep_empty=keep_empty)
        articles = own + sum(child.articles for child in below)
        if articles or keep_empty:
            built.append(Branch(category, path, below, articles))
    return tuple(built)
