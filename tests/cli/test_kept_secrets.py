"""Secrets that a config has from the environment stand in nothing that is said or written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import written
from valor_cli.cli.app import app
from valor_cli.errors import DataError
from valor_cli.masking import keep_secret, masked_bytes, without_secrets

SECRET = 'hé"l<l>o_w*rld-42'


@pytest.mark.parametrize(
    ("name", "before", "after", "value", "kept"),
    [
        ("MY_API_KEY", "", "", "sk-1234", True),
        ("PASSWORD2", "", "", "hunter2", True),
        ("HUB_TOKENS_A", "", "", "abcdefghijklmnop", True),
        ("AUTHOR", "", "", "jane-doe-1", False),
        ("MODEL", "", "", "gpt-4o-mini", False),
        ("TOKEN_FILE", "", "", "/run/token-1", False),
        ("MY_API_KEY", "", "", "metric", False),
        ("MY_API_KEY", "", "", "1234567.25", False),
        ("MY_API_KEY", "", "", "ab-1", False),
        ("WHO", "https://", ":x@h/a", "jane-doe-1", True),
        ("WHO", "https://x:", "@h/a", "jane-doe-1", True),
        ("HOST", "https://", "/a.csv", "example-1.org", False),
        ("SIGNED", "https://h/a.csv?sig=", "", "a1b2c3d4", True),
        ("SIGNED", "https://h/a.csv?", "", "sig=a1b2c3d4", True),
        ("ASKED", "https://h/a.csv?v=1&version=", "", "a1b2c3d4", False),
    ],
)
def test_what_is_a_secret(name: str, before: str, after: str, value: str, kept: bool) -> None:
    keep_secret(name, value, before, after)
    assert without_secrets(f"say {value}.") == ("say …." if kept else f"say {value}.")


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        "hé&quot;l&lt;l&gt;o_w*rld-42",
        "hé&#34;l\\u003cl\\u003eo_w*rld-42",
        'hé"l<l>o\\_w\\*rld\\-42',
        "h%C3%A9%22l%3Cl%3Eo_w%2Arld-42",
        'hé"l<l>o_\n   w*rld-42',
        'hé""l<l>o_w*rld-42',
        'hé"l<l>o_w*…',
    ],
)
def test_however_it_is_written(text: str) -> None:
    keep_secret("A_SECRET", SECRET, "", "")
    assert masked_bytes(f"<{text}>".encode()).decode() == "<…>"
    assert without_secrets(f"<{text}>") == "<…>"


def run(folder: Path, *options: str) -> None:
    app(["evaluate", str(folder / "run.yaml"), *options], standalone_mode=False)


def test_no_file_and_no_line_of_a_run_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LABEL_SECRET", SECRET)
    monkeypatch.setenv("PLAIN", "shown-1")
    rows = [{"id": at, "label": "cat", "prediction": ["cat", "dog"][at % 2]} for at in range(4)]
    written(tmp_path / "s.jsonl", rows)
    (tmp_path / "run.yaml").write_text(
        "task: classification\ndata: {samples: s.jsonl}\nmetrics: [f1, confusion_matrix, "
        "sample_scores: {probabilities: false}]\n"
        "label_map: {cat: '${LABEL_SECRET}', dog: '${PLAIN}'}\n"
        "report: {formats: [json, markdown, html, junit, csv]}\n"
    )
    out = tmp_path / "out"
    run(tmp_path, "--out", str(out))
    run(tmp_path, "--out", "-", "--format", "json")
    said = "".join(capsys.readouterr())
    files = {
        one.name: one.read_bytes().decode(errors="replace")
        for one in out.iterdir()
        if one.is_file()
    }
    assert {"results.json", "report.md", "report.html", "junit.xml", "results.csv"} <= files.keys()
    for text in (said, *files.values()):
        assert "rld" not in re.sub("world", "", text)
    labels = {row["label"] for row in json.loads(files["results.json"])["metrics"]}
    assert {"…", "shown-1"} <= labels


def test_no_message_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDER_TOKEN", "tok-12345")
    (tmp_path / "run.yaml").write_text(
        "task: classification\ndata: {samples: 'x/${FOLDER_TOKEN}/s.jsonl'}\n"
    )
    with pytest.raises(DataError) as caught:
        run(tmp_path)
    assert "x/…/s.jsonl" in str(caught.value)
    assert "tok-12345" not in str(caught.value)
