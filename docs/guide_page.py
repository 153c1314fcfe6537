"""Generate docs/choosing.md from the guide declared in valor_cli/cli/guide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from valor_cli import catalogue
from valor_cli.cli.guide.facts import Facts, facts_of, in_common, traits_of
from valor_cli.cli.guide.questions import Branch, Choice, Part, Question, metrics_of, parts
from valor_cli.metric import Task

INTRODUCTION = """\
Start from your question. It leads to one to three metrics, with what each needs, which model it
asks, what it costs, and when to choose it. `valor metrics --guide` prints all questions, `--guide
--task TASK` those of one task with the reasons, `--guide NAME` those that lead to one metric;
`--format json` is for programs.

```console
$ valor metrics --guide --task classification
$ valor metrics --guide faithfulness
```"""

KINDS = """\
| a metric that | on the same input gives | costs | as a gate |
| --- | --- | --- | --- |
| is computed | the same value, to the last digit | nothing | on every change |
| asks a [local model](models.md): an embedder, a language model, a classifier \
| the same value | the model's time | on every change, with the model fixed |
| asks a [judge](judges.md) | possibly another value | calls, and so money or time \
| with a margin, nightly rather than on every change; [calibrate](judges.md#calibrate) it first |

Choose the first kind that answers the question. The costs are calls per sample with an answer of
usual length, for the metric alone: what several metrics need is asked once, longer
answers may take more, and `valor estimate CONFIG` counts yours. Needs and costs are
for the default parameters; the embedder may also be a provider's, if the config names one. For
all of them [intervals and tests](comparing.md) show whether a difference is significant."""

Anchors = Mapping[tuple[str, str], str]
"""The anchor in docs/metrics.md, by task and metric."""


def guide_page(generated: str, metrics_page: str) -> str:
    """The whole guide, part by part: the path to a question, and the questions.

    Args:
        generated: The line that marks the page as generated.
        metrics_page: The text of docs/metrics.md, to which metrics are linked.
    """
    tasks = [catalogue.task(name) for name in catalogue.task_names()]
    anchors = anchors_of(metrics_page)
    guide = parts()
    contents = "\n".join(f"- [{part.title}]({_to(part.title)})" for part in guide)
    blocks = [generated, "# Which metric for my problem", INTRODUCTION, contents, KINDS]
    for part in guide:
        blocks += _part(part, tasks, anchors)
    return "\n\n".join(blocks) + "\n"


def anchors_of(page: str) -> Anchors:
    """The anchors in the tables of docs/metrics.md, by task and metric."""
    found = {}
    task = ""
    for line in page.splitlines():
        if heading := re.fullmatch(r"## (\w+)", line):
            task = heading[1]
        elif row := re.match(r"\| ●? ?\| \[`(\w+)`\]\(#([\w-]+)\) \|", line):
            found[task, row[1]] = row[2]
    return found


def _part(part: Part, tasks: Sequence[Task[Any]], anchors: Anchors) -> Iterator[str]:
    metrics = metrics_of(part, tasks)
    known = {name: facts_of(metrics[name]) for name in part.names}
    yield f"## {part.title}"
    names = ", ".join(f"[`{name}`](metrics.md#{name})" for name in part.tasks)
    yield f"{part.opening} ({'Task' if len(part.tasks) == 1 else 'Tasks'}: {names}.)"
    if shared := in_common(known.values()):
        yield shared
    yield _path(part, known, alike=bool(shared))
    own = [task for task in tasks if task.name in part.tasks]
    for question in part.questions:
        yield from _question(question, known, own, anchors, alike=bool(shared))


def _path(part: Part, known: Mapping[str, Facts], *, alike: bool) -> str:
    """The questions by situation, with the properties that their metrics share."""
    truth = next(facts.truth for facts in known.values() if facts.truth)
    noted = [] if alike else [f"{truth} needed", "contexts needed", "reproducible"]
    rows = [
        [branch.when, *([] if alike else _traits(branch, known)), _questions(branch)]
        for branch in part.branches
    ]
    return _table(["situation", *noted, "questions"], rows)


def _traits(branch: Branch, known: Mapping[str, Facts]) -> list[str]:
    found = traits_of(known[name] for name in branch.names)
    return [found.truth, found.contexts, found.reproducible]


def _questions(branch: Branch) -> str:
    return "<br>".join(f"[{one.question}]({_to(one.question)})" for one in branch.questions)


def _question(
    question: Question,
    known: Mapping[str, Facts],
    tasks: Sequence[Task[Any]],
    anchors: Anchors,
    *,
    alike: bool,
) -> Iterator[str]:
    yield f"### {question.question}"
    yield question.answer
    headings = ["choose", "when", "needs", *([] if alike else ["how", "cost"])]
    rows = []
    for choice in question.choose:
        facts = known[choice.metric]
        ways = [facts.way if facts.reproducible else f"{facts.way}; not reproducible", facts.cost]
        inputs = ", ".join(f"`{need}`" for need in facts.needs)
        inputs += " by default" if facts.named else ""
        names = "<br>".join(_linked(name, choice, tasks, anchors) for name in choice.names)
        rows.append([names, choice.when, inputs, *([] if alike else ways)])
    yield _table(headings, rows)
    if question.config:
        yield f"```yaml\n{question.config.rstrip()}\n```"


def _linked(name: str, choice: Choice, tasks: Sequence[Task[Any]], anchors: Anchors) -> str:
    """A metric's name, linked to its section; with its tasks if not all have it."""
    having = [task.name for task in tasks if (task.name, name) in anchors]
    link = f"[`{name}`](metrics.md#{anchors[having[0], name]})"
    return link if len(having) == len(tasks) else f"{link} ({', '.join(having)})"


def _to(heading: str) -> str:
    """The anchor of a heading of this page, as GitHub spells it."""
    return "#" + re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
