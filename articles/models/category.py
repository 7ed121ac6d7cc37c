"""Categories: the tree that articles are filed in."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from articles.models.slugs import SLUG_LENGTH, refuse_unstorable, unique_slug


class Category(models.Model):
    """A node of the tree that articles are filed in."""

    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="children",
        verbose_name=_("inside"),
    )
    name = models.CharField(_("name"), max_length=120)
    slug = models.SlugField(
        _("slug"), max_length=SLUG_LENGTH, unique=True, allow_unicode=True, blank=True
    )
    description = models.CharField(_("description"), max_length=300, blank=True)
    position = models.PositiveIntegerField(_("order"), default=0)

    TEXTS = ("name", "slug", "description")

    class Meta:
        verbose_name = _("category")
        verbose_name_plural = _("categories")
        ordering = ["position", "name"]
        constraints = [
            models.CheckConstraint(condition=~Q(slug=""), name="category_slug_not_empty"),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")),
                name="category_not_in_itself",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, **kwargs: Any) -> None:
        refuse_unstorable(self, self.TEXTS)
        self._fill_slug()
        super().save(**kwargs)

    def get_absolute_url(self) -> str:
        return reverse("articles:category", args=[self.slug])

    def clean(self) -> None:
        self._fill_slug()
        refuse_unstorable(self, self.TEXTS)
        seen, node = {self.pk}, self.parent
        while node is not None:
            if node.pk in seen and node.pk is not None:
                raise ValidationError({"parent": _("A category cannot be inside itself.")})
            seen.add(node.pk)
            node = node.parent

    def _fill_slug(self) -> None:
        if not self.slug:
            others = Category.objects.exclude(pk=self.pk)
            self.slug = unique_slug(
                self.name, lambda slug: others.filter(slug=slug).exists(), "category"
            )
