"""Find the label in each predicted text, such as the answer of a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from valor_cli.data.json_records import scalar_text
from valor_cli.data.schema import value_at
from valor_cli.data.shapes.scores.score_file import ScoreFile
from valor_cli.data.values import shortened
from valor_cli.errors import DataError, Problem, printable
from valor_cli.kernels.patterns.regex import Patience, PatternTimeout, parse_pattern
from valor_cli.kernels.ranking.scores import DenseScores

Match: TypeAlias = Literal["first", "last"]
LabelOf: TypeAlias = Callable[[str], str | None]
"""The label in a text; None if there is none."""

_STEP: Final = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")
_SHOWN: Final = 60


class Extract(Struct, frozen=True):
    """Where the label is in a predicted text. One of these is given.

    Attributes:
        pattern: A regular expression; its first group, or all of it without groups.
        json: The path of a value in the JSON that the text holds ("answer.label", "labels[0]").
        classes: Labels, of which the text names one.
        match: Which of several matches counts.
    """

    pattern: str = ""
    json: str = ""
    classes: Sequence[str] = ()
    match: Match = "first"

    def label_of(self) -> LabelOf:
        """The function that finds it.

        Raises:
            PatternError: The pattern is none.
        """
        if self.pattern:
            return _by_pattern(self.pattern, self.match)
        if self.json:
            return _by_path(self.json)
        return _by_name(self.classes, self.match)


def with_extracted_labels(file: ScoreFile, extract: Extract) -> ScoreFile:
    """Predictions by the label found in each text. A text without one is no prediction.

    Raises:
        DataError: Predictions are scores of classes, or no text holds a label.
    """
    scores = file.scores
    if scores is None or not len(scores):
        return file
    if isinstance(scores, DenseScores) and len(scores.label) > 1:
        problem = "extract: needs predicted labels as texts, found a score for each class"
        raise DataError(Problem(file.path, problem))
    label_of = extract.label_of()
    used = np.unique(scores.label).tolist()
    found = {code: label_of(file.labels[code]) for code in used}
    names = dict.fromkeys(chain(file.labels, filter(None, found.values())))
    place = {name: code for code, name in enumerate(names)}
    codes = np.arange(len(file.labels))
    for code, name in found.items():
        codes[code] = place[name] if name else -1
    missing = int((codes[scores.label] < 0).sum())
    if isinstance(scores, DenseScores):
        missing *= len(scores)
    if missing == 0:
        return replace(file, labels=tuple(names), scores=scores.relabelled(codes))
    text = next(file.labels[code] for code, name in found.items() if not name)
    shown = printable(shortened(text, _SHOWN))
    if not any(found.values()):
        message = f"extract: no label in any of the predictions; one is: {shown}"
        raise DataError(Problem(file.path, message))
    warning = f"{file.path}: no label in {missing:,} of the predictions, such as: {shown}"
    return replace(
        file,
        labels=tuple(names),
        scores=scores.relabelled(codes),
        warnings=[*file.warnings, warning],
    )


def _by_pattern(pattern: str, match: Match) -> LabelOf:
    compiled, patience = parse_pattern(pattern), Patience()

    def label_of(text: str) -> str | None:
        found = None
        try:
            for start, end in patience.matches(compiled, text, group=compiled.first_group):
                found = text[start:end].strip() if start >= 0 else None
                if match == "first":
                    break
        except PatternTimeout:
            return None
        return found or None

    return label_of


def _by_path(path: str) -> LabelOf:
    # Its patterns take time to compile, and few runs need them.
    from valor_cli.kernels.replies.json_values import json_values

    steps = [int(index) if index else key for key, index in _STEP.findall(path)]

    def label_of(text: str) -> str | None:
        for value in json_values(text):
            inner = value_at(value, steps)
            label = None if inner is None else scalar_text(inner)
            if label is None and isinstance(inner, int | float):
                label = str(inner)
            if label:
                return label.strip()
        return None

    return label_of


def _by_name(classes: Sequence[str], match: Match) -> LabelOf:
    # A single letter is also a word: "a", "I".
    folded = {name.casefold(): name for name in reversed(classes) if len(name) > 1}
    known, alike = _words(classes), _words(folded)
    which = 0 if match == "first" else -1

    def label_of(text: str) -> str | None:
        if found := known.findall(text):
            return str(found[which])
        found = alike.findall(text.casefold()) if folded else []
        return folded[found[which]] if found else None

    return label_of


def _words(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern of names as whole words; of names that begin alike the longest is meant."""
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
