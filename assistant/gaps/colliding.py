"""Two colleagues, one topic: notices that somebody acted on it while its page was open.

A page carries how the topic stood when it was shown, as `seen` writes it. What comes back with it
is compared with how the topic stands now: what somebody did meanwhile is neither undone nor taken
over unseen.
"""

from __future__ import annotations

import json

from django.contrib.auth.models import User
from django.utils.translation import gettext

from assistant.gaps import queue
from assistant.models import GapTopic


def seen(topic: GapTopic) -> str:
    """How the topic stands now, for a hidden field."""
    return json.dumps(queue.standing(topic), sort_keys=True)


def changed_since(then: str, topic: GapTopic) -> frozenset[str]:
    """The fields of `queue.STANDING` that somebody changed since. None where `then` says nothing:
    a form that was sent by a program asks for no check."""
    try:
        before = json.loads(then)
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(before, dict):
        return frozenset()
    now = queue.standing(topic)
    return frozenset(name for name in now if name in before and now[name] != before[name])


def was(then: str, name: str) -> object:
    """What `seen` wrote of a field."""
    return json.loads(then)[name]


def told(topic: GapTopic) -> str:
    """Who acted on the topic last, and what they did."""
    step = topic.steps.exclude(action=queue.Action.COMMENTED).first()
    if step is None:
        return gettext("The topic was changed while you had it open.")
    keys = {step.after.get("assignee_id")} - {None}
    people = dict(User.objects.filter(pk__in=keys).values_list("pk", "username"))
    acts = queue.told(step, people) or [str(step.get_action_display())]
    said = gettext("While you had the topic open, %(who)s changed it: %(what)s.")
    return said % {"who": step.username or gettext("the site"), "what": ", ".join(acts)}
