"""What holds of every answer, however hostile: slices, finality, numbers, links, order."""

import random
import re

from hypothesis import given, note
from hypothesis import strategies as st

from assistant.citations import CitationWriter
from assistant.provenance import Document, Exposure, Ledger
from tests.citation_judge import invented, numbers_in, without_code
from tests.citing import HOST, Given, Step

HOSTILE = [
    *("[", "]", "(", ")", "[[", "]]", "](", "![", "!", "【", "】", "†", "^", "<", ">", "|", ":"),
    *("[1]", "[2]", "[3]", "[4]", "[7]", "[9]", "[1, 9]", "[9-1]", "[^2]", "[[3]]", "【2†s】"),
    *("【9】", "【4:0†x】", "[0]", "[2024]", "1", "9", "[x]", "[a", "[9"),
    *("`", "``", "```", "~~~", "````", "\\", "\\[", "\\]", "\\`", "`[1]`", "`[9]`", "`x"),
    *(
        "/articles/a/",
        "/articles/nope/",
        "https://evil.example/x",
        "http",
        "https:",
        "//",
        "tps://",
    ),
    *("https://help.example.com/articles/b", "https://status.example.org/now", "<https://", "@"),
    *(
        "[9]/evil",
        "https://[9]evil.example",
        "javascript:x",
        "mailto:a@evil.example",
        "<a@evil.example>",
        "<mailto:h@example.org>",
    ),
    *("[l](/articles/a/)", "[l](/articles/t/#p)", "[l](/nope/)", "](/articles/c/)", "](/nope/)"),
    *(
        "[1](/articles/b/)",
        "![i](/media/m.png)",
        "![i](https://evil.example/p)",
        "[](/articles/a/)",
    ),
    *(' "title"', " 'x", "(y)", "&#91;", "&lpar;", "&amp;", "[r]:", "[r]: /evil", "]:", "]: /evil"),
    *(
        "Sources:",
        "## Quellen",
        "**参考文献：**",
        "\nSources: [1]",
        "\nSources:\n- [2] b",
        "[^1]: x",
    ),
    *("[r]", "[r", "r]", "[\nr]: /evil\n\n", "r]: /evil\n\n", "\n[r\n", "[`r]: /evil`\n\n", "[`r]"),
    *("<https://evil.example/`>", "<https://evil.example/](/x)>", "<a`b@evil.example>", "\n\n[r]"),
    *(
        "[1【9】]",
        "[[9]2",
        "2[9]]",
        "[9]```\n",
        "\n```\n",
        "\n[9]- ",
        "-[9] a\n\n    [9]",
        "\\【9】",
        "!【9】",
    ),
    *("h【9】ttps://evil.example", "<ma[9]ilto:a@evil.example>", "[- a](/nope/)", "[1](/nope/)"),
    *("\n", "\n\n", "\r\n", "\r\n\r\n", " ", "  ", "    ", "\t", "\u00a0", "\n- ", "\n1. ", "\n> "),
    *("\n# ", "\n| ", " | ", "\n---\n", "\n===\n", "\n    ", "*", "**", "_", "__", "~", "-", "#"),
    *(
        "word",
        "a",
        "h",
        "and",
        ".",
        ",",
        "。",
        "é",
        "👩‍👩‍👧",
        "\u202e",
        "\u2066",
        "مرحبا",
        "你好",
        "{",
        "}",
    ),
]

DOCUMENTS = [
    Given(Document("a", "Reset [it]", "/articles/a/")),
    Given(
        Document("b", "Billing", "/articles/b/"),
        text="https://status.example.org/now <mailto:h@example.org> ![m](/media/m.png)",
    ),
    Given(Document("c", "Plans", "/articles/c/"), Exposure.FULL),
    Given(Document("t", "Only `a` title", "/articles/t/"), Exposure.TITLE),
    Given(Document("x", "Closed", None)),
    Given(Document("t", "Only `a` title", "/articles/t/")),
]

HARMLESS = [
    *(
        "word ",
        "Word, ",
        "end. ",
        "\n",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
        "  ",
        "\t",
        "\u00a0",
        "你好。",
        "مرحبا ",
    ),
    *(
        "👩‍👩‍👧 ",
        "\u202eabc\u202c ",
        "$7 ",
        "9~12 ",
        "2*3 ",
        "a_b_c ",
        "**bold** ",
        "_it_ ",
        "~~no~~ ",
    ),
    *("`cells[1]` ", "``a `[2]` b`` ", "\n```py\nx[1] = [2](/nope/)\n```\n", "\n~~~\n[9]\n~~~\n"),
    *(
        "\\[1\\] ",
        "\\* ",
        "[bar] ",
        "[x] ",
        "[2024] ",
        "[0] ",
        "[a [b] c] ",
        "【设定】 ",
        "[ open ",
        "] ",
    ),
    *(
        "\n- item ",
        "\n1. item ",
        "\n> quote ",
        "\n# Heading\n",
        "\n| a | b |\n| - | - |\n",
        "\n---\n",
    ),
    *(
        "<b> ",
        "a < b ",
        "http ",
        "https: ",
        "a@b.example ",
        "Sources of data ",
        "! ",
        "f(x) ",
        "a: ",
    ),
]
HALF = re.compile(r"(?<!\\)\[\^?[0-9]{1,3}\Z|\]\([^()\s]*\Z")

# Few kinds of fragments at a time meet each other more often than many do.
few = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=3)), min_size=2, max_size=7)
hostile = few.flatmap(lambda some: st.lists(st.sampled_from(some), max_size=20)).map("".join)
answers = st.lists(st.one_of(hostile, st.sampled_from(DOCUMENTS)), min_size=1, max_size=6)
seeds = st.integers(min_value=0, max_value=2**32)


def deliver(steps: list[Step], cut: random.Random | None) -> tuple[list[str], Ledger]:
    """What came out at each step, and at the end. `cut`: slices by chance, else whole."""
    ledger = Ledger(site_hosts=[HOST])
    writer = CitationWriter(ledger)
    out = []
    for step in steps:
        if isinstance(step, Given):
            ledger.expose(step.document, step.exposure, step.text)
            continue
        parts = []
        while step:
            size = cut.choice([1, 1, 1, 2, 3, 8]) if cut else len(step)
            parts.append(writer.feed(step[:size]))
            step = step[size:]
        out.append("".join(parts))
    return [*out, writer.close()], ledger


@given(steps=answers, seed=seeds)
def test_slicing_makes_no_difference(steps: list[Step], seed: int) -> None:
    whole, ledger = deliver(steps, None)
    sliced, other = deliver(steps, random.Random(seed))

    assert sliced == whole
    assert other.sources() == ledger.sources()
    assert other.dropped == ledger.dropped
    assert other.links == ledger.links
    assert other.images == ledger.images


@given(steps=answers)
def test_no_prefix_shows_what_nobody_gave(steps: list[Step]) -> None:
    ledger = Ledger(site_hosts=[HOST])
    writer = CitationWriter(ledger)
    text = ""
    for step in steps:
        if isinstance(step, Given):
            ledger.expose(step.document, step.exposure, step.text)
            continue
        for character in step:
            if out := writer.feed(character):
                text += out
                assert invented(text, ledger) == [], text
    text += writer.close()
    assert invented(text, ledger) == [], text


@given(steps=answers)
def test_numbers_follow_first_citation(steps: list[Step]) -> None:
    out, ledger = deliver(steps, None)
    first = list(dict.fromkeys(numbers_in("".join(out))))
    note("".join(out))

    assert first == list(range(1, len(first) + 1))
    assert set(first) == set(ledger.numbers)
    assert [source.number for source in ledger.sources() if source.number] == first
    assert len({document.id for document in ledger.numbers.values()}) == len(first)


@given(steps=answers, seed=seeds)
def test_what_the_sources_said_stays_true(steps: list[Step], seed: int) -> None:
    cut = random.Random(seed)
    ledger = Ledger(site_hosts=[HOST])
    writer = CitationWriter(ledger)
    numbers: dict[str, int] = {}
    members: set[str] = set()
    for step in steps:
        if isinstance(step, Given):
            ledger.expose(step.document, step.exposure, step.text)
        else:
            middle = cut.randint(0, len(step))
            writer.feed(step[:middle])
            writer.feed(step[middle:])
        now = {source.document.id: source.number for source in ledger.sources()}
        assert members <= now.keys()
        assert numbers.items() <= now.items()
        members |= now.keys()
        numbers |= {id_: number for id_, number in now.items() if number is not None}


@given(parts=st.lists(st.sampled_from(HARMLESS), max_size=30), seed=seeds)
def test_text_that_cites_and_links_nothing_is_left_byte_for_byte(
    parts: list[str], seed: int
) -> None:
    text = "".join(parts)
    out, ledger = deliver([DOCUMENTS[0], text], random.Random(seed))

    assert "".join(out) == text
    assert ledger.dropped == []


@given(steps=answers)
def test_an_answer_may_break_off_anywhere(steps: list[Step]) -> None:
    ledger = Ledger(site_hosts=[HOST])
    writer = CitationWriter(ledger)
    text = ""
    for step in steps:
        if isinstance(step, Given):
            ledger.expose(step.document, step.exposure, step.text)
        else:
            text += writer.feed(step)
    kept = text
    text += writer.stop()

    assert text.startswith(kept)
    assert invented(text, ledger) == [], text
    assert not HALF.search(without_code(text)), text


@given(text=hostile, tail=st.sampled_from(["", "[", "[a](", "`", "Sources:\n- [1] ", "[9] *"]))
def test_a_paragraph_that_has_ended_waits_for_nothing(text: str, tail: str) -> None:
    writer = CitationWriter(Ledger(site_hosts=[HOST]))
    writer.feed(f"{text}{tail}\n\nWord ")

    assert writer.close() in (" ", "")


def test_a_word_of_an_ordinary_answer_waits_for_less_than_fifty_characters() -> None:
    text = (
        "To change your plan, open **Settings**, then *Billing* [1]. The price counts from the "
        "next invoice on [1], see [how invoices work](/articles/a/) (and `Invite [all]`).\n\n"
        "1. Open *Members*\n2. Press `Invite` [1]\n\n| a | b |\n| --- | --- |\n| c [1] | d |\n\n"
    )
    ledger = Ledger()
    ledger.expose(Document("a", "Reset", "/articles/a/"), Exposure.EXCERPT)
    writer, waiting, longest = CitationWriter(ledger), 0, 0
    for character in text:
        waiting += 1 - len(writer.feed(character))
        longest = max(longest, waiting)

    assert 0 < longest < 50
    assert len(writer.close()) == waiting
