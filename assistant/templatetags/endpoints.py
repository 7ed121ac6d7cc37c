"""What the admin warns of: an endpoint that cannot do what the settings ask of it, or fails."""

from __future__ import annotations

from math import ceil
from typing import Any

from django import template
from django.conf import settings
from django.template.context import RequestContext

from assistant import tools_refused as refusals
from assistant.providers import circuits

register = template.Library()


@register.inclusion_tag("admin/assistant/tools_refused.html", takes_context=True)
def tools_refused(context: RequestContext) -> dict[str, Any]:
    """The warning, for those who may see it; nothing where the model has its tools."""
    user = context["user"]
    may_see = user.has_perm("assistant.view_toolsrefusal")
    return {
        "refusal": refusals.of_this_site() if may_see else None,
        "may_clear": user.has_perm("assistant.delete_toolsrefusal"),
    }


@register.inclusion_tag("admin/assistant/provider_down.html", takes_context=True)
def provider_down(context: RequestContext) -> dict[str, Any]:
    """The warning that the provider is left alone; nothing while it is asked."""
    may_see = context["user"].has_perm("assistant.view_answer")
    states = [circuit.state() for circuit in circuits(settings)] if may_see else []
    return {
        "is_down": bool(states) and states[0].is_open,
        "failures": states[0].failures if states else 0,
        "seconds": ceil(states[0].seconds) if states else 0,
        "fallback": settings.ASSISTANT_FALLBACK_MODEL,
        "fallback_answers": len(states) > 1 and not states[1].is_open,
    }
