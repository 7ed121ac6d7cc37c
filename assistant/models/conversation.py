"""Conversations, and answers with the question each one answers.

An answer row is written before its turn starts and has its last word: `text` is
what the visitor saw, to the letter, and `grounding` is the one verdict that the
row, the audit and the gap report read.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from articles.models import Article, Rating
from assistant.reference_numbers import reference_number


class Grounding(models.TextChoices):
    """The verdict on an answer, see "How the assistant picks its sources" in the manual."""

    UNAVAILABLE = "unavailable", _("unavailable")
    OUT_OF_SCOPE = "out_of_scope", _("out of scope")
    UNCLEAR = "unclear", _("question unclear")
    REJECTED = "rejected", _("not in the articles")
    GROUNDED = "grounded", _("grounded")
    UNCITED = "uncited", _("uncited")
    LISTING = "listing", _("listing")
    NO_HITS = "no_hits", _("nothing found")
    SMALLTALK = "smalltalk", _("small talk")
    UNSEARCHED = "unsearched", _("never searched")


class Origin(models.TextChoices):
    """Who asked. Only visitors' answers count in gaps, usage and ratings."""

    VISITOR = "visitor", _("visitor")
    STAFF = "staff", _("staff")
    CHECK = "check", _("check")


class Conversation(models.Model):
    """A visitor's or a signed-in user's conversation; exactly one of the two owns it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="conversations",
    )
    visitor_id = models.UUIDField(null=True, blank=True, db_index=True)
    repeats = models.ForeignKey(
        "Answer",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="repetitions",
        verbose_name=_("asks again"),
        help_text="An answer whose question a colleague asked again. Erased with it.",
    )
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last turn"), auto_now=True)

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ["-updated_at"]
        indexes = [models.Index(fields=["user", "-updated_at"])]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=True) ^ Q(visitor_id__isnull=True),
                name="conversation_has_one_owner",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Answer(models.Model):
    """One turn: the question, and what came of it."""

    class Status(models.TextChoices):
        RUNNING = "running", _("running")
        COMPLETED = "completed", _("completed")
        STOPPED = "stopped", _("stopped by the visitor")
        TRUNCATED = "truncated", _("cut short")
        FAILED = "failed", _("failed")
        INTERRUPTED = "interrupted", _("interrupted")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="answers")
    turn = models.PositiveIntegerField(_("turn"))
    owner = models.CharField(max_length=60, help_text="user:<id> or visitor:<uuid>")
    key = models.CharField(max_length=100, blank=True, help_text="Names the send; once per owner.")
    origin = models.CharField(
        _("asked by"), max_length=8, choices=Origin.choices, default=Origin.VISITOR
    )
    question = models.TextField(_("question"))
    language = models.CharField(_("language"), max_length=12, blank=True)
    article = models.ForeignKey(
        Article,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("asked on the page of"),
    )
    retry_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="retries"
    )

    status = models.CharField(
        _("status"), max_length=12, choices=Status.choices, default=Status.RUNNING
    )
    truncated_by = models.CharField(
        _("cut short by"),
        max_length=16,
        blank=True,
        help_text="length, content_filter or tool_rounds",
    )
    error_code = models.CharField(_("error"), max_length=32, blank=True)
    grounding = models.CharField(
        _("grounding"), max_length=16, choices=Grounding.choices, blank=True
    )
    text = models.TextField(_("text as delivered"), blank=True)
    model_text = models.TextField(_("the model's own text"), blank=True)
    allowed_links = ArrayField(models.TextField(), default=list, blank=True)
    allowed_images = ArrayField(models.TextField(), default=list, blank=True)
    declined = models.CharField(
        _("declined as"), max_length=20, blank=True, help_text="The reason given to cannot_answer."
    )
    search_mode = models.CharField(_("search"), max_length=12, blank=True)
    search_fallback = models.CharField(_("search fell back"), max_length=60, blank=True)

    mode = models.CharField(_("mode"), max_length=12, blank=True)
    provider = models.CharField(_("provider"), max_length=40, blank=True)
    model = models.CharField(_("model"), max_length=120, blank=True)
    prompt_version = models.CharField(_("prompt"), max_length=20, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    usage_estimated = models.BooleanField(default=False)
    cost = models.DecimalField(
        _("cost"),
        max_digits=16,
        decimal_places=8,
        null=True,
        blank=True,
        help_text="By the prices at that time; empty where the model had none.",
    )

    last_seq = models.PositiveIntegerField(
        default=0, help_text="The number of the last event in its stream."
    )
    created_at = models.DateTimeField(_("asked"), auto_now_add=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    first_token_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("answer")
        verbose_name_plural = _("answers")
        ordering = ["conversation_id", "turn"]
        permissions = [("export_answer", "Can export answers")]
        indexes = [
            # A list and the figures of a period read this alone, and not the long rows.
            models.Index(
                fields=["-created_at", "-id"],
                include=[
                    *("origin", "status", "grounding", "cost", "first_token_at", "finished_at"),
                    *("error_code", "truncated_by", "search_fallback"),
                ],
                name="answer_by_time",
            ),
            models.Index(fields=["grounding", "-created_at"]),
            models.Index(fields=["model", "language"], name="answer_model_language"),
            models.Index(fields=["status"], condition=Q(status="running"), name="answer_running"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "turn"], name="turn_once"),
            models.UniqueConstraint(
                fields=["owner", "key"], condition=~Q(key=""), name="send_key_once_per_owner"
            ),
            models.CheckConstraint(
                condition=Q(status="running", finished_at__isnull=True, grounding="")
                | (~Q(status="running") & Q(finished_at__isnull=False) & ~Q(grounding="")),
                name="finished_answer_has_a_verdict",
            ),
        ]

    def __str__(self) -> str:
        """No text of the conversation: the admin's log keeps what this says, for ever."""
        return reference_number(self.pk)


class AnswerFeedback(models.Model):
    """The asker's thumb on an answer. The last one counts."""

    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="feedback")
    rating = models.CharField(_("rating"), max_length=8, choices=Rating.choices)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    comment = models.TextField(_("comment"), max_length=2000, blank=True)
    updated_at = models.DateTimeField(_("when"), auto_now=True)

    class Meta:
        verbose_name = _("vote on an answer")
        verbose_name_plural = _("votes on answers")
        constraints = [
            models.CheckConstraint(
                condition=Q(rating__in=Rating.values), name="answer_rating_known"
            ),
        ]

    def __str__(self) -> str:
        return self.get_rating_display()
