"""Plays the check's turns through the chat's door and compares each with its truth.

A batch makes the articles, plays conversations until it has so many turns, and undoes it
all: no transaction is open for long, on a site that is in use.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import multiprocessing
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from html import unescape
from random import Random
from typing import Any

import django
from django.conf import settings
from django.test.utils import override_settings

from articles.access import ANONYMOUS, Reader
from articles.models import Category
from articles.search import search
from assistant import chat
from assistant.access import Owner
from assistant.answers import answer_payload, with_ledger
from assistant.database import db, rehearsal
from assistant.models import Answer
from assistant.questions import Ask
from assistant.selfcheck import library as articles
from assistant.selfcheck.actor import Actor
from assistant.selfcheck.library import STATUS_PAGE, Library
from assistant.selfcheck.scoring import Sample
from assistant.selfcheck.truth import Row, Truth
from assistant.tools.queries import PASSAGES_PER_ARTICLE, SEARCH_ARTICLES
from assistant.turns.live import LiveTurns
from assistant.turns.sending import Sender

BATCH = 200
"""Turns in one transaction."""

READERS = (ANONYMOUS, Reader(is_authenticated=True), Reader(is_authenticated=True, is_staff=True))
CONTEXTS = (32_000, 32_000, 3_000)
"""What the model can read, by batch: the small one makes histories lose documents."""

_NOBODY = "redis://127.0.0.1:1/0"
_UNLIMITED = 10**9
_HREF = re.compile(r'href="([^"]*)"')
_CODE = re.compile(r"```.*?```|`[^`\n]*`|\\\[", re.DOTALL)
_NUMBER = re.compile(r"\[([1-9]\d{0,2})\]")


@dataclass(frozen=True, slots=True)
class Played:
    """A turn and what is wrong with it; nothing, where it is as it has to be."""

    name: str
    sample: Sample
    problems: tuple[str, ...]
    transcript: tuple[str, ...]


def play(turns: int, seed: int) -> Iterator[Played]:
    """Plays so many turns, on every core where they are many. Neither Valkey nor a worker nor
    an embedding endpoint is asked."""
    sizes = [min(BATCH, turns - start) for start in range(0, turns, BATCH)]
    contexts = [CONTEXTS[number % len(CONTEXTS)] for number in range(len(sizes))]
    names = [f"{seed}.{number}" for number in range(len(sizes))]
    processes = min(len(sizes), os.cpu_count() or 1)
    if processes == 1:
        for batch in map(play_batch, sizes, names, contexts):
            yield from batch
        return
    # Spawned, not forked: connections and threads are no child's to inherit.
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawning, initializer=django.setup) as pool:
        for batch in pool.map(play_batch, sizes, names, contexts):
            yield from batch


def play_batch(turns: int, name: str, context_tokens: int) -> list[Played]:
    """Plays the turns of one transaction: the same ones for the same name."""
    # Without Valkey, and with turns that break off, there would be much to report.
    logging.disable(logging.WARNING)
    try:
        with _settings(context_tokens):
            return asyncio.run(_played(turns, name))
    finally:
        logging.disable(logging.NOTSET)


def _settings(context_tokens: int) -> override_settings:
    return override_settings(
        ASSISTANT_CONTEXT_TOKENS=context_tokens,
        # On a machine that is busy a turn takes what it takes.
        ASSISTANT_TURN_SECONDS=_UNLIMITED,
        ASSISTANT_TURNS_PER_VISITOR=_UNLIMITED,
        ASSISTANT_TURNS_PER_ADDRESS=_UNLIMITED,
        ASSISTANT_TURNS_WITHOUT_VALKEY=_UNLIMITED,
        REDIS_URL=_NOBODY,
        EMBEDDING_BACKEND="local",
        EMBEDDING_MODEL="",
    )


async def _played(turns: int, name: str) -> list[Played]:
    played: list[Played] = []
    async with rehearsal():
        library = await db(articles.make)
        scores = _Scores(library.language)
        try:
            for number in itertools.count():
                conversation = _Conversation(f"{name}.{number}", library, scores)
                for turn in range(conversation.length):
                    if len(played) == turns:
                        return played
                    played.append(await conversation.turn(turn))
        finally:
            await LiveTurns.current().wait()
    raise AssertionError("conversations do not end")


class _Conversation:
    def __init__(self, name: str, library: Library, scores: _Scores) -> None:
        # The same name makes the same conversation, on every machine.
        random = Random(name)  # noqa: S311
        self.length = random.choice((1, 2, 3, 5, 8))
        self._name = name
        self._random = random
        self._library = library
        self._scores = scores
        self._reader = random.choice(READERS)
        self._sender = Sender(Owner(visitor_id=uuid.uuid4()), self._reader, name, library.language)
        self._actor = Actor(random, library, settings.SITE_URL)
        self._id: uuid.UUID | None = None

    async def turn(self, number: int) -> Played:
        move = self._random.choices((None, articles.withdraw, articles.put_back), (8, 1, 1))[0]
        if move is not None:
            await db(move, self._library, self._library.passing)
        self._actor.begin_turn()
        opened = await chat.ask(self._sender, self._question(), self._actor)
        self._id = opened.conversation_id
        told = await _told(opened.answer_id, self._reader)
        stored, dropped = await db(_stored, opened.answer_id, self._reader)
        truth = self._actor.desk.truth
        return Played(
            name=f"{self._name}.{number}",
            sample=await self._sample(truth, told),
            problems=tuple(_problems(self._actor, told, stored, dropped)),
            transcript=tuple(self._actor.transcript),
        )

    def _question(self) -> Ask:
        page = self._random.choice(sorted(self._library.slugs.values()))
        return Ask(
            question=f"{self._random.choice(self._library.queries)} [1]",
            conversation_id=self._id,
            article=page if self._random.random() < 0.15 else "",
        )

    async def _sample(self, truth: Truth, told: dict[str, Any]) -> Sample:
        scores: dict[str, float] = {}
        for query, category in truth.searches:
            for title, score in (await self._scores.of(query, category, self._reader)).items():
                scores[title] = max(score, scores.get(title, score))
        shown = {title for title, _number, consulted in _row(told["sources"]) if consulted}
        return Sample(truth.row(), shown, set(truth.shown), truth.cited(), scores)


class _Scores:
    """What searches score, each asked once."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._known: dict[tuple[str, str, Reader], dict[str, float]] = {}

    async def of(self, query: str, category: str, reader: Reader) -> dict[str, float]:
        key = (query, category, reader)
        if key not in self._known:
            self._known[key] = await db(_scores, query, category, reader, self._language)
        return self._known[key]


def _scores(query: str, category: str, reader: Reader, language: str) -> dict[str, float]:
    results = search(
        query,
        reader=reader,
        for_answers=True,
        language=language,
        category=Category.objects.filter(slug=category).first() if category else None,
        limit=SEARCH_ARTICLES,
        passages_per_article=PASSAGES_PER_ARTICLE,
    )
    return {hit.article.title: hit.cosine or 0.0 for hit in results.hits}


async def _told(answer_id: uuid.UUID, reader: Reader) -> dict[str, Any]:
    """The last event, with `streamed`: the text of the events before it."""
    streamed, last = "", {}
    async with aclosing(chat.events(answer_id, reader)) as batches:
        async for batch in batches:
            for entry in batch:
                last = json.loads(entry.body)
                streamed += last["text"] if entry.type == "delta" else ""
    return {**last, "streamed": streamed}


def _stored(answer_id: uuid.UUID, reader: Reader) -> tuple[dict[str, Any], int]:
    answer = with_ledger(Answer.objects.filter(pk=answer_id)).get()
    return answer_payload(answer, reader), answer.dropped.count()


def _row(sources: Sequence[dict[str, Any]]) -> Row:
    """By the client's rule: a missing flag means "show it"."""
    return [
        (source["title"], source["number"], source.get("consulted") is not False)
        for source in sources
    ]


def _problems(
    actor: Actor, told: dict[str, Any], stored: dict[str, Any], dropped: int
) -> list[str]:
    truth = actor.desk.truth
    expected = truth.sources()
    found = {
        "the row as it was told": (_row(told["sources"]), expected),
        "the row as it is stored": (_row(stored["sources"]), expected),
        "the text that was streamed": (told["streamed"], told["text"]),
        "the text that is stored": (stored["text"], told["text"]),
        "numbers in the text": (
            set(map(int, _NUMBER.findall(_CODE.sub("", told["text"])))),
            {number for _title, number, _shown in expected if number},
        ),
        "what was taken out": (dropped, truth.dropped),
        "links": (_links(actor, stored["html"]), _wanted_links(actor)),
    }
    return [
        f"{name}: {is_now!r}, and has to be {has_to_be!r}"
        for name, (is_now, has_to_be) in found.items()
        if is_now != has_to_be
    ]


def _links(actor: Actor, html: str) -> set[str]:
    """Where the rendered answer leads, without fragments."""
    links = {unescape(href).partition("#")[0] for href in _HREF.findall(html)}
    return links - ({STATUS_PAGE} if actor.desk.saw_status_page else set())


def _wanted_links(actor: Actor) -> set[str]:
    """Every article that the text cites or links, where this reader may open it."""
    truth = actor.desk.truth
    return {url for title in (*truth.numbered, *truth.linked) if (url := actor.desk.urls[title])}
