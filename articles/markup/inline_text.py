"""Inline Markdown reduced to text that reads well. Standard library only, linear time.

`inline_text(source)` takes the inline content of one block and drops what is only
markup: emphasis, link syntax, images (their alt text stays), escapes, entities and
the payload of `data:` addresses. It may keep what a language model needs to see:
code marks and the addresses of links to elsewhere.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

LONGEST_ADDRESS = 300
"""Characters; a longer address says nothing to a reader or a model."""

_DATA_ADDRESS = re.compile(
    r"\bdata:(?=[a-z]+/|;)(?:[a-z]+/[\w.+-]+)?(?:;[\w.+=-]+)*,[^\s)\"'<>]*", re.IGNORECASE
)
_STASHABLE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~\n])|(?P<ticks>`+)|<(?P<auto>[A-Za-z][A-Za-z0-9+.-]+:[^<>\s]*)>"
)
_RAW_IMAGE = re.compile(r"<img\b[^<>]*>", re.IGNORECASE)
_RAW_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_LABEL = r"\[((?:[^\[\]]++|\[[^\[\]]*+\])*+)\]"
_DESTINATION = (
    r"\([ \t\n]{0,9}(?:<([^<>\n]*)>|((?!<)(?:[^\s()]++|\([^\s()]*+\))++))?"
    r"(?:[ \t\n]{1,9}(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t\n]{0,9}\)"
)
_IMAGE = re.compile("!" + _LABEL + _DESTINATION)
_LINK = re.compile(_LABEL + _DESTINATION)
_REFERENCE = re.compile(r"(!?)\[([^\[\]]+)\](?:\[([^\[\]]*)\])?")
_BARE_ADDRESS = re.compile(r"https?://[^\s<>\x00]+")
_ELSEWHERE = re.compile(r"(?:https?://|mailto:|tel:)\S", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_RUN = re.compile(r"\*+|_+|~~")
_STASHED = re.compile("\x00(\\d+)\x00")


def inline_text(
    source: str,
    *,
    definitions: Mapping[str, str] | None = None,
    keep_addresses: bool = False,
    keep_code_marks: bool = False,
) -> str:
    """The readable text of `source`.

    `definitions` maps normalised labels of link reference definitions to their
    addresses. With `keep_addresses`, links to other sites stay Markdown links.
    """
    reduction = _Reduction(definitions or {}, keep_addresses, keep_code_marks)
    return reduction.of(source.replace("\x00", "\ufffd"))


def without_payloads(source: str) -> str:
    """`source` with every `data:` address cut down to its first five characters."""
    return _DATA_ADDRESS.sub("data:", source)


def normalised_label(label: str) -> str:
    """What two labels of a reference have in common: case and white space do not count."""
    return " ".join(label.split()).casefold()


class _Reduction:
    """One reduction: finished pieces are stashed behind NUL-delimited numbers meanwhile."""

    def __init__(self, definitions: Mapping[str, str], addresses: bool, code_marks: bool) -> None:
        self.definitions = definitions
        self.addresses = addresses
        self.code_marks = code_marks
        self.stashed: list[str] = []

    def of(self, source: str) -> str:
        text = "".join(self._stash_verbatim(without_payloads(source)))
        text = _RAW_IMAGE.sub(_raw_alt, text)
        text = _IMAGE.sub(r"\1", text)
        text = _LINK.sub(self._link, text)
        text = _REFERENCE.sub(self._reference, text)
        text = _BARE_ADDRESS.sub(lambda match: self._stash(match.group()), text)
        text = _ENTITY.sub(lambda match: html.unescape(match.group()), _without_emphasis(text))
        return self._restored(text)

    def _stash(self, piece: str) -> str:
        self.stashed.append(piece)
        return f"\x00{len(self.stashed) - 1}\x00"

    def _restored(self, text: str) -> str:
        """Put the pieces back; a piece may hold older ones, an address with an escape in it."""
        return _STASHED.sub(lambda match: self._restored(self.stashed[int(match[1])]), text)

    def _stash_verbatim(self, source: str) -> Iterator[str]:
        """Yield `source` with code spans, escaped characters and autolinks stashed."""
        closers = _closing_ticks(source)
        done = 0
        for match in _STASHABLE.finditer(source):
            if match.start() < done:
                continue
            end, piece = match.end(), match["escaped"] or match["auto"] or ""
            if match["ticks"]:
                end = closers.get(match.start(), 0)
                if not end:
                    continue
                piece = source[match.start() : end]
                piece = piece if self.code_marks else _code(piece, len(match["ticks"]))
            yield source[done : match.start()]
            yield self._stash(piece)
            done = end
        yield source[done:]

    def _link(self, match: re.Match[str]) -> str:
        return self._linked(match[1], match[2] or match[3] or "")

    def _reference(self, match: re.Match[str]) -> str:
        bang, label, name = match.groups()
        address = self.definitions.get(normalised_label(self._restored(name or label)))
        if address is None:
            return match.group()
        return label if bang else self._linked(label, address)

    def _linked(self, label: str, address: str) -> str:
        address = self._restored(address)
        if not self.addresses or not _ELSEWHERE.match(address) or len(address) > LONGEST_ADDRESS:
            return label
        return self._stash("[") + label + self._stash(f"]({address})")


def _raw_alt(image: re.Match[str]) -> str:
    alt = _RAW_ALT.search(image.group())
    return (alt[1] or alt[2] or "") if alt else ""


def _code(span: str, ticks: int) -> str:
    """The content of a code span: one space on both sides belongs to the marks."""
    content = span[ticks:-ticks].replace("\n", " ")
    if content.strip() and content[0] == content[-1] == " ":
        return content[1:-1]
    return content


def _closing_ticks(source: str) -> dict[int, int]:
    """Map the start of each run of backticks to the end of the next run as long, if any."""
    closers: dict[int, int] = {}
    following: dict[int, int] = {}
    for match in reversed(list(re.finditer("`+", source))):
        length = match.end() - match.start()
        if length in following:
            closers[match.start()] = following[length]
        following[length] = match.end()
    return closers


def _without_emphasis(text: str) -> str:
    """Drop the `*`, `_` and `~~` that pair up as emphasis would; the rest are characters."""
    runs = list(_RUN.finditer(text))
    left = [len(run.group()) for run in runs]
    openers: dict[str, list[int]] = {}
    for index, run in enumerate(runs):
        stack = openers.setdefault(run.group()[0], [])
        opens, closes = _flanks(text, run)
        while closes and left[index] and stack:
            paired = min(left[index], left[stack[-1]])
            left[index] -= paired
            left[stack[-1]] -= paired
            if not left[stack[-1]]:
                stack.pop()
        if opens and left[index]:
            stack.append(index)
    return "".join(_with_runs(text, runs, left))


def _flanks(text: str, run: re.Match[str]) -> tuple[bool, bool]:
    """Whether a run may open and may close: `_` does neither inside a word."""
    before = text[run.start() - 1] if run.start() else " "
    after = text[run.end()] if run.end() < len(text) else " "
    inside_word = run.group()[0] == "_"
    opens = not after.isspace() and not (inside_word and before.isalnum())
    closes = not before.isspace() and not (inside_word and after.isalnum())
    return opens, closes


def _with_runs(text: str, runs: list[re.Match[str]], left: list[int]) -> Iterator[str]:
    done = 0
    for run, count in zip(runs, left, strict=True):
        yield text[done : run.start()]
        yield run.group()[:count]
        done = run.end()
    yield text[done:]
