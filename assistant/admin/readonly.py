"""What was recorded is looked at, not edited: the base of the audit's admin pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Lists and shows; adds and changes nothing. Deleting follows the permission.

    `fields = ()` leaves the page to a template of its own.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False
