"""`manage.py remove_demo`: takes out what `load_demo` brought, and nothing else."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from articles import demo


class Command(BaseCommand):
    help = "Deletes the demo articles and the categories that are empty without them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--edited-too",
            action="store_true",
            help="delete demo articles that were edited on this site as well",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        removed = demo.remove(edited_too=options["edited_too"])
        self.stdout.write(
            f"Removed {removed.articles} demo articles and {removed.categories} categories."
        )
        if removed.edited:
            self.stdout.write(
                f"Kept {removed.edited} that were edited on this site; "
                "--edited-too removes them as well."
            )
