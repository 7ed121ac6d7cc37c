"""The e-mail that tells staff how much of a day's budget is used."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.mail import send_mail
from django.urls import reverse
from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from helpcenter.valkey import client

KEPT_SECONDS = 2 * 24 * 3600

logger = logging.getLogger(__name__)


def send(day: str, kind: str, percent: int, spent: int, limit: int) -> bool:
    """Once for each day, kind and percent, however often it is called; a failure to send is
    raised, and the next call tries again. False where it was sent before, or to nobody."""
    if not settings.ASSISTANT_ALERT_EMAIL:
        logger.info("budget_alert_to_nobody", extra={"kind": kind, "percent": percent})
        return False
    valkey, key = client(settings.REDIS_URL), f"limit:day:{day}:{kind}:told:{percent}"
    if not valkey.set(key, "1", nx=True, ex=KEPT_SECONDS):
        return False
    try:
        with translation.override(settings.LANGUAGE_CODE):
            subject, text = _written(kind, percent, spent, limit)
        send_mail(subject, text, None, [settings.ASSISTANT_ALERT_EMAIL])
    except Exception:
        valkey.delete(key)
        raise
    return True


def _written(kind: str, percent: int, spent: int, limit: int) -> tuple[str, str]:
    """Subject and text."""
    numbers = {
        "percent": percent,
        "spent": number_format(spent, force_grouping=True),
        "limit": number_format(limit, force_grouping=True),
        "variable": f"ASSISTANT_{kind.upper()}_PER_DAY",
        "url": settings.SITE_URL + reverse("admin:assistant_costreport_changelist"),
    }
    if kind == "turns":
        used = _("%(spent)s of %(limit)s questions have been asked today.") % numbers
    else:
        used = _("%(spent)s of %(limit)s tokens have been used today.") % numbers
    if percent < 100:
        next_step = _("At %(limit)s the assistant answers nobody until midnight.") % numbers
    else:
        next_step = _("Until midnight the assistant answers nobody; articles and search go on.")
    change = _("The limit is the variable %(variable)s. Usage: %(url)s") % numbers
    subject = _("The assistant has used %(percent)s percent of its budget for today") % numbers
    return subject, "\n\n".join([used, next_step, change]) + "\n"
