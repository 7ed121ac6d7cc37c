"""Having a text proposed: begun by a writer, written by a worker, one at a time for a topic.

A proposal counts against the limits like a turn, when it begins. The text and the proposal's end
are stored in one transaction, so a task that is delivered twice, or that goes on after its
proposal was given up, writes nothing. What nobody finishes is given up by whoever looks.
"""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext
from kombu.exceptions import OperationalError

from assistant import limits
from assistant.gaps import proposing
from assistant.gaps.proposing import ProposalError
from assistant.models import GapProposal, GapTopic
from helpcenter.celery import hand_out

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TASK = "assistant.tasks.propose_gap_text"

WAITS = timedelta(minutes=10)
"""How long a proposal may wait for a worker."""

SPARE = timedelta(seconds=60)
"""What finding the passages and storing the text may take besides asking the model."""

logger = logging.getLogger(__name__)


def begin(topic: GapTopic, user: User) -> GapProposal:
    """Has a worker write a text, or gives the proposal that is under way.

    Raises `ProposalError`, or a `Refusal` where the limits are reached.
    """
    if not proposing.is_possible(topic):
        raise ProposalError(proposing.IMPOSSIBLE)
    with transaction.atomic():
        GapTopic.objects.select_for_update().get(pk=topic.pk)
        running = of(topic)
        if running and running.finished_at is None:
            return running
        limits.charge(f"user:{user.pk}", "")
        GapProposal.objects.filter(topic=topic).delete()
        made = GapProposal.objects.create(topic=topic, asked_by=user, begun_at=timezone.now())
    try:
        hand_out(TASK, str(made.run))
    except (OperationalError, OSError) as error:
        logger.warning("gap_proposal_not_sent", extra={"error": type(error).__name__})
        said = gettext("No text could be asked for: the queue of tasks is down.")
        _end(made.run, said)
        raise ProposalError(said) from error
    return made


def of(topic: GapTopic) -> GapProposal | None:
    """The topic's last proposal; one that nobody works on any more is given up."""
    proposal = GapProposal.objects.filter(topic=topic).first()
    if proposal is None or proposal.finished_at is not None:
        return proposal
    now = timezone.now()
    if proposal.taken_at is None and now - proposal.begun_at > WAITS:
        said = gettext("No worker took it up. Nothing was changed.")
    elif proposal.taken_at is not None and now - proposal.taken_at > _longest():
        said = gettext("The worker broke off. Nothing was changed.")
    else:
        return proposal
    _end(proposal.run, said)
    return GapProposal.objects.filter(topic=topic).first()


def write(run: uuid.UUID) -> bool:
    """Writes the text of a proposal that nobody has taken up. Returns whether there is one now."""
    waiting = GapProposal.objects.filter(run=run, taken_at=None, finished_at=None)
    if not waiting.update(taken_at=timezone.now()):
        return False
    proposal = GapProposal.objects.select_related("topic__article", "asked_by").get(run=run)
    try:
        text = proposing.proposed(proposal.topic)
        with transaction.atomic():
            if not _end(run, left_out=text.left_out):
                return False
            proposing.add(text, proposal.topic, proposal.asked_by)
    except ProposalError as error:
        _end(run, str(error))
        return False
    except Exception:
        _end(run, gettext("The worker broke off. Nothing was changed."))
        raise
    return True


def _end(run: uuid.UUID, problem: str = "", left_out: int = 0) -> bool:
    """False where it has ended already."""
    running = GapProposal.objects.filter(run=run, finished_at=None)
    return bool(running.update(finished_at=timezone.now(), problem=problem, left_out=left_out))


def _longest() -> timedelta:
    return timedelta(seconds=settings.ASSISTANT_TURN_SECONDS) + SPARE
