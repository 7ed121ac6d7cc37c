"""What an answer cost, by the prices that the settings name."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings

from assistant.agent import Usage

PER = Decimal(1_000_000)
"""Prices are for so many tokens."""

PLACES = Decimal("0.00000001")


def cost_of(model: str, usage: Usage) -> Decimal | None:
    """In the currency of the prices; None where the model has none."""
    prices = settings.ASSISTANT_PRICES.get(model)
    if prices is None:
        return None
    read, cached, written = prices if len(prices) == 3 else (prices[0], *prices)
    cost = (
        read * (usage.prompt_tokens - usage.cached_tokens)
        + cached * usage.cached_tokens
        + written * usage.completion_tokens
    )
    return (cost / PER).quantize(PLACES)
