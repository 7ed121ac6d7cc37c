"""What the audit's pages cost among 100,000 answers: the list, each filter, search.

    python bench/audit.py [--cache FOLDER] [--rebuild] [--answers N] [--rounds N]

Questions are the customers' of the WixQA and Banking77 sets in ../shared, each with four documents
of its ledger; the database is built once and kept in the cache. Pages are asked of Django in
this process, with all its middleware, as a member of the Support group; the time is the
median of the rounds and includes the rendering. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from bench import corpora, databases  # noqa: E402

VERSION = "2"
ARTICLES = 500
BATCH = 5000
GROUNDINGS = ["grounded", "uncited", "no_hits", "rejected", "smalltalk", "listing", "unavailable"]
SHARES = [60, 8, 10, 8, 6, 4, 4]
LISTS = {
    "the list": "",
    "page 1,000": "p=1000",
    "grounding": "grounding__exact=no_hits",
    "sources: some": "sources=some",
    "sources: none": "sources=none",
    "rating: helpful": "rating=positive",
    "rating: not helpful": "rating=negative",
    "rating: none": "rating=none",
    "verdict: wrong": "verdict=wrong",
    "verdict: none": "verdict=none",
    "assignee: me": "assignee=me",
    "assignee: anyone": "assignee=anyone",
    "support: weak": "support=weak",
    "support: good": "support=good",
    "flags: dropped": "flag=dropped",
    "flags: handed to support": "flag=escalated",
    "flags: an error": "flag=error",
    "flags: cut short": "flag=cut",
    "flags: search fell back": "flag=fallback",
    "status": "status__exact=failed",
    "duration: under 2 s": "took=2",
    "duration: 30 s and more": "took=more",
    "cost: any": "cost=any",
    "cost: none": "cost=none",
    "cost: 0.001 to 0.01": "cost=little",
    "article by key": "article=7",
    "article by a piece of its title": "article=article 12",
    "article retrieved and not used": "unused=7",
    "article cited": "cited=7",
    "category": "category=3",
    "language": "language=de",
    "model": "model=model-b",
    "asked by: visitor": "origin__exact=visitor",
    "asked by: staff": "origin__exact=staff",
    "ended": "ended=1",
    "still running": "ended=0",
    "a week": "from={week}&to={today}",
    "search: a word": "q=card",
    "search: a word that is nowhere": "q=xyzzy",
    "search: two words, grounding, a week": "q=card lost&grounding__exact=grounded&from={week}",
    "five filters": "sources=some&rating=none&support=good&verdict=none&category=3",
    "sorted by question": "o={asked}",
    "sorted by rating": "o={rating}",
    "sorted by verdict of staff": "o={judged}",
    "sorted by duration": "o={seconds}",
    "sorted by cost": "o=-{cost_shown}",
}
"""Name and query of each list that is measured."""

PAGES = {
    "overview, 30 days": "admin:assistant_answer_overview",
    "overview, a year": "admin:assistant_answer_overview?from={year}",
    "answers built on an article": "admin:assistant_answer_of_article:7",
    "review queues": "admin:assistant_answer_review_queues",
    "conversations": "admin:assistant_conversation_changelist",
    "conversations: a word": "admin:assistant_conversation_changelist?q=card",
    "a reference number": "admin:assistant_answer_changelist?q=0000-0000",
    "usage, twelve months": "admin:assistant_answer_usage",
}
"""Name and address of each other page."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=corpora.CACHE)
    parser.add_argument("--rebuild", action="store_true", help="build the database anew")
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with databases.servers(arguments.cache):
        databases.use(
            f"audit_{arguments.answers}",
            VERSION,
            lambda: build(arguments.answers),
            arguments.cache,
            anew=arguments.rebuild,
        )
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        report(arguments.answers, arguments.rounds)


def build(count: int) -> databases.Figures:
    from django.db import connection

    desk = random.Random(1)
    articles = list(make_articles())
    questions = [row["text"] for row in read_questions()]
    for start in range(0, count, BATCH):
        make_batch(desk, articles, questions, min(BATCH, count - start))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return {"answers": count}


def read_questions() -> list[dict[str, str]]:
    path = PROJECT.parent / "shared" / "gaps" / "banking77-train.csv"
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def make_articles() -> Iterator[Any]:
    from articles import publishing
    from articles.models import Article, Category

    categories = [Category.objects.create(name=f"Category {number}") for number in range(10)]
    for number in range(ARTICLES):
        article = Article(title=f"Article {number}", body="Text.", category=categories[number % 10])
        publishing.publish(article)
        yield article


def make_batch(desk: random.Random, articles: list[Any], questions: list[str], size: int) -> None:
    from django.utils import timezone

    from assistant.models import (
        Answer,
        AnswerDocument,
        AnswerFeedback,
        AnswerReview,
        CitationSupport,
        Conversation,
        DroppedCitation,
        Escalation,
    )

    conversations = Conversation.objects.bulk_create(
        Conversation(visitor_id=uuid.uuid4()) for _ in range(size)
    )
    now = timezone.now()
    answers = []
    for conversation in conversations:
        grounding = desk.choices(GROUNDINGS, SHARES)[0]
        failed = grounding == "unavailable"
        answers.append(
            Answer(
                conversation=conversation,
                turn=1,
                owner=f"visitor:{conversation.visitor_id}",
                question=desk.choice(questions),
                language=desk.choice(["en", "en", "de", "fr"]),
                status="failed" if failed else "completed",
                error_code="unavailable" if failed else "",
                grounding=grounding,
                text="Open Settings [1]. " * 30,
                model_text="Open Settings [2]. " * 30,
                model=desk.choice(["model-a", "model-b"]),
                cost=desk.choice([None, Decimal("0.0004"), Decimal("0.002"), Decimal("0.03")]),
                finished_at=now,
            )
        )
    Answer.objects.bulk_create(answers)
    for answer in answers:
        asked = now - timedelta(days=desk.random() * 365)
        answer.created_at = asked
        answer.first_token_at = asked + timedelta(seconds=0.3 + desk.random() * 2)
        answer.finished_at = asked + timedelta(seconds=1 + desk.expovariate(0.2))
    Answer.objects.bulk_update(
        answers, ["created_at", "first_token_at", "finished_at"], batch_size=1000
    )
    documents = AnswerDocument.objects.bulk_create(
        AnswerDocument(
            answer=answer,
            ref=ref,
            article=article,
            revision_id=article.live_revision_id,
            document_id=str(article.pk),
            title=article.title,
            slug=article.slug,
            exposure="excerpt",
            via="excerpt",
            cited=(cited := answer.grounding == "grounded" and ref <= 2),
            consulted=cited,
            number=ref if cited else None,
            position=ref if cited else None,
        )
        for answer in answers
        for ref, article in enumerate(desk.sample(articles, 4), start=1)
    )
    CitationSupport.objects.bulk_create(
        CitationSupport(
            document=document, position=0, sentence="Open Settings.", score=desk.random() ** 0.3
        )
        for document in documents
        if document.cited
    )
    AnswerFeedback.objects.bulk_create(
        AnswerFeedback(answer=answer, rating=desk.choice(["positive", "positive", "negative"]))
        for answer in answers
        if desk.random() < 0.2
    )
    AnswerReview.objects.bulk_create(
        AnswerReview(answer=answer, verdict=desk.choice(["right", "right", "wrong", ""]))
        for answer in answers
        if desk.random() < 0.05
    )
    Escalation.objects.bulk_create(
        Escalation(answer=answer, email="jane@example.com")
        for answer in answers
        if desk.random() < 0.01
    )
    DroppedCitation.objects.bulk_create(
        DroppedCitation(answer=answer, position=0, text="[9]", reason="unknown_ref")
        for answer in answers
        if desk.random() < 0.05
    )


def report(count: int, rounds: int) -> None:
    from django.test import Client
    from django.test.utils import setup_test_environment
    from django.urls import reverse
    from django.utils import timezone

    from assistant.admin.answers import AnswerAdmin

    setup_test_environment()
    client = Client(SERVER_NAME="localhost")
    client.force_login(colleague())
    url = reverse("admin:assistant_answer_changelist")
    today = timezone.localdate()
    # One who may only look has no boxes to tick, so columns count from 0.
    columns = {name: place for place, name in enumerate(AnswerAdmin.list_display)}
    days = {
        "today": today,
        "week": today - timedelta(days=7),
        "year": today - timedelta(days=364),
    }
    values = {**days, **columns}
    print(f"\n{count:,} answers\n")
    print("| page | milliseconds | queries | |")
    print("| --- | --- | --- | --- |")
    client.get(url)
    for name, query in LISTS.items():
        measured = [measure(client, f"{url}?{query.format(**values)}") for _ in range(rounds)]
        line(name, measured)
    for name, page in PAGES.items():
        address, _mark, query = page.partition("?")
        prefix, view, *arguments = address.split(":")
        url = reverse(f"{prefix}:{view}", args=arguments)
        line(name, [measure(client, f"{url}?{query.format(**values)}") for _ in range(rounds)])


def line(name: str, measured: list[tuple[float, int]]) -> None:
    milliseconds = median(seconds for seconds, _queries in measured) * 1000
    queries = max(queries for _seconds, queries in measured)
    print(f"| {name} | {milliseconds:.0f} | {queries} | {corpora.load_average()} |", flush=True)


def measure(client: Any, url: str) -> tuple[float, int]:
    """Seconds and queries of a page that has to succeed."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        began = time.perf_counter()
        response = client.get(url)
        seconds = time.perf_counter() - began
    if response.status_code != 200:
        raise SystemExit(f"{url} answered {response.status_code}")
    return seconds, len(queries)


def colleague() -> Any:
    from django.contrib.auth.models import Permission, User

    user, _created = User.objects.get_or_create(username="bench", defaults={"is_staff": True})
    user.user_permissions.set(
        Permission.objects.filter(
            content_type__app_label__in=["assistant", "articles"], codename__startswith="view"
        )
    )
    return user


if __name__ == "__main__":
    main()
