"""What somebody typed for an article that a colleague deleted meanwhile, given back to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from articles.models import Article

if TYPE_CHECKING:
    from django.contrib import admin


def typed_for_deleted(
    model_admin: admin.ModelAdmin[Article], request: HttpRequest, object_id: str
) -> HttpResponse:
    """The form of a new article, filled as the deleted one's was sent; nothing is saved. Who may
    not add articles gets the text alone, to copy it."""
    form = model_admin.get_form(request)(request.POST)
    typed = {name: form[name].value() for name in form.fields if name != "base"}
    context: dict[str, Any] = {"deletion": _deletion(object_id), "was_deleted": True}
    if not model_admin.has_add_permission(request):
        frame = model_admin.admin_site.each_context(request)
        title = gettext("The article was deleted")
        everything = {**frame, **context, "opts": model_admin.opts, "title": title, "typed": typed}
        return TemplateResponse(request, "admin/articles/article/deleted.html", everything)
    request.typed_for_deleted = typed  # type: ignore[attr-defined]
    request.method = "GET"  # the form is shown, and not taken for a sent one
    add = reverse("admin:articles_article_add")
    return model_admin.changeform_view(request, None, add, context)


def _deletion(object_id: str) -> LogEntry | None:
    """Who deleted it and when, where the admin's history knows."""
    entries = LogEntry.objects.filter(
        content_type=get_content_type_for_model(Article),
        object_id=object_id,
        action_flag=DELETION,
    )
    return entries.select_related("user").order_by("-action_time").first()
