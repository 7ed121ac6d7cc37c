"""The Markdown editor: a text area that works by itself, and what its script asks for.

Without a script the text area is all there is. With it there are a toolbar, shortcuts, a
preview by the renderer of the site, pictures that are dropped or pasted, and a link picker.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.core.exceptions import PermissionDenied
from django.forms.renderers import BaseRenderer
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from articles.admin.pages import ArticlePages, person
from articles.models import Article
from articles.rendering import render_article
from articles.writing.link_targets import link_targets
from articles.writing.pictures import MAX_BYTES, PictureError, read_picture

LONGEST_TEXT = 1_000_000
"""Characters of a text that are rendered while somebody writes."""
LONGEST_QUERY = 200


class MarkdownEditor(forms.Textarea):
    """The text area with the editor's frame around it."""

    def render(
        self,
        name: str,
        value: Any,
        attrs: dict[str, Any] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> SafeString:
        context = {
            "textarea": super().render(name, value, attrs, renderer),
            "id": (attrs or {}).get("id", f"id_{name}"),
            "render_url": reverse("admin:articles_article_render"),
            "upload_url": reverse("admin:articles_article_upload"),
            "links_url": reverse("admin:articles_article_link_targets"),
        }
        return SafeString(render_to_string("admin/articles/article/editor.html", context))


class EditorPages(ArticlePages):
    """What the editor asks for: each needs the right to write articles."""

    def urls(self) -> list[URLPattern]:
        return [
            self.url("render/", require_POST(self.rendered), "render"),
            self.url("upload/", require_POST(self.upload), "upload"),
            self.url("link-targets/", require_GET(self.link_targets), "link_targets"),
        ]

    def rendered(self, request: HttpRequest) -> HttpResponse:
        """`body` as the site would show it: a fragment of HTML. 413 for an endless text."""
        self._require_writer(request)
        body = request.POST.get("body", "")
        if len(body) > LONGEST_TEXT:
            return HttpResponse(_("The text is too long for a preview."), status=413)
        return HttpResponse(render_article(body.replace("\r\n", "\n")).html)

    def upload(self, request: HttpRequest) -> HttpResponse:
        """Stores the picture in `file`: 201 with `url`, `width` and `height`, or `error`."""
        self._require_writer(request)
        file = request.FILES.get("file")
        if file is None:
            return JsonResponse({"error": _("No file was sent.")}, status=400)
        if (file.size or 0) > MAX_BYTES:
            return JsonResponse(
                {"error": _problem(f"larger than {MAX_BYTES >> 20} MB")}, status=413
            )
        try:
            picture = read_picture(file.read())
        except PictureError as error:
            return JsonResponse({"error": _problem(str(error))}, status=400)
        picture.store()
        _log_upload(request, picture.name)
        shown = {"url": picture.url, "width": picture.width, "height": picture.height}
        return JsonResponse(shown, status=201)

    def link_targets(self, request: HttpRequest) -> HttpResponse:
        """What a link may lead to, for the words in `q`: `targets`, best first."""
        self._require_writer(request)
        query = request.GET.get("q", "").replace("\0", "")[:LONGEST_QUERY]
        targets = link_targets(self.model_admin.get_queryset(request), query)
        return JsonResponse({"targets": [asdict(target) for target in targets]})

    def _require_writer(self, request: HttpRequest) -> None:
        may_change = self.model_admin.has_change_permission(request)
        if not may_change and not self.model_admin.has_add_permission(request):
            raise PermissionDenied


def _problem(reason: str) -> str:
    return _("The picture was not taken: %(reason)s.") % {"reason": reason}


def _log_upload(request: HttpRequest, name: str) -> None:
    """For the history of the site: a picture belongs to no article until it is shown in one."""
    LogEntry.objects.create(
        user=person(request),
        content_type=get_content_type_for_model(Article),
        object_repr=name,
        action_flag=CHANGE,
        change_message="Uploaded a picture.",
    )
