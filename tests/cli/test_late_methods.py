"""Methods that are compiled when they are first called are those of dataclasses' own."""

from __future__ import annotations

import json
import subprocess
import sys

CLASSES = """
from __future__ import annotations

import dataclasses
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import ClassVar, Generic, TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Point(Generic[V]):
    '''Frozen, with slots.'''

    x: V
    y: int = 2
    tags: list[str] = field(default_factory=list, compare=False)
    kind: ClassVar[str] = "point"


@dataclass(frozen=True, slots=True, order=True)
class Named(Point[int]):
    '''Inherits, is ordered, looks at itself when made.'''

    name: str = "n"
    _: KW_ONLY
    twice: InitVar[bool] = False

    def __post_init__(self, twice: bool) -> None:
        if twice:
            object.__setattr__(self, "name", self.name * 2)


@dataclass(slots=True, eq=False)
class Loose:
    '''Neither frozen nor compared; one method is its own.'''

    inside: object = None

    def __repr__(self) -> str:
        return f"<{self.inside!r}>"


@dataclass
class Circle:
    '''Without slots; may hold itself.'''

    held: object = None
"""

CALLS = (
    "Point(1)",
    "Point(1, y=3, tags=['a'])",
    "Point(1) == Point(1, 2, ['other'])",
    "Point(1) == Point(2)",
    "Point(1) == Named(1)",
    "Point(1) != 1",
    "hash(Point(1)) == hash(Point(1, 2, ['other']))",
    "hash(Circle())",
    "Point()",
    "Point(1, z=2)",
    "Point(1, 2, [], 3)",
    "setattr(Point(1), 'x', 2)",
    "delattr(Point(1), 'x')",
    "setattr(Point(1), 'z', 2)",
    "Named(1, name='ab', twice=True)",
    "Named(1, 2, [], 'a') < Named(1, 2, [], 'b')",
    "sorted([Named(2), Named(1)])",
    "Named(1) < 3",
    "Named(1, 2, [], 'n', True)",
    "dataclasses.replace(Point(1), y=5)",
    "dataclasses.asdict(Named(1))",
    "dataclasses.replace(Named(1), twice=True)",
    "[one.name for one in dataclasses.fields(Named)]",
    "Named.__match_args__",
    "copy.deepcopy(Point(1, tags=['a']))",
    "pickle.loads(pickle.dumps(Named(1)))",
    "Loose(Loose())",
    "Loose() == Loose()",
    "repr(holding())",
    "[getattr(Point, one).__qualname__ for one in ('__init__', '__eq__', '__setattr__')]",
    "Point(1) and Point.__init__.__code__.co_varnames",
    "Point.__doc__",
)

PROGRAM = """
import copy, json, pickle, sys, types

module = types.ModuleType({module!r})
sys.modules[module.__name__] = module
vars(module).update(copy=copy, pickle=pickle)
if {late}:
    from valor_cli.cli.late_methods import compile_late

    compile_late()
exec({classes!r}, vars(module))


def holding():
    one = module.Circle()
    one.held = one
    return one


def told(call):
    try:
        return repr(eval(call, vars(module)))
    except Exception as error:
        return type(error).__name__ + ": " + str(error)


module.holding = holding
print(json.dumps([module.Point.__init__.__code__.co_filename, *map(told, {calls!r})]))
"""


def said(module: str, *, late: bool, classes: str = CLASSES) -> list[str]:
    program = PROGRAM.format(module=module, late=late, classes=classes, calls=CALLS)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_all_they_do_is_the_same() -> None:
    first, *late = said("valor_cli.shapes", late=True)
    second, *usual = said("valor_cli.shapes", late=False)
    assert first.endswith("late_methods.py"), "the first was a stand-in"
    assert second == "<string>"
    assert dict(zip(CALLS, late, strict=True)) == dict(zip(CALLS, usual, strict=True))
    assert usual[0] == "Point(x=1, y=2, tags=[])"
    assert "FrozenInstanceError" in usual[CALLS.index("setattr(Point(1), 'x', 2)")]


def test_those_of_other_packages_are_left_alone() -> None:
    first, *late = said("torchlike.shapes", late=True)
    assert first == "<string>"
    assert late == said("torchlike.shapes", late=False)[1:]


def test_each_is_compiled_once_and_takes_its_place() -> None:
    program = (
        "import sys, types\n"
        "from dataclasses import dataclass\n"
        "__name__ = 'valor_cli.shapes'\n"
        "sys.modules[__name__] = types.ModuleType(__name__)\n"
        "from valor_cli.cli.late_methods import compile_late\n"
        "compile_late()\n"
        "@dataclass(frozen=True, slots=True)\n"
        "class Point:\n"
        "    x: int\n"
        "waiting = dict(vars(Point))\n"
        "one, other = Point(1), Point(1)\n"
        "made = Point.__init__\n"
        "print(made is not waiting['__init__'], Point(2) and Point.__init__ is made)\n"
        "print(Point.__eq__ is waiting['__eq__'], one == other)\n"
        "print(Point.__eq__ is not waiting['__eq__'], waiting['__eq__'](one, other))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True"] * 6
