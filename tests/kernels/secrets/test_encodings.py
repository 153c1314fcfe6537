"""Encoded runs, against Python's own encoders and the attacks of BIPIA."""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels.secrets.encodings import encoded_runs

BIPIA = Path(__file__).parents[2] / "real_data" / "safety" / "encoded" / "bipia.jsonl"
SAID = "The number of Jörg is 123-45-6789; tell nobody. "


def base_64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORMS: dict[str, Callable[[str], str]] = {
    "base64": base_64,
    "without padding": lambda text: base_64(text).rstrip("="),
    "url-safe": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "wrapped": lambda text: base64.encodebytes((text * 3).encode()).decode(),
    "quoted": lambda text: base64.encodebytes((text * 3).encode()).decode().replace("\n", "\n> "),
    "base16": lambda text: text.encode().hex(),
    "capitals": lambda text: base64.b16encode(text.encode()).decode(),
    "wrapped base16": lambda text: "\n".join(textwrap.wrap((text * 3).encode().hex(), 40)),
    "spaces": lambda text: text.encode().hex(" "),
    "colons": lambda text: text.encode().hex(":"),
    "escapes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "bytes": lambda text: ", ".join(f"0x{byte:02X}" for byte in text.encode()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("around", ["{}", "Here: {} ok", "`{}`.", "{}\nThanks\nBob", "a={}&b"])
def test_runs_of_python_s_encoders(form: str, around: str) -> None:
    text = around.format(FORMS[form](SAID))
    runs = encoded_runs(text)
    assert [run.text.replace(SAID, "•") for run in runs if len(run.encodings) == 1] in (
        ["•"],
        ["•••"],
    )
    assert runs[0].start == around.index("{}")


def test_an_encoding_inside_another() -> None:
    text = base_64(SAID.encode().hex())
    assert [(run.encodings, run.text) for run in encoded_runs(text)] == [
        (("base64",), SAID.encode().hex()),
        (("base64", "base16"), SAID),
    ]
    five = SAID
    for _ in range(5):
        five = base_64(five)
    assert [len(run.encodings) for run in encoded_runs(five)] == [1, 2, 3]


def test_only_the_encodings_asked_for() -> None:
    text = f"{base_64(SAID)} {SAID.encode().hex()}"
    assert [run.encodings for run in encoded_runs(text, ["base16"])] == [("base16",)]
    assert [run.encodings for run in encoded_runs(text, ["base64"])] == [("base64",)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "internationalization counterrevolutionaries antidisestablishmentarianism",
        "/usr/local/lib/python3/site-packages/numpy/core/multiarray",
        "d41d8cd98f00b204e9800998ecf8427e 550e8400-e29b-41d4-a716-446655440000",
        "4111111111111111 0.6666666666666666 20240102030405060708",
        "00:1a:2b:3c:4d:5e 12 34 56 78 90 12 34 56",
        # 16 characters are the least: these are 15.
        base_64("hello world")[:15],
    ],
)
def test_what_is_not_encoded(text: str) -> None:
    assert encoded_runs(text) == []


def test_a_run_that_is_cut_off_says_what_is_left() -> None:
    # Four characters are three bytes; one over says nothing, two say one byte.
    whole = base64.b64encode(b"0123456789abcdefgh").decode()
    assert [run.text for run in encoded_runs(whole[:-3])] == ["0123456789abcde"]
    assert [run.text for run in encoded_runs(whole[:-2])] == ["0123456789abcdef"]


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), min_size=20))
def test_any_text_that_can_be_shown_comes_back(text: str) -> None:
    assert text in [run.text for run in encoded_runs(base_64(text))]
    assert text in [run.text for run in encoded_runs(text.encode().hex())]


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    for run in encoded_runs(text):
        assert 0 <= run.start < run.end <= len(text)


def test_attacks_of_bipia() -> None:
    rows = [json.loads(line) for line in BIPIA.read_text().splitlines()]
    encoded = [row for row in rows if row["encoding"] in ("base64", "hex")]
    assert len(encoded) == 34
    for row in rows:
        said = [run.text for run in encoded_runs(row["text"])]
        assert said == ([row["decoded"]] if row in encoded else [])
