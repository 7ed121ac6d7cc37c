"""The reader's vote on an article, over HTTP."""

from __future__ import annotations

from typing import Any

from django.forms import Form
from django.middleware.csrf import get_token
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException, NotFound, ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.access import readable
from articles.api import examples
from articles.api.fields import refuse_unknown
from articles.api.views import View
from articles.feedback import FeedbackForm, Reason, record
from articles.models import Rating


class InvalidFeedback(APIException):
    status_code = 400
    default_code = "invalid_feedback"
    default_detail = _("The feedback was not saved.")


class Vote(serializers.Serializer[Any]):
    """A reason and a comment explain a negative vote; a positive one has neither."""

    rating = serializers.ChoiceField(choices=Rating.choices)
    reason = serializers.ChoiceField(choices=Reason.choices, required=False, allow_blank=True)
    comment = serializers.CharField(required=False, allow_blank=True, max_length=2000)


class ArticleFeedbackView(View):
    @extend_schema(
        operation_id="vote_on_article",
        tags=["Reading"],
        summary="Vote on an article",
        description="Whether the article helped. A reader's last vote on a revision counts. A "
        "browser's session needs its CSRF token, in `X-CSRFToken`.",
        request=Vote,
        responses=Vote,
        examples=[examples.VOTE],
    )
    def post(self, request: Request, slug: str) -> Response:
        article = readable(self.reader()).filter(slug=slug).first()
        if article is None:
            raise NotFound
        form = FeedbackForm(_texts(self.body()))
        if not form.is_valid():
            raise InvalidFeedback(_told(form))
        feedback = record(article, request._request, form.cleaned_data)
        # The visitor may have a session now, and their next vote needs its token.
        get_token(request._request)
        vote = {"rating": feedback.rating, "reason": feedback.reason}
        return Response({**vote, "comment": feedback.comment})


def _texts(data: dict[str, Any]) -> dict[str, str]:
    """The body. Raises `ParseError` for one that holds something else than texts, and
    `ValidationError` for fields that a vote does not have."""
    if not all(isinstance(one, str) for one in data.values()):
        raise ParseError([_("Expected a JSON object of texts.")])
    refuse_unknown(data, Vote().fields)
    return data


def _told(form: Form) -> dict[str, list[str]]:
    return {name: [str(error) for error in errors] for name, errors in form.errors.items()}
