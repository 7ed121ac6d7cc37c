"""`manage.py restore FILE`: put a site back to what a backup holds."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from helpcenter import backups


class Command(BaseCommand):
    help = "Put the database and the media back to what the backup FILE holds."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace", action="store_true", help="overwrite the site that is there"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not backups.is_empty() and not options["replace"]:
            raise CommandError("There is a site here; --replace overwrites it.")
        try:
            backups.restore(options["file"])
        except backups.BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write("Restored. If the backup is of an older release, run: manage.py migrate")
