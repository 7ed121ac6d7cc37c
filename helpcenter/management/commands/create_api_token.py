"""Makes a token of the API for a user, and prints it once: `create_api_token USERNAME NAME`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from helpcenter import tokens


class Command(BaseCommand):
    help = "Makes a token of the API for a user and prints it. It may do what the user may."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("name", help="what uses it, such as 'docs pipeline'")
        parser.add_argument("--days", type=int, help="how long it is valid; without it, for ever")

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["days"]
        if days is not None and days < 1:
            raise CommandError("--days: expected a whole number from 1")
        user = get_user_model().objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user “{options['username']}”.")
        expires_at = None if days is None else timezone.now() + timedelta(days=days)
        _token, secret = tokens.create(user, options["name"][:100], expires_at)
        self.stdout.write(secret)
