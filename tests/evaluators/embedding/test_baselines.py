"""Baselines: bert-score's own file, and what is wrong with others."""

from __future__ import annotations

from pathlib import Path

import pytest

from valor_cli.errors import DataError
from valor_cli.evaluators.embedding.baselines import baselines_in


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "bert.tsv"
    path.write_text("LAYER,P,R,F\n0,0.32,0.33,0.31\n1,0.5,0.25,0.125\n\n")
    found = baselines_in(str(path))
    assert found.of_layer(1) == (0.5, 0.25, 0.125)
    with pytest.raises(DataError, match=r"bert\.tsv: has no layer 2: it has 0 to 1"):
        found.of_layer(2)


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
        baselines_in(str(path))


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.tsv: cannot be read: No such file"):
        baselines_in(str(tmp_path / "none.tsv"))
    path = tmp_path / "x.tsv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"x\.tsv: is no CSV"):
        baselines_in(str(path))
