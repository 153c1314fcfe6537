"""Dataclasses whose methods are compiled when they are first called; for the program alone.

A dataclass writes the source of up to six methods and compiles each of them: half a millisecond
for a class, and a run imports 200 classes of which it makes and compares few. So for the packages
that have them, dataclasses hands out stand-ins: the first call of one compiles the method, puts it
in its place and goes on with it. The source is dataclasses' own.

What is replaced here are private parts of dataclasses: `_create_fn` up to Python 3.12, where no
release will change it any more, `_FuncBuilder` since 3.13. Where neither is found nothing is done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

PACKAGES: Final = frozenset({"annotated_types", "pydantic", "valor_cli"})
"""Whose dataclasses wait. Others may look at the signatures of theirs."""

Function = Callable[..., Any]


def compile_late() -> None:
    """Before the classes are made."""
    private = vars(dataclasses)
    if "_create_fn" in private:
        private["_create_fn"] = _creating_late(private["_create_fn"])
    elif "_FuncBuilder" in private:
        builder = private["_FuncBuilder"]
        builder.add_fns_to_class = _adding_late(builder.add_fns_to_class)


def _waits(module: Mapping[str, Any] | None) -> bool:
    """Whether the dataclasses of a module, of which these are the globals, are among those."""
    return module is not None and str(module.get("__name__")).partition(".")[0] in PACKAGES


def _creating_late(create: Function) -> Function:
    """In place of what compiles one method and returns it."""

    def create_late(name: str, *source: Any, **scope: Any) -> Any:
        if not _waits(scope.get("globals")):
            return create(name, *source, **scope)
        return _stand_in(name, lambda own: create(own, *source, **scope))

    return create_late


def _adding_late(add: Function) -> Function:
    """In place of what compiles all methods of a class and adds them to it."""

    def add_late(builder: Any, cls: type) -> None:
        # What becomes of a method that the class has already are rules of dataclasses' own.
        settled = [name for name in builder.names if name not in builder.unconditional_adds]
        if not _waits(builder.globals) or any(name in vars(cls) for name in settled):
            add(builder, cls)
            return

        @cache
        def methods() -> Mapping[str, Function]:
            one = type(cls.__name__, (), {"__qualname__": cls.__qualname__})
            add(builder, one)
            return vars(one)

        for name in builder.names:
            stand_in = _stand_in(name, lambda own: methods()[own])
            stand_in.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, stand_in)

    return add_late


def _stand_in(name: str, make: Callable[[str], Function]) -> Function:
    """A method that is made, and put in its place, at the first call."""
    made: Function | None = None

    def stand_in(self: Any, /, *values: Any, **named: Any) -> Any:
        nonlocal made
        if made is None:
            made = make(name)
            made.__qualname__ = stand_in.__qualname__
            # With slots the class that has it is not the one that it was written for.
            for owner in type(self).__mro__:
                if vars(owner).get(name) is stand_in:
                    setattr(owner, name, made)
        return made(self, *values, **named)

    stand_in.__name__ = name
    return stand_in
