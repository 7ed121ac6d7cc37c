"""The articles' part of the API under /api/v1/articles/."""

from __future__ import annotations

import json
import logging
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.middleware.csrf import get_token
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from articles.access import Reader, readable
from articles.feedback import FeedbackForm, record
from helpcenter.csrf import csrf_refusal

logger = logging.getLogger(__name__)

BODY_LIMIT = 16_384
"""Bytes: a comment of the greatest length, every character escaped, fits."""


@csrf_exempt
@require_POST
def article_feedback(request: HttpRequest, slug: str) -> JsonResponse:
    """`{"rating": "positive"|"negative", "reason"?, "comment"?}`: the reader's vote, stored."""
    reason = csrf_refusal(request)
    if reason:
        logger.warning("article_feedback_refused", extra={"reason": reason})
        return _error(403, "forbidden", _("Reload the page and send it again."))
    article = readable(Reader.of(request.user)).filter(slug=slug).first()
    if article is None:
        return _error(404, "not_found", _("There is no such article."))
    data = _json_object(request)
    if data is None:
        return _error(400, "malformed", _("Expected a JSON object of texts."))
    form = FeedbackForm(data)
    if not form.is_valid():
        return _invalid(form)
    feedback = record(article, request, form.cleaned_data)
    get_token(request)  # the visitor may have a session now, and their next vote needs its token
    return JsonResponse(
        {"rating": feedback.rating, "reason": feedback.reason, "comment": feedback.comment}
    )


def _json_object(request: HttpRequest) -> dict[str, str] | None:
    """The body as an object whose values are texts, or None where it is something else."""
    if len(request.body) > BODY_LIMIT:
        return None
    try:
        data = json.loads(request.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        return None
    return data


def _invalid(form: FeedbackForm) -> JsonResponse:
    fields = {name: [str(error) for error in errors] for name, errors in form.errors.items()}
    return _error(400, "invalid_feedback", _("The feedback was not saved."), fields=fields)


def _error(status: int, code: str, message: str, **more: Any) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": message, **more}}, status=status)
