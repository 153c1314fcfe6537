"""Each input of the corpus gives what it gave, or is refused with the same words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.data.corpus.reader import SHAPES, cases, changed, form_of

GROUPS = sorted({(shape, form_of(case)) for shape in SHAPES for case in cases(shape)})
SHOWN = 5


@pytest.mark.parametrize(("shape", "form"), GROUPS, ids=lambda one: one)
def test_every_case(shape: str, form: str, tmp_path: Path) -> None:
    differences = [
        f"{case['name']}: {json.dumps(now, ensure_ascii=False)}"
        for case, now in changed(shape, tmp_path, form)
    ]
    assert not differences, (
        f"{len(differences)} cases of {shape} changed; `python -m tests.data.corpus` shows each, "
        "with `--update` it stores the new outcomes\n" + "\n".join(differences[:SHOWN])
    )


def test_names_are_distinct() -> None:
    for shape in SHAPES:
        names = [case["name"] for case in cases(shape)]
        assert len(names) == len(set(names))
