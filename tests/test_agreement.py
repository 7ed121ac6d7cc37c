"""Figures and negation, in either notation and several languages."""

from __future__ import annotations

import pytest

from assistant.support.agreement import contradicts, figures, negations


def values(text: str, language: str = "en") -> list[str]:
    return [figure.value for figure in figures(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("1,500 or 1.500 or 1 500 or 1’500", "en", ["1500"] * 4),
        ("2.5 litres, 2,5 Liter, 2.50", "en", ["2.5"] * 3),
        ("1,234.50 dollars", "en", ["1234.5"]),
        ("at 09:30 and at 9:30", "en", ["9:30", "9:30"]),
        ("since 2024-03-01", "en", ["2024", "1"]),
        ("in 007 days", "en", ["7"]),
        ("error E15 on SHA256", "en", []),
        ("within seven days or 7", "en", ["7", "7"]),
        ("innerhalb von sieben Tagen", "de", ["7"]),
        ("sous dix jours", "fr", ["10"]),
        ("once días", "es", ["11"]),
        ("only once", "en", []),
        ("有効期間は３０分です", "ja", ["30"]),
    ],
)
def test_figures_are_read_in_every_notation(text: str, language: str, expected: list[str]) -> None:
    assert sorted(values(text, language)) == sorted(expected)


@pytest.mark.parametrize(
    ("said", "given", "language", "expected"),
    [
        ("It expires after 90 minutes.", "It is valid for 30 minutes.", "en", True),
        ("It expires after 30 minutes.", "It is valid for 30 minutes.", "en", False),
        ("Wait 90 minutes.", "Wait 5 days.", "en", False),
        ("It takes 4 to 6 days.", "It takes 6 days, at least 4 days.", "en", False),
        ("It costs $39.", "It costs $12.", "en", True),
        ("It costs 39 €.", "It costs 12 €.", "en", True),
        ("Der Link gilt 90 Minuten.", "Er gilt 1 Minute.", "de", True),
        ("90分間有効です", "30分間有効です", "ja", True),
        ("Up to 5-day trips.", "Trips of 9 days.", "en", True),
        ("It is valid for 30 minutes.", "For 30 minutes, at most 60 minutes.", "en", False),
        ("It takes 5 days, or 6 days.", "It takes 6 days.", "en", False),
        ("Version 5.", "Release.", "en", False),
    ],
)
def test_another_figure_of_the_same_unit_contradicts(
    said: str, given: str, language: str, expected: bool
) -> None:
    assert contradicts(figures(said, language), figures(given, language)) is expected


@pytest.mark.parametrize(
    ("denying", "affirming"),
    [
        ("You cannot reopen it.", "You can reopen it."),
        ("It isn’t covered.", "It is covered."),
        ("Das ist nicht möglich.", "Das ist möglich."),
        ("Keine Gäste.", "Gäste."),
        ("Ce n’est pas possible.", "C’est possible."),
        ("No se puede abrir nunca.", "Se puede abrir."),
        ("開くことができません。", "開くことができます。"),
        ("没有权限", "有权限"),
    ],
)
def test_negations_are_counted(denying: str, affirming: str) -> None:
    assert negations(denying) > 0
    assert negations(affirming) == 0
