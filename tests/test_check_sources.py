"""`check_sources`: the row is true on random turns, and the check leaves nothing behind."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
import redis
from django.apps import apps
from django.core.management import CommandError, call_command

from articles.models import Article
from assistant.database import db, rehearsal
from assistant.selfcheck import library, playing
from assistant.selfcheck.scoring import Sample, Score, compare
from assistant.selfcheck.truth import EXCERPT, FULL, TITLE, Truth
from helpcenter.models import SiteSettings
from tests.chat_clients import in_loop
from tests.factories import make_answer, make_article
from tests.processes import site_environment
from tests.servers import PROJECT

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def rows() -> dict[str, list[str]]:
    """Everything that is stored, by table."""
    return {
        model._meta.label: sorted(map(repr, model._default_manager.values_list()))
        for model in apps.get_models()
    }


def checked(*arguments: str) -> str:
    out = io.StringIO()
    call_command("check_sources", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def site() -> None:
    """A site with articles and an answer of its own."""
    make_answer()
    make_article("Reset a forgotten password")


@pytest.mark.slow
def test_the_row_is_true_on_random_turns_and_nothing_of_them_stays(
    site: None, valkey_client: redis.Redis
) -> None:
    before, keys = rows(), set(valkey_client.keys("*"))
    printed = checked("--turns", "150", "--seed", "20")

    row, *rules = printed.splitlines()[-4:]
    assert row.split()[-2:] == ["1.000", "1.000"]
    for rule in rules:
        precision, recall = map(float, rule.split()[-2:])
        assert precision < 1
        assert recall < 1
    assert rows() == before
    assert set(valkey_client.keys("*")) == keys


@pytest.mark.slow
def test_many_turns_are_played_in_several_processes(site: None) -> None:
    before = rows()
    command = [sys.executable, "manage.py", "check_sources", f"--turns={playing.BATCH + 10}"]
    run = subprocess.run(
        command, cwd=PROJECT, env=site_environment(), capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "1.000   1.000" in run.stdout
    assert rows() == before


def test_a_seed_repeats_the_same_turns() -> None:
    first, again = (playing.play_batch(12, "7.0", 32_000) for _ in range(2))

    assert [turn.sample for turn in first] == [turn.sample for turn in again]
    assert first[0].name == "7.0.0.0"


def test_a_wrong_row_is_printed_and_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product that shows everything that was found, as a common rule does."""
    from assistant import provenance

    monkeypatch.setattr(provenance._Record, "is_consulted", True)
    out = io.StringIO()
    with pytest.raises(CommandError, match="turns are not as they have to be"):
        call_command("check_sources", "--turns", "12", "--seed", "7", stdout=out)

    assert "the row as it was told" in out.getvalue()
    assert "was shown:" in out.getvalue()


def test_a_check_needs_turns_and_an_assistant_that_is_on() -> None:
    with pytest.raises(CommandError, match="1 or more"):
        checked("--turns", "0")
    SiteSettings(assistant_enabled=False).save()
    with pytest.raises(CommandError, match="switched off"):
        checked("--turns", "1")


def test_what_a_rehearsal_writes_is_undone_and_there_is_one_at_a_time() -> None:
    async def body() -> None:
        async with rehearsal():
            made = await db(library.make)
            assert await db(Article.objects.filter(slug__in=made.slugs.values()).count) > 20
            with pytest.raises(RuntimeError, match="under way"):
                async with rehearsal():
                    pass
        assert await db(Article.objects.count) == 0

    in_loop(body)


def test_the_truth_of_a_turn_follows_the_three_exposures() -> None:
    truth = Truth(carried=frozenset({"Earlier", "Not used"}))
    for title, exposure in {"Opened": FULL, "Found": EXCERPT, "Ignored": EXCERPT}.items():
        truth.show(title, exposure)
    truth.show("Listed", TITLE)
    truth.show("Not used", TITLE)
    for title in ("Found", "Listed", "Earlier"):
        truth.cite(title)

    assert truth.sources() == [
        ("Found", 1, True),
        ("Earlier", 2, True),
        ("Opened", None, True),
        ("Listed", None, False),
    ]


def test_a_list_at_the_end_counts_only_where_nothing_else_does() -> None:
    alone, beside = Truth(), Truth()
    for truth in (alone, beside):
        truth.show("Found", EXCERPT)
        truth.show("Also found", EXCERPT)
    beside.cite("Found")
    for truth in (alone, beside):
        truth.list_at_end(["Also found"])

    assert alone.row() == {"Also found"}
    assert beside.row() == {"Found"}


def test_the_rules_are_scored_on_the_same_turns_and_the_threshold_at_its_best() -> None:
    samples = [
        Sample(
            true={"a"}, row={"a"}, retrieved={"a", "b"}, cited={"a"}, scores={"a": 0.7, "b": 0.5}
        ),
        Sample(true={"c"}, row={"c"}, retrieved={"c"}, cited={"d"}),
    ]
    scores = {name: (score.precision, score.recall) for name, score in compare(samples)}

    assert scores["the Sources row"] == (1.0, 1.0)
    assert scores["all that was retrieved"] == (2 / 3, 1.0)
    assert scores["all that is cited or linked"] == (0.5, 0.5)
    assert scores["retrieved above a score of 0.55"] == (1.0, 0.5)
    assert Score().precision == 1.0, "nothing shown and nothing wrong"
