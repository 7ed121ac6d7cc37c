"""The chat page. Its scripts are a client of the API like any other; opening it sends nothing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from articles.access import Reader, readable
from articles.models import Article
from assistant.escalating import is_possible
from assistant.feedback import Reason
from helpcenter.context_processors import settings_of
from helpcenter.visitors import ensure_visitor

MODULES = (
    *("composer", "contact", "conversations", "http", "morph", "opened", "panel", "prose"),
    *("sources", "stream", "suggest", "tip", "turn"),
)
"""What chat.js and page.js import: named in the page, so that they load at once."""


@ensure_csrf_cookie
@require_safe
def chat(request: HttpRequest) -> HttpResponse:
    """`?article=` names the page that is asked about, `?conversation=` one to open and
    `?question=` a text to begin with; the last two are read by the scripts.

    The page issues the session: a first question that is sent again, because the
    connection broke before any answer, must come from the same visitor.
    """
    site = settings_of(request)
    if site.assistant_enabled and not request.user.is_authenticated:
        ensure_visitor(request.session)
    context = {
        "about": _article(request),
        "extractive": not settings.ASSISTANT_MODEL,
        "modules": [static(f"js/{name}.js") for name in MODULES],
        "question_limit": settings.QUESTION_MAX_LENGTH,
        "questions": site.questions(),
        "reasons": Reason.choices,
        "has_support": is_possible(),
        "texts": _texts(),
    }
    return render(request, "assistant/chat.html", context)


def _article(request: HttpRequest) -> Article | None:
    slug = request.GET.get("article", "").replace("\0", "")
    return readable(Reader.of(request.user)).filter(slug=slug).first() if slug else None


def _texts() -> dict[str, Any]:
    """The words that the scripts write, in the page's language."""
    return {
        "answerReady": _("The answer:"),
        "changed": _("updated since"),
        "conversationGone": _("This conversation is no longer there. A new one begins."),
        "copied": _("Copied"),
        "copy": _("Copy"),
        "escalated": _("Sent to support. Your reference number is {reference}."),
        "failed": _("The answer could not be finished. The question was kept."),
        "gone": _("no longer available"),
        "interrupted": _("The answer was interrupted."),
        "length": _("{count} of {limit} characters"),
        "limited": _("That was a lot of questions. The next one can be sent in {seconds} seconds."),
        "lookedAt": _plural(
            ngettext("Looked at {count} article", "Looked at {count} articles", 1),
            ngettext("Looked at {count} article", "Looked at {count} articles", 5),
        ),
        "notDeleted": _("The conversation was not deleted. Check the connection and try again."),
        "notLoaded": _("The conversations could not be loaded. Check the connection."),
        "notSent": _("Nothing was sent. Check the address and the connection, and try again."),
        "notSaved": _("Not saved. Check the connection and try again."),
        "offline": _("You are offline. The answer goes on when the connection is back."),
        "read": _("read"),
        "readOf": _plural(
            ngettext(", read {count}", ", read {count}", 1),
            ngettext(", read {count}", ", read {count}", 5),
        ),
        "reconnecting": _("The connection was lost. Reconnecting…"),
        "reload": _(
            "You signed in or out in another tab. The question was kept; reload to send it."
        ),
        "searched": _("Searched"),
        "sources": _("Sources"),
        "stopped": _("Stopped."),
        "stoppedEarly": _("Stopped before the answer began."),
        "stopping": _("Stopping…"),
        "thanks": _("Thank you"),
        "thinking": _("Thinking…"),
        "truncated": {
            "content_filter": _("The answer was cut short by the model’s content filter."),
            "length": _("The answer reached its greatest length and ends here."),
            "tool_rounds": _("The search took too many steps, and the answer may be incomplete."),
        },
        "unavailable": _("The assistant cannot be reached. The question was kept; send it again."),
    }


def _plural(one: str, other: str) -> dict[str, str]:
    return {"one": one, "other": other}
