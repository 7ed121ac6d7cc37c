"""What a turn starts with: the conversation so far, the model, and an empty ledger."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from articles.access import Reader, answerable
from articles.models import Article
from assistant import prompts, tools_refused
from assistant.agent import Message, Model, Progress
from assistant.citations import CitationWriter
from assistant.database import db
from assistant.models import Answer
from assistant.prompts import PageAsked
from assistant.provenance import Ledger
from assistant.providers import circuits, select_model
from assistant.references import give_references
from assistant.tools.toolbox import ArticleToolbox, room_in
from assistant.turns.history import History, load_history
from assistant.turns.sending import Made, Sender
from helpcenter.models import SiteSettings


@dataclass(frozen=True, slots=True)
class Loaded:
    """`model`: who answers. `article` is the page that is asked about, where the reader may still
    have it."""

    model: Model
    conversation_id: uuid.UUID
    question: str
    site: str
    article: Article | None
    history: History


@dataclass(frozen=True, slots=True)
class Work:
    """What a turn works with; what became of it is in `ledger`, `toolbox` and `progress`.
    `search`: the question, with what it follows where it is a follow-up. `begun_at`: when the
    agent's clock starts."""

    question: str
    search: str
    model: Model
    ledger: Ledger
    toolbox: ArticleToolbox
    writer: CitationWriter
    messages: list[Message]
    progress: Progress = field(default_factory=Progress)
    begun_at: datetime = field(default_factory=timezone.now)

    def goes_over_to_context(self) -> bool:
        """Whether the model has just found out that its endpoint knows no tools."""
        if self.ledger.show_uncited or self.model.mode != "context":
            return False
        self.ledger.show_uncited = True
        return True


def load(made: Made, reader: Reader, model: Model | None) -> Loaded:
    """Asks the database for what the turn starts with, and for what is known of the model. Where
    none is given it is the one that the settings name, whose circuit is looked at as well."""
    answer = made.answer
    if model is None:
        model = select_model(settings)
        for circuit in circuits(settings)[:1]:
            circuit.look_ahead()
    tools_refused.recall(model)
    articles = answerable(reader).prefetch_related("old_slugs")
    page = articles.filter(pk=answer.article_id).first() if answer.article_id else None
    if page is not None:
        give_references(answer.conversation_id, [str(page.pk)])
    return Loaded(
        model=model,
        conversation_id=answer.conversation_id,
        question=answer.question,
        site=made.site.name,
        article=page,
        history=load_history(answer, reader),
    )


def load_anew(answer_id: uuid.UUID, reader: Reader, model: Model | None) -> Loaded:
    """The same for a row of which nothing is at hand."""
    return load(Made(Answer.objects.get(pk=answer_id), SiteSettings.load()), reader, model)


def set_up(loaded: Loaded, sender: Sender, context_tokens: int) -> Work:
    """The ledger holds what is carried over from earlier turns, and nothing else yet.

    `context_tokens`: what the model can read, history and articles together.
    """
    history, model = loaded.history, loaded.model
    ledger = Ledger(site_hosts=site_hosts(), show_uncited=model.mode == "context")
    toolbox = ArticleToolbox(
        sender.reader,
        sender.language,
        ledger,
        db,
        article=loaded.article,
        refs=history.refs,
        number=partial(give_references, loaded.conversation_id),
        room=room_in(context_tokens),
        cautious=model.mode == "extractive",
        for_prompt=lambda: model.mode == "context",
    )
    prompt = prompts.build(
        site=loaded.site,
        mode=model.mode,
        question=loaded.question,
        turns=history.turns,
        readable=frozenset(history.documents),
        numbers=history.numbers,
        page=_page(loaded.article, toolbox),
        language=sender.language,
        context_tokens=context_tokens,
    )
    for ref in sorted(prompt.carried & history.documents.keys()):
        earlier = history.documents[ref]
        toolbox.carry(earlier.facts, ref, earlier.exposure)
    search = prompt.messages[-1]["search"]
    writer = CitationWriter(ledger)
    return Work(loaded.question, search, model, ledger, toolbox, writer, prompt.messages)


def site_hosts() -> set[str]:
    """The hosts under which a model's links may mean this site's articles."""
    named = {host for host in settings.ALLOWED_HOSTS if host != "*" and host[:1] != "."}
    return {urlsplit(settings.SITE_URL).netloc, *named}


def _page(article: Article | None, toolbox: ArticleToolbox) -> PageAsked | None:
    if article is None or toolbox.page_ref is None:
        return None
    return PageAsked(toolbox.page_ref, toolbox.facts[str(article.pk)].title)
