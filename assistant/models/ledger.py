"""The ledger of an answer, stored: what the model was given, and what became of it.

Titles, slugs and texts are kept as they were, so that the audit survives the
renaming and the deletion of articles.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from articles.models import Article, ArticleRevision
from assistant.models.conversation import Answer, Conversation


class ConversationReference(models.Model):
    """The number by which a document is cited in a conversation, in every turn of it.

    See `assistant.references`. It outlives the article: a number in an earlier answer never
    means something else later.
    """

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="references"
    )
    document_id = models.CharField(max_length=40)
    ref = models.PositiveIntegerField(_("reference"))

    class Meta:
        verbose_name = _("reference in a conversation")
        verbose_name_plural = _("references in conversations")
        ordering = ["conversation_id", "ref"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "ref"], name="reference_once"),
            models.UniqueConstraint(
                fields=["conversation", "document_id"], name="one_reference_per_document"
            ),
            models.CheckConstraint(condition=Q(ref__gte=1), name="references_begin_at_1"),
        ]

    def __str__(self) -> str:
        return f"[{self.ref}] {self.document_id}"


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
        verbose_name_plural = _("documents of answers")
        ordering = ["answer_id", "ref"]
        indexes = [
            models.Index(fields=["answer"], condition=Q(consulted=True), name="source_of_answer"),
        ]
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
        ordering = ["document_id", "position"]

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
    began_at = models.DateTimeField(_("began"), null=True, blank=True)
    duration_ms = models.PositiveIntegerField(_("ms"), default=0)

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ["answer_id", "position"]
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
        ordering = ["answer_id", "position"]

    def __str__(self) -> str:
        return f"{self.reason}: {self.text[:60]}"


class CitationSupport(models.Model):
    """How well the texts that the model was given of a document support a sentence citing it.

    `position` counts the sentences of the delivered text from 0. The parts of the score are
    those of `assistant.support.scoring.Parts`; a null `cosine` means that it was judged by words
    alone. `score` is null where nothing could be judged, and `unjudged` says why.
    """

    class Unjudged(models.TextChoices):
        SHORT = "short", _("the sentence says too little")
        NO_TEXT = "no_text", _("only the title was given")
        LANGUAGE = "language", _("article and answer are in different languages")

    document = models.ForeignKey(AnswerDocument, on_delete=models.CASCADE, related_name="supports")
    position = models.PositiveIntegerField(_("sentence"))
    sentence = models.TextField(_("sentence"))
    score = models.FloatField(_("support"), null=True, blank=True)
    unjudged = models.CharField(_("not judged"), max_length=8, choices=Unjudged.choices, blank=True)
    passage = models.ForeignKey(
        AnswerPassage, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    evidence = models.TextField(_("best stretch of the passage"), blank=True)
    coverage = models.FloatField(_("words shared"), default=0.0)
    named = models.FloatField(_("words in title or heading only"), default=0.0)
    phrases = models.FloatField(_("pairs of words shared"), default=0.0)
    cosine = models.FloatField(_("likeness of vectors"), null=True, blank=True)
    figures = models.FloatField(_("figures that are there"), default=1.0)
    contradicts = models.BooleanField(_("a figure contradicts"), default=False)
    negation_differs = models.BooleanField(_("negated on one side only"), default=False)

    class Meta:
        verbose_name = _("score of a citation")
        verbose_name_plural = _("scores of citations")
        ordering = ["document_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["document", "position"], name="support_once"),
            models.CheckConstraint(
                condition=Q(score__isnull=True) ^ Q(unjudged=""), name="judged_or_why_not"
            ),
            models.CheckConstraint(
                condition=Q(score__isnull=True) | Q(score__range=(0.0, 1.0)),
                name="support_between_0_and_1",
            ),
        ]

    def __str__(self) -> str:
        return self.sentence[:80]
