"""The pages of docs/start: every message that they show is what valor says of that mistake."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.pages import ROOT, blocks, shell, text_of

pytestmark = pytest.mark.slow

REDRAWN = """\
from PIL import Image
picture = Image.open("predicted/street_2.png")
picture.{change}.save("predicted/street_2.png")
"""


class Mistake(NamedTuple):
    """What a reader may do wrong after the last step of a page.

    Attributes:
        edits: A file, what stands in it, and what is there instead; "": the whole file.
        command: What is run then.
        code: How it ends.
    """

    edits: tuple[tuple[str, str, str], ...]
    command: str
    code: int


def wrong(*edits: str, command: str = "valor validate run.yaml", code: int = 2) -> Mistake:
    """One edit after the other."""
    return Mistake(tuple(zip(edits[::3], edits[1::3], edits[2::3], strict=True)), command, code)


MISTAKES = {
    "classification": (
        wrong("predictions.csv", "0006.jpg", "6"),
        wrong("ground_truth.csv", "sample_id,label", "sample_id,species"),
        wrong(
            "predictions.csv",
            "fox,deer,badger",
            "Fox,Deer,Badger",
            command="valor evaluate run.yaml --out reports/other",
            code=1,
        ),
        wrong(
            "run.yaml",
            "- accuracy\n",
            "- accuracy\n  - log_loss\n",
            "predictions.csv",
            "0.91,0.06,0.03",
            "4.1,0.2,-1.3",
        ),
        wrong("run.yaml", "- accuracy\n", "- acuracy\n", "run.yaml", "label: deer", "label: dear"),
    ),
    "instance-segmentation": (
        wrong(
            "predictions.json",
            "",
            '[{"image_id": 1, "category_id": 1, "score": 0.93, "bbox": [5, 6, 23, 18]}]',
            command="valor evaluate run.yaml",
        ),
        wrong(
            "predictions.json", '{"size": [48, 64], "counts": "V', '{"size": [24, 32], "counts": "V'
        ),
        wrong("ground_truth.json", "[[50, 38, 60, 38, 60, 46, 50, 46]]", "[[50, 38, 60, 38]]"),
        wrong(
            "predictions.json",
            '"counts": "fl1>R100001O000000001O01N3L4L4LU>"',
            '"counts": "b\'fl1>R100001O000000001O01N3L4L4LU>\'"',
        ),
        wrong(
            "predictions.json", '"image_id": 2, "category_id": 1', '"image_id": 2, "category_id": 0'
        ),
    ),
    "object-detection": (
        wrong("predictions.json", '"category_id": 3', '"category_id": 2'),
        wrong("predictions.json", '"image_id": 3', '"image_id": 30'),
        wrong("predictions.json", ', "score": 0.92', ""),
        wrong("predictions.json", "[322, 98, 60, 186]", "[382, 284, -60, -186]"),
        wrong("run.yaml", "{yolo-m: predictions.json}", "{yolo-m: ground_truth.json}"),
    ),
    "rag": (
        wrong(command="valor evaluate judged.yaml"),
        wrong("samples.jsonl", '"retrieved_contexts"', '"passages"'),
        wrong("run.yaml", "[faithfulness, token_f1]", "[faithfullness, token_f1]"),
        wrong(
            "run.yaml",
            "judge: {backend: scripted, replies: replies.jsonl}    # further down: a real one\n",
            "",
        ),
        wrong(
            "run.yaml",
            "{backend: scripted, replies: replies.jsonl}",
            '{model: openai/qwen3, api_base: "http://localhost:9/v1", max_retries: 0}',
            command="valor evaluate run.yaml",
            code=3,
        ),
    ),
    "safety": (
        wrong("after.jsonl", '\\"expired\\"', '(\\"expired\\"'),
        wrong("before.jsonl", '"condition"', '"expect"', "after.jsonl", '"condition"', '"expect"'),
        wrong("run.yaml", "[email,", "[e-mail,"),
        wrong(
            "after.jsonl",
            '"I cannot help with that. A locksmith can, with your neighbour\'s consent."',
            "null",
            "run.yaml",
            "gates: ",
            "gates:\n  - {coverage: 1.0}  #",
            command="valor evaluate run.yaml",
            code=3,
        ),
        wrong(
            "run.yaml",
            "{metric: pii_leakage, output: pass,",
            "{metric: pii_leakage, output: passed,",
        ),
    ),
    "semantic-segmentation": (
        wrong("run.yaml", "  ignore_index: 255\n", "", command="valor evaluate run.yaml"),
        wrong(
            "paint.py",
            "",
            REDRAWN.format(change="convert('RGB')"),
            command="python paint.py; valor evaluate run.yaml",
        ),
        wrong(
            "paint.py",
            "",
            REDRAWN.format(change="resize((32, 24))"),
            command="python paint.py; valor evaluate run.yaml",
        ),
        wrong(
            "run.yaml",
            "ground_truth: pairs.csv ",
            "ground_truth: truth\n  predictions: predicted #",
            "run.yaml",
            "slices: [metadata.weather]\n",
            "",
            "paint.py",
            "",
            "import os\nos.rename('predicted/street_2.png', 'predicted/street_2_out.png')\n",
            command="python paint.py; valor validate run.yaml",
        ),
        wrong("run.yaml", "  labels: [background, road, car]\n", ""),
    ),
    "text-generation": (
        wrong("small.jsonl", '"references"', '"gold"', "large.jsonl", '"references"', '"gold"'),
        wrong(
            "large.jsonl",
            '"sample_id": "water"',
            '"sample_id": "boiling"',
            command="valor evaluate run.yaml",
            code=3,
        ),
        wrong("small.jsonl", '"response": "Sydney"', '"response": "Sydney'),
        wrong("run.yaml", "metric: token_f1, output: f1,", "metric: token_f1, output: F,"),
        wrong("run.yaml", "'NOT regexp(\"(?i)\\bsydney\\b\")'", '\'NOT ("Sydney" OR "sydney"\''),
    ),
}


def written(page: str, folder: Path) -> None:
    """The files of a page as they are at its end."""
    for block in blocks(page):
        if block.path is not None:
            (folder / block.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.path).write_text(block.text, encoding="utf-8")
        elif block.language == "python" and not block.not_run:
            (folder / "block.py").write_text(block.text, encoding="utf-8")
            assert shell(folder, "python block.py").returncode == 0


def test_every_page_is_tested() -> None:
    assert {path.stem for path in (ROOT / "docs/start").glob("*.md")} == set(MISTAKES)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_messages_of_a_page_are_what_is_said(name: str, tmp_path: Path) -> None:
    page = f"docs/start/{name}.md"
    assert "## Frequent mistakes" in text_of(page)
    shown = blocks(page, "text")
    assert len(shown) == len(MISTAKES[name]) == 5
    (tmp_path / "right").mkdir()
    written(page, tmp_path / "right")
    for number, (mistake, block) in enumerate(zip(MISTAKES[name], shown, strict=True)):
        folder = tmp_path / str(number)
        shutil.copytree(tmp_path / "right", folder, ignore=shutil.ignore_patterns(".bin"))
        for path, old, new in mistake.edits:
            file = folder / path
            text = file.read_text(encoding="utf-8") if old else ""
            assert old in text, (path, old)
            file.write_text(text.replace(old, new) if old else new, encoding="utf-8")
        done = shell(folder, mistake.command)
        assert done.returncode == mistake.code, (mistake, done.stdout, done.stderr)
        said = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        for line in block.text.splitlines():
            assert line in said, (page, line, said)
