"""What the owner of a site decides about it in the admin: `SiteSettings`, one row, and who may
call the API, `ApiToken`.

The settings are shown to visitors. What an operator decides (servers, keys, limits) is in
the environment instead, see `helpcenter.settings`.
"""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
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


class ApiToken(models.Model):
    """A token of the API. Its user's permissions decide what it may do; see `helpcenter.tokens`.

    `beginning` is for people who look for the token in their own configuration.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("user"),
        help_text=_("The token may do what this user may do."),
    )
    name = models.CharField(
        _("name"), max_length=100, help_text=_("What uses it, such as “docs pipeline”.")
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    beginning = models.CharField(_("begins with"), max_length=12, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(
        _("valid until"), null=True, blank=True, help_text=_("Empty: until it is revoked.")
    )
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_valid(self) -> bool:
        """Whether it opens anything, its user being active."""
        if self.revoked_at is not None:
            return False
        return self.expires_at is None or self.expires_at > timezone.now()
