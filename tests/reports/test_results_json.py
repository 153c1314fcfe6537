"""results.json: written, read back, refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from msgspec import Struct
from msgspec.structs import replace

from tests.oracles.compared import row as compared_row
from tests.reports.conftest import attacked, built_with_findings, two
from tests.reports.found_runs import searched
from tests.reports.judge_runs import JUDGES, judge_run, usage
from tests.reports.text_runs import text_run
from tests.same_bytes import exact
from valor_cli.errors import DataError
from valor_cli.results import Document, IntervalsResult, RunResult, TableResult, ThresholdUsed
from valor_cli.results.document import from_json, to_json
from valor_cli.results.schema import results_schema

DOCS = Path(__file__).parents[2] / "docs" / "results.schema.json"
MODELS = ("small", "large")
RATIOS = ("ious", "unmatched_ground_truth_ratios", "unmatched_prediction_ratios")


def whole_run() -> RunResult:
    """Something under each key: three runs in one, with ratios, comparisons and searches."""
    things, texts = built_with_findings(MODELS, ("cat", "dog")), text_run(MODELS)
    judged = judge_run(judges=JUDGES, stopped="the budget is reached", stopped_by="budget")
    at = {"score_threshold": {"cat": 0.4, "dog": 0.6}}
    ratios = (((0.6, None), (0.0, 0.5)), (0.0, None), (0.25, 0.0))
    matrix = (("cat", "dog"), ((3, 1), (0, 2)), (0, 0), (1, 0))
    return replace(
        things,
        metrics=(*things.metrics, *texts.metrics, *judged.metrics),
        tables=(TableResult("confusion_matrix", "small", None, at, *matrix, *ratios),),
        examples=(*things.examples[:3], *texts.examples[55:57], *judged.examples[:1]),
        coverage=texts.coverage,
        problems=texts.problems,
        insights=texts.insights,
        agreements=judged.agreements,
        prompts=judged.prompts,
        gates=(*things.gates, *texts.gates),
        run=replace(
            judged.run,
            inputs=things.run.inputs,
            thresholds=(ThresholdUsed("token_f1", {"k": (1, 2)}, 0.5, given=True),),
        ),
        intervals=IntervalsResult(0.95, 1000, 0, "metadata.patient"),
        comparisons=(compared_row("coco", 0.5, 0.4, parameters={"k": (1, 2)}),),
        searches=(searched("small", "metadata.camera=rear"),),
    )


@pytest.fixture(scope="module")
def whole() -> RunResult:
    return whole_run()


def _refused(run: RunResult, change: Callable[[Any], object]) -> str:
    """The place of the first problem of a file that was changed so."""
    with pytest.raises(DataError) as refused:
        _read(run, change)
    return refused.value.problems[0].place


def _read(run: RunResult, change: Callable[[Any], object]) -> RunResult:
    document = orjson.loads(to_json(run))
    change(document)
    return from_json(orjson.dumps(document), "r.json")


@pytest.mark.parametrize("made", [two, attacked, whole_run])
def test_what_is_written_reads_back_the_same(made: Callable[[], RunResult]) -> None:
    run = made()
    content = to_json(run)
    read = from_json(content, "results.json")
    assert to_json(read) == content
    if made is whole_run:  # attacks hold lone surrogates, which JSON does not
        assert exact(read) == exact(replace(run, samples=()))  # they stand in samples.jsonl
    assert from_json(to_json(read), "results.json") == read


@pytest.mark.parametrize(
    "parameters",
    [
        {"iou_thresholds": (0.5, 0.75), "k": None},
        {"schema": {"anyOf": ({"type": ("string", "null")}, {"enum": ((1, 2), None)})}},
    ],
)
def test_parameters_of_any_depth_read_back_the_same(
    whole: RunResult, parameters: Mapping[str, Any]
) -> None:
    row = replace(whole.metrics[0], parameters=parameters)
    read = from_json(to_json(replace(whole, metrics=(row,), gates=())), "results.json")
    assert exact(read.metrics) == exact((row,))


def test_a_file_of_an_earlier_version_lacks_what_was_added_since(whole: RunResult) -> None:
    def older(document: Any) -> None:
        for name in ("coverage", "agreements", "prompts", "intervals", "comparisons", "searches"):
            del document[name]
        for name in ("usage", "saved_usd", "stopped", "stopped_by"):
            del document["run"][name]
        document["run"].update(models_used=[], calls=0, tokens={}, cost_usd=None)
        for example in document["examples"]:
            del example["verdicts"], example["texts"], example["reason"]
        for table in document["tables"]:
            for name in RATIOS:
                del table[name]

    read = _read(whole, older)
    assert not any((read.coverage, read.agreements, read.prompts, read.comparisons, read.searches))
    assert (read.intervals, read.run.stopped, read.run.stopped_by) == (None, None, None)
    assert not any((read.run.usage, read.run.models_used))
    assert {(one.verdicts, one.texts, one.reason) for one in read.examples} == {((), (), None)}
    assert {getattr(read.tables[0], name) for name in RATIOS} == {None}


def test_the_schema_of_parameters_has_all_they_may_be() -> None:
    rows = results_schema()["$defs"]["MetricResult"]["properties"]
    values = Draft202012Validator(rows["parameters"]["additionalProperties"])
    for value in (0.5, [0.5, None, "a"], {"cat": 0.4}, None, {"anyOf": [{"type": "null"}]}):
        values.validate(value)


def test_the_file_has_the_contract_s_keys_and_a_row_a_line(whole: RunResult) -> None:
    content = to_json(whole)
    assert tuple(json.loads(content)) == Document.__struct_fields__
    kinds = (whole.metrics, whole.curves, whole.gates, whole.tables, whole.examples)
    kinds += (whole.comparisons, whole.coverage, whole.agreements)
    of_run = (whole.run.usage, whole.run.thresholds)
    for indent, count in ((4, sum(map(len, kinds))), (6, sum(map(len, of_run)))):
        start = b" " * indent + b'{"metric":'
        assert sum(line.startswith(start) for line in content.splitlines()) == count
    bare = json.loads(to_json(two()))
    assert bare["run"]["models_used"] == bare["tables"] == bare["examples"] == []
    assert bare["run"]["cost_usd"] is None


def test_two_runs_differ_in_the_run_block_only(two_models: RunResult) -> None:
    later = replace(two_models, run=replace(two_models.run, started_at="later", duration_s=9.0))
    pairs = zip(to_json(two_models).splitlines(), to_json(later).splitlines(), strict=True)
    differing = [a.split(b":")[0].strip() for a, b in pairs if a != b]
    assert differing == [b'"started_at"', b'"duration_s"']


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize(
    ("place", "changed"),
    [
        ("metrics.0.value", lambda bad: bad),
        ("metrics.0.interval.1", lambda bad: (0.1, bad)),
        ("metrics.0.parameters.at.1", lambda bad: {"at": (0.5, bad)}),
        ("metrics.0.parameters.at.anyOf.0.low", lambda bad: {"at": {"anyOf": [{"low": bad}]}}),
        ("curves.0.points.recall.2", lambda bad: {"recall": [0.0, None, bad]}),
        ("gates.0.value", lambda bad: bad),
        ("run.duration_s", lambda bad: bad),
        ("run.usage.0.cost_usd", lambda bad: bad),
        ("run.usage.0.saved_usd", lambda bad: bad),
        ("tables.0.parameters.score_threshold.cat", lambda bad: {"score_threshold": {"cat": bad}}),
        ("tables.0.ious.0.1", lambda bad: [[0.5, bad], [None, 1.0]]),
        ("tables.0.unmatched_prediction_ratios.0", lambda bad: [bad, None]),
        ("examples.0.value", lambda bad: bad),
        ("examples.0.parameters.at.1", lambda bad: {"at": (0.5, bad)}),
        ("examples.0.objects.0.score", lambda bad: bad),
        ("examples.0.objects.0.geometry.coordinates.0", lambda bad: {"coordinates": [bad]}),
        ("settings.overlap", lambda bad: {"overlap": bad}),
        ("coverage.0.coverage", lambda bad: bad),
        ("coverage.0.parameters.at", lambda bad: {"at": bad}),
        ("problems.0.value", lambda bad: bad),
        ("problems.0.threshold", lambda bad: bad),
        ("insights.0.value", lambda bad: bad),
        ("agreements.0.agreement", lambda bad: bad),
        ("agreements.0.coefficient", lambda bad: bad),
        ("agreements.0.spread", lambda bad: bad),
        ("agreements.0.values.2", lambda bad: (0.5, None, bad)),
        ("agreements.0.parameters.cut", lambda bad: {"cut": bad}),
    ],
)
def test_nan_stops_the_run_and_its_place_is_named(
    whole: RunResult, place: str, changed: Callable[[float], object], bad: float
) -> None:
    with pytest.raises(ValueError, match=f"^{place.replace('.', '[.]')}: NaN or infinity"):
        to_json(_changed(whole, place.split("."), changed(bad)))


def _changed(record: Any, steps: list[str], value: object) -> Any:
    """The record with another value of a field, of which the last steps may name a part."""
    name, *rest = steps
    if name == "0":
        return [_changed(record[0], rest, value), *record[1:]]
    inner = getattr(record, name)
    if rest and isinstance(inner[0] if isinstance(inner, Sequence) else inner, Struct):
        value = _changed(inner, rest, value)
    return replace(record, **{name: value})


def _geometry(**value: Any) -> Callable[[Any], object]:
    return lambda d: d["examples"][1]["objects"][0].update(geometry=value)


def _marks(*marks: Any) -> Callable[[Any], object]:
    return lambda d: d["examples"][4]["texts"][1].update(marks=marks)


def _asked(**more: Any) -> Callable[[Any], object]:
    asked = {"level": 0.95, "resamples": 9, "seed": 0, "group": None, **more}
    return lambda d: d.update(intervals=asked)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d.pop("metrics"), "metrics"),
        (lambda d: d.pop("settings"), "settings"),
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d.update(models="small"), "models"),
        (lambda d: d.update(models=[*d["models"], "small"]), "models"),
        (lambda d: d.update(models=[]), "models"),
        (lambda d: d["metrics"][3].update(value="0.5"), "metrics.3.value"),
        (lambda d: d["metrics"][3].update(value=True), "metrics.3.value"),
        (lambda d: d["metrics"][3].update(interval=[0.1]), "metrics.3.interval"),
        (lambda d: d["metrics"][3].update(direction="up"), "metrics.3.direction"),
        (lambda d: d["metrics"][3].update(model="other"), "metrics.3.model"),
        (lambda d: d["metrics"][3].update(parameters=[]), "metrics.3.parameters"),
        (lambda d: d["metrics"].insert(20, None), "metrics.20"),
        (lambda d: d["curves"][0]["points"]["f1"].pop(), "curves.0.points"),
        (lambda d: d["curves"][0]["points"].update(f1=["x"]), "curves.0.points.f1.0"),
        (lambda d: d["gates"][0].update(status="ok"), "gates.0.status"),
        (lambda d: d["gates"][0].update(rule="coverage", value=1e308), "gates.0.value"),
        (lambda d: d["run"].update(inputs=[{}]), "run.inputs.0.path"),
        (lambda d: d["run"]["usage"][2].pop("judge"), "run.usage.2.judge"),
        (lambda d: d["run"]["tokens"].update(input=1.5), "run.tokens.input"),
        (lambda d: d["primary"].append(["coco"]), "primary.5"),
        (lambda d: d["data"].update(images=1.5), "data.images"),
        (_asked(level=1.0), "intervals.level"),
        (_asked(level=-0.5), "intervals.level"),
        (_asked(resamples=0), "intervals.resamples"),
        (_asked(seed=-1), "intervals.seed"),
        (_asked(seed=2**63), "intervals.seed"),
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
        (lambda d: d["examples"][2]["objects"][0].update(role="x"), "examples.2.objects.0.role"),
        (_geometry(type="Box"), "examples.1.objects.0.geometry"),
        (_geometry(type="Polygon", coordinates=[[["0", 1]]]), "examples.1.objects.0.geometry"),
        (_geometry(type="MultiPolygon", coordinates=[[[0, 1]]]), "examples.1.objects.0.geometry"),
        (lambda d: d["examples"][4]["texts"][0].update(text=1), "examples.4.texts.0.text"),
        (_marks([0, 5]), "examples.4.texts.1.marks.0"),
        (_marks([0, 5, 1]), "examples.4.texts.1.marks.0.2"),
        (_marks(["0", 5, "x"]), "examples.4.texts.1.marks.0.0"),
        (_marks([0, 5, "x"], [4, 6, "x"]), "examples.4.texts.1.marks"),
        (_marks([-1, 5, "x"]), "examples.4.texts.1.marks"),
        (_marks([5, 1000, "x"]), "examples.4.texts.1.marks"),
        (lambda d: d["examples"][5]["verdicts"][1].update(good="y"), "examples.5.verdicts.1.good"),
        (lambda d: d["coverage"][0].update(model="other"), "coverage.0.model"),
        (lambda d: d["coverage"][0].update(samples=1.5), "coverage.0.samples"),
        (lambda d: d["problems"][0].update(severity="grave"), "problems.0.severity"),
        (lambda d: d["problems"][0].update(kind="other"), "problems.0.kind"),
        (lambda d: d["insights"][0].pop("message"), "insights.0.message"),
        (lambda d: d["agreements"][1].update(model="other"), "agreements.1.model"),
        (lambda d: d["agreements"][1]["values"].pop(), "agreements.1.values"),
        (lambda d: d["agreements"][1].update(kind="votes"), "agreements.1.kind"),
        (lambda d: d["prompts"][0].update(own="no"), "prompts.0.own"),
    ],
)
def test_a_misfit_is_named_by_its_place(whole: RunResult, change: Any, place: str) -> None:
    assert _refused(whole, change) == f"r.json: {place}"


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


def test_what_judges_took_stands_in_the_run_block_alone() -> None:
    spent = {"tokens_out": 20, "cost_usd": 0.1, "saved_usd": 0.01}
    asked = [
        usage("faithfulness", "small", "a", calls=7, cached=2, tokens_in=100, **spent),
        usage("custom_judge", "small", "a", calls=3, cached=0, tokens_in=11, **spent),
    ]
    document = json.loads(to_json(judge_run(usage=asked)))
    block = document["run"]
    assert block["models_used"] == ["openai/gpt-4o-mini"]
    assert (block["calls"], block["tokens"]) == (10, {"input": 111, "output": 40})
    assert (block["cost_usd"], block["saved_usd"]) == (0.2, 0.02)
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


def test_a_file_name_that_is_no_utf8_is_kept_readable(two_models: RunResult) -> None:
    file = replace(two_models.run.inputs[0], path="data/\udcff.json")
    run = replace(two_models, run=replace(two_models.run, inputs=(file,)))
    assert from_json(to_json(run), "x").run.inputs[0].path == "data/?.json"


def test_schema_published_page_and_output_agree(whole: RunResult) -> None:
    schema = results_schema()
    assert json.loads(DOCS.read_text()) == schema
    Draft202012Validator.check_schema(schema)
    document = json.loads(to_json(whole))
    Draft202012Validator(schema).validate(document)
    assert _keys(document) >= {
        key for record in (schema, *schema["$defs"].values()) for key in record["properties"]
    }


def test_the_schema_asks_for_keys_that_all_files_have() -> None:
    schema = results_schema()
    for record, key in (
        *(("PromptUsed", "own"), ("RunInfo", "calls")),
        *(("InputFile", "skipped"), ("Verdict", "reason")),
    ):
        assert key in schema["$defs"][record]["required"]  # which reading fills in
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
