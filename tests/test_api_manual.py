"""The curl examples of the manual's page on the API run as they stand, against a real server."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from articles.models import Article, SlugRedirect, Status
from helpcenter import tokens
from tests.factories import make_article, make_category
from tests.servers import PROJECT

PAGE = Path(PROJECT) / "docs" / "api.md"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_examples_of_the_manual_work(live_site: str) -> None:
    make_article("Welcome", category=make_category("Start"))
    user = User.objects.create_superuser("writer")
    secret = tokens.create(user, "manual")[1]
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    script = "set -euo pipefail\n" + "\necho\n".join(blocks)
    script = script.replace("http://localhost:8000", live_site)
    script = script.replace("hct_the-token-that-was-shown", secret)
    script = re.sub(r"\bcurl -s", "curl --fail-with-body -s", script)

    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert '"slug":"welcome"' in done.stdout
    assert "304" in done.stdout.split()
    installed = Article.objects.get(external_id="guides/install.md")
    assert installed.status == Status.PUBLISHED
    assert Article.objects.get(slug="choose-a-new-password").status == Status.PUBLISHED
    assert SlugRedirect.objects.get().slug == "reset-your-password"
