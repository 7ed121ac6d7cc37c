"""`manage.py load_demo`: the manual as articles, into a site that has none."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from articles import demo
from articles.importing.summary import problem_lines


class Command(BaseCommand):
    help = "Fills a site that has no articles with this product's manual. remove_demo takes it out."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once",
            action="store_true",
            help="only into a site that nobody has set up yet, so that removed content stays away",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not (demo.is_new() if options["once"] else demo.is_empty()):
            if not options["once"]:
                self.stdout.write("The site has articles already; nothing was loaded.")
            return
        report = demo.load()
        for line in problem_lines(report, everything=True):
            self.stderr.write(line)
        if report.failures:
            raise CommandError(f"{report.failures} pages of the manual could not be loaded.")
        self.stdout.write(
            f"Loaded the manual as demo content: {len(report.outcomes)} articles, "
            f"{report.passages} passages. `manage.py remove_demo` removes them."
        )
