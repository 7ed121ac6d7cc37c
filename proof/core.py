"""Which modules are broken, and which tests have to notice.

The pure core is found and not listed: what the citation writer and the agent's loop import, and
what that imports. So it stays whole while modules move.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from proof.sessions import Suite
from proof.trials import path_of

ROOTS = ("assistant.citations", "assistant.agent")
PACKAGES = ("assistant", "articles")

BARE = Suite(
    "the pure core",
    (
        "tests/test_provenance.py",
        "tests/test_markers.py",
        "tests/test_addresses.py",
        "tests/test_citations.py",
        "tests/test_citation_holding.py",
        "tests/test_agent.py",
        "tests/test_contracts.py",
        "tests/test_deadline.py",
        "tests/test_deadline.py",
        "tests/test_events.py",
        "tests/test_fusion.py",
    ),
    bare=True,
    last=("tests/test_citation_properties.py", "tests/test_citation_conversations.py"),
)
SITE = Suite(
    "rights, limits, verdicts and gates",
    (
        "tests/test_grounding.py",
        "tests/test_sanitising.py",
        "tests/test_anchors.py",
        "tests/test_chunking.py",
        "tests/test_article_access.py",
        "tests/test_conversation_access.py",
        "tests/test_limits.py",
    ),
    bare=False,
)
AT_SITE = (
    "assistant.grounding",
    "assistant.access",
    "assistant.limits",
    "articles.access",
    "articles.addresses",
    "articles.markup.sanitising",
    "articles.chunking",
    "articles.markup.anchors",
)


@functools.cache
def modules() -> dict[str, Suite]:
    """Each module that is broken, with the tests that have to notice."""
    return dict.fromkeys((*core(), "articles.ranking.fusion"), BARE) | dict.fromkeys(AT_SITE, SITE)


def core() -> list[str]:
    """The modules that the roots import, directly or not, and the roots."""
    found: list[str] = []
    ahead = list(ROOTS)
    while ahead:
        module = ahead.pop(0)
        if module not in found:
            found.append(module)
            ahead += _imported(Path(path_of(module)))
    return sorted(module for module in found if not path_of(module).endswith("__init__.py"))


def called(name: str) -> str:
    """The module that a name means, whole or its end: `called("delivery")`. One of those that
    are broken, or else any of the project; `LookupError` unless it is exactly one."""
    for among in (list(modules()), _everything()):
        found = [module for module in among if f".{module}".endswith(f".{name}")]
        if len(found) == 1:
            return found[0]
        if found:
            raise LookupError(f"“{name}” may be any of {found}")
    raise LookupError(f"there is no module “{name}”")


def suite_of(test: str) -> Suite:
    """How a test is run, by its file."""
    return BARE if test.split("::")[0] in BARE.all_files else SITE


def _imported(path: Path) -> list[str]:
    """The project's modules that one imports when it runs, in `from … import` statements."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom) or not node.module or node.level:
            continue
        if node.module.split(".")[0] in PACKAGES:
            found += [node.module, *_submodules(node)]
    return found


def _submodules(node: ast.ImportFrom) -> list[str]:
    package = path_of(str(node.module))
    if not package.endswith("__init__.py"):
        return []
    folder = Path(package).parent
    return [
        f"{node.module}.{name.name}"
        for name in node.names
        if (folder / f"{name.name}.py").is_file()
    ]


def _everything() -> list[str]:
    found = []
    for package in PACKAGES:
        root = Path(path_of(package)).parent
        for file in sorted(root.rglob("*.py")):
            parts = (package, *file.relative_to(root).with_suffix("").parts)
            found.append(".".join(parts).removesuffix(".__init__"))
    return found
