"""Whatever the OpenAPI document allows, and much that it does not, is answered as it says.

A sample: `make proof` tries more, against a real server, and the chat's addresses too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from articles.api.documentation import schema
from assistant.openapi import TAG
from helpcenter import tokens
from tests.api_fuzzing import CHECKS, aim, seed

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

EXAMPLES = 25
SIGNALS = (request_started, request_finished)


def kinds() -> list[Any]:
    """Each operation of the articles' API with requests that are as described, and with others
    where it takes anything that can be wrong."""
    api = schemathesis.openapi.from_dict(schema()).exclude(tag=TAG)
    operations = [found.ok() for found in api.get_all_operations() if isinstance(found, Ok)]
    assert operations
    return [
        pytest.param(operation, mode, id=f"{operation.label} {mode.value}")
        for operation in operations
        for mode in GenerationMode
        if mode == GenerationMode.POSITIVE or [*operation.iter_parameters(), *operation.body]
    ]


@pytest.fixture
def token(staff: User, settings: Any) -> Iterator[str]:
    """Of a colleague who may do everything, as often as they like."""
    settings.API_REQUESTS_PER_TOKEN = settings.API_REQUESTS_PER_ADDRESS = 10**9
    # The end of a request closes the connection, and the test's transaction with it.
    for signal in SIGNALS:
        signal.disconnect(close_old_connections)
    yield tokens.create(staff, "fuzzed")[1]
    for signal in SIGNALS:
        signal.connect(close_old_connections)


@pytest.mark.parametrize(("operation", "mode"), kinds())
def test_what_is_sent_is_answered_as_the_document_says(
    operation: Any, mode: GenerationMode, token: str
) -> None:
    known = seed()
    site, headers = get_wsgi_application(), {"Authorization": f"Bearer {token}"}

    @hypothesis_settings(
        max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(operation.as_strategy(mode))
    def answered(case: Any) -> None:
        aim(case, known)
        with transaction.atomic():
            response = case.call(app=site, headers=headers)
            transaction.set_rollback(True)
        case.validate_response(response, checks=CHECKS)

    answered()
