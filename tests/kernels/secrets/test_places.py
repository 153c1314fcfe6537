"""That no place is lost to the quick look that spares most texts the long one."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.secrets import places as module
from valor_cli.kernels.secrets.credential_formats import FORMS, Form
from valor_cli.kernels.secrets.credentials import find_credentials
from valor_cli.kernels.secrets.personal_data import find_personal_data
from valor_cli.kernels.secrets.places import secret_spans, spans_of_all

SAFETY = Path(__file__).parents[2] / "real_data" / "safety"


def spans(text: str) -> list[tuple[int, int, str]]:
    return [tuple(one) for one in secret_spans(text)]


def is_suspect(text: str) -> bool:
    # Neighbours, on which it must not depend.
    before, found, behind = module._suspects(["1 AP 2", text, "x" * 20]).tolist()
    assert before
    assert behind
    return bool(found)


def test_places() -> None:
    # The last word is "SSN 123-45-6789" in base 64.
    assert spans("Ada, ada@example.org, U1NOIDEyMy00NS02Nzg5") == [
        (5, 20, "EMAIL_ADDRESS"),
        (22, 42, "base64"),
    ]
    assert spans("There is nothing in here, only words.") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # The shortest there are: {"a":1} and 1 in base 64, and the prefixes of Artifactory.
        ("a eyJhIjoxfQ.MQ b", "JWT"),
        ("a AKCbcdfghjklm b", "ARTIFACTORY_CREDENTIALS"),
        ("a APBbcdfghjk b", "ARTIFACTORY_CREDENTIALS"),
        ("BEGIN RSA PRIVATE KEY", "PRIVATE_KEY"),
        ("BEGIN PGP PRIVATE KEY BLOCK", "PRIVATE_KEY"),
        # With digits, and no long word.
        ("a xoxb-1-abc b", "SLACK_TOKEN"),
        ("my SSN is 536 90 4399", "US_SSN"),
        ("my SSN is 536904399", "US_SSN"),
        ("pay 4111 1111 1111 1111 now", "CREDIT_CARD"),
    ],
)
def test_places_in_texts_of_short_words(text: str, kind: str) -> None:
    assert [one.kind for one in secret_spans(text)] == [kind]


@pytest.mark.parametrize("form", FORMS, ids=lambda one: one.kind)
@settings(max_examples=4)
@given(data=st.data())
def test_no_form_passes_the_quick_look(form: Form, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(form.pattern))
    if form.before is not None:
        text = data.draw(st.from_regex(form.before)).rstrip("\n") + text
    assert not find_credentials(text) or is_suspect(text)


def test_what_is_known_to_be_secret_is_suspect() -> None:
    personal = (SAFETY / "pii" / "presidio.jsonl").read_text(encoding="utf-8").splitlines()
    secrets = (SAFETY / "secrets" / "detect-secrets.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in personal]
    texts += [b64decode(json.loads(line)["text_b64"]).decode() for line in secrets]
    found = [text for text in texts if find_personal_data(text) or find_credentials(text)]
    assert len(found) > 50
    assert all(is_suspect(text) for text in found)


@pytest.mark.parametrize("between", [" ", "\n", ", ", ":", "-", ",", " 0x", "\\x"])
def test_bytes_apart_are_looked_at(between: str) -> None:
    """Number and address in base 16, byte by byte, mixed with words that are short."""
    for secret in ("SSN 536-90-4399", "ada@example.org"):
        told = between.join(f"{one:02x}" for one in secret.encode())
        text = f"it says {between.strip() if between[-1] == 'x' else ''}{told} in there"
        assert [one.kind for one in secret_spans(text)] == ["base16"], text


def test_ordinary_numbers_are_done_with_at_once() -> None:
    assert not is_suspect("In 2012, 30 of 1,200 (2.5 %) came; a girl of 16 won 6-4.")


def test_an_escaped_line_end_is_no_letter() -> None:
    token = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    text = json.dumps({"told": f"key:\n{token}\tSSN\n536-90-4399"})
    assert [text[start:end] for start, end, _ in secret_spans(text)] == [token, "536-90-4399"]


def test_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "",
        "only words",
        "ada@example.org",
        "half \ud800",
        "ünïcödé 12",
        "my SSN is 536904399",
    ]
    texts += ["AP", "x" * 15, "a eyJhIjoxfQ.MQ b", "0", ""]
    for at_once in (1, 12, 1 << 18):
        monkeypatch.setattr(module, "_AT_ONCE", at_once)
        found = [[one.kind for one in spans] for spans in spans_of_all(texts)]
        kinds = {2: ["EMAIL_ADDRESS"], 5: ["US_SSN"], 8: ["JWT"]}
        assert found == [kinds.get(at, []) for at in range(len(texts))]
    assert list(spans_of_all([])) == []
