"""Synonyms: groups of terms, what each group said before, and the way back to that."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from articles.languages import language_name, languages_of_articles
from articles.models import SynonymGroup, SynonymVersion


class LinesField(forms.CharField):
    """A list of texts, one in a line."""

    widget = forms.Textarea(attrs={"rows": 5, "cols": 50})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class SynonymForm(forms.ModelForm[SynonymGroup]):
    terms = LinesField(
        label=_("Terms"), help_text=_("Words or phrases that mean the same, one in a line.")
    )
    targets = LinesField(
        label=_("Only find"),
        required=False,
        help_text=_(
            "For one direction only: who searches for a term above also finds these, and not "
            "the other way round. One in a line."
        ),
    )

    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        help_text=_(
            "One that your articles are written in. Terms may mean something else in others."
        ),
    )

    class Meta:
        model = SynonymGroup
        fields = ["terms", "targets", "language", "is_active"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """What the group says already stays a choice, though no article is left in it."""
        super().__init__(*args, **kwargs)
        codes = sorted({*languages_of_articles(), self.instance.language} - {""})
        named = [(code, f"{language_name(code)} ({code})") for code in codes]
        self.fields["language"].choices = [("", _("every language")), *named]  # type: ignore[attr-defined]


class VersionInline(admin.TabularInline[SynonymVersion, SynonymGroup]):
    """What the group said, newest first."""

    model = SynonymVersion
    fields = ("changed_at", "changed_by", "said", "language", "is_active")
    readonly_fields = fields
    extra = max_num = 0
    can_delete = False

    @admin.display(description=_("terms"))
    def said(self, version: SynonymVersion) -> str:
        return str(version)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(SynonymGroup)
class SynonymAdmin(admin.ModelAdmin[SynonymGroup]):
    form = SynonymForm
    list_display = ["__str__", "language", "is_active", "changed_at"]
    list_filter = ["is_active", "language"]
    search_fields = ["terms", "targets"]
    inlines = [VersionInline]
    actions = ["undo_last_change", "switch_off", "switch_on"]
    list_per_page = 50

    def get_inlines(self, request: HttpRequest, obj: SynonymGroup | None) -> Any:
        """A group that is being added has no versions to show."""
        return self.inlines if obj else []

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.remember(request.user)

    @admin.action(description=_("Undo the last change"), permissions=["change"])
    def undo_last_change(self, request: HttpRequest, queryset: QuerySet[SynonymGroup]) -> None:
        undone = [group for group in queryset if group.undo(request.user)]
        self._log(request, undone, gettext("Undid the last change."))
        if len(undone) < len(queryset):
            self.message_user(
                request,
                gettext("A group that never changed has nothing to undo."),
                messages.WARNING,
            )

    @admin.action(description=_("Switch off"), permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[SynonymGroup]) -> None:
        self._switch(request, queryset, gettext("Switched off."), on=False)

    @admin.action(description=_("Switch on"), permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[SynonymGroup]) -> None:
        self._switch(request, queryset, gettext("Switched on."), on=True)

    def _switch(
        self, request: HttpRequest, queryset: QuerySet[SynonymGroup], said: str, *, on: bool
    ) -> None:
        groups = list(queryset.exclude(is_active=on))
        for group in groups:
            group.is_active = on
            group.remember(request.user)
        self._log(request, groups, said)

    def _log(self, request: HttpRequest, groups: list[SynonymGroup], said: str) -> None:
        for group in groups:
            self.log_change(request, group, said)
        count = len(groups)
        if groups:
            text = ngettext("%d group changed.", "%d groups changed.", count) % count
            self.message_user(request, text, messages.SUCCESS)
