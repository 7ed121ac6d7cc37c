"""`manage.py check_sources`: is the Sources row true? Random turns, and what other rules say."""

from __future__ import annotations

import secrets
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from assistant.selfcheck.playing import Played, play
from assistant.selfcheck.scoring import Sample, compare
from helpcenter.models import SiteSettings

MOST_PRINTED = 5


class Command(BaseCommand):
    help = (
        "Plays random turns through the chat, with a scripted model and articles of its own, and"
        " compares the Sources row with what the script knows. Nothing of it is kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--turns", type=int, default=500, help="how many; 500 by default")
        parser.add_argument("--seed", type=int, help="repeats a run; random by default")

    def handle(self, *args: Any, **options: Any) -> None:
        turns, seed = options["turns"], options["seed"]
        if turns < 1:
            raise CommandError("--turns has to be 1 or more.")
        if not SiteSettings.load().assistant_enabled:
            raise CommandError("The assistant is switched off in the site's settings.")
        seed = secrets.randbelow(10**6) if seed is None else seed
        started = time.monotonic()
        samples, wrong = self._play(turns, seed)
        seconds = time.monotonic() - started
        self.stdout.write(f"{turns} turns with seed {seed} in {seconds:.0f} s")
        self.stdout.write(f"{'':36}precision  recall")
        for name, score in compare(samples):
            self.stdout.write(f"{name:36}{score.precision:9.3f}{score.recall:8.3f}")
        if wrong:
            raise CommandError(f"{wrong} of {turns} turns are not as they have to be.")

    def _play(self, turns: int, seed: int) -> tuple[list[Sample], int]:
        samples, wrong = [], 0
        for played in play(turns, seed):
            samples.append(played.sample)
            if played.problems:
                wrong += 1
                if wrong <= MOST_PRINTED:
                    self._print(played)
        return samples, wrong

    def _print(self, played: Played) -> None:
        self.stdout.write(f"Turn {played.name}:")
        for line in (*played.transcript, *played.problems):
            self.stdout.write(f"  {line}")
