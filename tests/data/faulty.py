"""Faulty COCO texts, and what the readers say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from valor_cli.data.formats.coco.reader import read_ground_truth, read_results
from valor_cli.errors import DataError

SKIP = "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out."
GOOD = '{"image_id":1,"category_id":3,"bbox":[1,2,3,4],"score":0.5}'


def results_error(text: str, **options: Any) -> str:
    Path("dt.json").write_text(text)
    with pytest.raises(DataError) as caught:
        read_results("dt.json", **options)
    return str(caught.value)


def ground_truth_error(text: str, **options: Any) -> str:
    Path("gt.json").write_text(text)
    with pytest.raises(DataError) as caught:
        read_ground_truth("gt.json", **options)
    return str(caught.value)


def ground_truth(images: str = "", annotations: str = "", categories: str = "") -> str:
    return (
        f'{{"images":[{images or """{"id":1},{"id":2}"""}],"annotations":[{annotations}],'
        f'"categories":[{categories or """{"id":3,"name":"cat"}"""}]}}'
    )
