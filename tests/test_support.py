"""How well a cited passage supports a sentence: what raises the score and what lowers it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache

import pytest

from articles.embeddings import LocalEmbedder
from assistant.support.scoring import (
    CANDIDATES,
    WEAK,
    Claim,
    Passage,
    Source,
    Support,
    Vectors,
    judge,
    says_enough,
)
from tests.growth import assert_linear
from tests.support_pairs import WRONG, Pair, auc, beside_others, of_half, pairs, scored, vectors_of

FLOOR = 0.85
LINK = Passage(
    "Ask for a link",
    "Choose **Forgot password** and enter your address. We send a link at once.\n\n"
    "The link is valid for 30 minutes and works once.",
)
RULES = Passage("Rules", "- A password needs at least 12 characters.\n- Leaked ones are refused.")


def alike(language: str, terms: Collection[str]) -> Mapping[str, float]:
    return dict.fromkeys(terms, 1.0)


def support(
    sentence: str, *passages: Passage, language: str = "en", vectors: Vectors | None = None
) -> Support:
    source = Source("Reset your password", language, passages or (LINK, RULES))
    (found,) = judge([Claim(sentence, source)], alike, vectors)
    return found


@cache
def vectors() -> Vectors:
    return vectors_of(LocalEmbedder(LocalEmbedder.DIMENSIONS))


def areas(chosen: Sequence[Pair], found: Sequence[Support]) -> dict[str, float]:
    """By kind of wrong pair, and for all of them."""
    scores: dict[str, list[float]] = {}
    for pair, one in zip(chosen, found, strict=True):
        scores.setdefault(pair.kind, []).append(one.score)
    wrong = [score for kind in WRONG for score in scores[kind]]
    by_kind: dict[str, float] = {kind: auc(scores["right"], scores[kind]) for kind in WRONG}
    return {**by_kind, "all": auc(scores["right"], wrong)}


def test_the_labelled_set_has_enough_of_each_kind_and_language() -> None:
    kinds = Counter(pair.kind for pair in pairs())
    assert len(pairs()) >= 160
    assert all(kinds[kind] >= 35 for kind in ("right", *WRONG[:3]))
    assert {pair.claim.source.language for pair in pairs()} == {"en", "de", "fr", "es", "ja"}
    assert len({pair.domain for pair in pairs()}) >= 8


def test_the_halves_share_no_text() -> None:
    texts = [
        {pair.claim.sentence for pair in half}
        | {passage.text for pair in half for passage in pair.claim.source.passages}
        for half in (of_half("choosing"), of_half("reporting"))
    ]
    assert texts[0].isdisjoint(texts[1])


@pytest.mark.parametrize("with_vectors", [True, False])
def test_right_citations_are_told_from_wrong_ones(with_vectors: bool) -> None:
    chosen = of_half("reporting")
    found = areas(chosen, scored(chosen, vectors() if with_vectors else None))

    assert found["all"] >= FLOOR
    assert all(found[kind] >= FLOOR for kind in WRONG[:3])
    assert found["denied"] > 0.6


def test_and_among_many_passages_of_the_document_too() -> None:
    english = [pair for pair in of_half("reporting") if pair.claim.source.language == "en"]
    chosen = beside_others(english, 12)
    assert all(len(pair.claim.source.passages) > 10 for pair in chosen)
    assert areas(chosen, scored(chosen, vectors()))["all"] >= FLOOR


@pytest.mark.parametrize("with_vectors", [True, False])
def test_few_right_ones_are_called_weak_and_few_wrong_ones_are_not(with_vectors: bool) -> None:
    chosen = [pair for pair in of_half("reporting") if pair.kind != "denied"]
    found = scored(chosen, vectors() if with_vectors else None)
    right = [one.score for pair, one in zip(chosen, found, strict=True) if pair.is_right]
    wrong = [one.score for pair, one in zip(chosen, found, strict=True) if not pair.is_right]

    assert sum(score < WEAK for score in right) <= 0.1 * len(right)
    assert sum(score < WEAK for score in wrong) >= 0.9 * len(wrong)


def test_the_best_passage_and_its_stretch_are_named() -> None:
    found = support("A password must have at least 12 characters.")
    assert found.passage == 1
    assert found.evidence == "A password needs at least 12 characters."
    assert support("The link is valid for 30 minutes.").passage == 0


def test_another_number_is_held_against_it() -> None:
    right = support("The link is valid for 30 minutes and works once.")
    wrong = support("The link is valid for 90 minutes and works once.")
    assert right.score > WEAK > wrong.score
    assert (wrong.parts.figures, wrong.parts.contradicts) == (0.0, True)
    assert (right.parts.figures, right.parts.contradicts) == (1.0, False)


def test_a_denial_is_held_against_it() -> None:
    right = support("Leaked passwords are refused.")
    wrong = support("Leaked passwords are not refused.")
    assert wrong.parts.negation_differs
    assert wrong.score < right.score - 0.1


def test_a_contradicted_sentence_does_not_get_away_with_another_stretch() -> None:
    elsewhere = Passage("Links", "A link can be valid. Every link works in a browser.")
    found = support("The link is valid for 90 minutes and works once.", LINK, elsewhere)
    assert found.passage == 0
    assert found.score < WEAK


def test_what_title_and_heading_name_counts_apart() -> None:
    found = support("Reset your password by asking for a link at once.")
    assert found.parts.named > 0
    assert found.parts.coverage < 1


def test_without_vectors_it_says_so() -> None:
    assert support("The link works once for you.").parts.cosine is None
    assert support("The link works once for you.", vectors=vectors()).parts.cosine is not None


def test_only_the_best_windows_by_words_are_embedded() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[1.0] for _text in texts]

    long = Passage("", "\n\n".join(f"Sentence number {n} is here." for n in range(200)))
    support("Sentence seven is here too.", long, vectors=Vectors(embed, float))
    assert len(asked) == len(set(asked)) <= CANDIDATES + 1


def test_the_cosine_is_brought_to_the_common_scale() -> None:
    half = Vectors(lambda texts: [[1.0] for _text in texts], lambda cosine: cosine / 2)
    assert support("The link works once for you.", vectors=half).parts.cosine == 0.5


def test_the_same_claims_give_the_same_result() -> None:
    chosen = of_half("reporting")[:40]
    assert scored(chosen, vectors()) == scored(chosen, vectors())


def test_no_claims_are_no_work() -> None:
    assert judge([], alike, vectors()) == []


@pytest.mark.parametrize("text", ["---", "***", "| --- |", "`", "…", "![](x)"])
def test_a_passage_of_marks_alone_supports_nothing(text: str) -> None:
    assert support("The link works once for you.", Passage("", text)).score < WEAK


def test_marks_of_markdown_are_no_words() -> None:
    passage = Passage(
        "",
        '## Steps\n1. Open **[Settings](/articles/settings/ "x")**\n\n'
        "> Save it.\n\n| Plan | Seats |\n|---|---|\n| Basic | 3 |\nGo\non.",
    )
    assert support("Open the settings of yours.", passage).evidence == "Open Settings"
    assert support("Basic has three seats.", passage).evidence == "Plan Seats Basic 3"
    assert support("You go on then.", Passage("", "Go\non.")).evidence == "Go on."


@pytest.mark.parametrize(
    ("own", "language", "enough"),
    [
        ("See.", "en", False),
        ("Yes, you can do that.", "en", False),
        ("Open Settings and choose SSO.", "en", True),
        ("設定を開いてください。", "ja", True),
    ],
)
def test_a_sentence_has_to_say_something(own: str, language: str, enough: bool) -> None:
    assert says_enough(own, language) is enough


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "<a ", "**", ". ", "1,", "“.", "| a ", "- ", "not "]
)
def test_hostile_passages_take_time_by_their_length(piece: str) -> None:
    assert_linear(lambda text: support("The link works 3 times.", Passage("", text)), piece)
