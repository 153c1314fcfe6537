"""That no place is lost to the quick look that spares most texts the long one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.kernels import secret_places as module
from valor_cli.kernels.credential_forms import FORMS, Form
from valor_cli.kernels.credentials import find_credentials
from valor_cli.kernels.secret_places import secret_places

SAFETY = Path(__file__).parents[1] / "data" / "safety"


def spans(text: str) -> list[tuple[int, int, str]]:
    return [tuple(one) for one in secret_places(text)]


def test_places() -> None:
    # "MTIz…" is 123-45-6789 in base 64.
    assert spans("Ada, ada@example.org, MTIzLTQ1LTY3ODk=") == [
        (5, 20, "EMAIL_ADDRESS"),
        (22, 38, "base64"),
    ]
    assert spans("There is nothing in here, only words.") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        # The shortest there are: {"a":1} and 1 in base 64, and the prefixes of Artifactory.
        ("a eyJhIjoxfQ.MQ b", "JWT"),
        ("a AKCabcdefghij b", "ARTIFACTORY_CREDENTIALS"),
        ("a APBabcdefgh b", "ARTIFACTORY_CREDENTIALS"),
        ("BEGIN RSA PRIVATE KEY", "PRIVATE_KEY"),
        ("BEGIN PGP PRIVATE KEY BLOCK", "PRIVATE_KEY"),
    ],
)
def test_short_credentials_without_a_digit(text: str, kind: str) -> None:
    assert [one.kind for one in secret_places(text)] == [kind]


@pytest.mark.parametrize("form", FORMS, ids=lambda one: one.kind)
@given(data=st.data())
def test_no_form_passes_the_quick_look(form: Form, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(form.pattern))
    if form.before is not None:
        text = data.draw(st.from_regex(form.before)).rstrip("\n") + text
    assert not find_credentials(text) or module._SUSPECT.search(text)


@pytest.mark.parametrize(
    "path", [*SAFETY.glob("pii/*.jsonl"), *SAFETY.glob("secrets/*.jsonl")], ids=lambda one: one.name
)
def test_what_is_known_to_be_secret_is_suspect(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [str(row.get("text", "")) for row in rows if row.get("spans")]
    assert all(module._SUSPECT.search(text) for text in texts)
