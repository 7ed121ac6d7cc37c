"""How the model's provider stands, for those who look after the site: `/readyz`, `/metrics`."""

from __future__ import annotations

from functools import partial

from django.conf import settings

from assistant.metrics import CIRCUIT_OPEN
from assistant.providers import circuits
from helpcenter import health


def note() -> str:
    """For `/readyz`, which strangers may read: whether the provider is asked. A site whose
    provider is down still serves its pages, so this never makes it unready."""
    found = circuits(settings)
    if not found:
        return "no model"
    return "; fallback ".join(_in_words(circuit.state().is_open) for circuit in found)


def _in_words(is_open: bool) -> str:
    return "given up for a while" if is_open else "ok"


def _is_open(place: int) -> float:
    found = circuits(settings)
    return float(len(found) > place and found[place].state().is_open)


health.register_note("provider", note)
for _place, _name in enumerate(("first", "fallback")):
    CIRCUIT_OPEN.labels(_name).set_function(partial(_is_open, _place))
