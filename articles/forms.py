"""Forms of the articles' admin: what a writer may type, checked before anything is saved."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from articles.models import Article


class ArticleForm(forms.ModelForm[Article]):
    """The working copy. Publishing is a button beside saving, not a field."""

    class Meta:
        model = Article
        fields = [
            "title",
            "slug",
            "summary",
            "body",
            "category",
            "position",
            "language",
            "visibility",
            "author",
        ]
        widgets = {
            "title": forms.TextInput(attrs={"class": "vTextField", "size": 80}),
            "summary": forms.Textarea(attrs={"rows": 2, "cols": 80}),
            "body": forms.Textarea(attrs={"rows": 28, "cols": 100, "spellcheck": "true"}),
        }

    def clean_body(self) -> str:
        body: str = self.cleaned_data["body"].replace("\r\n", "\n")
        if "\0" in body:
            raise forms.ValidationError(_("The text contains a NUL character."))
        return body

    def clean_slug(self) -> str:
        """Empty keeps the present address: only a new article gets one from its title."""
        slug: str = self.cleaned_data["slug"]
        return slug or self.instance.slug
