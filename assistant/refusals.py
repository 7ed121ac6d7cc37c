"""What the chat refuses, in one shape for every transport, see "Errors" in the manual's page.

A refusal means that nothing was begun and nothing was stored. Messages are lazy texts:
they are read in the language of whoever is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


class Refusal(Exception):  # noqa: N818, a refusal is no error of ours
    """`retry_after`: seconds, where trying again later may help."""

    code = "malformed"
    status = 400
    message: Text = _("The request is not understood.")
    retry_after: int | None = None

    def __init__(
        self,
        message: Text | None = None,
        *,
        retry_after: int | None = None,
        fields: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        super().__init__(self.code)
        self.message = message or self.message
        self.retry_after = self.retry_after if retry_after is None else retry_after
        self.fields = fields

    def payload(self) -> dict[str, Any]:
        """`{"error": {"code", "message", "fields"?}}`, in the active language."""
        error: dict[str, Any] = {"code": self.code, "message": str(self.message)}
        if self.fields:
            error["fields"] = {
                name: [str(text) for text in texts] for name, texts in self.fields.items()
            }
        return {"error": error}


class Malformed(Refusal):
    """Not JSON, or not the types that are expected."""


class InvalidQuestion(Refusal):
    code = "invalid_question"


class InvalidFeedback(Refusal):
    code = "invalid_feedback"
    message = _("The feedback was not saved.")


class InvalidContact(Refusal):
    code = "invalid_contact"
    message = _("Nothing was sent. An e-mail address and your consent are needed.")


class NoSupport(Refusal):
    """The site has no address to send a conversation to."""

    code = "no_support"
    status = 409
    message = _("There is nobody to send it to.")


class Forbidden(Refusal):
    """Cross-site, or from a page whose session has changed since."""

    code = "forbidden"
    status = 403
    message = _("Your session has changed. Reload the page and send it again.")


class NotFound(Refusal):
    """Unknown, or somebody else's: nobody can tell which."""

    code = "not_found"
    status = 404
    message = _("There is no such conversation or answer.")


class NotAllowed(Refusal):
    code = "method_not_allowed"
    status = 405
    message = _("This address does not take this method.")


class Disabled(Refusal):
    code = "disabled"
    status = 409
    message = _("The assistant is switched off.")


class KeyReused(Refusal):
    code = "key_reused"
    status = 422
    message = _("This key was used for another question.")


class RateLimited(Refusal):
    code = "rate_limited"
    status = 429
    message = _("That was a lot of questions in a short time. Send it again in a while.")
    retry_after = 60


class BudgetSpent(RateLimited):
    """All visitors together have asked as much as the site answers in a day."""

    message = _(
        "The assistant has answered as much as it can today. Search the articles, or send it "
        "again tomorrow."
    )


class Unavailable(Refusal):
    code = "unavailable"
    status = 503
    message = _("The assistant cannot be reached at the moment. Send it again in a while.")
    retry_after = 5
