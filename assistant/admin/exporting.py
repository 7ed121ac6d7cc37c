"""The list of answers as a file: what the list shows now, with its filters and its search."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponseBase,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from articles.admin.pages import person
from assistant.audit import access_log, exports

FORMATS = {
    "csv": (exports.as_csv, "text/csv; charset=utf-8"),
    "jsonl": (exports.as_json_lines, "application/jsonl; charset=utf-8"),
}
"""What makes each kind of file, and how it is labelled."""


class ExportPages:
    def __init__(self, model_admin: admin.ModelAdmin[Any]) -> None:
        self.model_admin = model_admin

    def urls(self) -> list[URLPattern]:
        view = self.model_admin.admin_site.admin_view(self.export)
        return [path("export/<str:kind>/", view, name="assistant_answer_export")]

    def may_export(self, request: HttpRequest) -> bool:
        allowed = request.user.has_perm("assistant.export_answer")
        return allowed and self.model_admin.has_view_permission(request)

    def export(self, request: HttpRequest, kind: str) -> HttpResponseBase:
        """Streams the file. The look is recorded before its first line is sent."""
        if not self.may_export(request):
            raise PermissionDenied
        if kind not in FORMATS:
            raise Http404
        try:
            answers = self.model_admin.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:
            # As the list itself does with a filter that is none: it shows everything.
            return HttpResponseRedirect(reverse("admin:assistant_answer_changelist") + "?e=1")
        access_log.exported(person(request), answers.count(), f"answers.{kind}")
        write, content_type = FORMATS[kind]
        name = f"answers-{timezone.localdate().isoformat()}.{kind}"
        return StreamingHttpResponse(
            write(answers),
            content_type=content_type,
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",
            },
        )
