"""`manage.py upgrade_database`: move the embedded database to this release's PostgreSQL."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from helpcenter.embedded.postgres import MAJOR
from helpcenter.embedded.upgrade import upgrade


class Command(BaseCommand):
    help = "Move the embedded database to the version of PostgreSQL that this release runs."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        kept = upgrade(settings.DATA_DIR)
        if kept is None:
            self.stdout.write(f"Nothing to do: no database of another version than {MAJOR}.")
        else:
            self.stdout.write(
                f"The database runs on PostgreSQL {MAJOR} now. The old one is kept in {kept}; "
                "delete it when all is well."
            )
