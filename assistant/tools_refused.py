"""Models whose endpoints refuse tools: remembered for all processes, until somebody clears it.

A process asks before its first turn with a model, so that what another one learned holds in it
and after a restart; and before each turn of a model that was refused, so that clearing it in the
admin has an effect at once.
"""

from __future__ import annotations

from weakref import WeakSet

from django.conf import settings
from django.db.models import QuerySet

from assistant.agent import Model
from assistant.models import ToolsRefusal
from assistant.providers import select_model
from assistant.providers.context import ContextModel
from assistant.providers.fallback import FallbackModel

_unrefused: WeakSet[ContextModel] = WeakSet()
"""Models of which no refusal was known when this process asked. One that is refused later finds
that out by its next call, wherever it was found out before: nobody has to look before each turn."""


def recall(model: Model) -> None:
    """Puts the model into the mode that is known to work. Asks the database, unless it has said
    before that there is nothing to know."""
    for each in model.models if isinstance(model, FallbackModel) else (model,):
        if isinstance(each, ContextModel):
            _recall(each)


def _recall(model: ContextModel) -> None:
    if model.mode == "tools" and model in _unrefused:
        return
    refuses_tools = _known(model).exists()
    model.learn(refuses_tools=refuses_tools)
    if not refuses_tools:
        _unrefused.add(model)


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
