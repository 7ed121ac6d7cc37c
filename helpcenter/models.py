"""What the owner of a site decides about it in the admin: one row, `SiteSettings`.

Everything here is shown to visitors. What an operator decides (servers, keys,
limits) is in the environment instead, see `helpcenter.settings`.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

SINGLETON_ID = 1


class SiteSettings(models.Model):
    """Name, look and switches of the site. Read it with `SiteSettings.load()`."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=SINGLETON_ID, editable=False)
    name = models.CharField(_("name"), max_length=80, default="Help center")
    logo = models.ImageField(_("logo"), upload_to="brand/", blank=True)
    accent = models.CharField(
        _("accent colour"),
        max_length=7,
        blank=True,
        validators=[RegexValidator(r"^#[0-9a-fA-F]{6}\Z", _("Use a colour such as #1f5fd0."))],
        help_text=_("A hexadecimal colour such as #1f5fd0. Empty uses the standard blue."),
    )
    contact_url = models.URLField(_("contact page"), blank=True)
    contact_email = models.EmailField(_("contact address"), blank=True)
    assistant_enabled = models.BooleanField(_("assistant is on"), default=True)
    assistant_message = models.CharField(
        _("message while the assistant is off"),
        max_length=300,
        blank=True,
        help_text=_("Shown on the chat page while the assistant is switched off."),
    )
    suggested_questions = models.TextField(
        _("suggested questions"),
        blank=True,
        help_text=_("One per line. Shown on the empty chat page; at most six."),
    )

    class Meta:
        verbose_name = _("site settings")
        verbose_name_plural = _("site settings")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(id=SINGLETON_ID), name="site_settings_is_one_row"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def load(cls) -> SiteSettings:
        """The stored settings, or unsaved defaults before anyone saved them."""
        return cls.objects.filter(pk=SINGLETON_ID).first() or cls()

    def questions(self) -> list[str]:
        """The suggested questions, at most six, blank lines left out."""
        lines = (line.strip() for line in self.suggested_questions.splitlines())
        return [line for line in lines if line][:6]

    def clean(self) -> None:
        if any(len(question) > 200 for question in self.questions()):
            raise ValidationError(
                {"suggested_questions": _("A suggested question has at most 200 characters.")}
            )
