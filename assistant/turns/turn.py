"""One turn, from its first event to its stored end.

The model's loop runs as a task inside the turn's own, so a stop ends the loop and nothing
else: what was delivered by then is closed, stored and told like any other end. The order at
the end: the text is complete in the log, the database has the whole answer, and only then
the last event says so.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from django.conf import settings
from django.db import Error as DatabaseFailure
from django.utils import timezone, translation

from assistant import agent, metrics, prompts, tools_refused
from assistant.agent import Limits, Model, Outcome, ProviderError
from assistant.background import end as end_tasks
from assistant.database import be_patient, db
from assistant.eventlog import EventLog
from assistant.events import References
from assistant.models import Answer
from assistant.turns.conclusion import Delivered, Ending
from assistant.turns.finishing import finish
from assistant.turns.output import Output
from assistant.turns.preparation import Loaded, Work, load_anew, set_up
from assistant.turns.sending import Opened, Sender

GRACE_SECONDS = 5
"""Beyond the loop's own limit. Only what hangs in spite of it is ended by this."""

SHORTENED = 4
"""By how much less is sent to a model for which it was too long."""

logger = logging.getLogger(__name__)


class AnswerTurn:
    """The turn of an answer whose row was just made. `model`: who answers, in place of the one
    that the settings name. `loaded`: what it starts with, where that is at hand already."""

    def __init__(
        self,
        opened: Opened,
        sender: Sender,
        model: Model | None = None,
        loaded: Loaded | None = None,
    ) -> None:
        self.answer_id = opened.answer_id
        self._opened = opened
        self._sender = sender
        self._model = model
        self._loaded = loaded
        self._begun_at = timezone.now()
        self._work: Work | None = None
        self._answering: asyncio.Task[Outcome] | None = None
        self._is_stopped = False
        self._is_given_up = False

    def stop(self) -> None:
        """Ends the loop; what was delivered is kept. Too late, it changes nothing."""
        self._is_stopped = True
        self._interrupt()

    def give_up(self) -> None:
        """Somebody else has ended the answer, or deleted it: nothing more is written."""
        self._is_given_up = True
        self._interrupt()

    async def run(self) -> None:
        be_patient()
        translation.activate(self._sender.language or settings.LANGUAGE_CODE)
        log = EventLog.current()
        writer = log.open(self.answer_id, self.give_up)
        output = Output(writer)
        try:
            answering = self._answering = asyncio.create_task(self._answer(output))
            # Goes out behind the task's first step: the model is asked before anybody is told so.
            output.begin(self._opened, self._sender.language)
            ending = await self._ending(answering)
            if not self._is_given_up:
                await self._conclude(output, ending)
        finally:
            log.close(writer)
        logger.info("turn_ended", extra={"answer_id": self.answer_id, "status": ending.status})

    def _interrupt(self) -> None:
        if self._answering is not None:
            self._answering.cancel()

    async def _ending(self, answering: asyncio.Task[Outcome]) -> Ending:
        """Waits for the loop's end, and says how it ended."""
        if self._is_stopped or self._is_given_up:
            answering.cancel()
        try:
            await asyncio.wait({answering}, timeout=settings.ASSISTANT_TURN_SECONDS + GRACE_SECONDS)
            hangs = not answering.done()
        finally:
            await end_tasks(answering)
        if answering.cancelled():
            return Ending("failed", error_code="timeout") if hangs else Ending("stopped")
        return self._as_ending(answering)

    def _as_ending(self, answering: asyncio.Task[Outcome]) -> Ending:
        error = answering.exception()
        if error is None:
            outcome = answering.result()
            return Ending(outcome.finish, outcome.truncated)
        if isinstance(error, ProviderError):
            self._log_failure(error.code, detail=error.detail)
            if error.code == "content_filter":
                return Ending("truncated", truncated="content_filter")
            return Ending("failed", error_code=error.code)
        if isinstance(error, DatabaseFailure):
            # Without its text, which may hold what was asked.
            self._log_failure("database", detail=type(error).__name__)
        else:
            logger.error("turn_broke", extra={"answer_id": self.answer_id}, exc_info=error)
        return Ending("failed", error_code="unavailable")

    async def _answer(self, output: Output) -> Outcome:
        """Sets up and runs the loop. Where the endpoint reads less than the settings say, it is
        tried once more with less, before anything was done."""
        loaded = self._loaded
        if loaded is None:
            loaded = await db(load_anew, self.answer_id, self._sender.reader, self._model)
        context = settings.ASSISTANT_CONTEXT_TOKENS
        work = self._work = set_up(loaded, self._sender, context)
        try:
            return await self._run(work, output)
        except ProviderError as error:
            if error.code != "context_length" or work.progress.calls or work.progress.text:
                raise
            self._log_failure(error.code, detail=error.detail)
        work = self._work = set_up(loaded, self._sender, context // SHORTENED)
        return await self._run(work, output)

    async def _run(self, work: Work, output: Output) -> Outcome:
        """Delivers what the agent yields, and returns its outcome."""
        events = agent.run(
            messages=work.messages,
            model=work.model,
            toolbox=work.toolbox,
            ledger=work.ledger,
            writer=work.writer,
            describe=work.toolbox.describe,
            references=work.toolbox.references,
            limits=Limits(
                tool_rounds=settings.ASSISTANT_TOOL_ROUNDS, seconds=settings.ASSISTANT_TURN_SECONDS
            ),
            without_answer=prompts.without_answer(self._sender.language),
            progress=work.progress,
        )
        async with aclosing(events) as running:
            async for event in running:
                if isinstance(event, References | Outcome) and work.goes_over_to_context():
                    await db(tools_refused.remember, work.model)
                if isinstance(event, Outcome):
                    return event
                output.take(event, work)
        raise AssertionError("the agent yields its outcome last")

    async def _conclude(self, output: Output, ending: Ending) -> None:
        """Closes the text, stores the answer, and says that it has ended."""
        work, language = self._work, self._sender.language
        if work is not None:
            output.close_text(work, ending, prompts.without_answer(language)["content_filter"])
        last_seq = await output.complete()
        delivered = Delivered(self.answer_id, output.text, last_seq, output.first_token_at)
        told = await finish(delivered, ending, work, self._sender)
        if told is None:
            await self._forget()
            return
        end = told.end
        metrics.turn_ended(end.status, end.grounding, self._begun_at, output.first_token_at)
        await output.end(told.event)

    async def _forget(self) -> None:
        """The answer was deleted while the turn ran: its stream goes too. One that another
        process has ended keeps its stream, and its end."""
        if not await db(Answer.objects.filter(pk=self.answer_id).exists):
            await EventLog.current().store.forget([self.answer_id])

    def _log_failure(self, code: str, detail: str = "") -> None:
        extra = {"answer_id": self.answer_id, "code": code, "detail": detail}
        logger.warning("turn_failed", extra=extra)
