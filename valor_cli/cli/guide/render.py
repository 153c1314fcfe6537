"""Render the guide for a terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from valor_cli.cli.guide.facts import TRUTH, Facts, facts_of, in_common, traits_of
from valor_cli.cli.guide.questions import Branch, Choice, Part, Question, metrics_of
from valor_cli.metric import Task


class MetricFacts(NamedTuple):
    """Facts of a part's metrics by name, and what ground truth is called there."""

    facts: Mapping[str, Facts]
    truth: str


LEGEND = """\
A metric without a note in brackets is computed from the files alone and costs nothing. An \
embedder, a language model and a classifier are models of this machine, and cost time. A judge \
costs calls, and is not reproducible."""

CALLS = """\
Calls are those for one sample with an answer of usual length; valor estimate CONFIG counts \
yours."""

MORE = """\
When to choose which, and what each needs: valor metrics --guide --task TASK, or valor metrics \
--guide NAME for the questions that lead to one metric."""


def overview(guide: Sequence[Part], tasks: Sequence[Task[Any]]) -> RenderableType:
    """All questions with the metrics that answer them, and the models these use."""
    lines: list[RenderableType] = []
    for part in guide:
        known = _known(part, tasks)
        lines += [*_head(part, known), Text()]
        for branch in part.branches:
            lines.append(_situation(branch, known))
            for question in branch.questions:
                brief = Text(", ").join(_noted(name, known.facts[name]) for name in question.names)
                lines += [Indented(2, Text(question.question)), Indented(4, brief)]
            lines.append(Text())
    return Group(*lines, *_notes(LEGEND, CALLS, MORE))


def in_full(guide: Sequence[Part], tasks: Sequence[Task[Any]]) -> RenderableType:
    """The questions of each part with their metrics, and when to choose which."""
    lines: list[RenderableType] = []
    for part in guide:
        known = _known(part, tasks)
        lines += [*_head(part, known), Text(), *_path(part, known), Text()]
        for number, question in enumerate(part.questions, 1):
            lines.append(Indented(4, Text(question.question, style="bold"), f"{number:>2}"))
            lines.append(Indented(4, _prose(question.answer)))
            for choice in question.choose:
                lines += _choice(choice, known.facts[choice.metric])
            lines.append(Text())
        if any(facts.calls for facts in known.facts.values()):
            lines += _notes(CALLS)
    return Group(*lines)


def as_json(guide: Sequence[Part], tasks: Sequence[Task[Any]]) -> str:
    """The guide as a JSON list of its parts."""
    parts = []
    for part in guide:
        own = [task for task in tasks if task.name in part.tasks]
        branches = [
            {
                "when": branch.when,
                "questions": [_asked(one, own) for one in branch.questions],
            }
            for branch in part.branches
        ]
        opening = {"title": part.title, "tasks": list(part.tasks), "opening": part.opening}
        parts.append({**opening, "branches": branches})
    return json.dumps(parts, indent=2, ensure_ascii=False)


def _asked(question: Question, tasks: Sequence[Task[Any]]) -> dict[str, Any]:
    choose = [_entry(name, choice, tasks) for choice in question.choose for name in choice.names]
    told = {"question": question.question, "answer": question.answer, "choose": choose}
    return {**told, "config": question.config or None}


def _entry(name: str, choice: Choice, tasks: Sequence[Task[Any]]) -> dict[str, Any]:
    """A metric of a choice, with its facts."""
    found = [(task, metric) for task in tasks for metric in task.metrics if metric.name == name]
    facts = facts_of(found[0][1])
    return {
        "metric": name,
        "tasks": [task.name for task, _ in found],
        "when": choice.when,
        "needs": list(facts.needs),
        "ground_truth": bool(facts.truth),
        "asks": list(facts.asks),
        "reproducible": facts.reproducible,
        "cost": facts.cost,
        "calls": facts.calls and facts.calls._asdict(),
    }


class Indented(Struct, frozen=True):
    """A text indented by a number of columns on every line.

    Its first line begins with `lead`.
    """

    columns: int
    text: Text
    lead: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for at, line in enumerate(self.text.wrap(console, options.max_width - self.columns)):
            line.rstrip()
            before = "" if at else self.lead
            yield Text.assemble((f"{before:<{self.columns}}", "dim"), line)


def _known(part: Part, tasks: Sequence[Task[Any]]) -> MetricFacts:
    metrics = metrics_of(part, tasks)
    truths = (need for metric in metrics.values() for need in metric.needs if need in TRUTH)
    facts = {name: facts_of(metrics[name]) for name in part.names}
    return MetricFacts(facts, next(truths, TRUTH[0]).replace("_", " "))


def _head(part: Part, known: MetricFacts) -> Iterator[Text]:
    """The title, the first thing to ask oneself, and what holds of all its metrics."""
    yield Text.assemble((part.title, "bold underline"), (f"  {', '.join(part.tasks)}", "dim"))
    yield _prose(part.opening)
    if shared := in_common(known.facts.values()):
        yield Text(shared, style="dim")


def _path(part: Part, known: MetricFacts) -> Iterator[RenderableType]:
    """Which questions are for whom, by their numbers."""
    first = 1
    for branch in part.branches:
        last = first + len(branch.questions) - 1
        numbers = f"{first}" if first == last else f"{first}–{last}"
        yield Indented(7, _situation(branch, known), f"{numbers:>5}")
        first = last + 1


def _situation(branch: Branch, known: MetricFacts) -> Text:
    """When a branch is the right one, and whether what is right must be known for it."""
    said = Text(branch.when, style="cyan")
    if in_common(known.facts.values()):
        return said
    needed = traits_of(known.facts[name] for name in branch.names).truth
    notes = {"yes": "{} needed", "no": "no {} needed", "some": "some need {}"}
    return said.append(f" ({notes[needed].format(known.truth)})", "dim")


def _noted(name: str, facts: Facts) -> Text:
    """A metric, and whom it asks."""
    asked = [f"judge: {facts.calls}" if one == "judge" else one for one in facts.asks]
    note = f" ({', '.join(asked)})" if asked else ""
    return Text.assemble((name, "bold"), (note, "dim"))


def _choice(choice: Choice, facts: Facts) -> Iterator[RenderableType]:
    yield Indented(4, Text.assemble("• ", (", ".join(choice.names), "bold")))
    yield Indented(6, Text("when ").append_text(_prose(choice.when)))
    again = "reproducible" if facts.reproducible else "not reproducible"
    message = f"needs {facts.inputs} · {facts.way}, {again} · cost: {facts.cost}"
    yield Indented(6, Text(message, style="dim"))


def _notes(*texts: str) -> Iterator[Text]:
    for text in texts:
        yield Text(text, style="dim")


def _prose(text: str) -> Text:
    """A sentence of the guide with `names` highlighted."""
    said = Text()
    for at, piece in enumerate(text.split("`")):
        said.append(piece, "cyan" if at % 2 else "")
    return said
