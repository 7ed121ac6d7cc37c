"""What the first run of the gap report costs on a site that has a million answers.

    python bench/gap_report.py [--cache FOLDER] [--answers N] [--gaps N] [--rebuild]

A scratch database gets the answers by `generate_series`, the gaps among them with the
questions of ../shared/gaps, over and over: six times out of ten in the same words, the other times
with a word that makes them another question. The report then runs in a process of its own,
whose time and highest memory are taken, and a second time, a period later, with nothing new.
Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from bench import corpora, databases  # noqa: E402

VERSION = "2"
QUESTIONS = PROJECT.parent / "shared" / "gaps" / "banking77-train.csv"
PER_CONVERSATION = 4

_CONVERSATIONS = """
INSERT INTO assistant_conversation (id, visitor_id, created_at, updated_at)
SELECT md5('c' || n)::uuid, md5('v' || n)::uuid, now(), now()
FROM generate_series(0, %(conversations)s - 1) AS n
"""
_ANSWERS = """
INSERT INTO assistant_answer ({columns})
SELECT {values} FROM (
    SELECT n, n / %(turns)s AS c, n %% %(every)s = 0 AS is_gap, n / %(every)s AS g,
        now() - interval '90 days' + n * interval '90 days' / %(answers)s AS at
    FROM generate_series(0, %(answers)s - 1) AS n
) AS made
LEFT JOIN questions q ON made.is_gap AND q.place = made.g %% %(questions)s
"""
_RUN = """
import json, os, resource, sys, time
import django
django.setup()
from assistant import gaps
from django.db import connection
connection.ensure_connection()
server = f"/proc/{connection.connection.info.backend_pid}/stat"
def cpu():
    used = open(server).read().rpartition(")")[2].split()
    return time.process_time(), (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")
began, before = time.perf_counter(), cpu()
run = gaps.update_report()
first = time.perf_counter() - began
own, database = (after - start for after, start in zip(cpu(), before))
began = time.perf_counter()
gaps.update_report()
print(json.dumps({
    "own": own, "database": database, "added": run.questions_added, "first": first,
    "again": time.perf_counter() - began,
    "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=corpora.CACHE)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--gaps", type=int, default=100_000)
    parser.add_argument("--rebuild", action="store_true")
    arguments = parser.parse_args()
    answers, gaps = arguments.answers, arguments.gaps
    with databases.servers(arguments.cache):
        built = databases.use(
            f"gaps_{answers}_{gaps}",
            VERSION,
            lambda: build(answers, gaps),
            arguments.cache,
            anew=arguments.rebuild,
        )
        forget_report()
        before = corpora.load_average()
        found = run_report()
        topics = count("SELECT count(*) FROM assistant_gaptopic WHERE merged_into_id IS NULL")
        different = count("SELECT count(DISTINCT fingerprint) FROM assistant_gapquestion")
    print(f"\n{built['answers']} answers, {found['added']} gaps, {different} different questions")
    print("\n| figure | target | measured | |\n| --- | --- | --- | --- |")
    print(f"| first run, s | < 60 | {found['first']:.1f} | {before} before |")
    print(f"| of it CPU of the process, s | | {found['own']:.1f} | |")
    print(f"| and of the database, s | | {found['database']:.1f} | |")
    print(f"| run with nothing new, s | | {found['again']:.2f} | |")
    print(f"| highest memory of the process, MB | < 500 | {found['memory']:.0f} | |")
    print(f"| topics | | {topics} | |")


def build(answers: int, gaps: int) -> databases.Figures:
    from django.db import connection

    from assistant.models import Answer

    with QUESTIONS.open(encoding="utf-8") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    given = {
        "id": "md5('a' || n)::uuid",
        "conversation_id": "md5('c' || c)::uuid",
        "turn": "n % %(turns)s + 1",
        "owner": "'visitor:' || md5('v' || c)::uuid",
        "origin": "'visitor'",
        "question": "CASE WHEN is_gap THEN q.text || CASE WHEN g / %(questions)s % 10 < 6 THEN ''"
        " ELSE ' plan' || g / %(questions)s % 10 END ELSE 'How do I reset my password?' END",
        "language": "'en'",
        "status": "'completed'",
        "grounding": "CASE WHEN is_gap THEN 'no_hits' ELSE 'grounded' END",
        "text": "'Open Settings.'",
        "allowed_links": "'{}'",
        "allowed_images": "'{}'",
        "usage_estimated": "false",
        "created_at": "at",
        "finished_at": "at + interval '3 seconds'",
    }
    numbers = ("prompt_tokens", "cached_tokens", "completion_tokens", "last_seq")
    for field in Answer._meta.concrete_fields:
        if field.column not in given and not field.null:
            given[field.column] = "0" if field.column in numbers else "''"
    columns, values = ", ".join(given), ", ".join(given.values())
    parameters = {
        "answers": answers,
        "turns": PER_CONVERSATION,
        "conversations": answers // PER_CONVERSATION + 1,
        "every": answers // gaps,
        "questions": len(texts),
    }
    statement = _ANSWERS.format(columns=columns, values=values.replace(" % ", " %% "))
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE questions (place int, text text)")
        with cursor.copy("COPY questions FROM STDIN") as copy:
            for row in enumerate(texts):
                copy.write_row(row)
        cursor.execute(_CONVERSATIONS, parameters)
        cursor.execute(statement, parameters)
        cursor.execute("ANALYZE")
    return {"answers": answers}


def forget_report() -> None:
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE assistant_gapquestion, assistant_gaptopic, assistant_gaprun CASCADE"
        )


def run_report() -> databases.Figures:
    done = subprocess.run(
        [sys.executable, "-c", _RUN], cwd=PROJECT, env=databases.environment(), check=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


def count(sql: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    main()
