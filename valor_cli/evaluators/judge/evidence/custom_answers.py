"""The form of a custom judge's answer: a word, a number, or one of these for several outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from valor_cli.evaluators.judge.evidence import reply_schemas as form
from valor_cli.evaluators.judge.evidence.one_word import rating_outcome, word_outcome
from valor_cli.evaluators.judge.evidence.replies import Unfit, json_or
from valor_cli.evaluators.judge.evidence.reply_readings import (
    Reading,
    plain_rating,
    plain_word,
    rating,
    word,
)
from valor_cli.evaluators.samples.outcomes import Outcome

Classified = tuple[str, ...] | Mapping[str, float]
"""Words, or what each of them counts."""


def numbers_of(
    classes: Classified, scale: Sequence[int] | None, rubric: Mapping[str, str] | None
) -> list[float]:
    """The numbers that the judge may give, ascending; none: it says words alone."""
    if rubric is not None:
        scale = [int(level) for level in rubric]
    if scale is not None:
        return [float(one) for one in range(min(scale), max(scale) + 1)]
    return sorted(classes.values()) if isinstance(classes, Mapping) else []


class Answer(NamedTuple):
    """What the judge said, with a reason; its number, where there is one."""

    said: str
    reason: str
    number: float | None = None


class Form(Struct, frozen=True):
    """How the judge is to answer.

    Attributes:
        classes: The words, or what each counts.
        passing: Words that pass; None: the first one.
        scale, rubric: The numbers, and in words what some of them mean.
        cut: The number that passes; None: the middle.
        reasoned: Whether a reason comes before the verdict.
        outputs: What is judged under several names; None: one thing.
    """

    classes: Classified
    passing: Sequence[str] | None = None
    scale: Sequence[int] | None = None
    rubric: Mapping[str, str] | None = None
    cut: float | None = None
    reasoned: bool = False
    outputs: Mapping[str, str] | None = None

    @property
    def numbers(self) -> list[float]:
        """As `numbers_of`."""
        return numbers_of(self.classes, self.scale, self.rubric)

    @property
    def rated(self) -> bool:
        """Whether the judge itself says a number."""
        return self.scale is not None or self.rubric is not None

    @property
    def ending(self) -> str:
        """What the judge is told of its answer."""
        lines = []
        if self.outputs is not None:
            told = (f"{name}: {words}" for name, words in self.outputs.items())
            lines += ["Judge each of these on its own:", *told, ""]
        if self.rubric is not None:
            levels = sorted(self.rubric.items(), key=lambda one: int(one[0]))
            lines += ["The levels:", *(f"{level}: {words}" for level, words in levels)]
            if len(self.rubric) < len(self.numbers):
                lines.append("A number between two of them means what lies between.")
            lines.append("")
        *first, last = (f'"{one}"' for one in self.classes)
        low, high = (self.numbers[0], self.numbers[-1]) if self.rated else (0, 0)
        choice = f"{', '.join(first)} or {last}"
        if self.rated:
            choice = f"one whole number from {low:g} to {high:g}"
        if not self.reasoned:
            return "\n".join([*lines, f"Reply with {choice}, and with nothing else."])
        key = "rating" if self.rated else "verdict"
        shape = f'{{"reason": "…", "{key}": …}}'
        if self.outputs is not None:
            shape = "{" + ", ".join(f"{json.dumps(one)}: {shape}" for one in self.outputs) + "}"
        lines.append(f"Reply with one JSON object and nothing else: {shape}")
        lines.append(f"The {key} is {choice}. The reason comes first, and says why, briefly.")
        return "\n".join(lines)

    def of_all(self, value: Any) -> dict[str, Answer]:
        """What was read, by output; of one without a name, under an empty one."""
        found = value if self.outputs is not None else {"": value}
        return {name: self._answer(one) for name, one in found.items()}

    def _answer(self, value: Any) -> Answer:
        if self.rated:
            return Answer(str(value.rating), value.reason, float(value.rating))
        number = self.classes[value.word] if isinstance(self.classes, Mapping) else None
        return Answer(value.word, value.reason, number)

    @property
    def reading(self) -> Reading[Any]:
        """How the answer is read, for `of_all`."""
        one: Reading[Any]
        if self.rated:
            one = (rating if self.reasoned else plain_rating)([int(n) for n in self.numbers])
        else:
            one = (word if self.reasoned else plain_word)(tuple(self.classes))
        return one if self.outputs is None else _of_several(one, tuple(self.outputs))

    def outcome(self, answer: Answer, details: Mapping[str, Any]) -> Outcome:
        """The outcome of a sample of which that was said."""
        said: dict[str, Any] = {} if self.rated else {"class": answer.said}
        if answer.number is None:
            passing = [*self.classes][:1] if self.passing is None else self.passing
            return word_outcome(
                answer.said,
                answer.reason,
                passed=answer.said in passing,
                details={**said, **details},
            )
        least = (self.numbers[0] + self.numbers[-1]) / 2 if self.cut is None else self.cut
        return rating_outcome(
            answer.number,
            answer.reason,
            passed=answer.number >= least,
            details={**said, "cut": least, **details},
        )


def _of_several(one: Reading[Any], names: Sequence[str]) -> Reading[dict[str, Any]]:
    """A JSON object that has for each name what `one` reads."""

    def read_json(value: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        for name in names:
            if name not in value:
                raise Unfit(f"the key {name} is missing")
            try:
                found[name] = one.read(json.dumps(value[name], ensure_ascii=False))
            except Unfit as unfit:
                raise Unfit(f"{name}: {unfit}") from None
        return found

    read = json_or(names, read_json, f"JSON object with the keys {', '.join(names)}")
    schema = None if one.schema is None else form.keyed(**{n: dict(one.schema) for n in names})
    example = json.dumps({name: json.loads(one.example_reply) for name in names})
    return Reading("outputs", schema, read, example)
