"""How well the support of citations tells right ones from wrong ones.

    python bench/support.py [--fit] [--show N]

Scores the labelled set of tests/support_claims.json. `--fit` chooses weights on its one
half and prints them; without it, those in assistant/support/scoring.py are measured on the other
half, with vectors and without. `--show` prints the N worst judged pairs. Needs no server.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, quantiles

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))
os.environ["DJANGO_SETTINGS_MODULE"] = "helpcenter.settings"

import django  # noqa: E402

django.setup()

from articles.embeddings import LocalEmbedder  # noqa: E402
from assistant.support.scoring import WEAK, Support, Vectors, Weights, features  # noqa: E402
from tests.support_pairs import (  # noqa: E402
    WRONG,
    Pair,
    auc,
    beside_others,
    of_half,
    scored,
    vectors_of,
)

STEPS, RATE, DECAY = 4_000, 0.3, 0.003
OTHERS = 12
LIKENESS = range(1, 5)
"""Places of the weights that likeness is made of: none may speak against a pair."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    for name, vectors in (("vectors and words", local_vectors()), ("words alone", None)):
        if arguments.fit:
            print(f"{name}: {fitted(vectors)}")
        report(name, vectors, arguments.show)


def local_vectors() -> Vectors:
    return vectors_of(LocalEmbedder(LocalEmbedder.DIMENSIONS))


def report(name: str, vectors: Vectors | None, show: int) -> None:
    """Figures of the reporting half; the choosing half's beside them for comparison."""
    chosen = of_half("reporting")
    began = time.perf_counter()
    found = scored(chosen, vectors)
    each = (time.perf_counter() - began) / len(chosen) * 1000
    own = of_half("choosing")
    print(f"\n{name}: {len(chosen)} pairs, {each:.2f} ms each")
    print(f"AUC on the half that weights were chosen on: {area(own, scored(own, vectors)):.3f}\n")
    print("| right against | pairs | AUC | median score | weakly supported |")
    print("| --- | --- | --- | --- | --- |")
    right = scores(chosen, found, "right")
    print(f"| (right ones) | {len(right)} | | {median(right):.2f} | {weak(right):.0%} |")
    for kind in WRONG:
        wrong = scores(chosen, found, kind)
        cells = f"{len(wrong)} | {auc(right, wrong):.3f} | {median(wrong):.2f} | {weak(wrong):.0%}"
        print(f"| {kind} | {cells} |")
    print(f"| all wrong ones | {len(chosen) - len(right)} | {area(chosen, found):.3f} | | |")
    plain = [n for n, one in enumerate(chosen) if not any(map(str.isdigit, one.claim.sentence))]
    print(f"| without a figure | {len(plain)} | {area_of(plain, chosen, found):.3f} | | |")
    for language in sorted({pair.claim.source.language for pair in chosen}):
        places = [n for n, one in enumerate(chosen) if one.claim.source.language == language]
        print(f"| in {language} | {len(places)} | {area_of(places, chosen, found):.3f} | | |")
    print(beside(chosen, vectors))
    print("\n| score | pairs | right |\n| --- | --- | --- |")
    for low in (0.0, 0.25, 0.5, 0.75):
        band = [
            pair.is_right
            for pair, one in zip(chosen, found, strict=True)
            if low <= one.score < low + 0.25
        ]
        print(f"| {low:.2f} to {low + 0.25:.2f} | {len(band)} | {fmean(band or [0]):.0%} |")
    worst = sorted(zip(chosen, found, strict=True), key=lambda one: -error(*one))[:show]
    for pair, support in worst:
        print(f"\n{support.score:.2f} {pair.kind}: {pair.claim.sentence}")
        print(f"     {support.evidence}\n     {support.parts}")


def area(chosen: Sequence[Pair], found: Sequence[Support]) -> float:
    right = scores(chosen, found, "right")
    return auc(right, [score for kind in WRONG for score in scores(chosen, found, kind)])


def beside(chosen: Sequence[Pair], vectors: Vectors | None) -> str:
    """A row of English pairs, with passages of other subjects given besides."""
    english = [pair for pair in chosen if pair.claim.source.language == "en"]
    padded = beside_others(english, OTHERS)
    found = scored(padded, vectors)
    share = weak(scores(padded, found, "right"))
    what = f"in en, one passage of {OTHERS + 1}"
    return f"| {what} | {len(padded)} | {area(padded, found):.3f} | | (right ones) {share:.0%} |"


def area_of(places: Sequence[int], chosen: Sequence[Pair], found: Sequence[Support]) -> float:
    return area([chosen[place] for place in places], [found[place] for place in places])


def scores(chosen: Sequence[Pair], found: Sequence[Support], kind: str) -> list[float]:
    return [one.score for pair, one in zip(chosen, found, strict=True) if pair.kind == kind]


def median(values: Sequence[float]) -> float:
    return quantiles(values, n=2)[0]


def weak(values: Sequence[float]) -> float:
    return fmean(value < WEAK for value in values)


def error(pair: Pair, support: Support) -> float:
    return abs(pair.is_right - support.score)


def fitted(vectors: Vectors | None) -> Weights:
    """A logistic regression on the choosing half, right and wrong ones weighed alike.

    Which stretch is the best one depends on the weights, so it is repeated from the
    weights in use; they do not change any more once they were taken over.
    """
    chosen = of_half("choosing")
    rows = [features(one.parts) for one in scored(chosen, vectors)]
    share = fmean(pair.is_right for pair in chosen)
    labels = [(pair.is_right, 0.5 / (share if pair.is_right else 1 - share)) for pair in chosen]
    values = [0.0] * len(Weights._fields)
    for _step in range(STEPS):
        slopes = [0.0] * len(values)
        for row, (is_right, weight) in zip(rows, labels, strict=True):
            odds = values[0] + sum(a * b for a, b in zip(values[1:], row, strict=True))
            miss = weight * (is_right - 1 / (1 + math.exp(-odds)))
            slopes[0] += miss
            for place, value in enumerate(row, start=1):
                slopes[place] += miss * value
        for place, slope in enumerate(slopes):
            decay = DECAY * values[place] if place else 0.0
            values[place] += RATE * (slope / len(rows) - decay)
            if place in LIKENESS:
                values[place] = max(0.0, values[place])
    return Weights(*(round(value, 2) for value in values))


if __name__ == "__main__":
    main()
