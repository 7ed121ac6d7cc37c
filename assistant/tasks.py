"""Celery tasks of the assistant. Each is idempotent."""

from __future__ import annotations

import logging
import uuid

from celery import shared_task
from django.conf import settings

from assistant import escalating, gaps
from assistant.audit import access_log
from assistant.bill import alerts
from assistant.gaps import checking, digest, proposals
from assistant.support import records
from assistant.turns import reaping
from helpcenter.celery import OUTLASTS_THE_DATABASE
from helpcenter.site_counts import INTERRUPTED_TURNS

logger = logging.getLogger(__name__)


@shared_task(soft_time_limit=90, time_limit=120)
def end_interrupted_turns() -> int:
    """Ends the turns of processes that died. Returns how many."""
    count = reaping.reap()
    if count:
        INTERRUPTED_TURNS.add(amount=count)
    return count


@shared_task(
    soft_time_limit=60, time_limit=90, autoretry_for=(OSError,), retry_backoff=10, max_retries=5
)
def send_budget_alert(day: str, kind: str, percent: int, spent: int, limit: int) -> bool:
    """Tells staff by e-mail how much of a day's budget is used. Whether this call did."""
    return alerts.send(day, kind, percent, spent, limit)


@shared_task(soft_time_limit=600, time_limit=660)
def update_gap_report() -> int | None:
    """Takes new unanswered questions into the gap queue. Returns how many; None if it is busy."""
    run = gaps.update_report()
    return run.questions_added if run else None


@shared_task(soft_time_limit=120, time_limit=150, **OUTLASTS_THE_DATABASE)
def judge_support(answer_id: str) -> int:
    """Judges how well the citations of an answer are supported. Returns how many it has."""
    count = records.judge_answer(uuid.UUID(answer_id))
    logger.info("support_judged", extra={"answer_id": answer_id, "citations": count})
    return count


@shared_task(soft_time_limit=120, time_limit=150)
def forget_access_records() -> int:
    """Deletes records of the staff's looks that are old enough. Returns how many."""
    count = access_log.forget()
    if count:
        logger.info("access_records_forgotten", extra={"count": count})
    return count


@shared_task(soft_time_limit=60, time_limit=90)
def send_escalation(escalation_id: int) -> bool:
    """Sends a conversation to support. What cannot be sent now is tried again by the schedule."""
    try:
        return escalating.send(escalation_id)
    except OSError as error:
        logger.warning("escalation_not_sent", extra={"error": type(error).__name__})
        return False


@shared_task(soft_time_limit=240, time_limit=270)
def send_waiting_escalations() -> int:
    """Tries again what could not be sent. Returns how many were."""
    return sum(send_escalation(escalation_id) for escalation_id in escalating.waiting())


@shared_task(soft_time_limit=1500, time_limit=1530)
def check_gap_topics() -> int:
    """Asks the questions of published topics again. Returns how many topics it was done with;
    what it did not get to, the schedule takes up again."""
    return checking.work()


@shared_task(
    soft_time_limit=settings.ASSISTANT_TURN_SECONDS + 45,
    time_limit=settings.ASSISTANT_TURN_SECONDS + 55,
)
def propose_gap_text(run: str) -> bool:
    """Has the model write the text of a proposal. Whether there is one now."""
    is_written = proposals.write(uuid.UUID(run))
    logger.info("gap_proposal_ended", extra={"run": run, "is_written": is_written})
    return is_written


@shared_task(soft_time_limit=240, time_limit=270)
def send_gap_digest() -> int:
    """The weekly e-mail about documentation gaps. Returns to how many it went."""
    return digest.send()
