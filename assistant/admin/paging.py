"""Pages of long lists: which rows a page has is found first, by their keys alone.

What the list shows beside a row (flags, the last turn) is then worked out for the rows of the
page; it would be for every row before them too, since the database evaluates what it skips. The
rows are read without the conditions that found their keys: asked for once more, those decide how
the database reads the rows, and it reads all of them.
"""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet


class KeyPaginator(Paginator[Any]):
    """Pages of `object_list`, made of `rows`: the same model with what is shown beside a row."""

    def __init__(
        self,
        object_list: QuerySet[Any],
        per_page: int,
        *args: Any,
        rows: QuerySet[Any],
        **kwargs: Any,
    ) -> None:
        super().__init__(object_list, per_page, *args, **kwargs)
        self.rows = rows

    def page(self, number: int | str) -> Page[Any]:
        number = self.validate_number(number)
        first = (number - 1) * self.per_page
        found: Any = self.object_list
        keys = found.values("pk")[first : first + self.per_page]
        shown = self.rows.filter(pk__in=keys).order_by(*found.query.order_by)
        return Page(shown, number, self)
