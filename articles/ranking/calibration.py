"""One scale for the cosines of all embedding models.

What a cosine of 0.5 means depends on the model: for one it is a hit, for another noise.
Eight questions and the sentences that answer them tell: their mean cosine, and that of
the questions with the other answers, are two points of a model's scale, and a cosine is
moved from there to the scale of the local model, for which the floors were measured.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from articles.embeddings import Embedder

logger = logging.getLogger(__name__)

PAIRS = (
    (
        "How do I reset my password?",
        "To choose a new password, follow the link in the e-mail that we send you.",
    ),
    (
        "Where can I see my invoices?",
        "Your bills are listed in the billing section and can be downloaded as PDF files.",
    ),
    (
        "How long does delivery take?",
        "Parcels arrive within three working days after the order has been shipped.",
    ),
    (
        "Can I export my data?",
        "All records can be saved as a CSV file from the settings of the workspace.",
    ),
    (
        "The app crashes when I open it.",
        "If the application closes at once, update it and restart your phone.",
    ),
    (
        "How do I invite a colleague?",
        "Add people to your team by entering their e-mail address on the members page.",
    ),
    (
        "Is there a discount for schools?",
        "Educational institutions and charities pay half the price of a plan.",
    ),
    (
        "How do I change the language?",
        "Texts and dates are shown in another language after choosing it in your profile.",
    ),
)

LEAST_APART = 0.1
"""A model whose two points are nearer to each other cannot be calibrated by these pairs."""


@dataclass(frozen=True)
class Scale:
    """Two points of a model's scale of cosines."""

    unrelated: float
    related: float

    def comparable(self, cosine: float) -> float:
        """The cosine by which the local model would say the same."""
        share = (cosine - self.unrelated) / (self.related - self.unrelated)
        return LOCAL.unrelated + share * (LOCAL.related - LOCAL.unrelated)

    def own(self, comparable: float) -> float:
        """The cosine by which this model says what the local model says by `comparable`."""
        share = (comparable - LOCAL.unrelated) / (LOCAL.related - LOCAL.unrelated)
        return self.unrelated + share * (self.related - self.unrelated)


LOCAL = Scale(unrelated=0.0228, related=0.3092)
"""The local model's own points, measured by these pairs."""


@lru_cache(maxsize=8)
def scale_of(embedder: Embedder) -> Scale:
    """Measured once in each process. Raises EmbeddingError."""
    vectors = embedder.embed([text for pair in PAIRS for text in pair])
    questions, answers = vectors[::2], vectors[1::2]
    related = [_cosine(*pair) for pair in zip(questions, answers, strict=True)]
    unrelated = [
        _cosine(question, answer)
        for place, question in enumerate(questions)
        for other, answer in enumerate(answers)
        if other != place
    ]
    scale = Scale(fmean(unrelated), fmean(related))
    extra = {"model": embedder.name, "unrelated": scale.unrelated, "related": scale.related}
    if scale.related - scale.unrelated < LEAST_APART:
        logger.warning("embeddings_not_calibrated", extra=extra)
        return LOCAL
    logger.info("embeddings_calibrated", extra=extra)
    return scale


def _cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
