"""What was learned of models' endpoints: looked at, and cleared by deleting it."""

from __future__ import annotations

from django.contrib import admin

from assistant.admin.readonly import ReadOnlyAdmin
from assistant.models import ToolsRefusal


@admin.register(ToolsRefusal)
class ToolsRefusalAdmin(ReadOnlyAdmin):
    list_display = ["model", "provider", "since"]
    fields = ["model", "provider", "since"]
