"""A reader's vote on an article: what may be sent, and how it is stored.

One vote per reader and revision; the last one counts. The page's form and the API are
two skins over `FeedbackForm` and `record`.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from articles.models import Article, ArticleFeedback, ArticleRevision, Rating
from helpcenter.texts import is_storable
from helpcenter.visitors import ensure_visitor, existing_visitor


class Reason(models.TextChoices):
    """Why an article did not help."""

    INCOMPLETE = "incomplete", _("Something is missing")
    UNCLEAR = "unclear", _("Hard to follow")
    OUTDATED = "outdated", _("Out of date or wrong")
    OTHER = "other", _("Not what I was looking for")


class FeedbackForm(forms.Form):
    """`rating`, and for a negative one `reason` and `comment`, both optional."""

    rating = forms.ChoiceField(choices=Rating.choices)
    reason = forms.ChoiceField(choices=Reason.choices, required=False)
    comment = forms.CharField(max_length=2000, required=False)

    def clean_comment(self) -> str:
        comment: str = self.cleaned_data["comment"]
        if not is_storable(comment):
            raise forms.ValidationError(_("The comment contains characters that are not text."))
        return comment

    def clean(self) -> dict[str, Any]:
        """A reason and a comment explain what did not help; a positive vote has neither.

        What a negative vote leaves out stays as it was: pressing the button again erases
        nothing.
        """
        data = super().clean() or {}
        if data.get("rating") == Rating.POSITIVE:
            return data | {"reason": "", "comment": ""}
        return {name: value for name, value in data.items() if name in self.data}


def record(article: Article, request: HttpRequest, vote: dict[str, Any]) -> ArticleFeedback:
    """Stores a vote that `FeedbackForm` cleaned, on the revision that readers see now."""
    feedback, _created = ArticleFeedback.objects.update_or_create(
        revision=article.live_revision,
        voter=_voter(request),
        defaults={"article": article, **vote},
    )
    return feedback


def vote_of(request: HttpRequest, revision: ArticleRevision) -> ArticleFeedback | None:
    """What this reader has said about a revision. Asks nothing for a reader without a session."""
    voter = _known_voter(request)
    if voter is None:
        return None
    return ArticleFeedback.objects.filter(revision=revision, voter=voter).first()


def _known_voter(request: HttpRequest) -> str | None:
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return None
    if request.user.is_authenticated:
        return f"user:{request.user.pk}"
    visitor = existing_visitor(request.session)
    return f"visitor:{visitor}" if visitor else None


def _voter(request: HttpRequest) -> str:
    if request.user.is_authenticated:
        return f"user:{request.user.pk}"
    return f"visitor:{ensure_visitor(request.session)}"
