"""Texts that are read and evaluated in pieces give what texts that are loaded whole do."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import DataError
from valor_cli.evaluators.text_generation.range_context import Pick
from valor_cli.pipeline import streaming
from valor_cli.pipeline.piece_size import PIECE_BYTES
from valor_cli.pipeline.plan import make_plan
from valor_cli.pipeline.run import evaluate
from valor_cli.reports.files import resamples_jsonl
from valor_cli.reports.files.samples_jsonl import jsonl_blocks
from valor_cli.results import RunResult
from valor_cli.results.document import to_json


@pytest.mark.parametrize(
    ("low", "high", "listed", "following"),
    [
        # Rows 4, 7 and 9 at the places 1, 3 and 6; rows 10 to 13 at the places from 5.
        (3, 7, ([7, 9], [3, 6]), ([10, 11], [5, 6])),
        (6, 8, ([9], [6]), ([11, 12], [6, 7])),
        (4, 5, None, None),
    ],
)
def test_rows_between_places(low: int, high: int, listed: Any, following: Any) -> None:
    picks = (
        Pick(0, "m", np.array([4, 7, 9]), np.array([1, 3, 6])),
        Pick(0, "m", (10, 14), 5),
    )
    for pick, expected in zip(picks, (listed, following), strict=True):
        found = pick.between(low, high)
        if found is None:
            assert expected is None
            continue
        rows = [*range(*found.rows)] if isinstance(found.rows, tuple) else found.rows.tolist()
        assert (rows, found.every_place.tolist()) == expected


METRICS = """\
metrics: [rouge_l, bleu, exact_match, token_f1, corpus_bleu, chrf, pii_leakage, looping]
"""

WORDS = [
    "the",
    "a",
    "river",
    "runs",
    "slow",
    "and",
    "cold",
    "under",
    "old",
    "stone",
    "bridges",
    "where",
    "nobody",
    "fishes",
    "now",
    "é",
    "ß",
]

SIZES = (400, 5000)
"""Bytes of a piece: less than most rows, and those of several rows."""

Row = dict[str, Any]


def sentence(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(1, 30))).capitalize() + "."


def row(draw: random.Random, number: int) -> Row:
    """A sample with some of all that samples can have."""
    made: Row = {
        "sample_id": f"s{number:03d}",
        "question": sentence(draw),
        "kind": "ab"[number % 2],
    }
    reference = sentence(draw)
    if draw.random() < 0.9:
        made["response"] = reference if draw.random() < 0.2 else sentence(draw)
    if draw.random() < 0.1:
        made["response"] = "Write to jane.doe@example.com, card 4111 1111 1111 1111. " * 2
    if draw.random() < 0.9:
        made["references"] = [reference, sentence(draw)][: draw.randint(1, 2)]
    if draw.random() < 0.3:
        made["contexts"] = [sentence(draw) for _ in range(draw.randint(0, 2))]
    made["latency_s"] = draw.random() * 1e3
    made["cost"] = draw.random()
    return made


def rows(count: int, seed: int = 7) -> list[Row]:
    draw = random.Random(seed)
    return [row(draw, number) for number in range(count)]


def written(path: Path, found: Sequence[Row]) -> None:
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found)
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


class Runs:
    """Runs of one config, whole and in pieces."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.streamed: list[bool] = []
        self._patch = monkeypatch
        whole = streaming.streamed

        def noted(*arguments: Any, **named: Any) -> Any:
            self.streamed.append(False)
            found = whole(*arguments, **named)
            self.streamed[-1] = True
            return found

        monkeypatch.setattr(streaming, "streamed", noted)

    def run(self, config: str, *, piece: int | None, limit: int | None = None) -> RunResult:
        path = self.folder / "run.yaml"
        path.write_text("task: text_generation\n" + config)
        if piece is None:
            self._patch.delenv(PIECE_BYTES, raising=False)
        else:
            self._patch.setenv(PIECE_BYTES, str(piece))
        before = len(self.streamed)
        try:
            return evaluate(make_plan(load_config(path, catalogue)), command="valor", limit=limit)
        finally:
            if len(self.streamed) == before:
                # What is small is loaded whole without asking.
                self.streamed.append(False)

    def same(
        self, config: str, pieces: Sequence[int] = (1200,), *, limit: int | None = None
    ) -> RunResult:
        """The result, which all ways to cut the inputs give; and all are read in pieces."""
        whole = self.run(config, piece=None, limit=limit)
        assert not self.streamed.pop()
        for piece in pieces:
            found = self.run(config, piece=piece, limit=limit)
            assert self.streamed.pop(), piece
            assert told(found) == told(whole), piece
        return whole


def told(result: RunResult) -> Mapping[str, Any]:
    """What the files of a run say, less when it ran."""
    run = replace(result.run, started_at="", duration_s=0.0)
    return {
        "results": json.loads(to_json(replace(result, run=run))),
        "bytes": to_json(replace(result, run=run)),
        "samples": b"".join(jsonl_blocks(result)),
        "resamples": resamples_jsonl.to_jsonl(result),
        "examples": result.examples,
    }


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


def test_one_large_file(runs: Runs) -> None:
    written(runs.folder / "a.jsonl", rows(60))

    result = runs.same("data: {samples: a.jsonl}\n" + METRICS, SIZES)

    assert result.data == {"samples": 60}
    assert "jane.doe" not in b"".join(jsonl_blocks(result)).decode()


def test_shards_of_any_size(runs: Runs) -> None:
    every = rows(60)
    for number, (low, high) in enumerate([(0, 1), (1, 2), (2, 30), (30, 31), (31, 60)]):
        written(runs.folder / f"part-{number}.jsonl{'.gz' * (number % 2)}", every[low:high])

    runs.same('data: {samples: "part-*"}\n' + METRICS, SIZES)


def test_intervals_slices_and_groups(runs: Runs) -> None:
    every = [{**one, "group": f"g{at % 7}"} if at % 5 else one for at, one in enumerate(rows(40))]
    written(runs.folder / "a.jsonl", every)

    runs.same(
        "data: {samples: a.jsonl}\n"
        "metrics: [rouge_l, corpus_bleu]\n"
        "slices: [metadata.kind]\n"
        "interval: {resamples: 10}\n"
        "gates: [{metric: rouge_l, min: 0.01}]\n"
    )


def test_rows_without_ids_are_called_by_their_number(runs: Runs) -> None:
    """Line 4 is blank, which is no row: the third row stands on line 5."""
    every = [{name: one[name] for name in one if name != "sample_id"} for one in rows(30)]
    lines = [json.dumps(one) for one in every]
    lines.insert(2, "")
    (runs.folder / "a-1.jsonl").write_text("\n".join(lines))
    written(runs.folder / "a-2.jsonl", every[:10])

    result = runs.same('data: {samples: "a-*.jsonl"}\nmetrics: [rouge_l]\n')

    assert list(result.samples[0].sample_ids) == [str(number) for number in range(1, 41)]


@pytest.mark.parametrize("limit", [1, 17, 100])
def test_a_limit(runs: Runs, limit: int) -> None:
    written(runs.folder / "a.jsonl", rows(30))

    result = runs.same("data: {samples: a.jsonl}\nmetrics: [rouge_l]\n", limit=limit)

    assert result.data == {"samples": min(limit, 30)}


@pytest.mark.parametrize(
    "keep",
    ["metadata.kind: [b]", "sample_id: [s003, s029]", "metadata.kind: [a]\n  sample_id: [s002]"],
)
def test_a_filter(runs: Runs, keep: str) -> None:
    written(runs.folder / "a.jsonl", rows(30))

    runs.same(f"data: {{samples: a.jsonl}}\nmetrics: [rouge_l]\nfilter:\n  {keep}\n")


def test_other_formats(runs: Runs) -> None:
    every = rows(40)
    lines = ["sample_id,response,references"]
    lines += [f'{one["sample_id"]},"{one.get("response", "")}\n",one' for one in every[:20]]
    (runs.folder / "a-1.csv").write_text("\n".join(lines))
    (runs.folder / "a-2.json").write_text(json.dumps(every[20:]))

    runs.same('data: {samples: "a-*"}\nmetrics: [rouge_l, bleu]\n')


def csv_of(found: Sequence[Row], answer: Callable[[Row], str]) -> str:
    lines = [f'{one["sample_id"]},"{answer(one)}",{one["kind"]}' for one in found]
    return "\n".join(["sample_id,response,references", *lines, ""])


def test_csv_whose_rows_are_lines(runs: Runs) -> None:
    text = csv_of(rows(40), lambda one: one.get("response", "").replace(".", '""'))
    (runs.folder / "a.csv").write_text(text)
    runs.same("data: {samples: a.csv}\nmetrics: [rouge_l, bleu]\n")

    (runs.folder / "a.csv").write_text(text.replace("s027", "s026"))
    with pytest.raises(DataError, match=r"a\.csv:29: the sample 's026' is also on line 28"):
        runs.run("data: {samples: a.csv}\nmetrics: [rouge_l]\n", piece=400)


@pytest.mark.parametrize(
    ("row", "streamed"),
    [
        # A row of two lines: the file is one piece. With quotes in other cells, which are no
        # quoted ones, only who reads the row sees that.
        ('s900,"a\nb",c', True),
        ('s9"00,"a\nb",c"d', False),
        # A row of too many cells may be left out.
        ("s900,a,b,c", False),
    ],
)
def test_csv_whose_rows_are_no_lines(runs: Runs, row: str, *, streamed: bool) -> None:
    text = csv_of(rows(40), lambda one: one.get("response", "")).splitlines()
    text.insert(30, row)
    (runs.folder / "a.csv").write_text("\n".join(text))
    config = "data: {samples: a.csv, on_invalid: skip}\nmetrics: [rouge_l, bleu]\n"
    whole, cut = runs.run(config, piece=None), runs.run(config, piece=400)
    assert told(whole) == told(cut)
    assert runs.streamed[-1] == streamed


def test_links_to_originals(runs: Runs) -> None:
    every = rows(30)
    for at in range(3, 30, 4):
        every[at]["perturbed_from"] = f"s{(at * 7 + 1) % 30:03d}"
    written(runs.folder / "a.jsonl", every)

    runs.same("data: {samples: a.jsonl}\nmetrics: [rouge_l]\n")
    runs.same("data: {samples: a.jsonl}\nmetrics: [rouge_l]\nfilter: {metadata.kind: [a]}\n")


def test_a_link_to_nothing_is_told_with_its_line(runs: Runs) -> None:
    every = rows(30)
    every[25]["perturbed_from"] = "gone"
    written(runs.folder / "a.jsonl", every)
    config = "data: {samples: a.jsonl}\nmetrics: [rouge_l]\n"

    with pytest.raises(DataError, match=r"a\.jsonl:26: perturbed_from"):
        runs.run(config, piece=900)
    warned = runs.same("data: {samples: a.jsonl, on_invalid: skip}\nmetrics: [rouge_l]\n")
    assert any("perturbed_from names no other sample" in one for one in warned.warnings)


def test_models_of_one_file(runs: Runs) -> None:
    """Both answer the same samples, in their own order; one lacks some."""
    draw = random.Random(3)
    first = [{**one, "model": "first"} for one in rows(40)]
    second = [{**one, "model": "second", "response": sentence(draw)} for one in rows(36)]
    draw.shuffle(second)
    both = [one for pair in zip(first, second, strict=False) for one in pair] + first[36:]
    written(runs.folder / "a.jsonl", both)

    result = runs.same("data: {samples: a.jsonl}\n" + METRICS)

    assert result.models == ("first", "second")
    assert any(
        "no response to samples that other models have: 4 of 40" in one for one in result.warnings
    )


def test_files_of_several_models(runs: Runs) -> None:
    """The second file says no references, and asks something else in places."""
    draw = random.Random(4)
    first = rows(40)
    second = [
        {
            "sample_id": one["sample_id"],
            "question": sentence(draw) if at % 9 == 0 else one["question"],
            "response": sentence(draw),
        }
        for at, one in enumerate(rows(45))
    ]
    draw.shuffle(second)
    written(runs.folder / "one.jsonl", first)
    written(runs.folder / "two.jsonl", second)

    config = "data:\n  samples: {one: one.jsonl, two: two.jsonl}\nmetrics: [rouge_l, looping]\n"
    result = runs.same(config + "slices: [metadata.kind]\n")

    assert any("another user_input" in one for one in result.warnings)
    assert any("has no references" in one for one in result.warnings)


def test_models_that_answer_in_another_order(runs: Runs) -> None:
    """What the second says first stands last, so that its lines descend."""
    written(runs.folder / "one.jsonl", rows(30))
    written(runs.folder / "two.jsonl", rows(30)[::-1])

    result = runs.same("data:\n  samples: {one: one.jsonl, two: two.jsonl}\nmetrics: [rouge_l]\n")

    assert {example.model for example in result.examples} == {"one", "two"}


def test_models_with_nothing_in_common(runs: Runs) -> None:
    written(runs.folder / "one.jsonl", rows(30))
    others = [{**one, "sample_id": f"t{one['sample_id']}"} for one in rows(20, seed=8)]
    written(runs.folder / "two.jsonl", others)

    result = runs.same("data:\n  samples: {one: one.jsonl, two: two.jsonl}\nmetrics: [rouge_l]\n")

    assert result.data == {"samples": 50}


def test_labels_of_all_samples(runs: Runs) -> None:
    answers = [
        {"sample_id": f"s{at}", "response": f" l{at % 11}", "references": [f"l{at % 13} "]}
        for at in range(60)
    ]
    written(runs.folder / "a.jsonl", answers)

    runs.same(
        "data: {samples: a.jsonl}\nmetrics: [llm_classification]\nlabel_map: {l12: l1}\n",
        (200, 500),
    )


def test_rows_that_are_left_out(runs: Runs) -> None:
    lines = [json.dumps(one) for one in rows(30)]
    lines[11] = '{"sample_id": "s011", "response": 7'
    (runs.folder / "a.jsonl").write_text("\n".join(lines) + "\n")

    result = runs.same("data: {samples: a.jsonl, on_invalid: skip}\nmetrics: [rouge_l]\n")

    assert any("left out as invalid: 1 of 30 rows" in one for one in result.warnings)
    with pytest.raises(DataError, match=r"a\.jsonl:12: not JSON"):
        runs.run("data: {samples: a.jsonl}\nmetrics: [rouge_l]\n", piece=900)


@pytest.mark.parametrize("piece", [900, None])
def test_a_sample_twice_names_both_places(runs: Runs, piece: int | None) -> None:
    every = rows(30)
    written(runs.folder / "a-1.jsonl", every)
    written(runs.folder / "a-2.jsonl", [{**every[0], "sample_id": "x"}, every[20]])

    with pytest.raises(DataError) as error:
        runs.run('data: {samples: "a-*.jsonl"}\nmetrics: [rouge_l]\n', piece=piece)

    message = str(error.value)
    assert "a-2.jsonl:2: the sample 's020' is also on" in message
    assert "a-1.jsonl:21" in message


def test_a_broken_shard_is_left_out_by_those_who_load_everything(runs: Runs) -> None:
    written(runs.folder / "a-1.jsonl.gz", rows(30))
    broken = runs.folder / "a-2.jsonl.gz"
    written(broken, [{**one, "sample_id": f"t{at}"} for at, one in enumerate(rows(30))])
    broken.write_bytes(broken.read_bytes()[:-30])
    config = 'data: {samples: "a-*", on_invalid: skip}\nmetrics: [rouge_l]\n'

    found = runs.run(config, piece=900)

    assert runs.streamed == [False]
    assert any("left out: 1 of 2 files" in one for one in found.warnings)


def test_what_looks_at_several_samples_has_all_of_them(runs: Runs) -> None:
    written(runs.folder / "a.jsonl", [{**one, "question": "same"} for one in rows(20)])
    config = "data: {samples: a.jsonl}\nmetrics: [self_consistency]\n"

    whole, cut = runs.run(config, piece=None), runs.run(config, piece=900)

    assert runs.streamed == [False, False]
    assert told(cut) == told(whole)


def test_a_column_that_no_row_has(runs: Runs) -> None:
    written(runs.folder / "a.jsonl", [{"id": f"s{at}", "response": "yes"} for at in range(20)])

    with pytest.raises(DataError, match="no row has 'references'"):
        runs.run("data: {samples: a.jsonl}\nmetrics: [rouge_l]\n", piece=100)
    # Default metrics that need it are left out.
    defaults = "data: {samples: a.jsonl}\n"
    assert told(runs.run(defaults, piece=100)) == told(runs.run(defaults, piece=None))
