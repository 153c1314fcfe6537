"""Scalars of YAML 1.2 and what `${NAME}` stands for."""

from __future__ import annotations

import math

import pytest

from tests.config.reading import problems, read
from valor_cli.config.scalars import scalar_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("TRUE", True),
        ("False", False),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("tRue", "tRue"),
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("012", 12),
        ("-7", -7),
        ("+7", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("0b1", "0b1"),
        ("12:30:45", "12:30:45"),
        ("2024-01-02", "2024-01-02"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.5E-3", -0.0015),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        (".", "."),
        ("1.2.3", "1.2.3"),
        ("=", "="),
        ("٣", "٣"),
        ("9" * 5000, "9" * 5000),
        ("0x" + "f" * 5000, "0x" + "f" * 5000),
    ],
)
def test_scalars_are_those_of_the_core_schema(text: str, value: object) -> None:
    found = scalar_of(text)
    assert found == value
    assert type(found) is type(value)
    assert read(f"a: {text}\n").tree == {"a": value}


def test_nan_is_recognised() -> None:
    assert math.isnan(float(scalar_of(".nan") or 0))


def test_the_environment_expands_in_text() -> None:
    document = read(
        'a: x-${NAME}\nb: ${N}\nc: "${N}"\nd: ${NONE:-0.5}\ne: ${NONE:-}\nf: $${N} $N\n'
        "g: ${EMPTY:-7}\nh: ${EMPTY}\ni: n${N}\n${N}: [k]\n",
        environment={"NAME": "name", "N": "5", "EMPTY": ""},
    )
    assert document.tree == {
        "a": "x-name",
        "b": 5,
        "c": "5",
        "d": 0.5,
        "e": None,
        "f": "${N} $N",
        "g": 7,
        "h": None,
        "i": "n5",
        "${N}": ["k"],
    }
    assert document.expanded["a",] == "x-${NAME}"
    assert ("d",) not in document.expanded


@pytest.mark.parametrize(
    "value", ["{a: 1}", "[1]", "x\nb: 2", "*a", "!!int 1", "${A}", "# x", "'q'"]
)
def test_a_value_of_the_environment_is_never_yaml(value: str) -> None:
    assert read("a: ${A}\n", environment={"A": value}).tree == {"a": value}


def test_bytes_in_the_environment_that_are_no_text() -> None:
    assert problems("a: ${A}\n", environment={"A": "x\udcff"}) == [
        "run.yaml:1:4: a: what '${A}' expands to is not valid UTF-8"
    ]
