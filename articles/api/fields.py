"""Fields that take JSON as it is typed: a number is no text, "yes" is no boolean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from articles.models import Category
from helpcenter.texts import is_storable


class TextField(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class SlugField(serializers.RegexField):
    """Letters and digits of any script, `-` and `_`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(r"^[-\w]+$", **options)
        self.error_messages["invalid"] = _("Use letters, digits, - and _ only.")

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NumberField(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class SwitchField(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class ChoiceField(serializers.ChoiceField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=data)
        return str(super().to_internal_value(data))


class CategoryField(serializers.SlugRelatedField[Category]):
    """A category by its slug."""

    default_error_messages = {"does_not_exist": _("There is no category “{value}”.")}

    def __init__(self, **options: Any) -> None:
        super().__init__("slug", queryset=Category.objects.all(), **options)

    def to_internal_value(self, data: Any) -> Category:
        if not isinstance(data, str) or not is_storable(data):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know, so that a mistyped name is not ignored."""

    def to_internal_value(self, data: Any) -> Any:
        refuse_unknown(data, self.fields)
        return super().to_internal_value(data)


def refuse_unknown(data: Iterable[str], known: Iterable[str]) -> None:
    """Raises `ValidationError`, which names the fields that are not known."""
    if unknown := set(data) - set(known):
        raise serializers.ValidationError(
            {name: [_("There is no such field.")] for name in sorted(unknown)}
        )
