"""Puts broken code in the place of whole code, in memory only.

A change within a function is put into the function that is loaded: everybody who holds the
function, or its class, then runs the broken one. Any other change needs the module imported
anew, and with it all that imported it: an import hook gives the broken code.
"""

from __future__ import annotations

import gc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType

_PROJECTS = frozenset({"articles", "assistant", "tests"})
_IS_FUNCTION = 0x1  # CO_OPTIMIZED: neither a module nor the body of a class

Place = tuple[str, int]
"""A function by its qualified name and first line."""


def functions_changed(whole: CodeType, broken: CodeType) -> dict[Place, CodeType] | None:
    """The outermost functions of a module whose code differs; None where more differs."""
    before, after = dict(_functions(whole)), dict(_functions(broken))
    if before.keys() != after.keys() or _around(whole) != _around(broken):
        return None
    changed = {place: code for place, code in after.items() if code != before[place]}
    if any(before[place].co_freevars != code.co_freevars for place, code in changed.items()):
        return None
    return changed


def loaded_functions(paths: Iterable[str]) -> dict[str, list[FunctionType]]:
    """All functions in memory that came of these files, by file."""
    found: dict[str, list[FunctionType]] = {path: [] for path in paths}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename in found:
            found[thing.__code__.co_filename].append(thing)
    return found


def swap(functions: Iterable[FunctionType], changed: Mapping[Place, CodeType]) -> bool:
    """Whether each of the changed ones was there, and was broken."""
    swapped = set()
    for function in functions:
        place = _place(function.__code__)
        if place in changed:
            function.__code__ = changed[place]
            swapped.add(place)
    return swapped == changed.keys()


def import_anew(module: str, path: str, code: CodeType) -> None:
    """From now on `module` has this code. Nobody holds on to the whole one."""
    sys.meta_path.insert(0, _Finder(module, path, code))
    for name in [name for name in sys.modules if name.split(".")[0] in _PROJECTS]:
        del sys.modules[name]


def _functions(code: CodeType) -> Iterator[tuple[Place, CodeType]]:
    for part in code.co_consts:
        if isinstance(part, CodeType) and part.co_flags & _IS_FUNCTION:
            yield _place(part), part
        elif isinstance(part, CodeType):
            yield from _functions(part)


def _around(code: CodeType) -> CodeType:
    """The code without its functions."""
    return code.replace(co_consts=tuple(_without_function(part) for part in code.co_consts))


def _without_function(part: object) -> object:
    if not isinstance(part, CodeType):
        return part
    return _place(part) if part.co_flags & _IS_FUNCTION else _around(part)


def _place(code: CodeType) -> Place:
    return code.co_qualname, code.co_firstlineno


@dataclass(slots=True)
class _Loader(importlib.machinery.SourceFileLoader):
    """Gives the code of one module."""

    broken: CodeType

    def __init__(self, name: str, path: str, broken: CodeType) -> None:
        importlib.machinery.SourceFileLoader.__init__(self, name, path)
        self.broken = broken

    def get_code(self, fullname: str) -> CodeType:
        return self.broken


@dataclass(slots=True)
class _Finder:
    """Stands before all others in the import of one module."""

    module: str
    path: str
    code: CodeType

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        loader = _Loader(fullname, self.path, self.code)
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)
