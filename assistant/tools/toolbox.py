"""The assistant's tools: what a model may do in a turn, with the rights of one reader.

Every tool asks `assistant.tools.queries`, which goes through `articles.access` at the
moment of the call, and whatever it shows the model it first enters into the ledger, with
the exact text. Results are JSON; an error is a result too. A toolbox lives for one turn
and keeps what the answer's record needs: the facts of its articles by document id, and
how searching went.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from django.db import DatabaseError
from django.utils import translation

from articles.access import Reader
from articles.models import Article
from assistant import tokens
from assistant.agent import ToolCallRequest, ToolOutcome, ToolSpec
from assistant.article_facts import ArticleFacts, PassageRead
from assistant.events import SourceEntry
from assistant.fencing import fenced, on_one_line
from assistant.provenance import Exposure, Ledger, Source
from assistant.tools import context_search, labels, queries
from assistant.tools.arguments import SPECS, BadCallError, read_arguments
from assistant.tools.context_search import Database

logger = logging.getLogger(__name__)

ROOM_SHARE = 0.45
"""Of what the model can read, for the articles' text in all results of a turn."""

ROOM = 14_400
BODY_TOKENS = 6_000
"""Of an article's text in one result; a longer one is cut, and says so."""

LEAST_TOKENS = 100
"""With less room than this an article is not opened any more."""

Numbering = Callable[[Sequence[str]], Mapping[str, int]]
"""The references of documents, by their ids; see `assistant.references`."""


class ArticleToolbox:
    """The tools of one turn.

    `language` is the visitor's: labels are in it, and it is searched first. `article` is
    the page that is asked about; its title is shown to the model under `page_ref`.
    `refs` are the references that documents have in the conversation so far, by document
    id, the page's among them; `number` gives new ones, and runs like a step of the
    database. Without it the turn stands alone and counts on from `refs`. `room`: tokens
    for articles' text, see `room_in`. `cautious`: searches give only what may be quoted
    without a model's judgement; for the extractive answerer. `for_prompt` says whether,
    at this moment, searches are for a model without tools; see `assistant.tools.context_search`.
    """

    specs: Sequence[ToolSpec] = SPECS

    def __init__(
        self,
        reader: Reader,
        language: str,
        ledger: Ledger,
        db: Database,
        article: Article | None = None,
        refs: Mapping[str, int] | None = None,
        room: int = ROOM,
        *,
        number: Numbering | None = None,
        cautious: bool = False,
        for_prompt: Callable[[], bool] = lambda: False,
    ) -> None:
        self.facts: dict[str, ArticleFacts] = {}
        self.refs = dict(refs or {})
        self._number = number or self._count_on
        self.searched = False
        self.search_mode = ""
        self.search_fallback = ""
        self.page_ref: int | None = None
        self._reader = reader
        self._language = language
        self._ledger = ledger
        self._db = db
        self._room = room
        self._cautious = cautious
        self._for_prompt = for_prompt
        self._found: set[str] = set()
        self._retrieved: dict[str, Exposure] = {}
        self._search_broke = False
        self._search_degraded = False
        self._tools: dict[str, Callable[..., Awaitable[ToolOutcome]]] = {
            "search_articles": self._search_articles,
            "open_article": self._open_article,
            "list_categories": self._list_categories,
            "list_articles": self._list_articles,
            "cannot_answer": self._cannot_answer,
        }
        if article is not None:
            self.page_ref = self._expose(ArticleFacts.of(article, reader), Exposure.TITLE)

    @property
    def hits(self) -> int:
        """How many documents searching brought."""
        return len(self._found)

    @property
    def search_failed(self) -> bool:
        """Whether search was down whenever it was tried."""
        return self._search_broke and not self.searched

    @property
    def search_degraded(self) -> bool:
        """Whether any search had to do without the vectors that it should have had."""
        return self._search_degraded

    def carry(self, facts: ArticleFacts, ref: int, exposure: Exposure) -> None:
        """Enters a document whose text of an earlier turn is still in what the model is sent."""
        self.refs[facts.document_id] = ref
        self.facts.setdefault(facts.document_id, facts)
        for text in _texts(facts):
            self._ledger.expose(facts.document(), exposure, text=text, ref=ref, carried=True)

    def describe(self, source: Source) -> SourceEntry:
        facts = self.facts[source.document.id]
        return facts.entry(source.number, source.consulted, source.via)

    def references(self) -> tuple[SourceEntry, ...]:
        """All that was retrieved in this turn, in order: activity, not sources."""
        via = {Exposure.TITLE: "listing", Exposure.EXCERPT: "excerpt", Exposure.FULL: "opened"}
        return tuple(
            self.facts[document_id].entry(None, exposure is Exposure.FULL, via[exposure])
            for document_id, exposure in self._retrieved.items()
        )

    def label(self, call: ToolCallRequest) -> str:
        """What a person reads while the call runs."""
        with translation.override(self._language):
            try:
                arguments = read_arguments(call)
            except BadCallError:
                return labels.failing()
            match call.name:
                case "search_articles":
                    return labels.searching(arguments["query"])
                case "open_article":
                    return labels.reading(self._title(arguments))
                case "cannot_answer":
                    return labels.declining(arguments["reason"])
                case _:
                    return labels.looking()

    async def call(self, call: ToolCallRequest) -> ToolOutcome:
        """Runs a call. What goes wrong is told to the model as a result."""
        try:
            arguments = read_arguments(call)
            with translation.override(self._language):
                return await self._tools[call.name](**arguments)
        except BadCallError as error:
            return self._failed(call, str(error))
        except DatabaseError as error:
            # The traceback is left out: it may hold what was searched for.
            extra = {"tool": call.name, "error": type(error).__name__}
            logger.error("tool_failed", extra=extra)
            self._search_broke = self._search_broke or call.name == "search_articles"
            return self._failed(call, f"{call.name} is not available at the moment.")

    async def _search_articles(self, query: str, category: str = "") -> ToolOutcome:
        found = await self._find(query, category)
        self.searched = True
        self.search_mode, self.search_fallback = found.mode, found.fallback
        self._search_degraded |= found.fallback in ("embeddings_failed", "embeddings_missing")
        fitting = [facts for facts in found.articles if self._fit(facts)]
        await self._give_references(fitting)
        shown = [self._excerpt(facts) for facts in fitting]
        note = {} if shown else {"note": "Nothing fits. Try other words once, or decline."}
        if found.suggestion and not shown:
            note["did_you_mean"] = found.suggestion  # for the model to search for, or not
        label = labels.searched(query, len(shown))
        return ToolOutcome(_json({"documents": shown, **note}), label, count=len(shown))

    async def _find(self, query: str, category: str) -> queries.Found:
        asked = (self._reader, self._language, query, category)
        if self._for_prompt():
            return await context_search.find(self._db, *asked)
        return await self._db(queries.find, *asked, self._cautious)

    async def _open_article(self, ref: int = 0, slug: str = "") -> ToolOutcome:
        if self._room < LEAST_TOKENS:
            raise BadCallError("There is no room for more text. Answer from what you have.")
        article_id = next((key for key, number in self.refs.items() if number == ref), "")
        if ref and not article_id:
            raise BadCallError(f"No article has the ref {ref}. Search first.")
        facts, body = await self._db(queries.read, self._reader, article_id, slug)
        text = tokens.beginning(body, min(BODY_TOKENS, self._room))
        self._room -= tokens.estimate(text)
        facts.passages = [PassageRead("", "", text)]
        await self._give_references([facts])
        document = {**self._shown(facts, Exposure.FULL), "body": fenced(text)}
        if len(text) < len(body):
            document["note"] = "This is the beginning; search for what is not in it."
        label = labels.read(facts.title)
        return ToolOutcome(_json({"documents": [document]}), label, count=1)

    async def _list_categories(self) -> ToolOutcome:
        listed = await self._db(queries.list_categories, self._reader)
        content = _json({"categories": listed})
        return ToolOutcome(content, labels.saw_categories(), count=len(listed))

    async def _list_articles(self, category: str = "", page: int = 1) -> ToolOutcome:
        listed = await self._db(queries.list_articles, self._reader, category, page)
        await self._give_references(listed.articles)
        content = {
            "documents": [self._shown(facts, Exposure.TITLE) for facts in listed.articles],
            "page": page,
            "pages": listed.pages,
            "total": listed.total,
        }
        label = labels.saw_articles(listed.total)
        return ToolOutcome(_json(content), label, count=len(listed.articles))

    async def _cannot_answer(self, reason: str) -> ToolOutcome:
        note = "Noted. Now tell the visitor so, briefly and in the language of the question."
        return ToolOutcome(_json({"note": note}), labels.declining(reason), declined=reason)

    async def _give_references(self, found: Sequence[ArticleFacts]) -> None:
        """Before documents are shown: those that are new in the conversation get theirs."""
        new = [facts.document_id for facts in found if facts.document_id not in self.refs]
        if new:
            self.refs.update(await self._db(self._number, new))

    def _count_on(self, document_ids: Sequence[str]) -> dict[str, int]:
        last = max(self.refs.values(), default=0)
        return {document_id: last + at for at, document_id in enumerate(document_ids, start=1)}

    def _fit(self, facts: ArticleFacts) -> bool:
        """Keeps of an article the passages that there is room for."""
        kept = []
        for passage in facts.passages:
            cost = tokens.estimate(passage.text)
            if cost <= self._room:
                self._room -= cost
                kept.append(passage)
        facts.passages = kept
        return bool(kept)

    def _excerpt(self, facts: ArticleFacts) -> dict[str, Any]:
        self._found.add(facts.document_id)
        passages = [
            {"heading": on_one_line(passage.heading), "text": fenced(passage.text)}
            for passage in facts.passages
        ]
        return {**self._shown(facts, Exposure.EXCERPT), "passages": passages}

    def _shown(self, facts: ArticleFacts, exposure: Exposure) -> dict[str, Any]:
        """A document as every result shows it, after it went into the ledger."""
        ref = self._expose(facts, exposure)
        return {"ref": ref, "title": facts.title, "url": facts.url}

    def _expose(self, facts: ArticleFacts, exposure: Exposure) -> int:
        document_id = facts.document_id
        ref = self.refs[document_id]
        for text in _texts(facts):
            self._ledger.expose(facts.document(), exposure, text=text, ref=ref)
        self.facts.setdefault(document_id, facts).absorb(facts)
        self._retrieved[document_id] = max(exposure, self._retrieved.get(document_id, exposure))
        return ref

    def _failed(self, call: ToolCallRequest, problem: str) -> ToolOutcome:
        return ToolOutcome(_json({"error": problem}), self.label(call), error=problem)

    def _title(self, arguments: Mapping[str, Any]) -> str:
        """The title of the article that is about to be read, where it is known."""
        wanted = (arguments.get("ref"), arguments.get("slug"))
        for document_id, facts in self.facts.items():
            if self.refs[document_id] == wanted[0] or facts.slug == wanted[1]:
                return facts.title
        return ""


def room_in(context_tokens: int) -> int:
    """Tokens of articles' text in a turn, for a model that can read so many in all."""
    return int(context_tokens * ROOM_SHARE)


def _texts(facts: ArticleFacts) -> list[str]:
    """The texts to enter into the ledger; a title alone has none."""
    return [passage.text for passage in facts.passages] or [""]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
