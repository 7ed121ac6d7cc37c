"""Celery tasks of the assistant. Each is idempotent."""

from __future__ import annotations

from celery import shared_task

from assistant import gaps, reaping


@shared_task(soft_time_limit=90, time_limit=120)
def end_interrupted_turns() -> int:
    """Ends the turns of processes that died. Returns how many."""
    return reaping.reap()


@shared_task(soft_time_limit=600, time_limit=660)
def update_gap_report() -> int | None:
    """Takes new unanswered questions into the gap queue. Returns how many; None if it is busy."""
    run = gaps.update_report()
    return run.questions_added if run else None
