"""Small ways to break a module: each mutant differs from the source in one place. Pure.

A comparison is turned, a condition is decided or loses an operand, a number is one off, a
statement is gone, a result is None. What is only read by people or the type checker is left
alone: docstrings, annotations, messages.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_SWAPPED = {"max": "min", "min": "max", "any": "all", "all": "any"}
_TIDYING = frozenset({"lower", "upper", "strip", "lstrip", "rstrip", "casefold"})
_UNREAD = frozenset({"annotation", "returns", "decorator_list", "type_params"})
COUNTER = "steps"
"""The scanner counts its work for the tests of cost; nothing that is delivered depends on it."""


@dataclass(slots=True)
class Mutant:
    """One change. `key` names it by place and words, not by line, so that it stays the same
    while lines move; `first` and `last` are the lines of the statement it stands in."""

    tree: ast.Module
    parent: ast.AST
    place: tuple[str, int | None]
    replacement: ast.AST
    function: str
    change: str
    first: int
    last: int

    @property
    def key(self) -> tuple[str, str]:
        return self.function, self.change

    def break_tree(self) -> ast.Module:
        """The module's tree with the change made. The tree is shared: for a process of its own."""
        name, index = self.place
        if index is None:
            setattr(self.parent, name, self.replacement)
        else:
            getattr(self.parent, name)[index] = self.replacement
        return ast.fix_missing_locations(self.tree)


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of the source."""
    tree = ast.parse(source)
    found = list(_Walk(tree).of(tree, "", tree.body[0]))
    times: Counter[tuple[str, str]] = Counter()
    for mutant in found:
        times[mutant.key] += 1
        if times[mutant.key] > 1:
            mutant.change = f"{mutant.change} ({times[mutant.key]})"
    return found


@dataclass(frozen=True, slots=True)
class _Walk:
    tree: ast.Module

    def of(self, node: ast.AST, function: str, statement: ast.stmt) -> Iterator[Mutant]:
        for name, index, child in _children(node):
            within = function
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                within = f"{function}.{child.name}".lstrip(".")
            own = child if isinstance(child, ast.stmt) else statement
            last = child.end_lineno if isinstance(child, ast.expr) else own.lineno
            for replacement, change in _replacements(child, node):
                yield Mutant(
                    self.tree,
                    node,
                    (name, index),
                    replacement,
                    within,
                    change,
                    own.lineno,
                    last or own.lineno,
                )
            yield from self.of(child, within, own)


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for name, value in ast.iter_fields(node):
        if name in _UNREAD:
            continue
        if isinstance(value, ast.AST) and not _is_unread(value):
            yield name, None, value
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST) and not _is_unread(item):
                    yield name, index, item


def _is_unread(node: ast.AST) -> bool:
    """Whether nothing depends on it when the module runs: docstrings, types, the work counter."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return isinstance(target, ast.Attribute) and target.attr == COUNTER
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom)


def _replacements(node: ast.AST, parent: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    is_condition = isinstance(node, ast.expr) and _is_condition(node, parent)
    # To turn a condition says no more than to decide it, once true and once false.
    if not (is_condition and _only_turns(node)):
        for replacement in (*_of_expression(node), *_of_statement(node)):
            yield replacement, f"{_shown(node)} → {_shown(replacement)}"
    if is_condition:
        for value in (True, False):
            if not (isinstance(parent, ast.While) and value):
                yield ast.Constant(value), f"{_word(parent)} {_shown(node)} → {value}"


def _only_turns(node: ast.AST) -> bool:
    bounds = ast.Lt | ast.LtE | ast.Gt | ast.GtE
    is_turned = isinstance(node, ast.Compare) and not isinstance(node.ops[0], bounds)
    return is_turned or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _is_condition(node: ast.expr, parent: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return False
    if isinstance(parent, ast.comprehension):
        return node in parent.ifs
    return isinstance(parent, ast.If | ast.While | ast.IfExp) and node is parent.test


def _word(parent: ast.AST) -> str:
    return "while" if isinstance(parent, ast.While) else "if"


def _of_expression(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                turned = [*node.ops]
                turned[index] = _TURNED[type(operator)]()
                yield ast.Compare(node.left, turned, node.comparators)
        case ast.BoolOp():
            for index in range(len(node.values)):
                others = node.values[:index] + node.values[index + 1 :]
                yield others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            if value:
                yield ast.Constant(value - 1)
        case ast.BinOp(op=ast.Add() | ast.Sub()) if not _is_text(node.left, node.right):
            yield ast.BinOp(
                node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right
            )
        case ast.Call(func=ast.Name(id=name)) if name in _SWAPPED:
            yield ast.Call(ast.Name(_SWAPPED[name], ast.Load()), node.args, node.keywords)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _TIDYING:
            yield value


def _is_text(*operands: ast.expr) -> bool:
    return any(
        isinstance(operand, ast.JoinedStr)
        or (isinstance(operand, ast.Constant) and isinstance(operand.value, str))
        for operand in operands
    )


def _of_statement(node: ast.AST) -> Iterator[ast.stmt]:
    match node:
        case ast.Return(value=value) if value is not None and not _is_constant(value):
            yield ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case (
            ast.AugAssign() | ast.Assign(targets=[ast.Attribute() | ast.Subscript() | ast.Tuple()])
        ):
            yield ast.Pass()
        case ast.Assign(targets=[ast.Name(id=name)]) if _reads(node.value, name):
            yield ast.Pass()


def _is_constant(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and (value.value is None or value.value in (True, False))


def _reads(value: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))


def _shown(node: ast.AST) -> str:
    return "nothing" if isinstance(node, ast.Pass) else ast.unparse(node)
