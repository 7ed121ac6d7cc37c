"""Pages of long lists: which rows a page has is found first, by their keys alone.

What the list shows beside a row (flags, the last turn) is then worked out for the rows of the
page; it would be for every row before them too, since the database evaluates what it skips.
"""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator


class KeyPaginator(Paginator[Any]):
    def page(self, number: int | str) -> Page[Any]:
        number = self.validate_number(number)
        first = (number - 1) * self.per_page
        rows: Any = self.object_list
        keys = rows.values("pk")[first : first + self.per_page]
        return Page(rows.filter(pk__in=keys), number, self)
