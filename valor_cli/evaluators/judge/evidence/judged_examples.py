"""Samples with the verdicts of people, shown to a judge as examples."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.shapes.samples.sample_file import SampleReading
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.judge.evidence.custom_answers import Form
from valor_cli.evaluators.judge.evidence.replies import Unfit
from valor_cli.evaluators.judge.evidence.sample import Missing, Sample
from valor_cli.models.judge.delimiters import renamed
from valor_cli.models.judge.prompts import Field, TrustedText
from valor_cli.results import Scalar

VERDICT, REASON = "verdict", "reason"
"""The columns of people's verdicts, and of their reasons."""

_HINT = 'a row is a sample with its verdict: {"response": "…", "verdict": "…", "reason": "…"}'


class Example(NamedTuple):
    """A sample, what was said of it and why, and where it stands."""

    sample: Sample
    verdict: str
    reason: str
    place: str


class Examples(NamedTuple):
    """The examples of a file, and its SHA-256."""

    rows: tuple[Example, ...]
    sha256: str

    @property
    def sample_ids(self) -> frozenset[str]:
        """Of the samples that the file names."""
        return frozenset(one.sample.sample_id for one in self.rows if one.sample.sample_id)


def read_examples(path: str, columns: Sequence[str] = ()) -> Examples:
    """The examples of a file of samples.

    Args:
        path: In any format of samples.
        columns: Further columns that the prompt shows.

    Raises:
        DataError: It cannot be read, or a row has no verdict.
    """
    names = list(dict.fromkeys([VERDICT, REASON, *columns]))
    file = read_samples(path, SampleReading(names, texts=columns))
    rows = []
    for row in file.rows:
        more: dict[str, Scalar] = dict(zip(names, row.metadata, strict=True))
        sample = Sample(
            "",
            row.of("sample_id") or "",
            0,
            row.of("user_input"),
            row.of("response"),
            row.of("references"),
            row.of("retrieved_contexts"),
            row.of("history"),
            more,
        )
        place = file.place(row.file, row.line)
        try:
            said = sample.column(VERDICT).strip()
        except Missing as lack:
            raise DataError(Problem(place, str(lack)), hint=_HINT) from None
        reason = more.get(REASON)
        rows.append(Example(sample, said, "" if reason is None else str(reason), place))
    return Examples(tuple(rows), file.files[0].sha256 or "")


def shown_examples(
    words: str,
    shown: Sequence[str],
    examples: Sequence[Example],
    form: Form,
    field_of: Callable[[Sample, str], Field],
) -> tuple[str, dict[str, Field], dict[str, str]]:
    """The words of a prompt behind its examples, with their fields and what these are called.

    Raises:
        DataError: An example lacks what the prompt shows, or has a verdict that the judge has not.
    """
    parts = []
    fields: dict[str, Field] = {}
    labels: dict[str, str] = {}
    for number, one in enumerate(examples, 1):
        of_it = {name: f"{name}_of_example_{number}" for name in shown}
        try:
            fields |= {name: field_of(one.sample, old) for old, name in of_it.items()}
        except Missing as lack:
            raise DataError(Problem(one.place, str(lack)), hint=_HINT) from None
        labels |= {name: f"{old} of example {number}" for old, name in of_it.items()}
        reply = f"reply_to_example_{number}"
        fields[reply] = TrustedText(_reply(one, form))
        parts.append(f"Example {number}\n\n{renamed(words, of_it)}\n\nThe reply: {{{reply}}}")
    return "\n\n".join([*parts, f"The one to judge\n\n{words}"]), fields, labels


def _reply(one: Example, form: Form) -> str:
    """What the judge should have said of an example.

    Raises:
        DataError: It has no such verdict.
    """
    try:
        (answer,) = form.of_all(form.reading.read(one.verdict)).values()
    except Unfit as unfit:
        raise DataError(Problem(one.place, f"{VERDICT}: {unfit}"), hint=_HINT) from None
    if not form.reasoned:
        return answer.said
    said: Mapping[str, Any] = {"reason": one.reason}
    if form.rated:
        return json.dumps({**said, "rating": int(answer.said)}, ensure_ascii=False)
    return json.dumps({**said, "verdict": answer.said}, ensure_ascii=False)
