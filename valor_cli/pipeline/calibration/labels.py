"""Find the human labels of each judge metric: one column, or those of several annotators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.errors import ConfigError, DataError, Problem
from valor_cli.metric import Call
from valor_cli.pipeline.calibration.label_files import Key, LabelFiles, part_of
from valor_cli.pipeline.calibration.scales import is_blank
from valor_cli.results import OWN_SPACE, Scalar

HUMAN = "human_"
"""Prefix of columns with human labels."""

LABEL = "label"
"""What a file of labels of one metric may call its column."""


class Annotator(Struct, frozen=True):
    """What one annotator said.

    Attributes:
        column: Where, for messages.
        by_model: Of the samples of each model in their order; blank where nothing.
    """

    name: str
    column: str
    by_model: Mapping[str, Sequence[Scalar]]


class Labels(Struct, frozen=True):
    """The human labels of a metric; `column` names all of them together."""

    column: str
    annotators: Sequence[Annotator]

    def of(self, model: str) -> Iterator[Scalar]:
        """All labels of the answers of a model."""
        return (label for one in self.annotators for label in one.by_model[model])


class Columns(Struct, frozen=True):
    """Columns that hold the labels of one metric together.

    Attributes:
        called: The column, or the pattern of several.
        annotators: By column; of a single one nobody is named.
    """

    called: str
    annotators: Mapping[str, str]


def columns_of(
    call: Call, calls: Sequence[Call], named: Mapping[str, Sequence[str]], there: Sequence[str]
) -> list[Columns]:
    """Where human labels of a metric may be, likeliest first.

    Args:
        call: The metric.
        calls: All metrics: the column of one is never taken for that of an annotator of another.
        named: Metric, or its name in the config, to the columns or patterns given for it.
        there: The columns that the data have.

    Raises:
        ConfigError: No column fits a pattern.
    """
    asked = asked_for(call, named)
    if asked is not None:
        return [_asked(asked, there)]
    others = [HUMAN + name for one in calls for name in names_of(one)]
    return [one for column in usual_columns(call) for one in called(column, there, others)]


def asked_for(call: Call, named: Mapping[str, Sequence[str]]) -> Sequence[str] | None:
    """The columns or patterns given for a metric; None without any."""
    return next((named[name] for name in names_of(call) if name in named), None)


def usual_columns(call: Call) -> list[str]:
    """Where human labels of a metric are looked for unless a column is given."""
    return [HUMAN + name for name in names_of(call) if not name.startswith(OWN_SPACE)]


def called(column: str, there: Sequence[str], others: Sequence[str] = ()) -> list[Columns]:
    """A column, and those of annotators that are called after it: `human_tone_anna`.

    Args:
        column: Its name.
        there: The columns that there are.
        others: Columns of other metrics.
    """
    longer = [one for one in others if _is_of(one, column)]
    own = {
        one: one[len(column) + 1 :]
        for one in there
        if _is_of(one, column) and not any(one == other or _is_of(one, other) for other in longer)
    }
    several = [Columns(f"{column}_*", own)] if own else []
    return [Columns(column, {column: ""}), *several]


def _is_of(column: str, other: str) -> bool:
    """Whether a column is that of an annotator, by its name: `human_tone_anna`."""
    return column.startswith((f"{other}_", f"{other}."))


def _asked(asked: Sequence[str], there: Sequence[str]) -> Columns:
    annotators: dict[str, str] = {}
    for one in asked:
        fits = {name: whose for name in there if (whose := part_of(name, one)) is not None}
        if "*" in one and not fits:
            message = f"no column fits {one}; the data have {', '.join(there)}"
            raise ConfigError(Problem("--human", message))
        annotators |= fits or {one: ""}
    if len(annotators) == 1:
        return Columns(next(iter(annotators)), dict.fromkeys(annotators, ""))
    apart = _apart([name for name, whose in annotators.items() if not whose])
    whole = {name: whose or apart[name] for name, whose in annotators.items()}
    return Columns(", ".join(asked), whole)


def _apart(columns: Sequence[str]) -> dict[str, str]:
    """The columns without what all of them begin with: anna and ben of label_anna, label_ben."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*columns, strict=False))
    common = "".join(letters[0] for letters in alike) if len(columns) > 1 else ""
    begin = max(common.rfind(mark) for mark in "_.- ") + 1
    return {name: name[begin:] or name for name in columns}


def names_of(call: Call) -> Iterator[str]:
    """What the metric is called: as the config names it, if it does; then its own name."""
    usual = {one.name: one.default for one in call.metric.parameters}
    own = call.parameters.get("name")
    if isinstance(own, str) and own != usual.get("name"):
        yield own
    yield call.metric.name
    if call.metric.name.startswith(OWN_SPACE):
        yield from call.metric.aliases


def labels_in_data(
    candidates: Sequence[Columns], metadata: Mapping[str, Mapping[str, Sequence[Scalar]]]
) -> Labels | None:
    """The first of some columns that say anything; None if none does.

    Args:
        candidates: From `columns_of`.
        metadata: As `Loaded.metadata`.
    """
    for one in candidates:
        annotators = [
            Annotator(whose, column, {model: own[column] for model, own in metadata.items()})
            for column, whose in one.annotators.items()
            if all(column in own for own in metadata.values())
        ]
        if found := _labels(one.called, annotators):
            return found
    return None


def _labels(called: str, annotators: Sequence[Annotator]) -> Labels | None:
    """The annotators who said anything; of a single one the labels are those of a column."""
    said = [one for one in annotators if any(map(_says_anything, one.by_model.values()))]
    if not said:
        return None
    if len({one.name for one in said}) < len(said):
        said = [replace(one, name=one.column) for one in said]
    return Labels(said[0].column if len(said) == 1 else called, said)


def _says_anything(values: Sequence[Scalar]) -> bool:
    return not all(map(is_blank, values))


def labels_in_files(
    candidates: Sequence[Columns], files: LabelFiles, samples: Mapping[str, Sequence[str]]
) -> Labels | None:
    """The first of some columns of label files that say anything of the samples.

    Args:
        candidates: From `columns_of`.
        files: What was read.
        samples: By model, the ids of its samples.
    """
    for one in candidates:
        said: dict[tuple[str, str], dict[Key, Scalar]] = {}
        for column, whose in one.annotators.items():
            for annotator, own in files.cells.get(column, {}).items():
                _add(said.setdefault((whose or annotator, column), {}), own, column)
        annotators = [
            Annotator(name, f"{column} of {name}", _placed(own, samples))
            for (name, column), own in said.items()
        ]
        if found := _labels(f"{one.called} in {', '.join(files.paths)}", annotators):
            return found
    return None


def _add(said: dict[Key, Scalar], more: Mapping[Key, Scalar], column: str) -> None:
    """Add labels of another annotator to those of a column that is named for one.

    Raises:
        DataError: They say something else of a sample.
    """
    for key, label in more.items():
        if said.setdefault(key, label) != label:
            message = f"{_called(key)} is labelled {said[key]!r} and {label!r} by two annotators"
            hint = "a column is named for its annotator, or a row, and not both"
            raise DataError(Problem(column, message), hint=hint)


def _placed(
    own: Mapping[Key, Scalar], samples: Mapping[str, Sequence[str]]
) -> dict[str, list[Scalar]]:
    return {
        model: [own.get((model, one), own.get((None, one))) for one in ids]
        for model, ids in samples.items()
    }


def check_keys(
    files: LabelFiles, samples: Mapping[str, Sequence[str]], *, whole: bool
) -> list[str]:
    """Warnings of labels of samples that the data do not have.

    Args:
        files: What was read.
        samples: By model, the ids of its samples.
        whole: Whether these are all samples of the data.

    Raises:
        DataError: Rows name no model where there are several, or none of the samples is there.
    """
    keys = {key: None for column in files.cells.values() for own in column.values() for key in own}
    place = ", ".join(files.paths)
    if len(samples) > 1 and any(model is None for model, _ in keys):
        message = f"rows name no model, and the data have answers of {', '.join(samples)}"
        hint = "add a column model: a label is of one model's answer"
        raise DataError(Problem(place, message), hint=hint)
    there: set[Key] = {(model, one) for model, ids in samples.items() for one in ids}
    there |= {(None, one) for _, one in there}
    lost = [key for key in keys if key not in there]
    if keys and len(lost) == len(keys):
        message = f"no label is of a sample of the data; the first is of {_called(lost[0])}"
        example = next(_called((model, ids[0])) for model, ids in samples.items() if len(ids))
        raise DataError(Problem(place, message), hint=f"the data have samples such as {example}")
    if lost and whole:
        named = ", ".join(map(_called, lost[:3]))
        many = f"{len(lost):,} samples" if len(lost) > 1 else "a sample"
        return [f"{place}: labels of {many} that the data do not have: {named}"]
    return []


def _called(key: Key) -> str:
    model, sample_id = key
    return repr(sample_id) if model is None else f"{sample_id!r} of {model}"
