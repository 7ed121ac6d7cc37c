"""The ledger of an answer, stored: what the model was given, and what became of it.

Titles, slugs and texts are kept as they were, so that the audit survives the
renaming and the deletion of articles.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from articles.models import Article, ArticleRevision
from assistant.models.conversation import Answer


class AnswerDocument(models.Model):
    """A document that was retrieved for an answer, or carried into it.

    `position` is its place in the payload's `sources`, null for a document that
    was only retrieved; `consulted` is the flag the Sources row reads.
    """

    class Exposure(models.TextChoices):
        TITLE = "title", _("title only")
        EXCERPT = "excerpt", _("passages")
        FULL = "full", _("opened")

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="documents")
    ref = models.PositiveIntegerField(_("reference"))
    article = models.ForeignKey(
        Article, on_delete=models.SET_NULL, null=True, blank=True, related_name="answer_documents"
    )
    revision = models.ForeignKey(
        ArticleRevision, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    document_id = models.CharField(max_length=40)
    title = models.CharField(max_length=250)
    slug = models.CharField(max_length=120)
    exposure = models.CharField(_("exposure"), max_length=8, choices=Exposure.choices)
    via = models.CharField(_("via"), max_length=8)
    carried = models.BooleanField(_("carried"), default=False)
    cited = models.BooleanField(_("cited"), default=False)
    linked = models.BooleanField(_("linked"), default=False)
    consulted = models.BooleanField(_("consulted"), default=False)
    number = models.PositiveIntegerField(_("number"), null=True, blank=True)
    position = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        verbose_name = _("document of an answer")
        verbose_name_plural = _("documents of an answer")
        ordering = ["answer", "ref"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "ref"], name="ref_once_per_answer"),
            models.UniqueConstraint(fields=["answer", "document_id"], name="document_once"),
            models.CheckConstraint(
                condition=~Q(exposure="title", consulted=True), name="a_title_is_never_consulted"
            ),
            models.CheckConstraint(
                condition=Q(consulted=False) | Q(position__isnull=False),
                name="a_source_has_its_place",
            ),
        ]

    def __str__(self) -> str:
        return f"[{self.ref}] {self.title}"

    @property
    def is_cited(self) -> bool:
        """In the cited set: by a number, a link, or the model's own reference list."""
        return self.cited or self.linked


class AnswerPassage(models.Model):
    """A text of a document exactly as the model was given it."""

    document = models.ForeignKey(AnswerDocument, on_delete=models.CASCADE, related_name="passages")
    position = models.PositiveIntegerField()
    heading = models.TextField(blank=True)
    anchor = models.CharField(max_length=200, blank=True)
    text = models.TextField()

    class Meta:
        verbose_name = _("passage the model was given")
        verbose_name_plural = _("passages the model was given")
        ordering = ["document", "position"]

    def __str__(self) -> str:
        return self.heading or self.text[:60]


class ToolCall(models.Model):
    """A tool call of the model, with the result it got, word for word."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="tool_calls")
    position = models.PositiveIntegerField()
    round = models.PositiveIntegerField(_("round"))
    call_id = models.CharField(max_length=100)
    name = models.CharField(_("tool"), max_length=60)
    arguments = models.TextField(_("arguments"), blank=True)
    result = models.TextField(_("result"), blank=True)
    count = models.PositiveIntegerField(_("documents"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=300, blank=True)
    duration_ms = models.PositiveIntegerField(_("ms"), default=0)

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ["answer", "position"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "position"], name="tool_call_position_once"),
        ]

    def __str__(self) -> str:
        return self.name


class DroppedCitation(models.Model):
    """A citation or link of the model's that was taken out, and why."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="dropped")
    position = models.PositiveIntegerField()
    text = models.TextField(_("text"))
    reason = models.CharField(_("reason"), max_length=20)

    class Meta:
        verbose_name = _("dropped citation")
        verbose_name_plural = _("dropped citations")
        ordering = ["answer", "position"]

    def __str__(self) -> str:
        return f"{self.reason}: {self.text[:60]}"
