"""Imports go one way: from the skins through the door and the edges to the pure core."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent

PURE = {
    "assistant": ["agent", "citations", "contracts", "deadline", "events", "provenance", "writing"],
    "articles": [
        "chunking",
        "markup.anchors",
        "markup.blocks",
        "markup.inline_text",
        "markup.outline",
        "ranking.fusion",
    ],
}
SKINS = {
    "admin",
    "api",
    "consumers",
    "frames",
    "pages",
    "templatetags",
    "urls",
    "usage_api",
    "views",
}
DOOR = {"chat", "turns", "tasks"}
SKINS_OF_ARTICLES = {"api", "admin", "pages"}
ROOMS_OF_ARTICLES = ["explaining", "importing", "markup", "models", "ranking", "terms", "writing"]
EDGES = ["tools", "prompts", "providers", "grounding", "classifiers", "support"]


def imported(path: Path) -> Iterator[str]:
    """Every module a file imports, also inside functions and for type checking."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files(package: str, module: str = "") -> list[Path]:
    place = PROJECT / package / module.replace(".", "/")
    if module and (single := place.with_suffix(".py")).exists():
        return [single]
    found = sorted(place.rglob("*.py"))
    assert found, f"{package}.{module} is gone: change this test with the layout"
    return found


def rooms(path: Path, package: str) -> set[str]:
    """The modules of `package` that a file imports, by their first name."""
    names = (name.split(".") for name in imported(path))
    return {parts[1] for parts in names if parts[0] == package and len(parts) > 1}


PURE_FILES = [(package, name) for package, names in PURE.items() for name in names]


@pytest.mark.parametrize(("package", "module"), PURE_FILES)
def test_the_pure_core_knows_the_standard_library_and_itself(package: str, module: str) -> None:
    allowed = {f"{package}.{name}" for name in PURE[package]}
    for path in files(package, module):
        for name in imported(path):
            top, _, _ = name.partition(".")
            own = any(f"{name}.".startswith(f"{one}.") for one in allowed)
            assert top in sys.stdlib_module_names or own, f"{path.name} imports {name}"


def test_the_articles_know_nothing_of_the_assistant() -> None:
    for path in files("articles"):
        assert not rooms(path, "assistant"), path


@pytest.mark.parametrize("room", ROOMS_OF_ARTICLES)
def test_no_room_of_the_articles_knows_a_skin(room: str) -> None:
    for path in files("articles", room):
        assert not rooms(path, "articles") & SKINS_OF_ARTICLES, path


def test_markup_knows_nothing_else_of_the_articles() -> None:
    for path in files("articles", "markup"):
        assert rooms(path, "articles") <= {"markup", "addresses"}, path


def test_the_ground_knows_neither_but_where_it_joins_them() -> None:
    joins = {"urls.py", "asgi.py", "settings.py", "first_run.py", "robots.py"}
    for path in files("helpcenter"):
        if path.name not in joins:
            assert not rooms(path, "assistant"), path
            assert not rooms(path, "articles"), path


@pytest.mark.parametrize("edge", EDGES)
def test_tools_and_providers_know_neither_the_door_nor_a_skin(edge: str) -> None:
    for path in files("assistant", edge):
        assert not rooms(path, "assistant") & (DOOR | SKINS), path


def test_nobody_but_a_skin_knows_a_skin() -> None:
    for path in files("assistant"):
        room = path.relative_to(PROJECT / "assistant").parts[0].removesuffix(".py")
        if room not in SKINS:
            assert not rooms(path, "assistant") & SKINS, path


def test_the_openai_client_is_known_in_two_places() -> None:
    everywhere = [*files("articles"), *files("assistant"), *files("helpcenter")]
    knowing = {
        path.relative_to(PROJECT).as_posix()
        for path in everywhere
        if any(name.split(".")[0] == "openai" for name in imported(path))
    }
    assert knowing <= {"articles/embeddings.py", *_provider_files()}
    assert "articles/embeddings.py" in knowing


def _provider_files() -> set[str]:
    """The chat provider: one file imports the client."""
    importing = [
        path
        for path in files("assistant", "providers")
        if any(name.split(".")[0] == "openai" for name in imported(path))
    ]
    assert len(importing) == 1
    return {path.relative_to(PROJECT).as_posix() for path in importing}
