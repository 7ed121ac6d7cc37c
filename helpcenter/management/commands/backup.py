"""`manage.py backup FILE`: the database and the media in one file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from helpcenter import backups


class Command(BaseCommand):
    help = "Write a backup of the database and the media to FILE."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        file = options["file"].resolve()
        if file.exists():
            raise CommandError(f"{file} exists already.")
        try:
            backups.write(file)
        except (backups.BackupError, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Wrote {file} ({file.stat().st_size / 1e6:.1f} MB).")
