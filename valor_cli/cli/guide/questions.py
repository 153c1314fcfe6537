"""The content of the guide: questions, and the metrics that answer them.

What a metric needs, asks and costs is not written here but derived from its declaration (`facts`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import Any

import yaml
from msgspec import Struct
from msgspec.structs import replace

from valor_cli.metric import Metric, Task

FILES = ("classification", "objects", "semantic_segmentation", "text_generation")
"""The parts, in the order of the tasks."""


class Choice(Struct, frozen=True):
    """A metric and when to choose it; `also` lists variants that `when` distinguishes."""

    metric: str
    when: str
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All metrics of it."""
        return (self.metric, *self.also)


class Question(Struct, frozen=True):
    """A user's question, background, and the metrics to choose from.

    `config` is a whole config, for the sample data.
    """

    question: str
    answer: str
    choose: tuple[Choice, ...]
    config: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All metrics to choose from."""
        return tuple(name for choice in self.choose for name in choice.names)


class Branch(Struct, frozen=True):
    """Questions of users with the same data or goal."""

    when: str
    questions: tuple[Question, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Metrics of its questions, duplicates included."""
        return tuple(
            name
            for question in self.questions
            for choice in question.choose
            for name in choice.names
        )


class Part(Struct, frozen=True):
    """The guide for tasks with mostly the same metrics."""

    title: str
    tasks: tuple[str, ...]
    opening: str
    branches: tuple[Branch, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """Questions of all branches."""
        return tuple(question for branch in self.branches for question in branch.questions)

    @property
    def names(self) -> tuple[str, ...]:
        """Metrics of its questions, duplicates included."""
        return tuple(name for question in self.questions for name in question.names)


def parts() -> tuple[Part, ...]:
    """The whole guide."""
    folder = files("valor_cli.cli.guide") / "parts"
    texts = ((folder / f"{name}.yaml").read_text(encoding="utf-8") for name in FILES)
    return tuple(_part(yaml.safe_load(text)) for text in texts)


def narrowed(
    guide: Sequence[Part], tasks: Sequence[Task[Any]], names: Collection[str] | None = None
) -> tuple[Part, ...]:
    """The part of a guide about some tasks and some metrics (None: any)."""
    found = []
    for part in guide:
        own = [task for task in tasks if task.name in part.tasks]
        known = {metric.name for task in own for metric in task.metrics}
        branches = tuple(
            replace(branch, questions=questions)
            for branch in part.branches
            if (questions := _questions(branch, known, names))
        )
        if branches:
            mine = tuple(task.name for task in own)
            found.append(replace(part, tasks=mine, branches=branches))
    return tuple(found)


def metrics_of(part: Part, tasks: Sequence[Task[Any]]) -> Mapping[str, Metric[Any]]:
    """The metrics of a part's tasks, by name."""
    own = [task for task in tasks if task.name in part.tasks]
    return {metric.name: metric for task in own for metric in task.metrics}


def _questions(
    branch: Branch, known: Collection[str], names: Collection[str] | None
) -> tuple[Question, ...]:
    """A branch's questions with the choices that are known, and of those that name a metric."""
    left = []
    for question in branch.questions:
        choose = tuple(choice for choice in question.choose if choice.metric in known)
        wanted = names is None or any(set(names) & set(choice.names) for choice in choose)
        if choose and wanted:
            left.append(replace(question, choose=choose))
    return tuple(left)


def _part(said: Mapping[str, Any]) -> Part:
    branches = tuple(map(_branch, said["branches"]))
    return Part(**{**said, "tasks": tuple(said["tasks"]), "branches": branches})


def _branch(said: Mapping[str, Any]) -> Branch:
    return Branch(**{**said, "questions": tuple(map(_question, said["questions"]))})


def _question(said: Mapping[str, Any]) -> Question:
    choose = tuple(Choice(**{**one, "also": tuple(one.get("also", ()))}) for one in said["choose"])
    return Question(**{**said, "choose": choose})
