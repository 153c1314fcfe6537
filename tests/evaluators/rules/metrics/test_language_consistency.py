"""Language consistency: answers in the right and the wrong language, and what cannot be told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.oracles.text_samples import found, measured, outcome, samples, values
from valor_cli.evaluators.rules.metrics.language_consistency import (
    LANGUAGE_CONSISTENCY,
    LanguageCode,
)
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.kernels.text.languages import one_language

DATA = Path(__file__).parents[3] / "real_data" / "safety" / "language-id" / "sentences.jsonl"

ENGLISH = "What is the capital of France?"
GERMAN = "Die Hauptstadt von Frankreich ist Paris."
FEW = "fewer than 10 letters to tell a language by"


def one(
    response: str | None, user_input: str | None = None, language: str | None = None
) -> Outcome:
    data = samples([response], user_input=[user_input])
    return outcome(measured(LANGUAGE_CONSISTENCY, data, language=language), 0)


def test_pass_and_fail() -> None:
    passed = one("The capital of France is Paris.", ENGLISH)
    assert passed.values["pass"] == 1
    assert "retrieval_failures" not in passed.values
    failed = one(GERMAN, ENGLISH)
    assert failed.values == {
        "pass": 0, "fail": 1, "generation_failures": 1, "parse_failures": 0,
    }  # fmt: skip
    assert failed.reason == "the response is in de, not en"
    assert failed.details is not None
    assert failed.details["response"]["language"] == "de"
    assert failed.details["user_input"]["language"] == "en"
    assert 0.5 < failed.details["response"]["confidence"] <= 1


def test_given_language() -> None:
    assert one(GERMAN, ENGLISH, "de").values["pass"] == 1
    failed = one(GERMAN, None, "en")
    assert failed.values["pass"] == 0
    assert failed.details is not None
    assert failed.details["language"] == "en"


@pytest.mark.parametrize(
    ("response", "user_input", "status", "reason"),
    [
        (None, ENGLISH, "missing_input", "no response"),
        (GERMAN, None, "missing_input", "no user_input to compare the response with"),
        ("", ENGLISH, "not_applicable", f"response: {FEW}"),
        ("Paris", ENGLISH, "not_applicable", f"response: {FEW}"),
        (GERMAN, "2 + 2?", "not_applicable", f"user_input: {FEW}"),
        ("```python\nfor each in them:\n    print(each)\n```", ENGLISH, "not_applicable",
         f"response: {FEW}"),
        ("😀🎉" * 50, ENGLISH, "not_applicable", f"response: {FEW}"),
        ("SGVsbG8gV29ybGQhIFRoaXMgaXMgYmFzZTY0IGVuY29kZWQ=", ENGLISH, "not_applicable",
         "response: no natural language"),
        ("Health Points", "What does hp mean in war and order?", "not_applicable",
         "too short or too mixed to tell whether it is in en"),
    ],
)  # fmt: skip
def test_not_told(response: str | None, user_input: str | None, status: str, reason: str) -> None:
    found = one(response, user_input)
    assert (found.status, found.reason) == (status, reason)
    assert not found.values


def test_least_letters() -> None:
    data = samples(["Oui, bien sûr."], user_input=["Où est la bibliothèque ?"])
    assert outcome(measured(LANGUAGE_CONSISTENCY, data), 0).values["pass"] == 1
    found = outcome(measured(LANGUAGE_CONSISTENCY, data, least_letters=12), 0)
    assert found.reason == "response: fewer than 12 letters to tell a language by"


def test_odds() -> None:
    data = samples(["Health Points"], user_input=["What does hp mean in war and order?"])
    sure = outcome(measured(LANGUAGE_CONSISTENCY, data, least_odds=1.0), 0)
    assert sure.values["pass"] == 0


def test_varieties_count_as_one() -> None:
    serbian = "Главни град Хрватске је Загреб, а највећа река је Сава."
    assert one(serbian, "Koji je glavni grad Hrvatske?").values["pass"] == 1
    assert one(serbian, None, "bs").values["pass"] == 1


def test_code_in_the_answer_is_not_read() -> None:
    answer = (
        "Mit sorted():\n```python\nxs = sorted(items)\nfor each in xs:\n    print(each)\n```\n"
        "Das gibt eine neue Liste zurück, siehe https://docs.example.org/the-way-to-sort-lists"
    )
    assert one(answer, "Wie sortiere ich eine Liste in Python?").values["pass"] == 1


def test_rates() -> None:
    data = samples([GERMAN, "It is Paris, of course.", "Paris", None], user_input=[ENGLISH] * 4)
    findings = found(LANGUAGE_CONSISTENCY, data)
    assert findings.statuses == {"ok": 2, "not_applicable": 1, "missing_input": 1}
    rates = values(LANGUAGE_CONSISTENCY, data)
    assert (rates["pass"], rates["fail"]) == (0.5, 0.5)
    assert rates["generation_failures"] == 0.5
    assert (rates["retrieval_failures"], rates["parse_failures"]) == (None, 0)


def test_long_texts() -> None:
    long = "The quick brown fox jumps over the lazy dog. " * 25_000
    assert one(long, ENGLISH).values["pass"] == 1
    assert one((GERMAN + " ") * 25_000, ENGLISH).values["pass"] == 0
    # An English beginning does not hide what follows.
    assert one(long[:3_000] + (GERMAN + " ") * 25_000, ENGLISH).status == "not_applicable"


def test_real_sentences() -> None:
    """Each sentence answered by the next of its language, and by one of every other language."""
    by_language: dict[str, list[str]] = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        by_language.setdefault(row["language"], []).append(row["text"])
    same = [
        (texts[at], texts[at - 1]) for texts in by_language.values() for at in range(len(texts))
    ]
    others = [
        (mine[0], theirs[1])
        for own, mine in by_language.items()
        for other, theirs in by_language.items()
        if one_language(own) != one_language(other)
    ]
    for pairs, output, most_untold in ((same, "pass", 0.02), (others, "fail", 0.02)):
        data = samples([each for each, _ in pairs], user_input=[each for _, each in pairs])
        findings = found(LANGUAGE_CONSISTENCY, data)
        assert {row.output: row.value for row in findings.values}[output] == 1
        assert findings.statuses.get("not_applicable", 0) <= most_untold * len(pairs)


@pytest.mark.parametrize("code", ["en", "nb", "zh"])
def test_languages_of_a_config(code: str) -> None:
    assert TypeAdapter(LanguageCode).validate_python(code) == code


@pytest.mark.parametrize("code", ["english", "EN", "xx", "", "zxx", "en-US"])
def test_refused_languages(code: str) -> None:
    with pytest.raises(ValidationError, match="expected a code of ISO 639-1, one of af, am, "):
        TypeAdapter(LanguageCode).validate_python(code)
