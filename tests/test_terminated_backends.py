"""A PostgreSQL that ends the site's connections is asked again over fresh ones (B48)."""

from __future__ import annotations

import httpx2
import pytest
from django.db import connection

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def others(what: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {what} {OTHERS}")
        return len(cursor.fetchall())


def ask(site: str, question: str) -> int:
    with httpx2.Client(base_url=site, timeout=30) as visitor:
        visitor.get("/chat/").raise_for_status()
        headers = {"X-CSRFToken": visitor.cookies["csrftoken"], "Origin": site}
        response = visitor.post("/api/v1/answers/", json={"question": question}, headers=headers)
        return response.status_code


def test_terminated_connections_are_replaced(live_site: str) -> None:
    assert ask(live_site, "Hi") == 200
    assert others("pg_terminate_backend(pid)") > 0
    assert [ask(live_site, "Hello?") for _ in range(3)] == [200] * 3
