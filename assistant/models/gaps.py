"""The documentation-gap queue: topics that writers work, and the questions behind each."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from articles.models import Article, ArticleRevision, SearchQuery
from assistant.models.conversation import Answer, Grounding


class GapTopic(models.Model):
    """A topic that visitors asked about and the articles did not answer.

    Keeps its id and name for ever: one that became part of another stays, as the way to it.
    `held`: somebody has worked on it, so no run moves its questions any more. `centroid` is the
    mean of its different questions, `texts_count` how many those are.
    """

    class Kind(models.TextChoices):
        GAP = "gap", _("not documented")
        UNCITED = "uncited", _("answered without sources")
        SEARCH = "search", _("searched for and not found")

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        CLAIMED = "claimed", _("claimed")
        DRAFTED = "drafted", _("drafted")
        PUBLISHED = "published", _("published")
        VERIFIED = "verified", _("verified")
        DISMISSED = "dismissed", _("dismissed")

    class Reason(models.TextChoices):
        OUT_OF_SCOPE = "out_of_scope", _("out of scope")
        PRODUCT_GAP = "product_gap", _("missing in the product")
        DUPLICATE = "duplicate", _("duplicate")
        ANSWERED_ELSEWHERE = "answered_elsewhere", _("answered elsewhere")

    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices)
    name = models.CharField(_("topic"), max_length=200)
    language = models.CharField(_("language"), max_length=12, blank=True)
    status = models.CharField(
        _("status"), max_length=10, choices=Status.choices, default=Status.OPEN
    )
    dismissed_as = models.CharField(
        _("dismissed as"), max_length=20, choices=Reason.choices, blank=True
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("assignee"),
    )
    due_on = models.DateField(_("due"), null=True, blank=True)
    article = models.ForeignKey(
        Article,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="gap_topics",
        verbose_name=_("article"),
    )
    impact = models.FloatField(_("impact"), default=0)
    recent_askers = models.PositiveIntegerField(default=0)
    week_count = models.PositiveIntegerField(default=0)
    week_before_count = models.PositiveIntegerField(default=0)
    rated_count = models.PositiveIntegerField(default=0)
    negative_count = models.PositiveIntegerField(default=0)
    questions_count = models.PositiveIntegerField(_("questions"), default=0)
    askers_count = models.PositiveIntegerField(_("askers"), default=0)
    texts_count = models.PositiveIntegerField(default=0)
    held = models.BooleanField(default=False)
    merged_into = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="merged"
    )
    centroid = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=120, blank=True)
    first_seen = models.DateTimeField(_("first asked"))
    last_seen = models.DateTimeField(_("last asked"))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("documentation gap")
        verbose_name_plural = _("documentation gaps")
        ordering = ["-impact", "-questions_count", "-last_seen"]
        indexes = [models.Index(fields=["kind", "status"])]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="dismissed") ^ Q(dismissed_as=""),
                name="dismissed_topic_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def escalated_count(self) -> int:
        """How many who asked still needed help and were handed to support."""
        return self.questions.filter(answer__escalation__isnull=False).count()


class GapQuestion(models.Model):
    """A question in a topic, personal data masked: that of an answer, or what was searched for.

    One per answer and per search, however often a run repeats. A search has no verdict. Of those
    with one fingerprint, one has the vector. `asker` tells askers apart and names nobody; like
    the text it goes when the conversation is erased.
    """

    topic = models.ForeignKey(GapTopic, on_delete=models.CASCADE, related_name="questions")
    answer = models.OneToOneField(
        Answer, on_delete=models.SET_NULL, null=True, blank=True, related_name="gap_question"
    )
    search = models.OneToOneField(
        SearchQuery, on_delete=models.SET_NULL, null=True, blank=True, related_name="gap_question"
    )
    text = models.TextField(_("question"), blank=True)
    fingerprint = models.CharField(max_length=64, db_index=True, blank=True)
    asker = models.CharField(max_length=16, blank=True)
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=120, blank=True)
    grounding = models.CharField(_("verdict"), max_length=16, choices=Grounding.choices, blank=True)
    asked_at = models.DateTimeField(_("asked"))

    class Meta:
        verbose_name = _("question in a gap")
        verbose_name_plural = _("questions in gaps")
        ordering = ["-asked_at"]
        indexes = [models.Index(fields=["topic", "-asked_at"], name="gap_question_by_time")]

    def __str__(self) -> str:
        return self.text[:80]


class GapStep(models.Model):
    """A step of a topic's history. Written once, changed by nobody, not even past the ORM.

    No foreign key to the account, which may go. `before` and `after` are the topic's standing as
    `assistant.gaps.queue` writes it; steps with one `batch` were one act, and are undone together.
    """

    class Action(models.TextChoices):
        CHANGED = "changed", _("changed")
        COMMENTED = "commented", _("commented")
        MERGED = "merged", _("merged")
        SPLIT = "split", _("split")
        UNDONE = "undone", _("undone")
        REOPENED = "reopened", _("asked again, reopened")
        CHECKED = "checked", _("checked")

    topic = models.ForeignKey(GapTopic, on_delete=models.PROTECT, related_name="steps")
    at = models.DateTimeField(_("when"), auto_now_add=True)
    user_id = models.BigIntegerField(null=True)
    username = models.CharField(_("who"), max_length=150, blank=True)
    action = models.CharField(_("what"), max_length=10, choices=Action.choices)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    note = models.TextField(_("comment"), max_length=4000, blank=True)
    batch = models.UUIDField(default=uuid.uuid4, db_index=True)

    class Meta:
        verbose_name = _("step of a gap")
        verbose_name_plural = _("steps of gaps")
        ordering = ["-pk"]
        default_permissions = ()
        indexes = [models.Index(fields=["user_id", "-at"], name="gap_step_by_person")]

    def __str__(self) -> str:
        return self.get_action_display()


class GapCheck(models.Model):
    """Whether a revision of an article answers a topic's questions: one run of asking again."""

    class Outcome(models.TextChoices):
        PENDING = "pending", _("being checked")
        PASSED = "passed", _("passed")
        FAILED = "failed", _("not passed")
        REPLACED = "replaced", _("published again meanwhile")

    topic = models.ForeignKey(GapTopic, on_delete=models.CASCADE, related_name="checks")
    article = models.ForeignKey(Article, on_delete=models.SET_NULL, null=True, related_name="+")
    revision = models.ForeignKey(
        ArticleRevision, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, default=Outcome.PENDING)
    asked_count = models.PositiveSmallIntegerField(default=0)
    answered_count = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()
        indexes = [
            models.Index(
                fields=["id"], condition=Q(finished_at__isnull=True), name="gap_check_to_do"
            )
        ]

    def __str__(self) -> str:
        return self.get_outcome_display()


class GapCheckAnswer(models.Model):
    """One question of a check: its verdict before, and after (empty until it was asked)."""

    check_run = models.ForeignKey(GapCheck, on_delete=models.CASCADE, related_name="parts")
    question = models.ForeignKey(GapQuestion, on_delete=models.CASCADE, related_name="+")
    answer = models.ForeignKey(Answer, on_delete=models.SET_NULL, null=True, related_name="+")
    before = models.CharField(max_length=16, choices=Grounding.choices, blank=True)
    after = models.CharField(max_length=16, choices=Grounding.choices, blank=True)
    in_article = models.BooleanField(default=False)

    class Meta:
        ordering = ["in_article", "pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["check_run", "question"], name="question_once_per_check"
            ),
        ]

    def __str__(self) -> str:
        return str(self.question_id)


class GapProposal(models.Model):
    """The last text that somebody had the model propose for a topic: waiting, being written, or
    done. `problem` says why there is none. `run` tells it from earlier ones of the topic."""

    topic = models.OneToOneField(GapTopic, on_delete=models.CASCADE, related_name="proposal")
    run = models.UUIDField(default=uuid.uuid4, unique=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    begun_at = models.DateTimeField()
    taken_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)
    left_out = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.run)

    @property
    def is_written(self) -> bool:
        return self.finished_at is not None and not self.problem


class GapRun(models.Model):
    """One run of the report over the answers that finished in `[period_start, period_end)`."""

    period_start = models.DateTimeField(null=True)
    period_end = models.DateTimeField(unique=True)
    finished_at = models.DateTimeField(null=True)
    questions_added = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("gap report run")
        verbose_name_plural = _("gap report runs")
        ordering = ["-period_end"]
        constraints = [
            models.CheckConstraint(
                condition=Q(period_start__isnull=True) | Q(period_start__lt=models.F("period_end")),
                name="gap_run_period_runs_forward",
            ),
        ]

    def __str__(self) -> str:
        return str(self.period_end)
