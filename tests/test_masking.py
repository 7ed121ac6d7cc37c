"""Personal data is recognised by its form and masked; everything else stays."""

import pytest

from helpcenter.masking import mask


@pytest.mark.parametrize(
    ("question", "masked"),
    [
        (
            "My mail is jo@example.test, card 4242 4242 4242 4242, why declined?",
            "My mail is [email], card [card], why declined?",
        ),
        ("Call me on +49 (30) 1234-5678 today", "Call me on [number] today"),
        ("Refund to DE89 3704 0044 0532 0130 00 failed", "Refund to [account] failed"),
        ("my password is hunter2 and it fails", "my password is [secret] and it fails"),
        ("Mein Passwort: geheim!", "Mein Passwort: [secret]"),
        ("Blocked from 203.0.113.9:443?", "Blocked from [address]:443?"),
        ("order 123456789 lost", "order [number] lost"),
    ],
)
def test_personal_data_is_masked(question: str, masked: str) -> None:
    assert mask(question) == masked


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset my password?",
        "What does error E-1042 mean in api.v2?",
        "Invoices from 2026-11-30 to 2026-12-31",
        "Since 30.11.2026 nothing works",
        "Is 1,000,000 rows too many? 250 € or 99.50 a month?",
        "Is version 5.2.19 too old for 3.11.7?",
    ],
)
def test_what_is_not_personal_stays(question: str) -> None:
    assert mask(question) == question
