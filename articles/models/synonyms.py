"""Synonyms as writers keep them, and every state they have been in.

`articles.terms.synonyms` reads them at search time; the index knows nothing of them, so that
a change needs no re-indexing. Save each group by itself: `changed_at` tells every process.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.models.content import LANGUAGE
from articles.terms.analysis import query_terms

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser
    from django.contrib.auth.models import AnonymousUser

TERM_LENGTH = 80
MOST_TERMS = 20
"""Terms on one side of a group: each of them makes every search for any of them longer."""


class SynonymState(models.Model):
    """What a group says. Without `targets`, each of its terms finds the others; with them,
    its terms find the targets and not the other way round."""

    language = models.CharField(
        _("language"),
        max_length=12,
        blank=True,
        help_text=_("A code such as en or de. Empty: in every language."),
    )
    terms = ArrayField(
        models.CharField(max_length=TERM_LENGTH),
        verbose_name=_("terms"),
        help_text=_("Words or phrases that mean the same, one in a line."),
    )
    targets = ArrayField(
        models.CharField(max_length=TERM_LENGTH),
        verbose_name=_("only find"),
        blank=True,
        default=list,
        help_text=_(
            "For one direction only: who searches for a term above also finds these, "
            "and not the other way round. One in a line."
        ),
    )
    is_active = models.BooleanField(_("in use"), default=True)

    STATE = ("language", "terms", "targets", "is_active")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        terms = " = ".join(self.terms)
        return f"{' | '.join(self.terms)} → {', '.join(self.targets)}" if self.targets else terms

    def state(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.STATE}


class SynonymGroup(SynonymState):
    """Terms that mean the same to search."""

    changed_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("synonym group")
        verbose_name_plural = _("synonym groups")
        ordering = ["terms"]

    def clean(self) -> None:
        self.language = self.language.strip()
        if self.language and not re.match(LANGUAGE, self.language):
            raise ValidationError(
                {"language": gettext("Enter the code of a language, such as en or pt-BR.")}
            )
        if self.terms is None:  # a form refused them, and says so itself
            return
        self.terms, self.targets = _tidy(self.terms), _tidy(self.targets)
        errors = {
            name: problem
            for name, problem in [("terms", self._problem()), ("targets", self._target_problem())]
            if problem
        }
        if errors:
            raise ValidationError(errors)

    def _problem(self) -> str:
        if not self.targets and len(self.terms) < 2:
            return gettext("Give at least two terms, or one and what it only finds.")
        return self._unfit(self.terms)

    def _target_problem(self) -> str:
        both = {term.casefold() for term in self.terms} & {one.casefold() for one in self.targets}
        if both:
            return gettext("Also stands among the terms above: %s") % ", ".join(sorted(both))
        return self._unfit(self.targets)

    def _unfit(self, terms: list[str]) -> str:
        """Why search can make nothing of `terms`; empty where it can."""
        if len(terms) > MOST_TERMS:
            return gettext("Not more than %d terms: split the group.") % MOST_TERMS
        language = self.language or settings.LANGUAGE_CODE
        for term in terms:
            if not query_terms(term, language):
                return gettext("“%s” has no word that search looks for.") % term
        return ""

    @transaction.atomic
    def remember(self, by: AbstractBaseUser | AnonymousUser | None) -> SynonymVersion:
        """Saves the group, and its state as the newest version."""
        self.save()
        author = by.pk if by else None
        return SynonymVersion.objects.create(group=self, changed_by_id=author, **self.state())

    @transaction.atomic
    def undo(self, by: AbstractBaseUser | AnonymousUser | None) -> bool:
        """Back to the state before the last change, which becomes the newest version, so that
        undoing twice changes nothing. False where there was no state before."""
        before = self.versions.all()[1:2].first()
        if before is None:
            return False
        for name, value in before.state().items():
            setattr(self, name, value)
        self.remember(by)
        return True


class SynonymVersion(SynonymState):
    """A state that a group was put into: when, and by whom."""

    group = models.ForeignKey(SynonymGroup, on_delete=models.CASCADE, related_name="versions")
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        verbose_name=_("by"),
    )
    changed_at = models.DateTimeField(_("when"), auto_now_add=True)

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-changed_at", "-pk"]


def _tidy(terms: list[str]) -> list[str]:
    """Without surplus white space, empty ones and repetitions."""
    squeezed = (" ".join(term.split()) for term in terms)
    return list({term.casefold(): term for term in squeezed if term}.values())
