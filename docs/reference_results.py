"""Generate docs/results.md from the records of a result.

Types come from the schema of results.json, meanings from the docstrings of its records;
this module adds the introductions and the meanings that those leave out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from docs.reference_words import WORDS, Schema, either, listed, one, table, told
from valor_cli.reports.files.csv_rows import COLUMNS
from valor_cli.reports.writer import EVIDENCE, FILES, OBJECTS, RESAMPLES, SAMPLES, SLICES
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
    ThresholdUsed,
    UsageResult,
    Verdict,
)
from valor_cli.results.record import Record
from valor_cli.results.schema import added_keys, meanings, results_schema

RESULT_FILES: Sequence[tuple[str, str, str]] = (
    ("`results.json`", "`json`", "everything that reports and comparisons read"),
    ("`samples.jsonl`", "with `json`", "values per sample, if there are any"),
    (
        "`resamples.jsonl`",
        "with `json`",
        "values at every resample: of all data, and of labels by one measure",
    ),
    ("`evidence.bin`", "with `json`", "the evidence behind the values, if nothing was resampled"),
    ("`objects.bin`", "with `json`", "every object of a detection run with its outcome"),
    ("`slices.bin`", "with `json`", "which samples are in which slices, if the config has some"),
    ("`results.csv`", "`csv`", "the values of `results.json` as a table"),
    ("`junit.xml`", "`junit`", "gates and problems as test cases, for CI"),
    ("`report.md`, `report.html`", "`markdown`, `html`", "the report, for people"),
    ("`report_files/`", "with `html`", "what the page reads, where it is not one file: images"),
)

FILES_TEXT = """\
Each file is written under a temporary name and renamed, so a reader never sees half of one. With
the same inputs, config and version, `results.json` is the same to the byte apart from its block
`run`, unless a judge replies differently. `--out - --format json` writes
`results.json` to standard output. `valor report DIR` renders the reports again from it, `valor
compare A B` compares two of them."""

RESULTS_INTRODUCTION = """\
The files that `valor evaluate` writes to `--out DIR`, or `report: {out: …}`, for programs to
read: every key of `results.json`, the exit codes, and what is stable. A run owns
the names of these files in its folder: files of an earlier run in formats not asked for now
are removed once its own are written; no other file is touched."""

READING = """\
## Reading it

```console
$ valor evaluate configs/object_detection.yaml --out reports/nightly --format json,csv,junit
```

The values are rows, one per metric, output, model, label and slice:

```json
{"metric": "recall", "output": "value", "model": "large", "label": "person", "slice": null,
 "parameters": {"iou_threshold": 0.5, "score_threshold": 0.5, "max_detections": null,
                "average": "macro"},
 "value": 0.6373626373626373, "unit": "fraction", "direction": "higher", "n": 91,
 "interval": [0.5229421696918531, 0.7435548172757475], "undefined": null,
 "method": "bootstrap", "caution": null}
```

Rows only need filtering. In Python, the standard library is enough:

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
`pandas.read_csv("results.csv")`. The worst samples of a model, from `samples.jsonl`:

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
    ("0", "done; every gate passed"),
    ("1", "a gate failed"),
    ("2", "the config, an input or the installation is unusable; or a bug, with a traceback"),
    (
        "3",
        (
            "incomplete: a gate on `coverage` failed, a judge did not reply, a model is missing, "
            "or a gate could not be checked and none failed"
        ),
    ),
    ("4", "the budget of a judge is used up"),
    ("130", "interrupted (Ctrl-C)"),
    ("143", "terminated (SIGTERM)"),
)

CODES_MORE = """\
If several apply, a stopped run (4, 130, 143) takes precedence over an incomplete one (3), and
that over a failed gate (1), because gates mean little if too few samples have values. A failed
gate takes precedence over one that could not be checked. With several configs, the exit code is
the largest of their codes. A run with judges or local models that is stopped writes its partial
results, with the reason in `run.stopped`, and can be continued with `--resume`; other runs
write nothing then.

Other commands use the same codes: `valor compare --fail-on-worse` exits with 1 if a
headline value is worse, `valor validate` with 2 if a config is unusable."""

JSON = """\
`valor schema --results` prints its JSON Schema ([results.schema.json](results.schema.json)), from
which these tables are generated. An undefined value is null, with the reason; NaN
and infinity do not occur. Fractions are never percent. A *scalar* is text, a number,
true, false or null. The keys, in file order:"""

STABILITY = """\
`schema_version` is 1. Within it

- no key is renamed, removed, or given another type or meaning;
- keys may be added, and so may metrics, outputs, values of `kind` and statuses: ignore those you
  do not know. Keys added since the first files of this version are
  marked “added”: they may be missing from older files;
- the order of rows in `metrics` is that of the config, and is not guaranteed: find rows by
  (metric, output, model, label, slice, parameters), which is unique.

Any other change raises `schema_version`. `valor report` and `valor compare` read
files of their own schema version, including those of older releases; a file with unknown keys, from
a newer release, is refused."""

SAMPLES_TEXT = """\
A line per model and sample, models in the order of the run. It has the metrics with values per
sample: text metrics, `image_scores`, `sample_scores`."""

SAMPLE_KEYS: Mapping[str, tuple[str, str]] = {
    "sample_id": ("text or number", "the sample, or image"),
    "model": ("text", "the model whose answer or prediction it is"),
    "group": (
        "text, number or true or false",
        "the group that the sample belongs to, if any",
    ),
    "texts": (
        "mapping of field to text",
        "its texts (`user_input`, `retrieved_contexts[0]` …), truncated; only for text generation",
    ),
    "metrics": (
        "mapping of metric to record",
        "each metric's result; a metric listed twice has two names",
    ),
}

RECORD_KEYS: Mapping[str, tuple[str, str]] = {
    "status": ("text", "the outcome for the sample, see below"),
    "value": ("number or null", "the primary value; null unless the status is ok"),
    "outputs": ("mapping to number or null", "the metric's other values"),
    "reason": ("text or null", "why there is no value, or a remark"),
    "details": (
        "mapping",
        "the details behind the value; only for metrics that have any",
    ),
    "calls": (
        "whole number",
        "requests to judges, retries included; only for judge metrics",
    ),
    "cached": ("whole number", "how many of them were answered from the cache; likewise"),
    "replies": ("list of text", "the replies, in the order of the requests; likewise"),
    "prompts": ("list of text", "what was asked for each reply; only with `keep_prompts: true`"),
}

STATUS_TEXTS: Mapping[str, str] = {
    "ok": "it has a value; only these are included in means",
    "parse_failure": "no valid reply of the judge",
    "judge_error": "no reply, or the request was refused as too long or by a filter",
    "missing_input": "a text that the metric needs is missing",
    "not_applicable": "the metric does not apply to the sample; it does not count for coverage",
    "skipped": "not asked: the run stopped before, or the metric has a limit",
    "model_unavailable": "the local model that it needs is missing",
}

RESAMPLES_TEXT = """\
Only with `interval:`. A line for each value over all data and labels that does not exist per
sample (average precision, corpus BLEU), which `valor compare` uses to pair two
runs. Two lines, of two models or of two runs, are paired if `drawn` is the same: the same
images or samples were drawn for both."""

EVIDENCE_TEXT = """\
Only without `interval:`. The evidence behind each model's values, by image or sample, for values
that do not exist per sample: `valor compare` draws the same
resamples from it for two runs, and tests AP, precision or IoU without a change to the config. A
line with its name and version, a line of JSON (metrics, ids, array layout, a checksum), and the
arrays. The format is internal to valor, the same to the byte for the same inputs, and read only
with its own `results.json`. Detection takes about 15 bytes per detection. It is not written if it
would take more than 256 MiB of memory, or for classification files that are read in pieces."""

SLICES_TEXT = """\
Only with `slices:` of columns, listed or found by the search. For each model a bit for every slice
and sample: the HTML report lists the samples of a slice by it, `valor report DIR --list failed
--slice NAME` prints them. The file is internal to valor, like evidence.bin, the same to the byte
for the same inputs. A model's bits take 8 MiB at most; slices beyond that are left out."""

OBJECTS_TEXT = """\
Only where boxes, polygons or masks are matched. For each model every ground truth and every
detection, with its box, and for detections the score, the outcome (true positive, a kind of
error as TIDE has them, or ignored), the matched or nearest ground truth, and the IoU, at one IoU
threshold: that of the first metric of the config that names one, else 0.5. `valor report DIR
--list fp --format json` prints them; the file itself is internal to valor, like evidence.bin, the
same to the byte for the same inputs. It takes about 30 bytes per detection, and is not written for
more than 8 million detections of a model. Of masks, polygons and rotated boxes it has outlines to
half a pixel: those of the first 5,000 ground truths and the 5,000 best detections of a model."""

CSV_TEXT = """\
A header, then a line per row of `metrics`, in the same order; UTF-8, CRLF, numbers in full
precision. `interval` is two columns, `parameters` one of JSON. An empty cell is null. Text that
a spreadsheet would take for a formula (starting with `=`, `+`, `-`, `@`, a tab or a line end)
is prefixed with an apostrophe, and control characters are removed: the exact text is in
`results.json`."""

JUNIT_TEXT = """\
A `testcase` for each gate (class `TASK.gates`), each problem (`TASK.problems`) and the run
(`TASK.run`). A failed gate is a `failure`; an incomplete or stopped run is an `error`;
a gate that was not checked is `skipped`, and so is a problem, with the type `problem.low`,
`.medium`, `.high` or `.unclear`, since it does not fail the run. Names are stable from run to
run; details are in `message`."""

_MEANINGS: Mapping[str, str] = {
    "metric": "name of the metric",
    "output": "which of its values",
    "model": "the evaluated model",
    "label": "the label; null: all labels together",
    "slice": "the part of the data, such as `metadata.camera=front`; null: all data",
    "parameters": "all parameters, defaults included",
    "value": "the number; null: undefined",
    "unit": "`fraction`, `count`, `nats`, `points` …, as `valor metrics NAME` says",
    "direction": "whether `higher` or `lower` is better; null: neither",
    "n": "number of ground truths, samples or pixels behind it, as the metric counts",
    "message": "the whole record in words",
    "name": "its name",
    "kind": "what it is",
    "reason": "why, in words",
    "sample_ids": "the samples concerned",
    "version": "of the prompt's file",
    "sha256": "SHA-256 of it",
    "score": "the detection's score; null: ground truth",
    "sample_id": "the sample, or image",
    "level": "the confidence level",
    "judge": "the judge that was asked",
    "role": "its side",
    "picture": "the image, for tasks with images",
    "searched": "number of parts searched",
    "status": "`not checked`: the value, or the baseline's, is undefined; `reason` says why",
    "limit": "the limit in the config",
    "file": "its name in the ground truth",
    "width": "in pixels",
    "height": "in pixels",
    "rows": "number of records; null: it could not be read to the end",
}
"""The meaning of keys that their record does not describe."""

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
    (MetricResult, "interval"): "lower and upper end, at the level of `intervals`",
    (MetricResult, "undefined"): "why there is no value; with a value: why it is a substitute",
    (MetricResult, "method"): "the method of the interval",
    (
        MetricResult,
        "caution",
    ): f"`small_n`: the value is based on fewer than {FEW} samples, images or groups",
    (CurveResult, "points"): "columns of equal length, by name (`score_threshold`, `precision` …)",
    (ExampleResult, "value"): "the sample's own value, if any",
    (ExampleResult, "texts"): "the sample's texts, for tasks with texts",
    (ExampleResult, "objects"): "the objects concerned",
    (RunInfo, "valor_version"): "the version of valor",
    (RunInfo, "started_at"): "when it began, ISO 8601",
    (RunInfo, "duration_s"): "duration in seconds",
    (RunInfo, "command"): "the command line; passwords in URLs masked",
    (RunInfo, "config"): "the config's path, as given",
    (RunInfo, "config_sha256"): "SHA-256 of the config's bytes",
    (RunInfo, "inputs"): "the files that were read",
    (RunInfo, "packages"): "versions of Python and of the packages that numbers depend on",
    (RunInfo, "calls"): "total requests to judges",
    (RunInfo, "tokens"): "tokens of prompts (`input`) and replies (`output`)",
    (RunInfo, "cost_usd"): "cost of the judges; null: none was asked, or no price is known",
    (RunInfo, "saved_usd"): "original cost of the cached replies",
    (InputFile, "path"): "its path, as opened; passwords and signatures in URLs masked",
    (PromptUsed, "own"): "whether it is from the config",
    (GateResult, "output"): "which of its values; empty of coverage",
    (SliceSearchResult, "metric"): "whose values of single samples were looked at",
    (SliceSearchResult, "found"): "the parts that are clearly worse, worst first",
    (ExampleObject, "label"): "its label",
    (UsageResult, "metric"): "the metric that asked; `embeddings` for an embedder",
    (ComparisonResult, "level"): "of the interval; a p below 1 - level is significant",
    (ComparisonResult, "wins"): "samples on which `model` is better",
    (ComparisonResult, "losses"): "samples on which `model` is worse",
    (ComparisonResult, "ties"): "samples on which both are equal",
    (
        ComparisonResult,
        "verdict",
    ): "better or worse if `p_adjusted` (or `p`, if that is null) is below "
    "1 - `level`, by `direction`; not tested if there is no p; else cannot tell",
    (FoundSlice, "value"): "mean of the values in it",
    (FoundSlice, "rest"): "mean of all others",
    (SliceSearchResult, "output"): "which of its values",
    (SliceSearchResult, "parameters"): "the metric's parameters",
    (ShownText, "field"): "`user_input`, `response`, `references[0]`, `judge_replies[0]` …",
    (AgreementResult, "statistic"): "which statistic `coefficient` is",
    (TableResult, "labels"): "names of the rows, which are ground truth, and of the columns",
    (ProblemResult, "severity"): "null: the interval contains the threshold, so it is undecided",
    (ComparisonResult, "effect_kind"): "which effect size `effect` is",
    (ExampleResult, "verdicts"): "the judges' verdicts on it",
    (ProblemResult, "metric"): "name of the metric; null: no single one",
    (ProblemResult, "output"): "which of its values, likewise",
    (InsightResult, "metric"): "name of the metric; null: no single one",
}
"""The meaning of a record's key, if neither its docstring nor `_MEANINGS` has it."""

_LIKE: Mapping[type, tuple[type, ...]] = {
    TableResult: (MetricTable,),
    AgreementResult: (MetricAgreement,),
    MetricResult: (MetricValue,),
    ExampleResult: (MetricExample,),
}
"""Records that share keys with others, whose docstrings describe them."""

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
    "run.thresholds": ThresholdUsed,
}
"""The paths of records in the file, in the order of the page."""


class _Place(NamedTuple):
    """A record of the file: its path, its class and its schema."""

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
    parts += [f"## {OBJECTS}", OBJECTS_TEXT]
    parts += [f"## {SLICES}", SLICES_TEXT]
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
    """The first sentence of a record's docstring, without references to other records."""
    first = " ".join((record.__doc__ or "").strip().partition("\n\n")[0].split())
    return _INTRODUCED.get(record) or re.split(r"; see|; columns as", first)[0].rstrip(".") + "."


_INTRODUCED: Mapping[type, str] = {
    AgreementResult: "Agreement of several judges, or of repeated calls of one.",
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
    """The meaning of a record's key: given here, in its docstring, or for every record.

    Raises:
        KeyError: It is described nowhere.
    """
    said = [meanings(one) for one in (record, *_LIKE.get(record, ()))]
    own = {name: _OF_RECORDS[record, name]} if (record, name) in _OF_RECORDS else {}
    found = next((one[name] for one in (own, *said, _MEANINGS) if name in one), None)
    if found is None:
        raise KeyError(f"{name} of {record.__name__} is described nowhere")
    return told(re.sub(r"\bNone\b", "null", found))


def _listing(keys: Mapping[str, tuple[str, str]]) -> str:
    rows = [[f"`{name}`", kind, meaning] for name, (kind, meaning) in keys.items()]
    return table(["key", "type", "meaning"], rows)
