"""What the list of answers can be narrowed by: filters that are typed, and say what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.admin.pages import is_key
from assistant.conditions import CITED, consulted
from assistant.figures.overview import retrieved_unused
from assistant.figures.period import midnight, parsed
from assistant.models import Answer, AnswerDocument


class TypedFilter(admin.ListFilter):
    """A filter that is typed: its template is a small form that keeps what else was chosen.

    `fields` are the parameters and the labels of their inputs. Of what makes no sense, the filter
    says so, and the list is empty: one that left it out would look like an answer.
    """

    template = "admin/assistant/answer/typed_filter.html"
    fields: dict[str, Any] = {}
    kind = "text"

    def __init__(self, request: HttpRequest, params: Any, model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        for name in self.fields:
            if name in params:
                self.used_parameters[name] = str(params.pop(name)[-1]).replace("\0", "").strip()

    def has_output(self) -> bool:
        return True

    def expected_parameters(self) -> list[str | None]:
        return list(self.fields)

    def value(self, name: str) -> str:
        return str(self.used_parameters.get(name, ""))

    def problem(self) -> str:
        """What is wrong with what was typed; empty where nothing is."""
        return ""

    def matching(self, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        """The answers that what was typed is about."""
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        if not any(self.used_parameters.values()):
            return queryset
        return queryset.none() if self.problem() else self.matching(queryset)

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:
        """One, for the template: the inputs, and what else was chosen, as pairs."""
        chosen = changelist.params.items()
        yield {
            "inputs": [(name, label, self.value(name)) for name, label in self.fields.items()],
            "kind": self.kind,
            "kept": [(key, value) for key, value in chosen if key not in self.fields],
            "clear": changelist.get_query_string(remove=list(self.fields)),
            "is_used": any(self.used_parameters.values()),
            "problem": self.problem(),
        }


class ArticleFilter(TypedFilter):
    """By a source: its key, its address's last part, or a piece of its title."""

    title = _("article among the sources")
    fields = {"article": _("Title or address")}

    def matching(self, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        typed = self.value("article")
        if is_key(typed):
            return queryset.filter(consulted(article=int(typed)))
        named = AnswerDocument.objects.filter(answer=OuterRef("pk"), consulted=True)
        return queryset.filter(Exists(named.filter(Q(slug=typed) | Q(title__icontains=typed))))


class NumberFilter(TypedFilter):
    """By an article's number, which figures link to."""

    def number(self) -> int:
        return int(self._typed())

    def _typed(self) -> str:
        return "".join(map(self.value, self.fields))

    def problem(self) -> str:
        typed = self._typed()
        return "" if is_key(typed) or not typed else gettext("“%s” is no number.") % typed[:40]


class UnusedFilter(NumberFilter):
    """By an article that was retrieved, and neither consulted nor cited."""

    title = _("article retrieved and not used")
    fields = {"unused": _("Its number")}

    def matching(self, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        return queryset.filter(retrieved_unused(self.number()))


class CitedFilter(NumberFilter):
    """By an article that an answer cites."""

    title = _("article cited")
    fields = {"cited": _("Its number")}

    def matching(self, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        cited = AnswerDocument.objects.filter(
            CITED, answer=OuterRef("pk"), document_id=str(self.number())
        )
        return queryset.filter(Exists(cited))


class AskedFilter(TypedFilter):
    """By the day, in the site's time zone; both ends belong to it."""

    title = _("day")
    fields = {"from": _("From"), "to": _("To")}
    kind = "date"

    def problem(self) -> str:
        for name in self.fields:
            typed = self.value(name)
            if typed and not parsed(typed):
                return gettext("“%s” is no day. Enter it as 2026-01-31.") % typed[:40]
        first, last = parsed(self.value("from")), parsed(self.value("to"))
        return (
            gettext("The first day is after the last.") if first and last and first > last else ""
        )

    def matching(self, queryset: QuerySet[Answer]) -> QuerySet[Answer]:
        first, last = parsed(self.value("from")), parsed(self.value("to"))
        if first:
            queryset = queryset.filter(created_at__gte=midnight(first))
        if last:
            queryset = queryset.filter(created_at__lt=midnight(last + timedelta(days=1)))
        return queryset
