"""How figures are written: shares and seconds, with a dash where there is nothing to measure."""

from __future__ import annotations

from django import template
from django.utils import formats

register = template.Library()


@register.filter
def percent(share: float | None) -> str:
    """A share of 1 as a whole per cent."""
    return "–" if share is None else f"{round(100 * share)} %"


@register.filter
def seconds(value: float | None) -> str:
    return "–" if value is None else f"{formats.number_format(value, 2)} s"
