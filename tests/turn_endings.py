"""How a provider's reply may end, and what then becomes of the turn."""

from __future__ import annotations

from tests.scripted_provider import DONE, Drop, Endless, Step, finish, usage

ENDS: dict[str, tuple[Step, ...]] = {
    "whole": (finish(), usage(), DONE),
    "length": (finish("length"), usage(), DONE),
    "filter": (finish("content_filter"), usage(), DONE),
    "reset": (Drop(),),
    "error": ({"error": {"message": "secret"}},),
    "unfinished": (DONE,),
    "silence": (Endless(),),
}
STATUS = {
    "whole": "completed",
    "length": "truncated",
    "filter": "truncated",
    "reset": "failed",
    "error": "failed",
    "unfinished": "failed",
    "silence": "stopped",
}
"""The silence is ended by whoever tells the story."""
