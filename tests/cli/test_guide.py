"""`valor metrics --guide`: which metric for which question."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from tests.cli.conftest import ROOT, Valor
from valor_cli import catalogue
from valor_cli.cli.guide import render as shown
from valor_cli.cli.guide.facts import facts_of, traits_of
from valor_cli.cli.guide.questions import Part, Question, metrics_of, narrowed, parts
from valor_cli.evaluators.judge.evidence.call_estimate import JudgeCalls, judge_calls
from valor_cli.metric import Metric

GUIDE = parts()
TASKS = [catalogue.task(name) for name in catalogue.task_names()]
CHOICES = [
    (part, question, choice)
    for part in GUIDE
    for question in part.questions
    for choice in question.choose
]
"""Every choice of the guide, with where it stands."""


def part_of(task: str) -> Part:
    return next(part for part in GUIDE if task in part.tasks)


def text_metric(name: str) -> Metric[Any]:
    return catalogue.metric("text_generation", name)


def drawn(renderable: Any, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(renderable)
    return out.getvalue().splitlines()


# What is declared.


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_metric_is_forgotten_and_none_is_made_up(task: Any) -> None:
    part = part_of(task.name)
    known = metrics_of(part, TASKS)
    assert {metric.name for metric in task.metrics} - set(part.names) == set()
    assert set(part.names) - set(known) == set()


def test_every_task_has_one_part() -> None:
    said = [task for part in GUIDE for task in part.tasks]
    assert sorted(said) == sorted(catalogue.task_names())


def test_a_question_leads_to_one_to_three_metrics_and_stands_once() -> None:
    asked = Counter(question.question for part in GUIDE for question in part.questions)
    assert set(asked.values()) == {1}
    for part in GUIDE:
        for question in part.questions:
            assert 1 <= len(question.choose) <= 3, question.question
            assert question.question.endswith("?")
            assert question.answer.endswith("."), question.question


def test_a_choice_reads_on_from_when_and_says_nothing_that_its_metric_denies() -> None:
    for part, question, choice in CHOICES:
        where = (question.question, choice.metric)
        assert not choice.when.endswith("."), where
        assert choice.when[0].islower() or choice.when[0] == "`", where
        metrics = metrics_of(part, TASKS)
        facts = facts_of(metrics[choice.metric])
        # What stands beside all of them is said once.
        assert all(facts_of(metrics[name]) == facts for name in choice.names), where
        assert "no judge" not in choice.when or "judge" not in facts.asks, where
        assert "reproducible" not in choice.when or facts.reproducible, where
        assert "there are references" not in choice.when or facts.truth == "references", where


# What metrics say of themselves.


def test_facts_are_those_of_the_declaration() -> None:
    facts = facts_of(text_metric("answer_relevancy"))
    assert facts.needs == ("user_input", "response")
    assert (facts.truth, facts.contexts, facts.reproducible) == ("", False, False)
    assert facts.asks == ("judge", "embedder")
    assert facts.way == "by judge and embedder"
    metric = text_metric("rouge_l")
    assert facts_of(metric).truth == "references"
    assert (facts_of(metric).way, facts_of(metric).cost) == ("computed", "none")
    other = replace(metric, needs=("response",), asks=("embedder",))
    assert facts_of(other).truth == ""
    assert facts_of(other).cost == "a model's time"
    assert facts_of(other).reproducible
    assert facts_of(catalogue.metric("classification", "accuracy")).truth == "ground truth"


def test_needs_that_parameters_name_are_those_of_the_defaults() -> None:
    facts = facts_of(text_metric("summac_zs"))
    assert facts.inputs == "response, user_input (by default)"


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        # As the metrics' own pages say: the statements, then their verdicts.
        ("faithfulness", JudgeCalls(2, 0, 0)),
        # One question made up at a time, three of them.
        ("answer_relevancy", JudgeCalls(3, 0, 0)),
        # The statements of the response; those of each reference, and the comparison.
        ("answer_correctness", JudgeCalls(1, 2, 0)),
        # Two prompts for each reference.
        ("nv_answer_accuracy", JudgeCalls(0, 2, 0)),
        # One context at a time.
        ("context_precision", JudgeCalls(0, 0, 1)),
        # faithfulness 2, answer_relevancy 3, context_precision and context_recall as they are.
        ("ragas_score", JudgeCalls(5, 2, 1)),
        ("custom_judge", JudgeCalls(1, 0, 0)),
    ],
)
def test_calls_of_a_judge(name: str, calls: JudgeCalls) -> None:
    assert judge_calls(text_metric(name)) == calls


def test_calls_are_what_estimate_says(valor: Valor) -> None:
    done = valor("estimate", "configs/text_generation_judge.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    counted: Counter[str] = Counter()
    for row in found["usage"]:
        counted[row["metric"]] += row["calls"]
    assert counted["faithfulness"] == found["samples"] * judge_calls(text_metric("faithfulness"))[0]
    assert counted["context_relevance"] == found["samples"]
    # Its statements were asked for by faithfulness already.
    alone = judge_calls(text_metric("answer_relevance")).fixed
    assert counted["answer_relevance"] == found["samples"] * (alone - 1)


def test_every_judge_is_asked_at_least_once() -> None:
    for metric in catalogue.task("text_generation").metrics:
        facts = facts_of(metric)
        assert (facts.calls is not None) == ("judge" in facts.asks)
        assert facts.calls is None or sum(facts.calls) >= 1


def test_calls_in_words() -> None:
    assert str(JudgeCalls(1, 0, 0)) == "1 call"
    assert str(JudgeCalls(5, 2, 1)) == "5 calls + 2 per reference + 1 per context"


def test_what_holds_of_some() -> None:
    rouge, faithful = facts_of(text_metric("rouge_l")), facts_of(text_metric("faithfulness"))
    assert traits_of([rouge, faithful]).truth == "some"
    assert traits_of([rouge]).computed == "yes"
    assert traits_of([faithful]).reproducible == "no"


GATED = [
    question
    for part in GUIDE
    for question in part.questions
    if "gates:" in question.config and "judge:" not in question.config
]


@pytest.mark.parametrize("question", GATED, ids=lambda question: question.question)
def test_gates_pass_on_the_sample_data(valor: Valor, tmp_path: Path, question: Question) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "run.yaml").write_text(question.config)
    asked = ("evaluate", "configs/run.yaml", "--format", "json", "--out")
    first = valor(*asked, "baseline", cwd=tmp_path)
    # Without a baseline the gates that compare with one cannot be checked.
    assert first.returncode == (3 if "max_drop" in question.config else 0), first
    done = valor(*asked, "out", "--baseline", "baseline", cwd=tmp_path)
    assert done.returncode == 0, (done.stdout, done.stderr)


# What is shown.


def test_all_questions_fit_a_terminal() -> None:
    lines = drawn(shown.overview(GUIDE, TASKS), 80)
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines if line.startswith(" "))
    text = "\n".join(lines)
    for part in GUIDE:
        for question in part.questions:
            assert f"\n  {question.question}\n" in text
    words = text.replace(",", " ").split()
    for task in TASKS:
        assert {metric.name for metric in task.metrics} <= set(words)
    assert "  faithfulness (judge: 2 calls)" in text or "faithfulness (judge: 2" in text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_reasons_fit_a_terminal(width: int) -> None:
    lines = drawn(shown.in_full(GUIDE, TASKS), width)
    assert max(map(len, lines)) <= width
    told = " ".join(" ".join(lines).split())
    for _, question, choice in CHOICES:
        assert question.question in told
        assert f"when {choice.when.replace('`', '')} needs " in told


def test_the_path_numbers_the_questions() -> None:
    lines = drawn(shown.in_full([part_of("classification")], TASKS), 100)
    assert "  1–2  One number for the whole model" in lines
    assert " 1  How often is the classifier right?" in lines
    assert " 9–10  Single samples, or a merge gate" in lines


def test_only_what_stands_aside_is_dim() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system="standard")
    console.print(shown.in_full([part_of("classification")], TASKS))
    assert "\x1b[1mHow often is the classifier right?\x1b[0m" in out.getvalue()
    assert "\x1b[2mneeds ground_truth, predictions · computed" in out.getvalue()


@pytest.mark.parametrize(
    ("asked", "told", "untold"),
    [
        (
            ("--task", "instance_segmentation"),
            (
                "panoptic_quality",
                "needs ground_truth, predictions · computed, reproducible · cost: none",
            ),
            ("coco_keypoints", "Are the keypoints", "Text generation", "\x1b"),
        ),
        ((), (*(part.title for part in GUIDE), "valor metrics --guide --task TASK"), ()),
        (
            ("Faithfulness",),
            (
                "Is the answer grounded in its contexts",
                "by judge, not reproducible · cost: 2 calls",
            ),
            ("Is the answer toxic?",),
        ),
        (
            ("dice",),
            ("Which classes are segmented well?",),
            ("Is a false alarm worse than a miss?",),
        ),
    ],
)
def test_what_is_asked_for_is_shown(
    valor: Valor, asked: tuple[str, ...], told: tuple[str, ...], untold: tuple[str, ...]
) -> None:
    done = valor("metrics", "--guide", *asked)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert [one for one in told if one not in text] == []
    assert [one for one in untold if one in done.stdout] == []


def choices_of(parts: Sequence[Any]) -> list[Any]:
    """The choices of all questions, in JSON."""
    branches = [branch for part in parts for branch in part["branches"]]
    return [one for branch in branches for asked in branch["questions"] for one in asked["choose"]]


def test_for_programs(valor: Valor) -> None:
    done = valor("metrics", "--guide", "--task", "text_generation", "--format", "json")
    assert done.returncode == 0, done.stderr
    (part,) = json.loads(done.stdout)
    assert part["tasks"] == ["text_generation"]
    choices = choices_of([part])
    names = {metric.name for metric in catalogue.task("text_generation").metrics}
    assert {choice["metric"] for choice in choices} == names
    (found,) = [one for one in choices if one["metric"] == "context_precision"]
    assert found == {
        "metric": "context_precision",
        "tasks": ["text_generation"],
        "when": found["when"],
        "needs": ["user_input", "retrieved_contexts"],
        "ground_truth": False,
        "asks": ["judge"],
        "reproducible": False,
        "cost": "1 call per context",
        "calls": {"fixed": 0, "per_reference": 0, "per_context": 1},
    }


def test_json_names_variants_and_which_task_has_a_metric() -> None:
    texts, boxes = (
        choices_of(json.loads(shown.as_json([part_of(task)], TASKS)))
        for task in ("text_generation", "object_detection")
    )
    assert {"bleu", "bleu_1", "bleu_2", "bleu_3", "bleu_4"} <= {one["metric"] for one in texts}
    (found,) = [one for one in boxes if one["metric"] == "coco_keypoints"]
    assert found["tasks"] == ["object_detection"]


def test_a_branch_without_questions_is_left_out() -> None:
    task = catalogue.task("text_generation")
    (part,) = narrowed(GUIDE, [task], {"rouge_2"})
    (branch,) = part.branches
    (question,) = branch.questions
    assert "rouge_2" in question.names
    assert narrowed(GUIDE, [task], {"coco"}) == ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--task", "clasification"], "no task 'clasification' (did you mean 'classification'?)"),
        (["faithfulnes"], "no metric 'faithfulnes' (did you mean 'faithfulness'?)"),
        (["rouge_l", "--task", "classification"], "no metric 'rouge_l'"),
        (["--prompt"], "--guide: cannot be combined with --prompt"),
        (["--format", "yaml"], "--format yaml: is for --prompt"),
    ],
)
def test_what_cannot_be_shown(valor: Valor, arguments: list[str], said: str) -> None:
    done = valor("metrics", "--guide", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
