"""Personal data out of what visitors typed, before anybody but their own support reads it.

Masks what can be recognised by its form alone: e-mail addresses, payment cards,
IBANs, IP addresses, phone and other long numbers, and secrets that follow a word such as
"password". Names cannot be recognised that way and stay.
"""

from __future__ import annotations

import re

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?\b")
_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)")
_NUMBER = re.compile(r"(?<![\w.])\+?\(?\d(?:[ ().\-/]{0,2}\d){6,}(?!\w)")
_SECRET = re.compile(
    r"\b(password|passcode|pin|token|api key|passwort|kennwort|contraseña|mot de passe)"
    r"(\s*(?:is|ist|es|est|:|=)\s*)(\S+)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?|\d{1,2}[./]\d{1,2}[./]\d{4}")


def mask(text: str) -> str:
    """`text` with each recognised piece of personal data replaced by its kind in brackets."""
    text = _EMAIL.sub("[email]", text)
    text = _IBAN.sub("[account]", text)
    text = _ADDRESS.sub("[address]", text)
    text = _NUMBER.sub(_number, text)
    return _SECRET.sub(r"\1\2[secret]", text)


def _number(match: re.Match[str]) -> str:
    found = match.group()
    if _DATE.fullmatch(found):
        return found
    digits = sum(character.isdigit() for character in found)
    return "[card]" if 13 <= digits <= 19 and not found.startswith("+") else "[number]"
