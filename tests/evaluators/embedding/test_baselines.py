"""Baselines: bert-score's own file, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from valor_cli.errors import ConfigError, DataError
from valor_cli.evaluators.embedding.baselines import baseline_of


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "bert.tsv"
    path.write_text("LAYER,P,R,F\n0,0.32,0.33,0.31\n1,0.5,0.25,0.125\n\n")
    found = baseline_of(True, str(path))
    assert found is not None
    assert found.of_layer(1) == (0.5, 0.25, 0.125)
    with pytest.raises(DataError, match=r"bert\.tsv: has no layer 2: it has 0 to 1"):
        found.of_layer(2)


def test_none_is_asked_for() -> None:
    assert baseline_of(False, None) is None


def test_one_without_the_other() -> None:
    with pytest.raises(ConfigError, match="rescale_with_baseline needs a file of baselines"):
        baseline_of(True, None)
    with pytest.raises(ConfigError, match="used with rescale_with_baseline: true alone"):
        baseline_of(False, "x.tsv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x\.tsv:1: expected LAYER,P,R,F, found nothing"),
        ("a\tb\n", r"x\.tsv:1: expected LAYER,P,R,F, found a"),
        ("LAYER,P,R,F\n", r"x\.tsv: has no layers"),
        ("LAYER,P,R,F\n0,0.1,0.2\n", r"x\.tsv:2: expected a layer and three numbers"),
        ("LAYER,P,R,F\n0,0.1,0.2,0.3,0.4\n", r"x\.tsv:2: expected"),
        ("LAYER,P,R,F\none,0.1,0.2,0.3\n", r"x\.tsv:2: expected .* found one,0\.1,0\.2,0\.3"),
        ("LAYER,P,R,F\n0,0.1,nan,0.3\n", r"x\.tsv:2: expected"),
        ("LAYER,P,R,F\n0,0.1,1,0.3\n", r"x\.tsv:2: expected"),
        ("LAYER,P,R,F\n0,-inf,0.2,0.3\n", r"x\.tsv:2: expected"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        baseline_of(True, str(path))


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.tsv: cannot be read: No such file"):
        baseline_of(True, str(tmp_path / "none.tsv"))
    path = tmp_path / "x.tsv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"x\.tsv: is no CSV"):
        baseline_of(True, str(path))
