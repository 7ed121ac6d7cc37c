"""Why a question finds what it finds: the page on which staff look into a search.

The question comes by POST: it stands in no address, and so in no log. It is not recorded
among the searches of the site either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from articles.access import ANONYMOUS, Reader
from articles.admin.pages import ArticlePages, is_key
from articles.explaining import Explanation, LanguageSteps, Row, Verdict, explain, in_words
from articles.explaining.reasons import PARTS
from articles.models import Article, Category, IndexState, Passage
from articles.ranking.relevance import FLOOR, MIN_COSINE
from articles.ranking.snippets import Piece, snippet
from articles.ranking.weighing import WEIGHED
from articles.rendering import plain_text
from articles.search import LONGEST_QUERY

SHOWN = 10
"""Passages of each list on the page; those of the article asked for are shown wherever they are."""

READERS = {
    "anyone": ANONYMOUS,
    "signed_in": Reader(is_authenticated=True),
    "staff": Reader(is_authenticated=True, is_staff=True),
}

FALLBACKS = {
    "no_text": _("The question has nothing in it to search for."),
    "only_common_words": _(
        "The question has only words that search leaves out: it was looked up in titles as it is, "
        "and by meaning."
    ),
    "embeddings_off": _("Search by meaning is switched off: by words alone."),
    "embeddings_failed": _("Search by meaning does not work at present: by words alone."),
    "embeddings_missing": _("The index has no vectors of the model in use yet: by words alone."),
}


class RetrievalForm(forms.Form):
    question = forms.CharField(
        label=_("Question"),
        max_length=LONGEST_QUERY,
        widget=forms.TextInput(attrs={"class": "vTextField", "dir": "auto", "autocomplete": "off"}),
    )
    reader = forms.ChoiceField(
        label=_("Reader"),
        choices=[
            ("anyone", _("anyone, without an account")),
            ("signed_in", _("a signed-in reader")),
            ("staff", _("staff")),
        ],
        help_text=_("Only what this reader may see is searched."),
    )
    for_answers = forms.BooleanField(
        label=_("As the assistant searches"),
        required=False,
        help_text=_("Articles for answers only count too."),
    )
    language = forms.ChoiceField(label=_("Language"), required=False)
    category = forms.ModelChoiceField(
        Category.objects.all(),
        label=_("Category"),
        required=False,
        empty_label=_("every category"),
    )
    article = forms.ModelChoiceField(
        Article.objects.select_related("live_revision"),
        label=_("Article that should have won"),
        required=False,
    )

    def __init__(self, site: admin.AdminSite, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held = IndexState.objects.order_by("language").values_list("language", flat=True)
        languages = [("", _("every language")), *((code, code) for code in held)]
        self.fields["language"] = forms.ChoiceField(
            label=_("Language"), required=False, choices=languages
        )
        article = self.fields["article"]
        widget = AutocompleteSelect(Passage._meta.get_field("article"), site)
        widget.choices = article.widget.choices
        widget.is_required = False
        article.widget = widget

    def explanation(self) -> Explanation:
        chosen = self.cleaned_data
        return explain(
            chosen["question"],
            reader=READERS[chosen["reader"]],
            for_answers=chosen["for_answers"],
            language=chosen["language"] or None,
            category=chosen["category"],
            expected=chosen["article"],
        )


@dataclass(frozen=True)
class ShownRow:
    """A passage as the page shows it, with its number in the list that it stands in."""

    number: int
    row: Row
    heading: str
    excerpt: tuple[Piece, ...]
    is_expected: bool

    @property
    def shares(self) -> list[float]:
        """The parts of its strength in the order of `PARTS`; 0 for one that is missing."""
        shares = self.row.shares
        return [shares.get(part, 0.0) for part in PARTS]


@dataclass(frozen=True)
class ShownList:
    """The beginning of a list, then what it has of the article asked for."""

    rows: tuple[ShownRow, ...]
    total: int


@dataclass(frozen=True)
class ShownSteps:
    """A language's steps, each with what the page shows of it."""

    steps: LanguageSteps
    lexical: ShownList
    dense: ShownList
    fused: ShownList
    weighed: ShownList
    too_far: ShownList


class RetrievalPages(ArticlePages):
    def urls(self) -> list[URLPattern]:
        return [self.url("retrieval/", self.retrieval, "retrieval")]

    def retrieval(self, request: HttpRequest) -> HttpResponse:
        self.require(request, "view")
        site = self.model_admin.admin_site
        asked = request.POST if request.method == "POST" else None
        form = RetrievalForm(site, asked, initial={"article": _asked_article(request)})
        context: dict[str, Any] = {"form": form, "parts": PARTS.values()}
        if form.is_valid():
            context |= _explained(form)
        context["may_add_synonyms"] = request.user.has_perm("articles.add_synonymgroup")
        title = gettext("Why was it not found?")
        return self.render(request, "retrieval.html", title, context)


def _asked_article(request: HttpRequest) -> Article | None:
    """The article that a link to this page names, where there is one."""
    key = request.GET.get("article", "")
    return Article.objects.filter(pk=int(key)).first() if is_key(key) else None


def _explained(form: RetrievalForm) -> dict[str, Any]:
    explanation = form.explanation()
    question, expected = form.cleaned_data["question"], form.cleaned_data["article"]
    return {
        "explanation": explanation,
        "fallback": FALLBACKS.get(explanation.results.fallback_reason or ""),
        "languages": [_shown(one, question, expected) for one in explanation.languages],
        **told(explanation, question),
        "floor": FLOOR,
        "least_cosine": MIN_COSINE,
        "most_weighed": WEIGHED,
    }


def told(explanation: Explanation, question: str) -> dict[str, Any]:
    """What the template `retrieval_verdict.html` says of the article that should have won."""
    verdict = explanation.verdict
    return {
        "verdict": verdict,
        "sentences": in_words(verdict, explanation.results.languages) if verdict else [],
        "best": _best(verdict, question),
    }


def _shown(steps: LanguageSteps, question: str, expected: Article | None) -> ShownSteps:
    pk = expected.pk if expected else None
    lists = (steps.lexical, steps.dense, steps.rows, steps.weighed, steps.too_far)
    return ShownSteps(steps, *(_list(rows, question, pk) for rows in lists))


def _list(rows: Iterable[Row], question: str, expected: int | None) -> ShownList:
    numbered = list(enumerate(rows, start=1))
    shown = [one for one in numbered if one[0] <= SHOWN or one[1].article_id == expected]
    return ShownList(
        tuple(_shown_row(number, row, question, expected) for number, row in shown),
        len(numbered),
    )


def _shown_row(number: int, row: Row, question: str, expected: int | None) -> ShownRow:
    return ShownRow(
        number,
        row,
        " › ".join(row.heading_path),
        snippet(plain_text(row.text), question),
        row.article_id == expected,
    )


def _best(verdict: Verdict | None, question: str) -> ShownRow | None:
    if verdict is None or verdict.best is None:
        return None
    return _shown_row(1, verdict.best, question, verdict.article.pk)
