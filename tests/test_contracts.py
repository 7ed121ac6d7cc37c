"""What models and tools are to the loop: usage adds up, errors keep what they say, calls fit."""

from __future__ import annotations

import pytest

from assistant.contracts import ProviderError, ToolCallRequest, Usage, call_message


def test_usage_adds_up_and_stays_an_estimate() -> None:
    counted, guessed = Usage(10, 4, 3), Usage(1, 2, 5, estimated=True)

    assert counted + guessed == guessed + counted == Usage(11, 6, 8, estimated=True)
    assert (counted + counted).estimated is False
    assert (counted + guessed).total == 19


def test_an_error_keeps_what_the_provider_said() -> None:
    error = ProviderError("rate_limited", "status=429", retryable=True, retry_after=3)

    assert (error.code, error.detail) == ("rate_limited", "status=429")
    assert (error.retryable, error.retry_after) == (True, 3)
    assert ProviderError("refused").retryable is False
    assert (str(error), str(ProviderError("refused"))) == ("rate_limited: status=429", "refused")


@pytest.mark.parametrize(
    ("name", "written"),
    [("n" * 64, "n" * 64), ("n" * 65, "n" * 64), ("", "unknown"), ("a b", "a_b")],
)
def test_the_name_of_a_call_is_one_that_endpoints_take(name: str, written: str) -> None:
    message = call_message(ToolCallRequest("c", name, "{}"))

    assert message["function"]["name"] == written
