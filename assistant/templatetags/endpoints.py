"""What the admin warns of: an endpoint that cannot do what the settings ask of it."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext

from assistant import tools_refused as refusals

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
