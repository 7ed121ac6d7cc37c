"""Forms of the articles' admin: what a writer may type, checked before anything is saved."""

from __future__ import annotations

import copy
import re
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.forms.models import construct_instance
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from articles import publishing
from articles.models import LANGUAGE, Article
from articles.rendering import has_text
from articles.writing import conflicts


class _Base(forms.CharField):
    """The fingerprint of what a form was filled from. Never a change by itself."""

    widget = forms.HiddenInput

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class ArticleForm(forms.ModelForm[Article]):
    """The working copy. Publishing is a button beside saving, not a field.

    Where somebody else saved the article since the form was opened, the form is not valid,
    and `conflict_with` is the article as they left it. Sent again, it counts as informed.
    """

    base = _Base(required=False)

    class Meta:
        model = Article
        fields = [
            "title",
            "slug",
            "summary",
            "body",
            "category",
            "position",
            "language",
            "visibility",
            "author",
            "publish_at",
            "review_on",
        ]
        error_messages = {"slug": {"unique": _("Another article has this address.")}}
        widgets = {
            "title": forms.TextInput(attrs={"class": "vTextField", "size": 80}),
            "summary": forms.Textarea(attrs={"rows": 2, "cols": 80}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conflict_with: Article | None = None
        if "publish_at" in self.fields:
            zone = _("In the site's time zone, %(zone)s.") % {"zone": settings.TIME_ZONE}
            field = self.fields["publish_at"]
            field.help_text = f"{field.help_text} {zone}"
        if self.instance.pk and "base" in self.fields:
            self.initial["base"] = conflicts.fingerprint(self.instance)

    def clean_body(self) -> str:
        body: str = self.cleaned_data["body"]
        return body.replace("\r\n", "\n")

    def clean_slug(self) -> str:
        """Empty keeps the present address: only a new article gets one from its title."""
        slug: str = self.cleaned_data["slug"]
        return slug or self.instance.slug

    def clean_language(self) -> str:
        """A code, for pages name their language by it and filters compare it."""
        language: str = self.cleaned_data["language"]
        if not re.match(LANGUAGE, language):
            raise forms.ValidationError(_("Enter the code of a language, such as en or pt-BR."))
        return language

    def clean_publish_at(self) -> datetime | None:
        when: datetime | None = self.cleaned_data["publish_at"]
        if when and "publish_at" in self.changed_data and when <= timezone.now():
            raise forms.ValidationError(
                _("The time has passed. Set one to come, or publish the article now.")
            )
        return when

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        self._refuse_empty_page()
        base, present = self.data.get(self.add_prefix("base")), self.initial.get("base")
        if base and present and base != present and not self._says_what_is_saved(present):
            self.conflict_with = copy.copy(self.instance)
            self.data = self.data.copy()  # type: ignore[attr-defined]
            self.data[self.add_prefix("base")] = present  # type: ignore[index]
            raise forms.ValidationError(
                _("Nothing was saved yet: somebody else saved this article while you wrote.")
            )
        return cleaned

    def _says_what_is_saved(self, present: str) -> bool:
        """A form that was sent twice finds its own save, and nothing to lose."""
        typed = copy.copy(self.instance)
        construct_instance(self, typed, self._meta.fields, self._meta.exclude)
        return conflicts.fingerprint(typed) == present

    def _refuse_empty_page(self) -> None:
        """A draft may be empty; what goes live, now or by itself, may not."""
        body = self.cleaned_data.get("body")
        if body is None or has_text(body):
            return
        if "_publish" in self.data:
            self.add_error("body", publishing.NO_TEXT)
        elif self.cleaned_data.get("publish_at"):
            self.add_error("body", _("Write the text before you set a time to publish it."))
