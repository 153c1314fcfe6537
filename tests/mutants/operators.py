"""Every place in the functions of a module where an operator makes a small fault."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Apply = Callable[[], object]

OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
PAIRS = "min max, any all, minimum maximum, argmin argmax, startswith endswith, floor ceil"
FUNCTIONS = {a: b for pair in PAIRS.split(", ") for a, b in (pair.split(), pair.split()[::-1])}
WORDING = ("undefined", "message", "reason", "hint", "strict", "encoding")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault can be made: in which function, on which lines, and how."""

    function: str
    first_line: int
    lines: range
    statement: ast.stmt
    fault: str
    apply: Apply


def places(scope: ast.AST, prefix: str = "") -> Iterator[Place]:
    """All places in functions and methods, in the order of the code; to apply one changes it."""
    for node in getattr(scope, "body", ()):
        if isinstance(node, ast.ClassDef):
            yield from places(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "repr" not in node.name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            for at, statement, fault, apply in (f for one in node.body for f in _under(one, one)):
                lines = range(at.lineno, (at.end_lineno or at.lineno) + 1)
                yield Place(prefix + node.name, first, lines, statement, fault, apply)


def _under(node: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.stmt, str, Apply]]:
    """Faults of a node and all below it; not of annotations, defaults and messages."""
    statement = node if isinstance(node, ast.stmt) else statement
    if isinstance(node, ast.expr | ast.stmt):
        for fault, apply in _faults(node):
            yield node, statement, fault, apply  # type: ignore[misc]
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert | ast.arguments):
        return
    for name, child in ast.iter_fields(node):
        for one in child if isinstance(child, list) else [child]:
            wording = isinstance(one, ast.keyword) and one.arg in WORDING
            if isinstance(one, ast.AST) and not wording and name != "annotation":
                yield from _under(one, statement)


def _faults(node: ast.expr | ast.stmt) -> Iterator[tuple[str, Apply]]:
    match node:
        case ast.Compare(ops=operators):
            for index, one in enumerate(operators):
                other = OTHER[type(one)]()
                yield _named(one, other), lambda i=index, to=other: operators.__setitem__(i, to)
        case ast.BinOp(op=one) | ast.BoolOp(op=one) | ast.AugAssign(op=one) if type(one) in OTHER:
            yield _named(one, OTHER[type(one)]()), _put(node, "op", OTHER[type(one)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield f"{type(node.op).__name__} removed", _become(node, node.operand)
        case ast.Constant(value=bool() | int() | float() as value):
            other = not value if isinstance(value, bool) else value + 1
            yield f"{value} → {other}", _put(node, "value", other)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None", _put(node, "value", ast.Constant(None))
        case ast.Call(func=called, args=arguments, keywords=keywords):
            field = "attr" if isinstance(called, ast.Attribute) else "id"
            if (name := getattr(called, field, "")) in FUNCTIONS:
                yield f"{name} → {FUNCTIONS[name]}", _put(called, field, FUNCTIONS[name])
            names = [one.id for one in arguments[:2] if isinstance(one, ast.Name)]
            if len(set(names)) == 2 and name != "isinstance":
                yield "arguments swapped", _put(node, "args", arguments[1::-1] + arguments[2:])
            for index, keyword in enumerate(keywords):
                if keyword.arg and keyword.arg not in WORDING:
                    yield f"{keyword.arg}= removed", lambda i=index: keywords.pop(i)
        case ast.Slice():
            for bound in ("lower", "upper"):
                if isinstance(value := getattr(node, bound), ast.expr):
                    plus = ast.BinOp(value, ast.Add(), ast.Constant(1))
                    yield f"{bound} bound + 1", _put(node, bound, plus)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for part in node.generators:
                for index in range(len(part.ifs)):
                    yield "filter removed", lambda ifs=part.ifs, i=index: ifs.pop(i)
        case ast.If() | ast.IfExp():
            yield "condition → True", _put(node, "test", ast.Constant(True))
            yield "condition → False", _put(node, "test", ast.Constant(False))
        case ast.Expr(value=ast.Constant() | ast.Yield()):
            return
    stored = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    deleted = ast.AugAssign | ast.Raise | ast.Break | ast.Continue | ast.Expr
    if stored or isinstance(node, deleted):
        yield "statement deleted", _become(node, ast.Pass())


def _named(one: ast.AST, other: ast.AST) -> str:
    return f"{type(one).__name__} → {type(other).__name__}"


def _put(node: ast.AST, field: str, value: object) -> Apply:
    return lambda: setattr(node, field, value)


def _become(node: ast.AST, other: ast.AST) -> Apply:
    """Let a node be another one, in place."""

    def apply() -> None:
        place = {name: getattr(node, name) for name in node._attributes}
        node.__class__ = type(other)
        node.__dict__ = {**other.__dict__, **place}

    return apply
