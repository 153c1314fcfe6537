"""Fields of a text: their words and widths, the numbers they say, and lines of one shape."""

from __future__ import annotations

import math
import random
import re
import struct
from decimal import Decimal

import numpy as np
import pytest
from valor_cli.kernels.columns.templates import LONGEST, spans, template

from valor_cli.kernels.columns.fields import FieldText, Ints, field_words, fixed_width
from valor_cli.kernels.columns.numbers import decimal_numbers, leading_zeros

PLAIN = re.compile(rb"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def laid_out(fields: list[bytes]) -> tuple[FieldText, Ints, Ints]:
    """Fields with commas between them."""
    length = np.array([len(field) for field in fields], np.int64)
    end = np.cumsum(length + 1) - 1
    return FieldText(b",".join(fields)), end - length, end


def test_words_begin_anywhere_and_are_zero_outside_of_the_text() -> None:
    text = FieldText(b"abcdefghij")
    words = text.eight(np.array([0, 2, 9, -7]))
    assert [word.tobytes() for word in words] == [
        b"abcdefgh",
        b"cdefghij",
        b"j" + bytes(7),
        bytes(7) + b"a",
    ]


def test_positions_of_bytes_ascend() -> None:
    assert FieldText(b"a,b\nc,,\n").positions(*b",\n").tolist() == [1, 3, 5, 6, 7]


def test_fields_of_any_width_are_cut_at_their_ends() -> None:
    fields = [b"", b"a", b"1234567", b"12345678", b"123456789", "é".encode() * 20, b"z" * 64]
    text, start, end = laid_out(fields)
    assert fixed_width(text, start, end).tolist() == fields
    assert [word.tolist() for word in field_words(text, start[:2], (end - start)[:2], 1)] == [
        [0, ord("a")]
    ]


@pytest.mark.parametrize(
    "number",
    # By hand: no point; zeros in front and behind; a sign; an exponent, either way; 15 to 19
    # digits; the middle between two floats (2**53 + 1); the ends of what is read.
    """0 1 7 42 12345678 0.0 -0.0 0.5 1.0 00.5 0.534634 -12.25 1e5 1E5 1e+05 4.2e-05 -1.5E-3
    0.9345678091049194 0.123456789012345 0.1234567890123456 0.12345678901234567
    1.7976931348623157 9.007199254740993 90.07199254740993 0.00012345678901234567
    1.2345678901234567e-10 2.2250738585072011e-30 0.1e-20 123456.78901234567 1e22 -3e-150
    0.000000000000000000001 0.999999999999999999 9e-2 12345678e-8""".split(),  # noqa: SIM905
)
def test_a_number_is_what_python_reads(number: str) -> None:
    text, start, end = laid_out([b"9.9e9", number.encode(), b"8e8"])
    value, read = decimal_numbers(text, start, end)
    expected = float(number)
    assert read.all()
    assert (value[1], math.copysign(1, value[1])) == (expected, math.copysign(1, expected))


@pytest.mark.parametrize(
    "field",
    """- . 5. .5 -.5 +1 e5 1e 1e- 1e+ 1.e5 1.2.3 1-2 --1 0x1f 1_0 inf -inf nan NaN abc 1e5e 1e5.0
    1,5 :1 /1 1: 1/ 1;5 é 123456789 123456789.5 1e400 1e-400 0.00000000000000000000001""".split(),  # noqa: SIM905
)
def test_other_and_longer_forms_are_left_to_others(field: str) -> None:
    content = field.encode()
    text = FieldText(b"0.25;" + content + b";0.75;;")
    start = np.array([0, 5, 6 + len(content), 11 + len(content)])
    end = np.array([4, 5 + len(content), 10 + len(content), 11 + len(content)])
    value, read = decimal_numbers(text, start, end)
    assert read.tolist() == [True, False, True, False]
    assert value[[0, 2]].tolist() == [0.25, 0.75]


def random_number(rng: random.Random) -> str:
    """A number as a tool might write it, or a hard one."""
    scale = 10.0 ** rng.randrange(-12, 6)
    kind = rng.randrange(7)
    if kind == 0:
        return repr(rng.random())
    if kind == 1:
        return repr(round(rng.random(), rng.randrange(1, 9)))
    if kind == 2:
        return repr(struct.unpack("f", struct.pack("f", rng.random()))[0])
    if kind == 3:
        return f"{rng.gauss(0, 1) * scale:.{rng.randrange(24)}f}"
    if kind == 4:
        return f"{rng.gauss(0, 1) * scale:.{rng.randrange(20)}e}"
    if kind == 5:
        return repr(rng.gauss(0, 1) * scale)
    # Next to the middle between two floats.
    low = rng.random()
    middle = (Decimal(low) + Decimal(math.nextafter(low, 1))) / 2
    return f"{middle:.{rng.randrange(16, 22)}f}"


@pytest.mark.parametrize("seed", range(5))
def test_random_numbers_are_what_python_reads(seed: int) -> None:
    rng = random.Random(seed)
    fields = [random_number(rng).encode() for _ in range(4000)]
    value, read = decimal_numbers(*laid_out(fields))
    for field, one, fine in zip(fields, value.tolist(), read.tolist(), strict=True):
        if fine:
            assert PLAIN.fullmatch(field)
            assert repr(one) == repr(float(field)), field
        else:
            # Only those with many digits are left.
            assert len(field) > 19, field


def test_no_numbers() -> None:
    none = np.zeros(0, np.int64)
    value, read = decimal_numbers(FieldText(b""), none, none)
    assert (len(value), len(read)) == (0, 0)


def test_zeros_in_front_are_found() -> None:
    fields = [b"0", b"-0", b"0.5", b"-0.5", b"00", b"01.5", b"-01", b"10", b"0e5", b"-00"]
    found = leading_zeros(*laid_out(fields))
    assert found.tolist() == [False] * 4 + [True] * 3 + [False] * 2 + [True]


def test_slots_of_lines_of_one_shape() -> None:
    first = b'{"id":"a","n":1.5}\n'
    # {"id":" is 7 bytes, ","n": is 6.
    slots = [(7, 8), (14, 17)]
    lines = [first, b'{"id":"","n":2}\n', b'{"id":"long id","n":-33}\n']
    for separators in (b",", b'"', b',"'):
        common = template(first, slots, separators)
        assert common is not None
        text = FieldText(b"".join(lines))
        found = spans(text, common)
        assert (found.lines, found.line.tolist()) == (3, [0, 1, 2])
        fields = [
            [text.field(*span) for span in zip(start, end, strict=True)]
            for start, end in zip(found.start.tolist(), found.end.tolist(), strict=True)
        ]
        assert fields == [[b"a", b"1.5"], [b"", b"2"], [b"long id", b"-33"]]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"a","m":1}\n',
        b'{"id":"a", "n":1}\n',
        b'{"id":"a","n":1,"n":1}\n',
        b'{"id":"a"b","n":1}\n',
        b'{"id":"a\tb","n":1}\n',
        b'{"id":"a","n":1} \n',
        b'{"id":"a","n":1}\r\n',
        b'{"id":1,"n":1}\n',
        b"\n",
        b'{"id":"}\n',
        b'{"id":"a","n":1}{\n',
        b'{"n":1,"id":"a"}\n',
    ],
)
@pytest.mark.parametrize("separators", [b",", b'"', b',"'])
def test_lines_of_another_shape_are_noticed(line: bytes, separators: bytes) -> None:
    first = b'{"id":"a","n":1.5}\n'
    common = template(first, [(7, 8), (14, 17)], separators)
    assert common is not None
    for text in (first + line, first + line + first, line + first + line):
        block = FieldText(text)
        found = spans(block, common)
        assert found.lines == text.count(b"\n")
        assert [text.splitlines(keepends=True)[at] for at in found.line] == [first] * text.count(
            first
        )
        for start, end in zip(found.start.tolist(), found.end.tolist(), strict=True):
            assert [block.field(*span) for span in zip(start, end, strict=True)] == [b"a", b"1.5"]
    assert len(spans(FieldText(line), common).line) == 0


def test_slots_must_be_apart() -> None:
    line = b'["a",1,2]\n'
    assert template(line, [(2, 3), (5, 6)], b",") is not None
    # Both numbers stand behind the last quote.
    assert template(line, [(5, 6), (7, 8)], b'"') is None
    assert template(b'["a,b",1]\n', [(2, 5)], b",") is None
    assert template(b"[" + b" " * LONGEST + b"1]\n", [(LONGEST + 1, LONGEST + 2)], b",") is None


@pytest.mark.parametrize("field", ["x" * 250, "0." + "1" * 300, "0." + "0" * 250 + "5"])
def test_fields_longer_than_any_power_are_left_to_others(field: str) -> None:
    text = FieldText(f"{field}\n".encode())
    _, read = decimal_numbers(text, np.array([0]), np.array([len(field)]))
    assert not read.any()
