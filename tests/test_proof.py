"""What `make proof` breaks: guards stand where the list has them, and mutants differ."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

from proof.core import called, core, modules, suite_of
from proof.guards import GUARDS, Guard
from proof.mutants import mutants
from proof.mutation import explained, survivors_unlike
from proof.run import steps
from proof.sessions import beside_modules
from proof.swapping import functions_changed, loaded_functions, swap
from proof.trials import Trial, Verdict, broken, judge, path_of
from tests.run import PROJECT

SOURCE = '''
def first(items: list[int]) -> int:
    """The first that is large."""
    for item in items:
        if item > 3 and item != 7:
            return item
    raise ValueError("none")
'''


def changes(source: str) -> set[str]:
    return {mutant.change for mutant in mutants(source)}


def test_conditions_lose_operands_and_are_decided() -> None:
    found = changes(SOURCE)

    assert "item > 3 and item != 7 → item > 3" in found
    assert "item > 3 and item != 7 → item != 7" in found
    assert {"if item > 3 and item != 7 → True", "if item > 3 and item != 7 → False"} <= found
    assert {"item > 3 → item >= 3", "item != 7 → item == 7", "3 → 4", "3 → 2"} <= found
    assert {"return item → return None", "raise ValueError('none') → nothing"} <= found


def test_each_mutant_differs_in_one_place_and_has_a_name_of_its_own() -> None:
    found = mutants(SOURCE)
    original = ast.unparse(ast.parse(SOURCE))
    # Each is made from a tree of its own: the change is made in place.
    made = [
        ast.unparse(mutants(SOURCE)[number].break_tree()) for number, _mutant in enumerate(found)
    ]

    assert original not in made
    assert len({mutant.key for mutant in found}) == len(found)
    assert {mutant.function for mutant in found} == {"first"}


@pytest.mark.parametrize(
    "source",
    [
        '"""Words."""',
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import x",
        "self.steps += 1",
        "self.steps = 0",
        "f'{1}'",
        "limit: Literal[1] = None",
        "raise_ = lambda: None",
    ],
)
def test_what_is_only_read_is_left_alone(source: str) -> None:
    assert changes(source) == set()


def test_the_core_is_what_the_writer_and_the_loop_import() -> None:
    found = core()

    assert {"assistant.citations", "assistant.provenance", "assistant.agent"} <= set(found)
    names = {module.rpartition(".")[2] for module in found}
    assert {"delivery", "markers", "inline", "lines", "destinations", "scanner"} <= names
    assert {"referencelists", "reading", "pieces", "addresses", "events", "contracts"} <= names
    assert not {"models", "views"} & names


def test_a_module_is_called_by_its_last_name() -> None:
    assert called("provenance") == "assistant.provenance"
    assert called("articles.access") == "articles.access"
    with pytest.raises(LookupError, match="may be any of"):
        called("access")
    with pytest.raises(LookupError, match="no module"):
        called("nonsense")


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_guard_stands_where_the_list_has_it(guard: Guard) -> None:
    source = Path(path_of(called(guard.module))).read_text(encoding="utf-8")
    edited = broken({guard.old: guard.new}, source)
    compile(edited, guard.module, "exec")
    file, name = guard.test.split("::")[0], guard.test.split("::")[1]
    words = (PROJECT / file).read_text(encoding="utf-8")

    assert f"def {name}(" in words or f"{name} = " in words


def test_each_guard_has_a_name_of_its_own() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS) > 40


def test_an_edit_that_does_not_fit_is_an_error() -> None:
    assert broken({"a": "b"}, "a c") == "b c"
    with pytest.raises(LookupError, match="2 times"):
        broken({"a": "b"}, "a a")
    with pytest.raises(LookupError, match="0 times"):
        broken({"a": "b"}, "c")


def test_what_survives_without_a_reason_is_an_error_and_what_does_not_survive_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known, new, gone = ("m", "f", "1 → 2"), ("m", "f", "2 → 3"), ("m", "g", "3 → 4")

    assert survivors_unlike({known}, {known, gone}, {"m"}) == ([], [gone])
    assert survivors_unlike({known, new}, {known}, {"m"}) == ([new], [])
    assert survivors_unlike({known}, {known, ("other", "f", "1 → 2")}, {"m"}) == ([], [])


def test_every_survivor_that_is_explained_is_a_mutant_of_today() -> None:
    today = {
        (module.rpartition(".")[2], *mutant.key)
        for module in modules()
        for mutant in mutants(Path(path_of(module)).read_text(encoding="utf-8"))
    }

    assert explained() - today == set()


def test_the_proof_is_mutants_long_properties_and_random_turns() -> None:
    words = " ".join(" ".join(step.command) for step in steps(Path("report.json")))

    for expected in ["proof.mutation", "tests/test_citation_conversations.py", "--turns=5000"]:
        assert expected in words
    profiles = {step.variables.get("HYPOTHESIS_PROFILE") for step in steps(Path("x"))}
    assert "proof" in profiles


def test_what_a_session_keeps_between_its_forks_belongs_to_no_module(
    request: pytest.FixtureRequest,
) -> None:
    kept = beside_modules(request.session, lambda: None).listchain()

    assert not [node for node in kept if isinstance(node, pytest.Module)]
    assert kept[:-1] == [node for node in request.node.listchain() if node in kept]


@pytest.mark.slow
def test_a_broken_module_is_noticed_and_a_whole_one_is_not() -> None:
    module = "assistant.provenance"
    path = path_of(module)
    source = Path(path).read_text(encoding="utf-8")
    guard = GUARDS[0]
    test = guard.test

    def trial(text: str) -> Trial:
        return Trial(module, lambda: compile(text, path, "exec"), suite_of(test), [test], {})

    whole, wrong = trial(source), trial(broken({guard.old: guard.new}, source))
    before = dict(os.environ)
    verdicts = dict(judge([whole, wrong], jobs=1))

    assert verdicts == {0: Verdict.SURVIVED, 1: Verdict.KILLED}
    assert dict(os.environ) == before
    assert Path(path).read_text(encoding="utf-8") == source


WHOLE = "LIMIT = 3\n\nclass Box:\n    def fits(self, size):\n        return size < LIMIT\n"


def test_a_change_within_a_function_is_made_where_the_function_is() -> None:
    whole, other = (
        compile(text, "box.py", "exec") for text in (WHOLE, WHOLE.replace("size <", "size >"))
    )
    namespace: dict[str, Any] = {}
    exec(whole, namespace)  # noqa: S102 - the module that is broken
    box = namespace["Box"]()
    changed = functions_changed(whole, other)

    assert changed is not None
    assert swap(loaded_functions(["box.py"])["box.py"], changed)
    assert box.fits(4)
    assert not box.fits(2)


@pytest.mark.parametrize(
    ("old", "new"),
    [("LIMIT = 3", "LIMIT = 4"), ("(self, size)", "(self, size=1)"), ("Box", "Cup")],
)
def test_a_change_outside_of_functions_needs_an_import(old: str, new: str) -> None:
    other = compile(WHOLE.replace(old, new), "box.py", "exec")

    assert functions_changed(compile(WHOLE, "box.py", "exec"), other) is None


def test_a_function_that_nobody_loaded_cannot_be_changed() -> None:
    whole = compile(WHOLE, "box.py", "exec")
    changed = functions_changed(whole, compile(WHOLE.replace("<", ">"), "box.py", "exec"))

    assert changed is not None
    assert not swap([], changed)
