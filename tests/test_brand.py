"""A site's accent colour is legible wherever it is used."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from helpcenter.brand import AA, contrast, palette

LIGHT = ("#ffffff", "#f6f7f9")
DARK = ("#14171c", "#1b1f26", "#20252d")
colours = st.from_regex(r"#[0-9a-f]{6}", fullmatch=True)


def rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


@given(colours)
def test_every_pair_reaches_aa_whatever_the_accent(accent: str) -> None:
    chosen = palette(accent)

    assert chosen.fill == accent
    assert contrast(rgb(chosen.on_fill), rgb(chosen.fill)) >= AA
    for under in (*LIGHT, chosen.light_wash):
        assert contrast(rgb(chosen.light), rgb(under)) >= AA
    for under in (*DARK, chosen.dark_wash):
        assert contrast(rgb(chosen.dark), rgb(under)) >= AA


def test_a_colour_that_is_legible_already_stays_as_it_is() -> None:
    assert palette("#1f5fd0").light == "#1f5fd0"
    assert palette("#8ab2fa").dark == "#8ab2fa"


def test_black_on_white_is_the_greatest_contrast() -> None:
    assert round(contrast((0, 0, 0), (255, 255, 255)), 2) == 21
