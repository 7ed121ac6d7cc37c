"""Sends the API what its OpenAPI document allows and what it does not, the chat's part too.

    python -m proof.api [--examples N] [--only PREFIX]

Schemathesis against a web server of its own, in a database of its own, as a colleague who may
do everything: examples, boundary values, random requests, and chains of them. Fails for a
server error and for a status, a content type or a body that the document does not name.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.processes import web_process
from tests.servers import PROJECT, TestServers

UNLIMITED = dict.fromkeys(
    (
        "API_REQUESTS_PER_ADDRESS",
        "API_REQUESTS_PER_TOKEN",
        "API_REQUESTS_WITHOUT_VALKEY",
        "ASSISTANT_TURNS_PER_VISITOR",
        "ASSISTANT_TURNS_PER_ADDRESS",
    ),
    str(10**9),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200, help="for each operation and phase")
    parser.add_argument("--only", default="/api/v1/", help="what paths begin with")
    options = parser.parse_args()
    with _site() as (url, token, known):
        command = [
            sys.executable,
            "-m",
            "schemathesis.cli",
            "run",
            f"{url}/api/v1/openapi.json",
            f"--header=Authorization: Bearer {token}",
            f"--include-path-regex=^{options.only}",
            f"--max-examples={options.examples}",
            f"--checks={','.join(_checks())}",
            "--continue-on-failure",
            "--suppress-health-check=all",
            "--no-color",
        ]
        environment = {"SCHEMATHESIS_HOOKS": "proof.api_hooks", "FUZZED": known}
        return subprocess.run(
            command, cwd=PROJECT, env={**os.environ, **environment}, check=False
        ).returncode


@contextmanager
def _site() -> Iterator[tuple[str, str, str]]:
    """A site with a few articles: its URL, a token, and as JSON what `seed` made known."""
    servers = TestServers.start()
    os.environ["DJANGO_SETTINGS_MODULE"] = "helpcenter.settings"
    try:
        import django

        django.setup()
        token, known = _prepared()
        with web_process(**UNLIMITED) as url:
            yield url, token, known
    finally:
        servers.stop()


def _prepared() -> tuple[str, str]:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from helpcenter import tokens
    from tests.api_fuzzing import seed

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    colleague = User.objects.create_superuser("fuzzed", "fuzzed@example.com", "")
    return tokens.create(colleague, "fuzzed")[1], json.dumps(seed())


def _checks() -> list[str]:
    from tests.api_fuzzing import CHECKS

    return [check.__name__ for check in CHECKS]


if __name__ == "__main__":
    sys.exit(main())
