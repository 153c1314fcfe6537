"""Every place in the functions of a module where an operator makes a small fault."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Apply = Callable[[], None]

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip

FUNCTIONS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum",
    "maximum": "minimum", "argmin": "argmax", "argmax": "argmin", "startswith": "endswith",
    "endswith": "startswith", "floor": "ceil", "ceil": "floor",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault can be made: in which function, on which lines, and how."""

    function: str
    first_line: int
    lines: range
    statement: int
    fault: str
    apply: Apply


def places(tree: ast.Module) -> list[Place]:
    """All places of a module, in the order of its code; to apply one changes the tree."""
    return list(_of_scope(tree, ""))


def _of_scope(scope: ast.AST, prefix: str) -> Iterator[Place]:
    for node in getattr(scope, "body", ()):
        if isinstance(node, ast.ClassDef):
            yield from _of_scope(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _of_scope(node, prefix)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if node.name not in ("__repr__", "__str__"):
                for statement in node.body:
                    for at, fault, apply in _of_statement(statement):
                        lines = range(at.lineno, (at.end_lineno or at.lineno) + 1)
                        where = (f"{prefix}{node.name}", first, lines)
                        yield Place(*where, _statement_line(node, at), fault, apply)


def _statement_line(function: ast.AST, node: ast.AST) -> int:
    around = [one for one in ast.walk(function) if isinstance(one, ast.stmt)]
    line = node.lineno  # type: ignore[attr-defined]
    return max(one.lineno for one in around if one.lineno <= line <= (one.end_lineno or line))


def _of_statement(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, Apply]]:
    """Faults of a node and of all below it; not of annotations, defaults and messages."""
    if isinstance(node, ast.expr | ast.stmt):
        for fault, apply in _faults(node):
            yield node, fault, apply
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert | ast.arguments):
        return
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "arguments"):
            continue
        for one in child if isinstance(child, list) else [child]:
            if isinstance(one, ast.AST) and not (
                isinstance(one, ast.keyword) and one.arg in ("undefined", "message", "reason")
            ):
                yield from _of_statement(one)


def _faults(node: ast.expr | ast.stmt) -> Iterator[tuple[str, Apply]]:
    match node:
        case ast.Compare(ops=operators):
            for index, operator in enumerate(operators):
                other = OPERATORS[type(operator)]
                yield _named(operator, other), _put(operators, index, other())
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) | ast.AugAssign(op=operator):
            if other := OPERATORS.get(type(operator)):
                yield _named(operator, other), _put(node, "op", other())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield f"{type(node.op).__name__} removed", _become(node, operand)
        case ast.Constant(value=bool() | int() | float() as value):
            other = (not value) if isinstance(value, bool) else value + 1
            yield f"{value} → {other}", _put(node, "value", other)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None", _put(node, "value", ast.Constant(None))
        case ast.Call(func=called, args=arguments, keywords=keywords):
            name = getattr(called, "attr", getattr(called, "id", ""))
            if name in FUNCTIONS:
                field = "attr" if isinstance(called, ast.Attribute) else "id"
                yield f"{name} → {FUNCTIONS[name]}", _put(called, field, FUNCTIONS[name])
            if len(arguments) > 1 and not any(isinstance(one, ast.Starred) for one in arguments[:2]):
                yield "arguments swapped", _put(node, "args", [*arguments[1::-1], *arguments[2:]])
            for index, keyword in enumerate(keywords):
                if keyword.arg and keyword.arg not in ("undefined", "message", "reason"):
                    yield f"{keyword.arg}= removed", _delete(keywords, index)
        case ast.Slice():
            for bound in ("lower", "upper"):
                value = getattr(node, bound)
                if value is not None and not isinstance(value, ast.Constant):
                    plus = ast.BinOp(value, ast.Add(), ast.Constant(1))
                    yield f"{bound} bound + 1", _put(node, bound, plus)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for part in node.generators:
                for index in range(len(part.ifs)):
                    yield "filter removed", _delete(part.ifs, index)
    if isinstance(node, ast.If | ast.IfExp):
        yield "condition → True", _put(node, "test", ast.Constant(True))
        yield "condition → False", _put(node, "test", ast.Constant(False))
    deletable = isinstance(node, ast.AugAssign | ast.Raise | ast.Break | ast.Continue) or (
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant | ast.Yield)
    )
    stored = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    if deletable or stored:
        yield "statement deleted", _become(node, ast.Pass())


def _named(operator: ast.AST, other: type[ast.AST]) -> str:
    return f"{type(operator).__name__} → {other.__name__}"


def _put(target: object, key: int | str, value: object) -> Apply:
    def apply() -> None:
        if isinstance(target, list):
            target[key] = value
        else:
            setattr(target, str(key), value)

    return apply


def _delete(items: list[ast.keyword] | list[ast.expr], index: int) -> Apply:
    return lambda: items.__delitem__(index)


def _become(node: ast.AST, other: ast.AST) -> Apply:
    """Let a node be another one, in place: class and all fields."""

    def apply() -> None:
        place = ast.copy_location(type(other)(), node).__dict__
        node.__class__ = type(other)
        node.__dict__ = {**other.__dict__, **place}

    return apply
