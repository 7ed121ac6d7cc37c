"""Calls that a model writes into its text are run and not shown; all other text is shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.providers.written_calls import WrittenCalls


def read(text: str, size: int = 1) -> tuple[str, list[tuple[str, str]]]:
    """What is shown of a text that comes in slices, and the calls in it."""
    written = WrittenCalls()
    slices = [text[start : start + size] for start in range(0, len(text), size)]
    shown = "".join(map(written.feed, slices)) + written.close()
    return shown, [(call.name, call.arguments) for call in written.calls]


SEARCH = '{"name": "search", "arguments": {"q": "é"}}'
CALL = ("search", '{"q": "é"}')


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "shown", "count"),
    [
        (f"<tool_call>{SEARCH}</tool_call>", "", 1),
        (f"<tool_call>\n{SEARCH}\n</tool_call>\n<tool_call>{SEARCH}</tool_call>", "\n", 2),
        (f"Let me look. <tool_call>{SEARCH}</tool_call> Done.", "Let me look.  Done.", 1),
        (f"Let me look. <tool_call>{SEARCH}", "Let me look. ", 1),
        (f"[TOOL_CALLS] [{SEARCH}, {SEARCH}]", "", 2),
        (f"[TOOL_CALLS]{SEARCH}", "", 1),
        (f"<|python_tag|>{SEARCH}; {SEARCH}", "", 2),
        (SEARCH, "", 1),
        (f"\n\n{SEARCH}\n", "", 1),
        (f"[{SEARCH}]", "", 1),
        (f"```json\n{SEARCH}\n```", "", 1),
        (f"```\n{SEARCH}\n```", "", 1),
        (f'{{"type": "function", "function": {SEARCH}}}', "", 1),
        (SEARCH.replace("arguments", "parameters"), "", 1),
        ("<tool_call>{broken", "", 0),
        ("<tool_call>{broken</tool_call>Open it.", "Open it.", 0),
        ("<tool_call>", "", 0),
    ],
)
def test_calls_are_taken_out_of_the_text(text: str, shown: str, count: int, size: int) -> None:
    assert read(text, size) == (shown, [CALL] * count)


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "Open it [1].",
        "[1] says so.",
        "[Export](/articles/export/) it.",
        "`<tool_call>` is a tag of models.",
        "a < b <tool and [TOOL",
        '{"name": "an example of JSON"}',
        '{"name": "x", "arguments": 7}',
        '{"x": {"name": "search", "arguments": {}}}',
        "{0} is a place",
        "```json\n{}\n``` is an empty object.",
        "```sh\nexport CSV\n```",
        '{"name": "search", "arguments": {}} is how a call looks',
        "",
        "{",
        "`",
        "[[[",
        "[" * 3000,
    ],
)
def test_other_text_is_shown_as_it_is(text: str, size: int) -> None:
    assert read(text, size) == (text, [])


@given(st.lists(st.sampled_from(["<tool_call>", "</tool_call>", "<", "[", "{", "a ", "\n"])))
def test_the_slices_make_no_difference(parts: list[str]) -> None:
    text = "".join(parts)
    assert read(text, 1) == read(text, 2) == read(text, max(1, len(text)))


@given(st.text(alphabet=st.characters(exclude_characters="<[{`")))
def test_plain_words_are_never_held_back(text: str) -> None:
    written = WrittenCalls()
    assert "".join(map(written.feed, text)) + (written.close() if not text.strip() else "") == text
    assert written.close() == ""


def test_arguments_in_a_text_of_their_own_are_taken_as_they_are() -> None:
    text = json.dumps({"name": "search", "arguments": '{"q": 1}'})
    assert read(text) == ("", [("search", '{"q": 1}')])
