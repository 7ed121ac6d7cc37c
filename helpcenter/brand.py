"""A site's accent colour, made legible: every pair that the stylesheets use reaches WCAG AA.

The owner chooses one colour. Text in it is darkened on light pages and lightened on
dark ones until it has a contrast of 4.5; on a filled button, black or white stands on
the colour itself, whichever reads better.
"""

from __future__ import annotations

from dataclasses import dataclass

AA = 4.5
WHITE = (255, 255, 255)
BLACK = (0, 0, 0)
LIGHT_SURFACE = (246, 247, 249)
"""The darkest surface of the light theme, `--surface` in base.css."""
DARK_SURFACE = (32, 37, 45)
"""The lightest surface of the dark theme, `--raised` in base.css."""

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Palette:
    """Colours as `#rrggbb`: text and background wash on light and on dark pages, and buttons."""

    light: str
    dark: str
    light_wash: str
    dark_wash: str
    fill: str
    on_fill: str


def palette(accent: str) -> Palette:
    """The palette of an accent colour, given as `#rrggbb`."""
    colour = _parse(accent)
    light_wash, dark_wash = _mix(colour, WHITE, 0.08), _mix(colour, DARK_SURFACE, 0.14)
    on_fill = max(WHITE, BLACK, key=lambda text: contrast(text, colour))
    return Palette(
        light=_format(_legible(colour, (light_wash, LIGHT_SURFACE), towards=BLACK)),
        dark=_format(_legible(colour, (dark_wash, DARK_SURFACE), towards=WHITE)),
        light_wash=_format(light_wash),
        dark_wash=_format(dark_wash),
        fill=_format(colour),
        on_fill=_format(on_fill),
    )


def contrast(first: Colour, second: Colour) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _legible(colour: Colour, backgrounds: tuple[Colour, ...], *, towards: Colour) -> Colour:
    """The colour nearest to `colour` on the way to `towards` with an AA contrast on each."""
    steps = (_mix(towards, colour, step / 20) for step in range(21))
    return next(
        mixed for mixed in steps if all(contrast(mixed, under) >= AA for under in backgrounds)
    )


def _mix(first: Colour, second: Colour, share: float) -> Colour:
    """`share` of the first colour, the rest of the second."""
    red, green, blue = (
        round(one * share + other * (1 - share)) for one, other in zip(first, second, strict=True)
    )
    return red, green, blue


def _luminance(colour: Colour) -> float:
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _parse(accent: str) -> Colour:
    red, green, blue = bytes.fromhex(accent.removeprefix("#"))
    return red, green, blue


def _format(colour: Colour) -> str:
    return "#" + bytes(colour).hex()
