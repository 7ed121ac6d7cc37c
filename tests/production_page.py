"""What the manual's page "Go to production" says to run, read from the page itself."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from tests.servers import PROJECT

PAGE = PROJECT / "docs" / "go-to-production.md"


@dataclass(frozen=True)
class Command:
    """A line of a `sh` fence: a command, and the variables that stand before it."""

    words: list[str]
    variables: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parsed(cls, line: str) -> Command:
        words, variables = shlex.split(line), {}
        while match := re.fullmatch(r"([A-Z_]+)=(.*)", words[0]):
            variables[match[1]] = match[2]
            words.pop(0)
        return cls(words, variables)


def commands(heading: str) -> list[Command]:
    """Those of the section with this heading, in their order."""
    lines = [line for fence in _fences(heading, "sh") for line in fence.splitlines()]
    return [Command.parsed(line) for line in lines if line]


def settings() -> dict[str, str]:
    """The variables of the page's `.env`."""
    [text] = _fences("Settings", "ini")
    return dict(line.split("=", 1) for line in text.splitlines() if line)


def _fences(heading: str, language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE
    )
    assert section, f"the page has no section {heading}"
    found = re.findall(rf"^```{language}\n(.*?)^```$", section[1], re.DOTALL | re.MULTILINE)
    assert found, f"the section {heading} has no {language}"
    return found
