"""The bill: what answers used and cost, and how far today's budgets are used."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext

from assistant.admin.readonly import ReadOnlyAdmin
from assistant.bill import report
from assistant.models import CostReport

PERIODS = (7, 30, 90)
DEFAULT = 30


@admin.register(CostReport)
class CostReportAdmin(ReadOnlyAdmin):
    """A page of sums."""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            return TemplateResponse(request, "403.html", status=403)
        asked = request.GET.get("days", "")
        days = int(asked) if asked in map(str, PERIODS) else DEFAULT
        rows = report.rows(days)
        context = {
            **self.admin_site.each_context(request),
            **(extra_context or {}),
            "title": gettext("Cost and budgets"),
            "opts": self.opts,
            "days": days,
            "periods": PERIODS,
            "rows": rows,
            "total": report.total(rows),
            "budgets": report.today(),
            "currency": settings.ASSISTANT_CURRENCY,
            "has_prices": bool(settings.ASSISTANT_PRICES),
        }
        return TemplateResponse(request, "admin/assistant/costreport/change_list.html", context)

    def get_urls(self) -> list[URLPattern]:
        """The one page. Behind a sum there are answers, and the audit has its own permission."""
        page = self.admin_site.admin_view(self.changelist_view)
        return [path("", page, name="assistant_costreport_changelist")]
