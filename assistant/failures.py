"""What a visitor is told where a turn fails or is cut short: words, never a provider's text."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Failure:
    """`code` is what clients see; what an operator needs is in the log and on the answer."""

    code: str
    message: str | Promise
    retryable: bool = True


UNAVAILABLE = Failure(
    "unavailable",
    _("The assistant cannot be reached at the moment. Send the question again in a while."),
)
NOT_SAVED = Failure(
    "unavailable",
    _("The answer could not be saved. What was written is shown; send the question again."),
)
INTERRUPTED = Failure(
    "interrupted",
    _("The answer was interrupted. What was written is kept; send the question again."),
)

_BY_ERROR = {
    "interrupted": INTERRUPTED,
    "not_saved": NOT_SAVED,
    "timeout": Failure(
        "unavailable",
        _("The answer took too long. What was written is kept; send the question again."),
    ),
    "misconfigured": Failure(
        "unavailable", _("The assistant is not available at the moment."), retryable=False
    ),
    "context_length": Failure(
        "unavailable",
        _("This conversation has become too long for the assistant. Begin a new one."),
        retryable=False,
    ),
    "refused": Failure(
        "unavailable", _("The assistant cannot answer this question."), retryable=False
    ),
}


def failure(error_code: str) -> Failure:
    """What is told of an answer whose `error_code` is this."""
    return _BY_ERROR.get(error_code, UNAVAILABLE)
