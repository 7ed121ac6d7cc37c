"""Usage by citation in the admin: a table by month, and the same as CSV. No texts of anybody's."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.dateformat import format as formatted
from django.utils.translation import gettext

from assistant.admin.figures import answers_url
from assistant.figures.period import Period
from assistant.figures.usage import By, Months, Usage, add_months, months_of, usage
from helpcenter.spreadsheets import BOM, csv_line

COLUMNS = ("month", "id", "title", "address", "category", "answers")


class UsagePages:
    def __init__(self, model_admin: admin.ModelAdmin[Any]) -> None:
        self.site = model_admin.admin_site
        self.model_admin = model_admin

    def urls(self) -> list[URLPattern]:
        view = self.site.admin_view(self.usage)
        return [path("usage/", view, name="assistant_answer_usage")]

    def usage(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm("assistant.view_usage"):
            raise PermissionDenied
        by: By = "category" if request.GET.get("by") == "category" else "article"
        chosen = months_of(request.GET.get("from", ""), request.GET.get("to", ""))
        months = chosen or months_of("", "")
        if months is None:
            raise AssertionError("the last twelve months are months")
        rows = usage(months, by)
        if request.GET.get("as") == "csv":
            return _csv(rows, months, by)
        context = {
            **self.site.each_context(request),
            "title": gettext("Usage by citation"),
            "opts": self.model_admin.opts,
            "months": months,
            "by": by,
            "was_refused": chosen is None,
            "rows": [(row, self._url(request, row, by)) for row in rows],
            "total": sum(row.answers for row in rows),
        }
        return TemplateResponse(request, "admin/assistant/answer/usage.html", context)

    def _url(self, request: HttpRequest, row: Usage, by: By) -> str:
        """The list that a number counts, for whoever may see answers. It lacks what was erased."""
        if by == "category" or not row.slug or not self.model_admin.has_view_permission(request):
            return ""
        last = Period(row.month, add_months(row.month, 1)).days[-2]
        return answers_url(Period(row.month, last), cited=row.key)


def _csv(rows: list[Usage], months: Months, by: By) -> HttpResponse:
    name = f"usage-by-{by}-{formatted(months.first, 'Y-m')}-{formatted(months.last, 'Y-m')}.csv"
    lines = [
        (row.month.strftime("%Y-%m"), row.key, row.title, _address(row), row.category, row.answers)
        for row in rows
    ]
    return HttpResponse(
        BOM + "".join(map(csv_line, [COLUMNS, *lines])),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _address(row: Usage) -> str:
    return reverse("articles:article", args=[row.slug]) if row.slug else ""
