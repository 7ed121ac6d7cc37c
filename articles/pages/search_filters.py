"""What the results page can be narrowed to: a category, a language, how lately updated.

Values that do not exist for this reader count as none, so an old link still searches.
Numbers beside the choices count the nearest articles that were found without a filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.categories import Branch
from articles.languages import language_name
from articles.models import Category
from articles.reading import shown_revision
from articles.search import Hit
from articles.terms.analysis import base_language

PERIODS = {"month": (30, _("Past month")), "quarter": (91, _("Past three months")),
           "year": (365, _("Past year"))}  # fmt: skip


NAMES = ("category", "language", "updated")
"""The parameters of an address."""


@dataclass(frozen=True)
class Choice:
    """`count` is None where it is not known."""

    value: str
    label: str
    count: int | None
    selected: bool


@dataclass(frozen=True)
class Filter:
    name: str
    label: str
    any_label: str
    choices: Sequence[Choice]


@dataclass(frozen=True)
class Filters:
    """What was chosen, of what this reader can choose from."""

    branches: Sequence[Branch]
    languages: Sequence[str]
    branch: Branch | None = None
    language: str = ""
    updated: str = ""

    @classmethod
    def of(
        cls, chosen: Mapping[str, str], tree: Iterable[Branch], languages: Sequence[str]
    ) -> Filters:
        branches = [branch for top in tree for branch in top.walk()]
        slug, language = chosen.get("category", ""), chosen.get("language", "")
        return cls(
            branches,
            languages,
            next((one for one in branches if one.category.slug == slug), None),
            language if language in languages else "",
            chosen.get("updated", "") if chosen.get("updated") in PERIODS else "",
        )

    @property
    def active(self) -> bool:
        return bool(self.branch or self.language or self.updated)

    @property
    def category(self) -> Category | None:
        return self.branch.category if self.branch else None

    def condition(self) -> Q:
        """On articles, besides the category."""
        condition = Q()
        if self.language:
            pattern = rf"^{self.language}($|[-_])"
            condition &= Q(live_revision__language__iregex=pattern)
        if self.updated:
            days, _label = PERIODS[self.updated]
            since = timezone.now() - timedelta(days=days)
            condition &= Q(live_revision__created_at__gte=since)
        return condition

    def shown(self, hits: Sequence[Hit]) -> list[Filter]:
        """The filters that can narrow these hits, or that do already."""
        filters = [self._by_category(hits), self._by_language(hits), self._by_period(hits)]
        return [one for one in filters if one.choices]

    def _by_category(self, hits: Sequence[Hit]) -> Filter:
        own = Counter(hit.article.category_id for hit in hits)
        choices = []
        for branch in self.branches:
            count = sum(own[below.category.pk] for below in branch.walk())
            selected = branch == self.branch
            if count or selected:
                name = " › ".join(one.name for one in [*branch.path, branch.category])
                choices.append(Choice(branch.category.slug, name, count, selected))
        return Filter("category", gettext("Category"), gettext("All categories"), choices)

    def _by_language(self, hits: Sequence[Hit]) -> Filter:
        found = Counter(base_language(shown_revision(hit.article).language) for hit in hits)
        choices = [
            Choice(code, language_name(code), found[code] or None, code == self.language)
            for code in self.languages
        ]
        several = choices if len(choices) > 1 else []
        return Filter("language", gettext("Language"), gettext("Any language"), several)

    def _by_period(self, hits: Sequence[Hit]) -> Filter:
        now = timezone.now()
        ages = [now - shown_revision(hit.article).created_at for hit in hits]
        choices = []
        for value, (days, label) in PERIODS.items():
            count = sum(age <= timedelta(days=days) for age in ages)
            if count < len(hits) or value == self.updated:
                choices.append(Choice(value, str(label), count, value == self.updated))
        return Filter("updated", gettext("Updated"), gettext("Any time"), choices)
