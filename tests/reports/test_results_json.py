"""results.json: written, read back, refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from tests.oracles.compared import row as compared_row
from tests.reports.judge_runs import JUDGES, MODELS, judge_run, usage
from tests.reports.text_runs import coverage_gate, text_run
from tests.same_bytes import exact
from valor_cli.errors import DataError
from valor_cli.results import (
    Document,
    FoundSlice,
    IntervalsResult,
    RunResult,
    SliceSearchResult,
    TableResult,
)
from valor_cli.results.document import from_json, to_json
from valor_cli.results.schema import results_schema

Build = Callable[..., RunResult]

DOCS = Path(__file__).parents[2] / "docs" / "results.schema.json"


def _changed(run: RunResult, change: Any) -> bytes:
    document = orjson.loads(to_json(run))
    change(document)
    return orjson.dumps(document)


@pytest.mark.parametrize("name", ["two_models", "hostile"])
def test_what_is_written_reads_back_the_same(name: str, request: pytest.FixtureRequest) -> None:
    content = to_json(request.getfixturevalue(name))
    read = from_json(content, "results.json")
    assert to_json(read) == content
    assert from_json(to_json(read), "results.json") == read


def test_findings_read_back_the_same(found: Build) -> None:
    run = found(labels=("cat", "dog", "bear"))
    content = to_json(run)
    read = from_json(content, "results.json")
    assert to_json(read) == content
    assert read.samples == ()  # they stand in samples.jsonl
    assert exact(read.tables) == exact(run.tables)
    assert exact(read.examples) == exact(run.examples)
    assert dict(read.settings) == {"matching": "coco", "geometry": "box"}


def test_parameters_read_back_the_same(two_models: RunResult) -> None:
    row = replace(two_models.metrics[0], parameters={"iou_thresholds": (0.5, 0.75), "k": None})
    run = replace(two_models, metrics=(row,), curves=(), gates=())
    read = from_json(to_json(run), "results.json")
    assert exact(read.metrics) == exact((row,))
    assert exact(read.run) == exact(run.run)
    assert exact(read.missing_prediction_labels) == exact(run.missing_prediction_labels)


def test_numbers_of_labels_and_ratios_read_back_the_same(two_models: RunResult) -> None:
    at = {"score_threshold": {"cat": 0.4, "dog": 0.6}}
    row = replace(two_models.metrics[0], parameters=at)
    table = TableResult(
        "confusion_matrix",
        "small",
        None,
        at,
        ("cat", "dog"),
        ((3, 1), (0, 2)),
        (0, 0),
        (1, 0),
        ((0.6, None), (0.0, 0.5)),
        (0.0, None),
        (0.25, 0.0),
    )
    run = replace(two_models, metrics=(row,), tables=(table,), curves=(), gates=())
    read = from_json(to_json(run), "results.json")
    assert exact((read.metrics, read.tables)) == exact(((row,), (table,)))


def test_a_table_of_an_earlier_version_has_no_ratios(found: Build) -> None:
    run = found(labels=("cat", "dog"))

    def older(document: Any) -> None:
        for table in document["tables"]:
            for name in ("ious", "unmatched_ground_truth_ratios", "unmatched_prediction_ratios"):
                del table[name]

    assert from_json(_changed(run, older), "r.json").tables == from_json(to_json(run), "r").tables


def test_the_schema_of_parameters_has_all_they_may_be() -> None:
    rows = results_schema()["$defs"]["MetricResult"]["properties"]
    values = Draft202012Validator(rows["parameters"]["additionalProperties"])
    for value in (0.5, [0.5, None, "a"], {"cat": 0.4}, None, {"anyOf": [{"type": "null"}]}):
        values.validate(value)


def test_the_file_has_the_contract_s_keys_and_a_row_a_line(two_models: RunResult) -> None:
    content = to_json(two_models)
    document = json.loads(content)
    assert tuple(document) == Document.__struct_fields__
    assert document["run"]["models_used"] == []
    assert document["run"]["cost_usd"] is None
    rows = [line for line in content.splitlines() if line.startswith(b'    {"metric":')]
    kinds = (two_models.metrics, two_models.curves, two_models.gates)
    assert document["tables"] == document["examples"] == []
    assert len(rows) == sum(map(len, kinds))


def test_two_runs_differ_in_the_run_block_only(two_models: RunResult) -> None:
    later = replace(two_models, run=replace(two_models.run, started_at="later", duration_s=9.0))
    pairs = zip(to_json(two_models).splitlines(), to_json(later).splitlines(), strict=True)
    assert [a.split(b":")[0].strip() for a, b in pairs if a != b] == [
        b'"started_at"',
        b'"duration_s"',
    ]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_stops_the_run(two_models: RunResult, bad: float) -> None:
    row, curve, gate = two_models.metrics[0], two_models.curves[0], two_models.gates[0]
    spoiled = (
        replace(two_models, metrics=(replace(row, value=bad),)),
        replace(two_models, metrics=(replace(row, interval=(0.1, bad)),)),
        replace(two_models, metrics=(replace(row, parameters={"iou_thresholds": (0.5, bad)}),)),
        replace(two_models, curves=(replace(curve, points={"recall": [0.0, None, bad]}),)),
        replace(two_models, gates=(replace(gate, value=bad),)),
        replace(two_models, run=replace(two_models.run, duration_s=bad)),
    )
    for run in spoiled:
        with pytest.raises(ValueError, match="NaN or infinity"):
            to_json(run)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_in_findings_stops_the_run(found: Build, bad: float) -> None:
    run = found(("m",), ("cat", "dog"))
    table, example = run.tables[0], run.examples[0]
    thing = example.objects[0]
    ring = {"type": "Polygon", "coordinates": [[[0, 0], [1, bad], [1, 1]]]}
    spoiled = (
        replace(run, tables=[replace(table, parameters={"iou_threshold": bad})]),
        replace(run, tables=[replace(table, parameters={"score_threshold": {"cat": bad}})]),
        replace(run, tables=[replace(table, ious=[[0.5, bad], [None, 1.0]])]),
        replace(run, tables=[replace(table, unmatched_prediction_ratios=[bad, None])]),
        replace(run, examples=[replace(example, value=bad)]),
        replace(run, examples=[replace(example, parameters={"thresholds": (0.5, bad)})]),
        replace(run, examples=[replace(example, objects=[replace(thing, score=bad)])]),
        replace(run, examples=[replace(example, objects=[replace(thing, geometry=ring)])]),
        replace(run, settings={"overlap": bad}),
    )
    for one in spoiled:
        with pytest.raises(ValueError, match="NaN or infinity"):
            to_json(one)


def _geometry(document: Any, value: Any) -> None:
    document["examples"][1]["objects"][0]["geometry"] = value


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d["tables"][0].update(model="other"), "tables.0.model"),
        (lambda d: d["tables"][0]["matrix"].pop(), "tables.0"),
        (lambda d: d["tables"][0]["matrix"][1].append(3), "tables.0"),
        (lambda d: d["tables"][0].update(ious=[[0.5, 1]]), "tables.0"),
        (lambda d: d["tables"][0].update(ious=[[0.5], [1]]), "tables.0"),
        (lambda d: d["tables"][0].update(ious=[[0.5, "1"], [1, 1]]), "tables.0.ious.0.1"),
        (lambda d: d["tables"][0].update(unmatched_prediction_ratios=[None]), "tables.0"),
        (lambda d: d["tables"][0]["unmatched_predictions"].pop(), "tables.0"),
        (lambda d: d["tables"][0]["matrix"][1].insert(0, 0.5), "tables.0.matrix.1.0"),
        (lambda d: d["tables"][0]["matrix"][1].insert(0, True), "tables.0.matrix.1.0"),
        (lambda d: d["examples"][2].update(model="other"), "examples.2.model"),
        (lambda d: d["examples"][2].update(picture={}), "examples.2.picture.file"),
        (
            lambda d: d["examples"][2]["objects"][0].update(role="both"),
            "examples.2.objects.0.role",
        ),
        (lambda d: _geometry(d, {"type": "Box"}), "examples.1.objects.0.geometry"),
        (
            lambda d: _geometry(d, {"type": "Polygon", "coordinates": [[["0", 1]]]}),
            "examples.1.objects.0.geometry",
        ),
        (
            lambda d: _geometry(d, {"type": "MultiPolygon", "coordinates": [[[0, 1]]]}),
            "examples.1.objects.0.geometry",
        ),
        (lambda d: d.pop("settings"), "settings"),
    ],
)
def test_a_misfit_in_findings_is_named_by_its_place(found: Build, change: Any, place: str) -> None:
    with pytest.raises(DataError) as refused:
        from_json(_changed(found(labels=("cat", "dog")), change), "r.json")
    assert refused.value.problems[0].place == f"r.json: {place}"


def test_a_run_of_samples_reads_back_the_same() -> None:
    run = text_run()
    content = to_json(run)
    read = from_json(content, "results.json")
    assert to_json(read) == content
    assert exact(read.coverage) == exact(run.coverage)
    assert exact(read.problems) == exact(run.problems)
    assert exact(read.insights) == exact(run.insights)
    assert exact(read.examples[55].texts) == exact(run.examples[55].texts)
    assert read.examples[55].reason == run.examples[55].reason is not None
    assert from_json(to_json(read), "results.json") == read


def test_parameters_of_any_depth_read_back_the_same() -> None:
    run = text_run(("m",), gates=(coverage_gate("bleu_1", "m", 0.9),))
    schema = {"anyOf": ({"type": ("string", "null")}, {"enum": ((1, 2), None)})}
    row = replace(run.metrics[0], parameters={"schema": schema})
    read = from_json(to_json(replace(run, metrics=(row,))), "results.json")
    assert exact(read.metrics) == exact((row,))


def test_a_file_of_an_earlier_version_has_no_coverage_texts_and_reasons() -> None:
    run = text_run(("m",))

    def older(document: Any) -> None:
        del document["coverage"]
        for example in document["examples"]:
            del example["texts"], example["reason"]

    read = from_json(_changed(run, older), "r.json")
    assert read.coverage == ()
    assert {(one.texts, one.reason) for one in read.examples} == {((), None)}


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_of_samples_stops_the_run(bad: float) -> None:
    run = text_run(("m",))
    covered, problem, insight = run.coverage[0], run.problems[0], run.insights[0]
    deep = {"schema": {"anyOf": [{"minimum": bad}]}}
    spoiled = (
        replace(run, coverage=[replace(covered, coverage=bad)]),
        replace(run, coverage=[replace(covered, parameters=deep)]),
        replace(run, problems=[replace(problem, value=bad)]),
        replace(run, problems=[replace(problem, threshold=bad)]),
        replace(run, insights=[replace(insight, value=bad)]),
        replace(run, metrics=[replace(run.metrics[0], parameters=deep)]),
    )
    for one in spoiled:
        with pytest.raises(ValueError, match="NaN or infinity"):
            to_json(one)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d["coverage"][0].update(model="other"), "coverage.0.model"),
        (lambda d: d["coverage"][0].update(samples=1.5), "coverage.0.samples"),
        (lambda d: d["problems"][0].update(severity="grave"), "problems.0.severity"),
        (lambda d: d["problems"][0].update(kind="other"), "problems.0.kind"),
        (lambda d: d["insights"][0].pop("message"), "insights.0.message"),
        (lambda d: d["examples"][0]["texts"][0].update(text=1), "examples.0.texts.0.text"),
        *(
            (
                lambda d, marks=marks: d["examples"][0]["texts"][1].update(marks=marks),
                f"examples.0.texts.1.marks{at}",
            )
            for marks, at in (
                ([[0, 5]], ".0"),
                ([[0, 5, 1]], ".0.2"),
                ([["0", 5, "x"]], ".0.0"),
                ([[0, 5, "x"], [4, 6, "x"]], ""),
                ([[-1, 5, "x"]], ""),
                ([[5, 1000, "x"]], ""),
            )
        ),
    ],
)
def test_a_misfit_in_samples_is_named_by_its_place(change: Any, place: str) -> None:
    with pytest.raises(DataError) as refused:
        from_json(_changed(text_run(("m",)), change), "r.json")
    assert refused.value.problems[0].place == f"r.json: {place}"


def test_what_judges_took_stands_in_the_run_block_alone() -> None:
    asked = [
        usage("faithfulness", "small", "a", calls=7, cached=2, tokens_in=100, tokens_out=20,
              cost_usd=0.1, saved_usd=0.01),
        usage("custom_judge", "small", "a", calls=3, cached=0, tokens_in=11, tokens_out=2,
              cost_usd=0.2, saved_usd=0.0),
    ]  # fmt: skip
    run = judge_run(usage=asked, stopped="interrupted", stopped_by="interrupted")
    document = json.loads(to_json(run))
    block = document["run"]
    assert block["models_used"] == ["openai/gpt-4o-mini"]
    assert (block["calls"], block["tokens"]) == (10, {"input": 111, "output": 22})
    assert block["cost_usd"] == pytest.approx(0.3)
    assert block["saved_usd"] == 0.01
    assert (block["stopped"], block["stopped_by"]) == ("interrupted", "interrupted")
    assert [row["judge"] for row in block["usage"]] == ["a", "a"]
    cached = [replace(row, cached=row.calls, cost_usd=0.0, tokens_in=0) for row in asked]
    again = json.loads(to_json(judge_run(usage=cached)))
    assert {name for name in document if document[name] != again[name]} == {"run"}


def test_sums_with_an_unknown_part_are_unknown() -> None:
    known = usage("faithfulness", "small", "a")
    run = judge_run(usage=[known, usage("faithfulness", "small", JUDGES[2])])
    block = json.loads(to_json(run))["run"]
    assert block["calls"] == 2 * known.calls
    assert block["tokens"] == {"input": None, "output": None}
    assert block["cost_usd"] is block["saved_usd"] is None
    nobody = json.loads(to_json(judge_run(usage=())))["run"]
    assert (nobody["calls"], nobody["tokens"], nobody["cost_usd"]) == (0, {}, None)


def test_a_run_of_judges_reads_back_the_same() -> None:
    run = judge_run(judges=JUDGES, stopped="the budget is reached", stopped_by="budget")
    content = to_json(run)
    read = from_json(content, "results.json")
    assert to_json(read) == content
    assert exact(read.run) == exact(run.run)
    assert exact(read.agreements) == exact(run.agreements)
    assert exact(read.prompts) == exact(run.prompts)
    assert exact(read.examples) == exact(run.examples)
    rows = [line for line in content.splitlines() if line.startswith(b'      {"metric":')]
    assert len(rows) == len(run.run.usage)


def test_a_file_of_an_earlier_version_has_no_judges() -> None:
    run = judge_run(judges=JUDGES)

    def older(document: Any) -> None:
        del document["agreements"], document["prompts"]
        for name in ("usage", "saved_usd", "stopped", "stopped_by"):
            del document["run"][name]
        document["run"].update(models_used=[], calls=0, tokens={}, cost_usd=None)
        for example in document["examples"]:
            del example["verdicts"]

    read = from_json(_changed(run, older), "r.json")
    assert not any((read.agreements, read.prompts, read.run.usage, read.run.models_used))
    assert (read.run.stopped, read.run.stopped_by) == (None, None)
    assert {one.verdicts for one in read.examples} == {()}


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_of_judges_stops_the_run(bad: float) -> None:
    run = judge_run(judges=JUDGES)
    row, used = run.agreements[0], run.run.usage[0]
    spoiled = (
        *(
            replace(run, agreements=[replace(row, **change)])
            for change in (
                {"agreement": bad},
                {"coefficient": bad},
                {"spread": bad},
                {"values": (0.5, None, bad)},
                {"parameters": {"cut": bad}},
            )
        ),
        replace(run, run=replace(run.run, usage=[replace(used, cost_usd=bad)])),
        replace(run, run=replace(run.run, usage=[replace(used, saved_usd=bad)])),
    )
    for one in spoiled:
        with pytest.raises(ValueError, match=r"(agreements\.0\.\S+|run\.\w+_usd): NaN or infinity"):
            to_json(one)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d["agreements"][1].update(model="other"), "agreements.1.model"),
        (lambda d: d["agreements"][1]["values"].pop(), "agreements.1.values"),
        (lambda d: d["agreements"][1].update(kind="votes"), "agreements.1.kind"),
        (lambda d: d["prompts"][0].update(own="no"), "prompts.0.own"),
        (lambda d: d["run"]["usage"][2].pop("judge"), "run.usage.2.judge"),
        (lambda d: d["run"]["tokens"].update(input=1.5), "run.tokens.input"),
        (
            lambda d: d["examples"][0]["verdicts"][1].update(good="yes"),
            "examples.0.verdicts.1.good",
        ),
    ],
)
def test_a_misfit_of_judges_is_named_by_its_place(change: Any, place: str) -> None:
    with pytest.raises(DataError) as refused:
        from_json(_changed(judge_run(MODELS, JUDGES), change), "r.json")
    assert refused.value.problems[0].place == f"r.json: {place}"


def test_a_file_name_that_is_no_utf8_is_kept_readable(two_models: RunResult) -> None:
    file = replace(two_models.run.inputs[0], path="data/\udcff.json")
    run = replace(two_models, run=replace(two_models.run, inputs=(file,)))
    assert from_json(to_json(run), "x").run.inputs[0].path == "data/?.json"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"", "r.json:1:1"),
        (b'{"schema_version": 1,', "r.json:1:"),
        (b"[]", "r.json"),
        (b"{}", "r.json"),
        (b'{"schema_version": NaN}', "r.json:1:"),
        (b'{"schema_version": 2}', "r.json: schema_version"),
        (b'{"schema_version": true}', "r.json: schema_version"),
    ],
)
def test_what_is_no_results_file_is_refused(content: bytes, place: str) -> None:
    with pytest.raises(DataError) as refused:
        from_json(content, "r.json")
    assert refused.value.problems[0].place.startswith(place)


def _asked(**more: Any) -> dict[str, Any]:
    return {"level": 0.95, "resamples": 9, "seed": 0, "group": None, **more}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d.pop("metrics"), "metrics"),
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d.update(models="small"), "models"),
        (lambda d: d["metrics"][3].update(value="0.5"), "metrics.3.value"),
        (lambda d: d["metrics"][3].update(value=True), "metrics.3.value"),
        (lambda d: d["metrics"][3].update(interval=[0.1]), "metrics.3.interval"),
        (lambda d: d["metrics"][3].update(direction="up"), "metrics.3.direction"),
        (lambda d: d["metrics"][3].update(model="other"), "metrics.3.model"),
        (lambda d: d["metrics"][3].update(parameters=[]), "metrics.3.parameters"),
        (lambda d: d["metrics"].append(None), "metrics.1160"),
        (lambda d: d["curves"][0]["points"]["f1"].pop(), "curves.0.points"),
        (lambda d: d["curves"][0]["points"].update(f1=["x"]), "curves.0.points.f1.0"),
        (lambda d: d["gates"][0].update(status="ok"), "gates.0.status"),
        (lambda d: d["run"].update(inputs=[{}]), "run.inputs.0.path"),
        (lambda d: d["primary"].append(["coco"]), "primary.5"),
        (lambda d: d["data"].update(images=1.5), "data.images"),
        (lambda d: d.update(models=[*d["models"], "small"]), "models"),
        (lambda d: d.update(models=[]), "models"),
        (lambda d: d["gates"][0].update(rule="coverage", value=1e308), "gates.0.value"),
        (lambda d: d.update(intervals=_asked(level=1.0)), "intervals.level"),
        (lambda d: d.update(intervals=_asked(level=-0.5)), "intervals.level"),
        (lambda d: d.update(intervals=_asked(resamples=0)), "intervals.resamples"),
        (lambda d: d.update(intervals=_asked(seed=-1)), "intervals.seed"),
        (lambda d: d.update(intervals=_asked(seed=2**63)), "intervals.seed"),
    ],
)
def test_a_misfit_is_named_by_its_place(two_models: RunResult, change: Any, place: str) -> None:
    with pytest.raises(DataError) as refused:
        from_json(_changed(two_models, change), "r.json")
    assert refused.value.problems[0].place == f"r.json: {place}"


def compared_run(run: RunResult) -> RunResult:
    """A run with intervals, comparisons and the slices that a search found."""
    part = FoundSlice("metadata.camera=rear", 40, 0.25, 0.5, 0.001, 0.02)
    search = SliceSearchResult(
        run.models[0],
        "image_scores",
        "f1",
        {"k": (1, 2)},
        ("metadata.camera",),
        9,
        30,
        0.95,
        (part,),
    )
    return replace(
        run,
        intervals=IntervalsResult(0.95, 1000, 0, "metadata.patient"),
        comparisons=(compared_row("coco", 0.5, 0.4, parameters={"k": (1, 2)}),),
        searches=(search,),
    )


def test_comparisons_and_searches_come_back_as_they_were(found: Build) -> None:
    run = compared_run(found(labels=("cat", "dog", "bear")))
    read = from_json(to_json(run), "results.json")
    assert exact(read.comparisons) == exact(run.comparisons)
    assert exact(read.searches) == exact(run.searches)
    assert read.intervals == run.intervals
    # A file of before has none of these.
    assert from_json(to_json(found(labels=("cat", "dog"))), "results.json").intervals is None


def test_schema_and_published_page_agree() -> None:
    assert json.loads(DOCS.read_text()) == results_schema()


def test_schema_and_output_agree(found: Build) -> None:
    schema = results_schema()
    run = found(labels=("cat", "dog", "bear"))
    runs = (run, text_run(), judge_run(judges=JUDGES), compared_run(run))
    documents = [json.loads(to_json(run)) for run in runs]
    Draft202012Validator.check_schema(schema)
    for document in documents:
        Draft202012Validator(schema).validate(document)
    keys = set().union(*(_keys(document) for document in documents))
    assert keys >= {
        key for record in (schema, *schema["$defs"].values()) for key in record["properties"]
    }


@pytest.mark.parametrize(
    ("record", "key"),
    [("PromptUsed", "own"), ("RunInfo", "calls"), ("InputFile", "skipped"), ("Verdict", "reason")],
)
def test_the_schema_asks_for_keys_that_reading_fills_in(record: str, key: str) -> None:
    assert key in results_schema()["$defs"][record]["required"]


def test_the_schema_asks_for_no_key_that_older_files_do_not_have() -> None:
    schema = results_schema()
    assert "prompts" not in schema["required"]
    assert "usage" not in schema["$defs"]["RunInfo"]["required"]
    assert schema["additionalProperties"] is False


def _keys(value: Any) -> set[str]:
    """The keys that a file has anywhere."""
    if isinstance(value, list):
        return {key for item in value for key in _keys(item)}
    if isinstance(value, dict):
        return {*value, *(key for item in value.values() for key in _keys(item))}
    return set()
