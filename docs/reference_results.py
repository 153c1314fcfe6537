"""The records of a result in; the page that describes every file of a run out.

Types come from the schema of results.json, meanings from the docstrings of the records that fill
it. Here stands what introduces them, and what those leave to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from docs.reference_words import WORDS, Schema, either, listed, one, table, told
from valor_cli.reports.csv_rows import COLUMNS
from valor_cli.reports.writer import EVIDENCE, FILES, RESAMPLES, SAMPLES
from valor_cli.results import (
    FEW,
    STATUSES,
    AgreementResult,
    ComparisonResult,
    CoverageResult,
    CurveResult,
    Document,
    ExampleObject,
    ExampleResult,
    FoundSlice,
    GateResult,
    InputFile,
    InsightResult,
    IntervalsResult,
    MetricAgreement,
    MetricExample,
    MetricResult,
    MetricTable,
    MetricValue,
    Picture,
    ProblemResult,
    PromptUsed,
    ResampledResult,
    RunInfo,
    ShownText,
    SliceSearchResult,
    TableResult,
    UsageResult,
    Verdict,
)
from valor_cli.results.record import Record
from valor_cli.results.schema import added_keys, meanings, results_schema

RESULT_FILES: Sequence[tuple[str, str, str]] = (
    ("`results.json`", "`json`", "everything that reports and comparisons read"),
    ("`samples.jsonl`", "with `json`", "values of single samples, where there are any"),
    ("`resamples.jsonl`", "with `json`", "values at every resample, where there are any"),
    ("`evidence.bin`", "with `json`", "what values rest on, where nothing was resampled"),
    ("`results.csv`", "`csv`", "the values of `results.json` as a table"),
    ("`junit.xml`", "`junit`", "gates and problems as test cases, for CI"),
    ("`report.md`, `report.html`", "`markdown`, `html`", "the report, for people"),
)

FILES_TEXT = """\
Each file is written to a temporary name and renamed, so that a reader never meets half of one. Of
the same inputs, config and version `results.json` is the same to the byte apart from its block
`run`; a judge that replies differently makes other values. `--out - --format json` writes
`results.json` to standard output. `valor report DIR` makes the reports anew from it, `valor
compare A B` holds two of them against each other."""

RESULTS_INTRODUCTION = """\
What `valor evaluate` leaves in the folder `--out DIR`, or `report: {out: …}`, for programs to
read: the files, every key of `results.json`, the exit codes, and what may be relied on. A run owns
the names of these files in its folder: those of an earlier run that it does not write, because
other formats were asked for, are removed once its own are written; no other file is touched."""

READING = """\
## Reading it

```console
$ valor evaluate configs/object_detection.yaml --out reports/nightly --format json,csv,junit
```

The values are rows: one for each metric, output, model, label and slice. This is one of them:

```json
{"metric": "recall", "output": "value", "model": "large", "label": "person", "slice": null,
 "parameters": {"iou_threshold": 0.5, "score_threshold": 0.5, "max_detections": null,
                "average": "macro"},
 "value": 0.6373626373626373, "unit": "fraction", "direction": "higher", "n": 91,
 "interval": [0.5229421696918531, 0.7435548172757475], "undefined": null,
 "method": "bootstrap", "caution": null}
```

So nothing has to be dug out, only filtered. In Python, the standard library is enough:

```python
import json
from pathlib import Path

run = json.loads(Path("reports/nightly/results.json").read_text(encoding="utf-8"))
assert run["schema_version"] == 1

whole = [row for row in run["metrics"] if row["label"] is None and row["slice"] is None]
for metric, output in run["primary"][:3]:
    for row in whole:
        if (row["metric"], row["output"]) == (metric, output):
            print(row["model"], metric, output, row["value"], row["interval"])

failed = [gate for gate in run["gates"] if gate["status"] == "failed"]
print("failed gates:", len(failed))
```

As a table, with pandas for example: `pandas.DataFrame(run["metrics"])`, or
`pandas.read_csv("results.csv")`. The samples that a model does worst at, from `samples.jsonl`:

```python
import json

with open("reports/nightly/samples.jsonl", encoding="utf-8") as lines:
    samples = [json.loads(line) for line in lines]
scored = [
    (one["metrics"]["image_scores"]["value"], one["sample_id"])
    for one in samples
    if one["model"] == "large" and one["metrics"]["image_scores"]["status"] == "ok"
]
print(sorted(scored)[:5])
```

The same with [jq](https://jqlang.org):

<!-- not run -->
```sh
cd reports/nightly
jq '[.gates[] | select(.status == "failed")]' results.json
jq -r '.metrics[] | select(.label == null and .slice == null)
       | [.model, .metric, .output, .value] | @tsv' results.json
jq -r '.metrics[] | select(.metric == "recall" and .label == "person" and .slice == null)
       | "\\(.model) \\(.value)"' results.json
jq -c 'select(.metrics.image_scores.value == 0) | [.model, .sample_id]' samples.jsonl
```"""

CODES: Sequence[tuple[str, str]] = (
    ("0", "done, and all gates passed"),
    ("1", "a gate failed"),
    ("2", "the config, an input or the installation cannot be used; or a bug, with a traceback"),
    (
        "3",
        (
            "incomplete: a gate on `coverage` failed, a judge did not reply, a model is not there, "
            "or a gate could not be checked and none failed"
        ),
    ),
    ("4", "the budget of a judge is spent"),
    ("130", "interrupted (Ctrl-C)"),
    ("143", "terminated (SIGTERM)"),
)

CODES_MORE = """\
Where several hold, a run that was stopped (4, 130, 143) goes before an incomplete one (3), and
that before a failed gate (1): values that too few samples have say little of the gates. A failed
gate goes before one that could not be checked. With several configs it is the largest of their
codes. A run that asks judges, or computes models of this machine, and is stopped writes what it
found, says why in `run.stopped`, and can be continued with `--resume`; one that only reads and
counts writes nothing then.

Other commands keep to the same codes: `valor compare --fail-on-worse` exits with 1 where a
headline value is worse, `valor validate` with 2 where a config cannot be used."""

JSON = """\
`valor schema --results` prints its JSON Schema ([results.schema.json](results.schema.json)); the
tables here are made from it. A value that does not exist is null, with the reason beside it; NaN
and infinity do not occur. Fractions are fractions, never percent. A *scalar* is text, a number,
true, false or null. Keys stand in this order."""

STABILITY = """\
`schema_version` is 1. Within it

- no key is renamed, removed, or given another type or meaning;
- keys may be added, and so may metrics, outputs, values of `kind` and statuses: read what you
  know, and pass over the rest. Keys that were added since the first files of this version are
  marked “added”: an older file may lack them;
- the order of rows in `metrics` is that of the config, and is not a promise: find rows by
  (metric, output, model, label, slice, parameters), which is unique.

Whatever breaks one of these raises `schema_version`. `valor report` and `valor compare` read
files of their own schema version, those of older releases included; a file with keys that they do
not know, of a newer release, is refused."""

SAMPLES_TEXT = """\
A line for each model and sample, models in the order of the run. Metrics that give values of
single samples stand in it: those of text, `image_scores`, `sample_scores`."""

SAMPLE_KEYS: Mapping[str, tuple[str, str]] = {
    "sample_id": ("text or number", "the sample, or image"),
    "model": ("text", "whose answer or prediction it is"),
    "group": (
        "text, number or true or false",
        "the group that the sample belongs to; only where it has one",
    ),
    "texts": (
        "mapping of field to text",
        "what the sample says (`user_input`, `references[0]` …), cut; only of text generation",
    ),
    "metrics": (
        "mapping of metric to record",
        "what each metric found; one asked for twice has two names",
    ),
}

RECORD_KEYS: Mapping[str, tuple[str, str]] = {
    "status": ("text", "what became of the sample, below"),
    "value": ("number or null", "the primary value; null unless the status is ok"),
    "outputs": ("mapping to number or null", "the metric's other values"),
    "reason": ("text or null", "why there is no value, or what else is to be said"),
    "details": (
        "mapping",
        "what the value rests on, as the metric has it; only of metrics that tell any",
    ),
    "calls": (
        "whole number",
        "requests to judges, those asked again included; only of judge metrics",
    ),
    "cached": ("whole number", "how many of them replies kept from before answered; likewise"),
    "replies": ("list of text", "what was replied, in the order of the requests; likewise"),
}

STATUS_TEXTS: Mapping[str, str] = {
    "ok": "it has a value; these alone enter a mean",
    "parse_failure": "no reply of the judge fitted its form",
    "judge_error": "no reply came, or the request was refused as too long or by a filter",
    "missing_input": "the sample lacks a text that the metric needs",
    "not_applicable": "the metric says nothing about such a sample; it does not count for coverage",
    "skipped": "it was not asked: the run stopped before, or the metric has a limit of its own",
    "model_unavailable": "the model that measures it is not on this machine",
}

RESAMPLES_TEXT = """\
Only with `interval:`. A line for each value of the whole data, over all labels, that values of
single samples say nothing of (average precision, BLEU of a corpus): `valor compare` pairs two
runs by it. Two lines, of two models or of two runs, are pairs if `drawn` is the same: the same
images or samples were drawn for both."""

EVIDENCE_TEXT = """\
Only without `interval:`. What the values of each model rest on, image by image or sample by
sample, where values of single samples say nothing of them: from it `valor compare` draws the same
resamples for two runs, and tests AP, precision or IoU without a change of the config. A line with
its name and version, a line of JSON (metrics, ids, the form of the arrays, a checksum), and the
arrays. It is for valor alone, the same to the byte for the same inputs, and read only where it
fits its `results.json`. Detection takes about 15 bytes per detection. It is not written where it
would take more than 256 MiB of memory, and for classification files that are read in pieces."""

CSV_TEXT = """\
A header, then a line for each row of `metrics`, in their order; UTF-8, CRLF, numbers in full
precision. `interval` is two columns, `parameters` one of JSON. An empty cell is a null. Text that
a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a line end)
has an apostrophe in front, control characters are left out: the exact text stands in
`results.json`."""

JUNIT_TEXT = """\
A `testcase` for each gate (class `TASK.gates`), each problem (`TASK.problems`) and the run
(`TASK.run`). A failed gate is a `failure`; a run that is incomplete or was stopped is an `error`;
a gate that was not checked is `skipped`, and so is a problem, with the type `problem.low`,
`.medium`, `.high` or `.unclear`, since it does not fail the run. Names stay the same from run to
run: what was found stands in `message`."""

_MEANINGS: Mapping[str, str] = {
    "metric": "name of the metric",
    "output": "which of its values",
    "model": "the evaluated model",
    "label": "the label; null: all labels together",
    "slice": "the part of the data, as `metadata.camera=front`; null: the whole",
    "parameters": "all parameters that it was computed with, defaults included",
    "value": "the number; null: there is none",
    "unit": "`fraction`, `count`, `nats`, `points` …, as `valor metrics NAME` says",
    "direction": "whether `higher` or `lower` is better; null: neither",
    "n": "what it rests on: ground truths, samples or pixels, as the metric counts",
    "message": "all of it in words",
    "name": "its name",
    "kind": "what it is",
    "reason": "why, in words",
    "sample_ids": "the samples concerned",
    "version": "of the prompt's file",
    "sha256": "SHA-256 of it",
    "score": "the detection's score; null: ground truth",
    "sample_id": "the sample, or image",
    "level": "the confidence level",
    "judge": "whom it was asked",
    "role": "which side it is of",
    "picture": "the image, of tasks with images",
    "searched": "how many parts were held against the rest",
    "status": "`not checked`: the value, or the baseline's, does not exist; `reason` says why",
    "limit": "what the config asks for",
    "file": "as the ground truth names it",
    "width": "in pixels",
    "height": "in pixels",
    "rows": "how many records it has; null: it could not be read to its end",
}
"""What keys mean wherever their record does not say it."""

_OF_RECORDS: Mapping[tuple[type, str], str] = {
    (
        Document,
        "data",
    ): "sizes of what was evaluated: `images`, `samples`, `ground_truths`, `labels` …",
    (Document, "settings"): "how: `matching`, `geometry`, `judge` …; what changes every number",
    (Document, "schema_version"): "of this file; see [stability](#stability)",
    (
        Document,
        "run",
    ): "the record of the run: all that may differ between two runs on the same inputs",
    (Document, "metrics"): "the values",
    (Document, "curves"): "precision along recall and the like, as columns",
    (Document, "tables"): "confusion matrices",
    (Document, "examples"): "single cases behind the counts; bounded in number",
    (Document, "gates"): "the gates, each held against each row that it names",
    (Document, "warnings"): "what was odd, in words",
    (Document, "coverage"): "how many samples each metric could judge",
    (Document, "problems"): "what wants looking at; it does not change the exit code",
    (Document, "insights"): "what is worth knowing, in words",
    (MetricResult, "label"): "the label; null: all labels together",
    (MetricResult, "output"): "which of its values",
    (MetricResult, "interval"): "low and high end, at the level of `intervals`",
    (MetricResult, "undefined"): "why there is no value; beside a value: why it is a stand-in",
    (MetricResult, "method"): "how the interval was found",
    (
        MetricResult,
        "caution",
    ): f"`small_n`: the value rests on fewer than {FEW} samples, images or groups",
    (CurveResult, "points"): "columns of equal length, by name (`score_threshold`, `precision` …)",
    (ExampleResult, "value"): "the sample's own value, where it has one",
    (ExampleResult, "texts"): "the sample's texts, of tasks with texts",
    (ExampleResult, "objects"): "the objects concerned",
    (RunInfo, "valor_version"): "the version of valor",
    (RunInfo, "started_at"): "when it began, ISO 8601",
    (RunInfo, "duration_s"): "how long it took, in seconds",
    (RunInfo, "command"): "as it was called; passwords in URLs masked",
    (RunInfo, "config"): "the config's path, as it was named",
    (RunInfo, "config_sha256"): "SHA-256 of the config's bytes",
    (RunInfo, "inputs"): "the files that were read",
    (RunInfo, "packages"): "versions of Python and of the packages that numbers depend on",
    (RunInfo, "calls"): "requests to judges, all together",
    (RunInfo, "tokens"): "tokens of prompts (`input`) and replies (`output`)",
    (RunInfo, "cost_usd"): "what the judges cost; null: none was asked, or no price is known",
    (RunInfo, "saved_usd"): "what replies kept from before had cost",
    (InputFile, "path"): "as it was opened; passwords and signatures in URLs masked",
    (PromptUsed, "own"): "whether the config brought it",
    (GateResult, "output"): "which of its values; empty of coverage",
    (SliceSearchResult, "metric"): "whose values of single samples were looked at",
    (SliceSearchResult, "found"): "the parts that are clearly worse, worst first",
    (ExampleObject, "label"): "its label",
    (UsageResult, "metric"): "which metric asked",
    (ComparisonResult, "level"): "of the interval; a p below 1 - level is significant",
    (ComparisonResult, "wins"): "samples on which `model` is better",
    (ComparisonResult, "losses"): "samples on which `model` is worse",
    (ComparisonResult, "ties"): "samples on which both are equal",
    (
        ComparisonResult,
        "verdict",
    ): "better or worse where `p_adjusted` (or `p`, where that is null) is below "
    "1 - `level`, by `direction`; not tested where there is no p; else it cannot be told",
    (FoundSlice, "value"): "mean of the values in it",
    (FoundSlice, "rest"): "mean of all others",
    (SliceSearchResult, "output"): "which of its values",
    (SliceSearchResult, "parameters"): "as it was computed with",
    (ShownText, "field"): "`user_input`, `response`, `references[0]`, `judge_replies[0]` …",
    (AgreementResult, "statistic"): "which of the two `coefficient` is",
    (TableResult, "labels"): "names of the rows, which are ground truth, and of the columns",
    (ProblemResult, "severity"): "null: it cannot be told whether the threshold is passed",
    (ComparisonResult, "effect_kind"): "which measure `effect` is",
    (ExampleResult, "verdicts"): "what judges said of it",
    (ProblemResult, "metric"): "name of the metric; null: it is about no single one",
    (ProblemResult, "output"): "which of its values, likewise",
    (InsightResult, "metric"): "name of the metric; null: it is about no single one",
}
"""What one key of a record means, where neither its docstring nor `_MEANINGS` says it."""

_LIKE: Mapping[type, tuple[type, ...]] = {
    TableResult: (MetricTable,),
    AgreementResult: (MetricAgreement,),
    MetricResult: (MetricValue,),
    ExampleResult: (MetricExample,),
}
"""Records that share their keys with others, whose docstrings say what these mean."""

_RECORDS: Mapping[str, type[Record]] = {
    "metrics": MetricResult,
    "gates": GateResult,
    "comparisons": ComparisonResult,
    "searches": SliceSearchResult,
    "searches.found": FoundSlice,
    "coverage": CoverageResult,
    "agreements": AgreementResult,
    "curves": CurveResult,
    "tables": TableResult,
    "examples": ExampleResult,
    "examples.objects": ExampleObject,
    "examples.picture": Picture,
    "examples.texts": ShownText,
    "examples.verdicts": Verdict,
    "problems": ProblemResult,
    "insights": InsightResult,
    "intervals": IntervalsResult,
    "prompts": PromptUsed,
    "run": RunInfo,
    "run.inputs": InputFile,
    "run.usage": UsageResult,
}
"""Where records stand in the file, in the order of the page."""


class _Place(NamedTuple):
    """A record of the file: where it stands, what it is, and its schema."""

    path: str
    record: type[Record]
    schema: Schema


def results_page(generated: str) -> str:
    """docs/results.md: every file of a run, and every key of results.json."""
    whole = results_schema()
    parts = [generated, "# Results", RESULTS_INTRODUCTION]
    parts += [table(["file", "format", "holds"], RESULT_FILES), FILES_TEXT, READING]
    parts += ["## Exit codes", table(["code", "means"], [[f"`{a}`", b] for a, b in CODES])]
    parts += [CODES_MORE, "## results.json", JSON, _fields(_Place("", Document, whole))]
    for place in _places(whole):
        parts += [f"### {place.path}", _introduced(place.record), _fields(place)]
    parts += [f"## {SAMPLES}", SAMPLES_TEXT, _listing(SAMPLE_KEYS)]
    parts += ["A record of `metrics`:", _listing(RECORD_KEYS), "The statuses:"]
    parts += [table(["status", "means"], [[f"`{one}`", STATUS_TEXTS[one]] for one in STATUSES])]
    resamples = [
        [f"`{name}`", _of(ResampledResult, name)] for name in ResampledResult.__struct_fields__
    ]
    parts += [f"## {RESAMPLES}", RESAMPLES_TEXT, table(["key", "meaning"], resamples)]
    parts += [f"## {EVIDENCE}", EVIDENCE_TEXT]
    columns = ", ".join(f"`{name}`" for name in COLUMNS)
    parts += [f"## {FILES['csv']}", CSV_TEXT, f"Its columns: {columns}."]
    parts += [f"## {FILES['junit']}", JUNIT_TEXT, "## Stability", STABILITY]
    return "\n\n".join(parts) + "\n"


def _places(whole: Schema) -> Iterator[_Place]:
    """The records of the file, each with its part of the schema."""
    for path, record in _RECORDS.items():
        schema = whole
        for name in path.split("."):
            schema = _record_of(schema["properties"][name], whole)
        yield _Place(path, record, schema)


def _record_of(shown: Schema, whole: Schema) -> Schema:
    """The schema of the record that a key holds, or each of its items, or null."""
    shown = shown.get("items", shown)
    shown = next((one for one in shown.get("anyOf", ()) if "$ref" in one), shown)
    return whole["$defs"][shown["$ref"].rpartition("/")[2]]


def _introduced(record: type) -> str:
    """The first sentence of a record's docstring, less what it says of other records."""
    first = " ".join((record.__doc__ or "").strip().partition("\n\n")[0].split())
    return _INTRODUCED.get(record) or re.split(r"; see|; columns as", first)[0].rstrip(".") + "."


_INTRODUCED: Mapping[type, str] = {
    AgreementResult: "How far several judges, or several askings of one, say the same.",
    TableResult: "Counts of pairs of labels, ground truth in rows.",
    CurveResult: "Columns of equal length, drawn as lines.",
}


def _fields(place: _Place) -> str:
    added = added_keys(place.record)
    rows = [
        [
            f"`{name}`",
            _result_type(shown, f"{place.path}.{name}".lstrip(".")),
            f"{_of(place.record, name)}{' (added)' if name in added else ''}",
        ]
        for name, shown in place.schema["properties"].items()
    ]
    return table(["key", "type", "meaning"], rows)


def _result_type(shown: Schema, path: str) -> str:
    """The type of a key of results.json; records are links to their sections."""
    link = f"[record](#{path.replace('.', '')})"
    if "$ref" in shown:
        return link
    if "anyOf" in shown:
        return either(_result_type(one, path) for one in shown["anyOf"])
    if "enum" in shown:
        return listed(f"`{json.dumps(one)}`" for one in shown["enum"])
    kinds = shown.get("type", ["anything"])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if _SCALAR.issuperset(kinds) and len(kinds) == len(_SCALAR):
        return "scalar"
    if set(kinds) > _SCALAR:
        return "any JSON"
    return either(_result_kind(kind, shown, path, link) for kind in kinds)


_SCALAR = {"string", "number", "boolean", "null"}


def _result_kind(kind: str, shown: Schema, path: str, link: str) -> str:
    if kind == "array" and "prefixItems" in shown:
        return f"[{', '.join(_result_type(one, '') for one in shown['prefixItems'])}]"
    if kind == "array":
        items = shown["items"]
        if "$ref" in items:
            return f"list of {link.replace('record', 'records')}"
        return f"list of {one(_result_type(items, path))}"
    if kind == "object":
        inner = shown.get("additionalProperties") or {}
        return f"mapping to {one(_result_type(inner, path))}" if inner else "mapping"
    return WORDS.get(kind, kind)


def _of(record: type, name: str) -> str:
    """What a key of a record means: said here, by its docstring, or wherever the key stands.

    Raises:
        KeyError: Nobody says it.
    """
    said = [meanings(one) for one in (record, *_LIKE.get(record, ()))]
    own = {name: _OF_RECORDS[record, name]} if (record, name) in _OF_RECORDS else {}
    found = next((one[name] for one in (own, *said, _MEANINGS) if name in one), None)
    if found is None:
        raise KeyError(f"nothing says what {name} of {record.__name__} means")
    return told(re.sub(r"\bNone\b", "null", found))


def _listing(keys: Mapping[str, tuple[str, str]]) -> str:
    rows = [[f"`{name}`", kind, meaning] for name, (kind, meaning) in keys.items()]
    return table(["key", "type", "meaning"], rows)
