"""The site-settings page, one row, reached without a list in between; and the API's tokens.

A token is shown once, on the page that follows its making. Who is no superuser has tokens
of their own only: one of somebody else would lend them that person's permissions.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from helpcenter import tokens
from helpcenter.models import SINGLETON_ID, ApiToken, SiteSettings
from helpcenter.moments import ago


class SiteSettingsForm(forms.ModelForm[SiteSettings]):
    class Meta:
        model = SiteSettings
        fields = [
            "name",
            "logo",
            "accent",
            "contact_url",
            "contact_email",
            "assistant_enabled",
            "assistant_message",
            "suggested_questions",
        ]
        widgets = {
            "accent": forms.TextInput(attrs={"placeholder": "#1f5fd0", "size": 9}),
            "suggested_questions": forms.Textarea(attrs={"rows": 6, "cols": 60}),
        }


@admin.register(SiteSettings)
class SiteSettingsAdmin(admin.ModelAdmin[SiteSettings]):
    form = SiteSettingsForm
    fieldsets = [
        (_("Brand"), {"fields": ["name", "logo", "accent"]}),
        (_("Contact"), {"fields": ["contact_url", "contact_email"]}),
        (
            _("Assistant"),
            {"fields": ["assistant_enabled", "assistant_message", "suggested_questions"]},
        ),
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not SiteSettings.objects.exists()

    def has_delete_permission(self, request: HttpRequest, obj: SiteSettings | None = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """There is one row: go to it, creating it with its defaults the first time."""
        if self.has_change_permission(request):
            SiteSettings.objects.get_or_create(pk=SINGLETON_ID)
            return HttpResponseRedirect(
                reverse("admin:helpcenter_sitesettings_change", args=[SINGLETON_ID])
            )
        return super().changelist_view(request, extra_context)


class ApiTokenForm(forms.ModelForm[ApiToken]):
    def clean_expires_at(self) -> datetime | None:
        until: datetime | None = self.cleaned_data["expires_at"]
        if until and "expires_at" in self.changed_data and until <= timezone.now():
            raise forms.ValidationError(
                gettext("The time has passed. To end a token now, revoke it in the list.")
            )
        return until


MADE = ["beginning", "created_at", "last_used_at", "revoked_at"]
"""What nobody types in."""


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin[ApiToken]):
    form = ApiTokenForm
    list_display = ["name", "user", "beginning", "is_valid", "created", "last_used"]
    list_select_related = ["user"]
    search_fields = ["name", "beginning", "user__username"]
    autocomplete_fields = ["user"]
    actions = ["revoke_selected"]

    @admin.display(description=_("created"), ordering="created_at")
    def created(self, token: ApiToken) -> str:
        return ago(token.created_at)

    @admin.display(description=_("last used"), ordering="last_used_at")
    def last_used(self, token: ApiToken) -> str:
        return ago(token.last_used_at)

    @admin.display(description=_("valid"), boolean=True)
    def is_valid(self, token: ApiToken) -> bool:
        return token.is_valid and token.user.is_active

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        found = super().get_queryset(request)
        return found if _is_superuser(request) else found.filter(user=cast(User, request.user))

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[Any]:
        if obj:
            return ["name", "user", "expires_at", *MADE]
        return ["name", "user", "expires_at"] if _is_superuser(request) else ["name", "expires_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[str]:
        """A token stays its user's: what it did stands in their name."""
        return ["user", *MADE] if obj else []

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        if not change:
            if not _is_superuser(request):
                obj.user = cast(User, request.user)
            request.new_secret = tokens.give_secret(obj)  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The one page that shows the secret, which neither a cache nor a session keeps."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("The token was made"),
            "secret": getattr(request, "new_secret", ""),
            "token": obj,
            "opts": self.opts,
        }
        name = "admin/helpcenter/apitoken/made.html"
        headers = {"Cache-Control": "no-store"}
        return TemplateResponse(request, name, context, headers=headers)

    @admin.action(description=_("Revoke selected tokens"), permissions=["change"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        count = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        message = ngettext("%d token revoked.", "%d tokens revoked.", count) % count
        self.message_user(request, message, messages.SUCCESS)


def _is_superuser(request: HttpRequest) -> bool:
    return request.user.is_authenticated and request.user.is_superuser
