"""Texts changed by chance: what each kind does, and what holds for all."""

from __future__ import annotations

import base64
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from valor_cli.kernels.text.perturbations import CHANGES, Intensity, perturbed

TEXT = "The film Modern Times, of 1936, shows I. Clown in his worst hour; 8 Oscars cannot mend it."
INTENSITIES: tuple[Intensity, ...] = ("low", "medium", "high")


@pytest.mark.parametrize("kind", ["typo", "case", "word_swap", "ocr", "comma", "homoglyph"])
def test_more_intensity_changes_more_words(kind: str) -> None:
    def changed(intensity: Intensity) -> int:
        words = perturbed(TEXT, kind, intensity, "3").split(" ")
        return sum(a != b for a, b in zip(words, TEXT.split(" "), strict=True))

    assert 1 <= changed("low") < changed("medium") < changed("high")


def test_numbers_of_words_are_those_of_the_share() -> None:
    # 18 words: a tenth is 2, a quarter 4 (4.5 rounds to even), half 9.
    words = [f"word{at}" for at in range(18)]
    for intensity, count in zip(INTENSITIES, (2, 4, 9), strict=True):
        assert perturbed(" ".join(words), "comma", intensity, "x").count(",") == count


@given(st.integers(0, 10_000).map(str))
def test_a_typo_is_one_slip_of_a_word(seed: str) -> None:
    found = perturbed("keyboard", "typo", "low", seed)
    assert OSA.distance("keyboard", found) == 1


def test_words_swapped_are_the_same_words() -> None:
    found = perturbed("one  two\tthree four", "word_swap", "low", "5")
    assert sorted(found.split()) == ["four", "one", "three", "two"]
    assert found != "one  two\tthree four"
    assert "".join(each for each in found if each.isspace()) == "  \t "


def test_encodings_can_be_taken_back() -> None:
    assert base64.b64decode(perturbed(TEXT, "base64", "high", "")).decode() == TEXT
    assert base64.b16decode(perturbed(TEXT, "base16", "high", "")).decode() == TEXT
    assert perturbed("a longest bit", "base64", "low", "") == "a bG9uZ2VzdA== bit"


def test_readings_of_a_scanner() -> None:
    assert perturbed("m", "ocr", "low", "0") == "rn"
    assert perturbed("0", "ocr", "low", "0") == "O"
    # Each place is as likely: about 1,000 / 3 of "dxdxd", where d is read as cl.
    found = Counter(perturbed("dxdxd", "ocr", "low", str(at)) for at in range(1_000))
    assert set(found) == {"clxdxd", "dxclxd", "dxdxcl"}
    assert max(found.values()) < 400


def test_letters_of_another_script_look_the_same() -> None:
    assert perturbed("a", "homoglyph", "low", "0") == "\u0430"


def test_case_and_punctuation() -> None:
    assert perturbed("ABC", "case", "low", "0") == "abc"
    assert perturbed("a,b!", "punctuation", "low", "0") == "ab"
    assert perturbed("go", "word_repeat", "low", "0") == "go go"


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("text", ["", " ", "\n\t", "...", "日本語", "🙂"])
def test_what_has_nothing_to_change_stays_or_changes_without_an_error(kind: str, text: str) -> None:
    for intensity in INTENSITIES:
        assert text or not perturbed(text, kind, intensity, "9")
        assert (perturbed(TEXT, kind, intensity, "1") == TEXT) == (kind == "copy")


@given(st.text(max_size=60), st.sampled_from(sorted(CHANGES)), st.sampled_from(INTENSITIES))
def test_any_text_can_be_changed(text: str, kind: str, intensity: Intensity) -> None:
    assert perturbed(text, kind, intensity, "1") == perturbed(text, kind, intensity, "1")
