"""What reports show of the files of a run."""

from __future__ import annotations

from valor_cli.reports.input_files import shown_input
from valor_cli.results import InputFile


def test_a_file_that_was_read() -> None:
    assert shown_input(InputFile("a.csv", "ab" * 32, 1200, 3)) == ("a.csv", "1,200", "3", "ab" * 32)


def test_a_file_that_was_left_out() -> None:
    """What is not known is not shown as 0."""
    file = InputFile("a.csv.gz", "ab" * 32, None, left_out="cut off")
    assert shown_input(file) == ("a.csv.gz", "–", "left out", "ab" * 32)
    assert shown_input(InputFile("a", None, None, left_out="gone")) == ("a", "–", "left out", "–")
