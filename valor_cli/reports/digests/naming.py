"""Names of measures, with the parameters that distinguish them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from valor_cli.reports.digests.formatting import clean, parameter
from valor_cli.results import MetricResult, Parameters, ParameterValue
from valor_cli.results.identity import Kind, frozen

LABEL_KEY = "label_key"
"""The parameter that says which of a sample's labels a row is about; its value says enough."""

FOLLOWING = ("layer", "splitter", "reduction", "model_sha256")
"""Parameters that mostly follow from others, the name of a model above all: told last of all."""


SHORT = {
    "average_precision": "AP@{iou_threshold}",
    "average_precision_over_ious": "AP@{iou_thresholds}",
    "average_recall": "AR@{max_detections}",
    "bertscore": "BERTScore {output}",
    "best_f1": "best F1: {output}",
    "bleu": "BLEU",
    "bleu_1": "BLEU-1",
    "bleu_2": "BLEU-2",
    "bleu_3": "BLEU-3",
    "boundary_iou": "boundary IoU",
    "chrf": "chrF",
    "coco": "{output}",
    "coco_keypoints": "keypoint {output}",
    "cohen_kappa": "Cohen's kappa",
    "context_mrr": "MRR",
    "corpus_bleu": "corpus BLEU",
    "custom_judge": "{name} {output}",
    "error_breakdown": "{output}",
    "expected_calibration_error": "ECE",
    "f1": "F1",
    "frequency_weighted_iou": "fwIoU",
    "image_scores": "{output} per image",
    "iou": "IoU",
    "lvis": "LVIS {output}",
    "matthews_corrcoef": "MCC",
    "mean_average_precision": "mAP@{iou_threshold}",
    "mean_average_precision_over_ious": "mAP@{iou_thresholds}",
    "mean_average_recall": "mAR",
    "mean_iou": "mIoU",
    "mean_roc_auc": "mean ROC AUC",
    "panoptic_quality": "{output}",
    "roc_auc": "ROC AUC",
    "rouge_1": "ROUGE-1 {output}",
    "rouge_2": "ROUGE-2 {output}",
    "rouge_l": "ROUGE-L {output}",
    "rouge_lsum": "ROUGE-Lsum {output}",
    "ter": "TER",
}
"""What tables call a metric, as the field does: with its output, and parameters that the name has.
Others have their own names."""

NAME, UNNAMED = "name", "custom"
"""The parameter that names a judge of the user's own, and its value where none is given."""

PASS = "pass"  # noqa: S105
"""The output of metrics that pass or fail."""

OUTPUTS = {"f1": "F1", "value": ""}
"""Outputs as names have them."""


class Names:
    """Names of measures, with parameters where they distinguish siblings.

    Those that differ, but not in what is shown of long parameters, are numbered.
    """

    def __init__(self, sets: Iterable[tuple[str, Parameters]]) -> None:
        seen: dict[str, dict[Kind, Parameters]] = {}
        for metric, parameters in sets:
            seen.setdefault(metric, {}).setdefault(frozen(parameters), parameters)
        self._varying = {metric: _telling(list(kinds)) for metric, kinds in seen.items()}
        self._numbers: dict[tuple[str, Kind], int] = {}
        for metric, kinds in seen.items():
            alike: dict[tuple[str, str], list[Kind]] = {}
            for kind, parameters in kinds.items():
                named = short_name(metric, "value", parameters)
                alike.setdefault((named, self._told(metric, parameters)), []).append(kind)
            for (_, told), group in alike.items():
                if told and len(group) > 1:
                    numbered = enumerate(group, start=1)
                    self._numbers |= {(metric, kind): number for number, kind in numbered}

    def detail(self, metric: str, parameters: Parameters) -> str:
        """The parameters that distinguish this measure from the metric's others."""
        told = self._told(metric, parameters)
        if not self._numbers:
            return told
        number = self._numbers.get((metric, frozen(parameters)))
        return told if number is None else f"{told} #{number}"

    def title(self, metric: str, output: str, parameters: Parameters) -> str:
        """Name and parameters: "ROUGE-L F1 (stemmer=true)"."""
        name, detail = short_name(metric, output, parameters), self.detail(metric, parameters)
        return f"{name} ({detail})" if detail else name

    def _told(self, metric: str, parameters: Parameters) -> str:
        varying = self._varying.get(metric, frozenset())
        return ", ".join(
            parameter(value) if name == LABEL_KEY else f"{clean(name, 40)}={parameter(value)}"
            for name, value in parameters.items()
            if name in varying and f"{{{name}}}" not in SHORT.get(metric, "")
        )


def output_name(metric: str, output: str) -> str:
    """A metric's name, with its output's name if it has one."""
    return metric if output in ("value", "") else f"{metric} {output}"


def short_name(metric: str, output: str, parameters: Parameters) -> str:
    """A measure's name in a table: "mAP@0.50", "mAP@[.50:.95]", "ROUGE-L F1".

    Where a parameter of the name is not given, the metric has its own.
    """
    template = SHORT.get(metric)
    # Of all outputs together a name that begins with the output would say nothing.
    if template is None or (not output and template.startswith("{output}")):
        return clean(output_name(metric, output))
    if parameters.get(NAME) == UNNAMED:
        return clean(output_name(metric, output))
    values = {name: _in_name(value) for name, value in parameters.items()}
    values["output"] = OUTPUTS.get(output, output.replace("_", " "))
    try:
        name = template.format_map(values).strip()
    except KeyError:
        return clean(output_name(metric, output))
    # Further outputs of a metric that is named by its only one are told apart.
    apart = output not in ("value", "") and "{output}" not in template
    return clean(f"{name} {values['output']}" if apart else name)


def _in_name(value: object) -> str:
    """0.50, [.50:.95] and 100."""
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, list | tuple) and all(isinstance(one, float) for one in value) and value:
        ends = [f"{one:.2f}".removeprefix("0") for one in (value[0], value[-1])]
        return f"[{':'.join(ends)}]" if len(value) > 1 else f"{value[0]:.2f}"
    return str(value)


def _telling(kinds: Sequence[Kind]) -> frozenset[str]:
    """Parameters in which siblings differ, without redundant ones; their own names suffice."""
    own = {value for kind in kinds for name, value in kind if name == NAME}
    if len(own) == len(kinds) > 1:
        return frozenset({NAME})
    varying = _varying(kinds)
    kept = varying.difference(FOLLOWING)
    most = len({_cut(kind, varying) for kind in kinds})
    for name in FOLLOWING:
        if len({_cut(kind, kept) for kind in kinds}) == most:
            break
        kept |= varying & {name}
    return kept


def _cut(kind: Kind, names: frozenset[str]) -> Kind:
    return tuple(one for one in kind if one[0] in names)


def _varying(kinds: Sequence[Kind]) -> frozenset[str]:
    names = {name for kind in kinds for name, _ in kind}
    tables = [dict(kind) for kind in kinds]
    missing = object()
    seen = {name: {table.get(name, missing) for table in tables} for name in names}
    if LABEL_KEY in seen:
        seen[LABEL_KEY].discard(missing)  # what has no key needs none to be told apart
    return frozenset(name for name, values in seen.items() if len(values) > 1)


THRESHOLD = "score_threshold"
BY_LABEL = "by label"
"""Shown in place of one threshold per label."""


class LabelRows:
    """Per-label rows of a table, one line per label and label key.

    A label's key goes from the parameters into its name, and where every label has a threshold of
    its own, they make one column and not a column for each threshold.
    """

    def __init__(self, rows: Iterable[MetricResult]) -> None:
        self._keys: set[object] = set()
        thresholds: dict[object, set[object]] = {}
        labels: dict[object, set[object]] = {}
        repeated: set[object] = set()
        for row in rows:
            self._keys.add(row.parameters.get(LABEL_KEY))
            if row.label is None or THRESHOLD not in row.parameters:
                continue
            column = _column(row.metric, row.output, row.parameters)
            label = (row.label, row.slice, row.model, row.parameters.get(LABEL_KEY))
            thresholds.setdefault(column, set()).add(frozen({"": row.parameters[THRESHOLD]}))
            if label in labels.setdefault(column, set()):
                repeated.add(column)
            labels[column].add(label)
        self._merged = {
            column
            for column, values in thresholds.items()
            if len(values) > 1 and column not in repeated
        }

    def place(
        self, metric: str, output: str, label: str | None, parameters: Parameters
    ) -> tuple[str | None, Parameters]:
        """The label's name in the table and the parameters of its column."""
        if label is None:
            return None, parameters
        key = parameters.get(LABEL_KEY) if len(self._keys) > 1 else None
        name = label if key is None else f"{key}: {label}"
        rest: Mapping[str, ParameterValue] = {
            given: value for given, value in parameters.items() if given != LABEL_KEY
        }
        if self._merged and _column(metric, output, parameters) in self._merged:
            rest = {**rest, THRESHOLD: BY_LABEL}
        return name, rest

    def placed(self, row: MetricResult) -> MetricResult:
        """The row as named in the table."""
        if row.label is None:
            return row
        label, parameters = self.place(row.metric, row.output, row.label, row.parameters)
        return replace(row, label=label, parameters=parameters)


def _column(metric: str, output: str, parameters: Parameters) -> object:
    rest = {name: value for name, value in parameters.items() if name not in (THRESHOLD, LABEL_KEY)}
    return metric, output, frozen(rest)
