"""The site-settings page: one row, reached without a list in between."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from helpcenter.models import SINGLETON_ID, SiteSettings


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
