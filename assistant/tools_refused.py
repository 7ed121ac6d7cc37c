"""Models whose endpoints refuse tools: remembered for all processes, until somebody clears it.

Each turn asks before it begins, so that what one process learned holds in every other one
and after a restart, and clearing it in the admin has an effect at once.
"""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet

from assistant.agent import Model
from assistant.models import ToolsRefusal
from assistant.providers import select_model
from assistant.providers.context import ContextModel
from assistant.providers.fallback import FallbackModel


def recall(model: Model) -> None:
    """Puts the model into the mode that is known to work. Asks the database."""
    for each in model.models if isinstance(model, FallbackModel) else (model,):
        if isinstance(each, ContextModel):
            each.learn(refuses_tools=_known(each).exists())


def remember(model: Model) -> None:
    """Its endpoint has just refused tools."""
    ToolsRefusal.objects.get_or_create(provider=model.provider[:40], model=model.name[:120])


def of_this_site() -> ToolsRefusal | None:
    """The refusal that the site's present settings run into; None where there is none."""
    if not settings.ASSISTANT_MODEL or settings.ASSISTANT_MODE != "tools":
        return None
    return _known(select_model(settings)).first()


def _known(model: Model) -> QuerySet[ToolsRefusal]:
    return ToolsRefusal.objects.filter(provider=model.provider[:40], model=model.name[:120])
