"""Words as numbers: by hand."""

from __future__ import annotations

from valor_cli.kernels.text.token_codes import WordCodes


def test_equal_words_have_equal_numbers_in_all_texts() -> None:
    codes = WordCodes(str.split)
    first = codes.of(["b a b", "", "c"])
    assert first.sequences() == [[0, 1, 0], [], [2]]
    assert first.lengths.tolist() == [3, 0, 1]
    assert codes.of(["c d"]).sequences() == [[2, 3]]


def test_lines_without_words_are_none() -> None:
    coded = WordCodes(str.split).of(["\n a b\n \nc\n", "", "\n", "d"])
    assert coded.line_counts().tolist() == [2, 0, 0, 1]
    # a b, c, d
    assert coded.lines.tolist() == [0, 2, 3]


def test_no_texts() -> None:
    coded = WordCodes(str.split).of([])
    assert coded.sequences() == coded.line_counts().tolist() == []
    assert coded.lengths.tolist() == []


def test_words_that_merge_have_one_number_and_are_merged_once() -> None:
    asked = []

    def merged(word: str) -> str:
        asked.append(word)
        return word.lower()

    coded = WordCodes(str.split, merged).of(["A a A", "a b"])
    assert coded.sequences() == [[0, 0, 0], [0, 1]]
    assert asked == ["A", "a", "b"]
