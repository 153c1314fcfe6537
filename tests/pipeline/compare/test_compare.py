"""Two runs held against each other: pairs of models, changed samples, what one alone has."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.oracles.paired_runs import INFO, row, run, values
from valor_cli.errors import ConfigError
from valor_cli.pipeline.compare.changes import MOST_CHANGED
from valor_cli.pipeline.compare.compare import compare_runs
from valor_cli.pipeline.compare.incompatible import baseline_differences
from valor_cli.results import (
    ComparedRuns,
    ExampleObject,
    ExampleResult,
    InputFile,
    Picture,
    PromptUsed,
    RunResult,
    ShownText,
)

BEFORE = (0.2, 0.5, 0.4, 0.9, 0.1)
AFTER = (0.4, 0.5, 0.1, 0.8, 0.6)


def _texts(*answers: str) -> dict[str, tuple[str | None, ...]]:
    """A question that has no text is left out of its sample's texts."""
    return {"user_input": ("q0", "q1", None, "q3", "q4"), "response": answers}


def _run(column: Any, *models: str, **rest: Any) -> RunResult:
    return run([values("f1", model, column) for model in models or ("m",)], **rest)


def _compare(first: RunResult, second: RunResult, **rest: Any) -> ComparedRuns:
    return compare_runs(first, second, first_path="a", second_path="b", **rest)


def test_changed_samples_with_both_answers() -> None:
    first = _run(BEFORE, texts={"m": _texts("a", "b", "c", "d", "e")})
    second = _run(AFTER, texts={"m": _texts("a", "b", "x", "y", "z")})
    found = _compare(first, second)
    assert [(one.better, one.worse, one.equal) for one in found.changes] == [(2, 2, 1)]
    # By .5, .3, .2 and .1; the second sample is as it was.
    assert [one.sample_id for one in found.changed] == ["s04", "s02", "s00", "s03"]
    fourth, second_one, zeroth, _ = found.changed
    assert [(one.value, one.other_value, one.change) for one in fourth.changes] == [
        (0.6, 0.1, "better")
    ]
    assert fourth.shared == (ShownText("user_input", "q4"),)
    assert (fourth.texts, fourth.other_texts) == (
        (ShownText("response", "z"),), (ShownText("response", "e"),)
    )  # fmt: skip
    assert second_one.shared == ()
    assert second_one.changes[0].change == "worse"
    assert [one.text for one in zeroth.shared] == ["q0", "a"]
    assert zeroth.texts == zeroth.other_texts == ()
    assert (found.pairs, found.warnings, found.only_first) == ((("m", "m"),), (), ())


def test_headline_changes_come_before_wider_ones_of_others() -> None:
    def both(first: Any, second: Any) -> RunResult:
        return run([values("main", "m", first), values("side", "m", second)], primary=("main",))

    found = _compare(both([0.5, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0]),
                     both([0.5, 0.6, 0.5, 0.0], [0.1, 0.2, 1.0, 0.0]))  # fmt: skip
    assert [one.sample_id for one in found.changed] == ["s01", "s02", "s00"]
    # The widest change of a sample stands first.
    assert [one.metric for one in found.changed[0].changes] == ["side", "main"]
    # Numbers of whatever size count as parts of the largest: 30 of 40, not 30.
    pixels = run([values("main", "m", [0.5, 0.5]), values("pixels", "m", [10.0, 40.0])])
    later = run([values("main", "m", [0.5, 1.4]), values("pixels", "m", [40.0, 40.0])])
    assert [one.sample_id for one in _compare(pixels, later).changed] == ["s00", "s01"]


def test_the_bound_leaves_room_for_both_directions() -> None:
    count = 4 * MOST_CHANGED
    worse = [0.9 if at % 40 else 0.1 for at in range(count)]  # five better ones by less
    better = [0.0 if at % 40 else 0.2 for at in range(count)]
    found = _compare(_run(worse), _run(better))
    signs = [one.changes[0].change for one in found.changed]
    assert len(signs) == MOST_CHANGED
    assert signs.count("better") == 5
    # Of equal changes those with the lowest ids, and the wider ones first.
    assert [one.sample_id for one in found.changed][:3] == ["s01", "s02", "s03"]
    assert signs[-5:] == ["better"] * 5


def test_texts_and_pictures_of_examples_where_runs_keep_no_others() -> None:
    def case(kind: str, sample: Any, objects: int, *said: str) -> ExampleResult:
        things = tuple(ExampleObject("prediction", at, "cat", 0.5, "", None)
                       for at in range(objects))  # fmt: skip
        return ExampleResult("f1", "m", None, None, {}, kind, sample, None,
                             Picture(f"{kind}.jpg", 64, 48), things,
                             tuple(ShownText("response", one) for one in said))  # fmt: skip

    first = replace(_run(BEFORE), examples=(case("some", "s04", 1, "old"),))
    # Objects are those of the example with most of them, texts those of the one with most texts.
    cases = (case("some", "s04", 1, "new", "more"), case("most", "s04", 3, "other"),
             case("none", 4, 9, "another sample"))  # fmt: skip
    second = replace(_run(AFTER), examples=cases)
    changed = _compare(first, second).changed[0]
    assert changed.picture == Picture("most.jpg", 64, 48)
    assert (len(changed.objects), len(changed.other_objects)) == (3, 1)
    assert (changed.texts[0].text, changed.other_texts[0].text) == ("new", "old")
    assert _compare(first, replace(second, examples=())).changed[0].picture is not None
    # The example of a whole image shows all of it, however few its objects are.
    whole = replace(second, examples=(*cases, case("worst_image", "s04", 2, "new")))
    assert len(_compare(first, whole).changed[0].objects) == 2


def test_values_of_a_corpus_still_show_which_samples_changed() -> None:
    def bleu(column: Any, value: float) -> RunResult:
        found = run([values("bleu", "m", column)])
        return replace(found, metrics=(row("bleu", "m", value),))

    found = _compare(bleu(BEFORE, 0.3), bleu(AFTER, 0.4))
    assert found.comparisons[0].test is None
    assert found.changes[0].better == 2
    assert len(found.changed) == 4
    # No sample has a value in both.
    apart = _compare(_run((0.2, None)), _run((None, 0.4)))
    assert (apart.changes, apart.changed) == ((), ())


def test_models_by_name_or_as_they_are_told() -> None:
    two, other = _run(BEFORE, "a", "b"), _run(AFTER, "b", "c")
    assert _compare(two, other).pairs == (("b", "b"),)
    asked = _compare(two, other, pairs=[("c", "a")])
    assert asked.pairs == (("c", "a"),)
    assert [(one.model, one.other, one.baseline) for one in asked.comparisons] == [("c", "a", True)]
    assert _compare(_run(BEFORE, "old"), _run(AFTER, "new")).pairs == (("new", "old"),)


def test_models_of_one_run() -> None:
    one = _run(BEFORE, "a", "b", "c", primary=("f1",))
    found = _compare(one, one)
    assert found.pairs == (("b", "a"), ("c", "a"), ("c", "b"))
    assert not any(row.baseline for row in found.comparisons)
    assert (found.warnings, found.worse) == ((), False)
    with pytest.raises(ConfigError, match="one model alone, a"):
        compare_runs(alone := _run(BEFORE, "a"), alone, first_path="a", second_path="a")
    with pytest.raises(ConfigError, match="cannot be compared with itself"):
        _compare(one, one, pairs=[("a", "a")])


@pytest.mark.parametrize(
    ("second", "pairs", "words"),
    [
        (_run(AFTER, "c", "d"), None, "no model has the same name in both: .* a, b; .* c, d"),
        (_run(AFTER, "c"), [("x", "a")], "--model x=a: the second run has no model 'x'; it has c"),
        (_run(AFTER, "large"), [("lagre", "a")], "did you mean 'large'"),
        (_run(AFTER, "c"), [("c", "z")], "the first run has no model 'z'; it has a, b"),
        (replace(_run(AFTER), task="classification"), None, "b: a run of classification; a is one"),
    ],
)
def test_what_cannot_be_paired_is_refused(second: RunResult, pairs: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _compare(_run(BEFORE, "a", "b"), second, pairs=pairs)


def test_values_of_one_run_alone_are_named_and_counted() -> None:
    beta = [values("f1", "m", BEFORE, parameters={"beta": number}) for number in range(30)]
    found = _compare(run(beta), run([*beta[:1], values("bleu", "m", BEFORE)]))
    assert found.only_second == ("bleu",)
    assert found.only_first[0] == "f1 (beta=1)"
    assert found.only_first[-1] == "… and 9 more"
    assert len(found.only_first) == 21


def test_worse_is_said_of_headline_values_alone() -> None:
    def both(main: float, side: float) -> RunResult:
        return run([values("main", "m", [main] * 12), values("side", "m", [side] * 12)],
                   primary=("main",))  # fmt: skip

    assert not _compare(both(0.5, 0.5), both(0.9, 0.1)).worse
    assert _compare(both(0.5, 0.5), both(0.1, 0.9)).worse


def test_warnings_say_what_else_differs() -> None:
    truth = InputFile("truth.json", "1" * 64, 5)
    answers = InputFile("answers.json", "2" * 64, 5)
    first = replace(
        _run(BEFORE, texts={"m": _texts(*"abcde")}),
        settings={"matching": "coco", "judge": "gpt"},
        prompts=(PromptUsed("fact", 1, "3" * 64),),
        run=replace(INFO, inputs=(truth, answers), packages={"sacrebleu": "2.4.0"}),
    )
    second = replace(
        _run(AFTER, texts={"m": {"user_input": ("other", *_texts()["user_input"][1:])}}),
        settings={"matching": "voc"},
        prompts=(PromptUsed("fact", 2, "4" * 64),),
        data={"samples": 5_000},
        run=replace(
            INFO,
            inputs=(replace(truth, path="new.json", sha256="5" * 64), answers),
            packages={"sacrebleu": "2.5.0"},
            valor_version="0.2.0",
            stopped="the budget of 1 USD is spent",
        ),
    )
    assert _compare(first, second).warnings == (
        "evaluated in another way (first matching: coco; second matching: voc)",
        "judges were asked with other prompts: fact",
        "made from other data (first 12 samples; second 5,000 samples)",
        "the ground truth is not the same file (first truth.json; second new.json)",
        "1 of 5 samples that both have are others but for their ids: another question or reference",
        "made by other versions of valor (first 0.1.0; second 0.2.0)",
        "made with other versions of sacrebleu (first 2.4.0; second 2.5.0)",
        "the second run was stopped: the budget of 1 USD is spent",
    )
    assert _compare(first, replace(first)).warnings == ()


def test_the_same_runs_are_the_same_comparison() -> None:
    first, second = (_run(column, "a", "b", primary=("f1",)) for column in (BEFORE, AFTER))
    assert _compare(first, second) == _compare(first, second)


def baseline(**rest: Any) -> RunResult:
    return run([values("f1", "m", [0.5, 1.0])], **rest)


def told(settings: dict[str, str], *, held: bool = False, **sizes: int) -> list[str]:
    before = baseline(settings={"matching": "coco", "judge": "a"})
    data = {**before.data, **sizes}
    return baseline_differences(before, before.task, data, settings, held=held)


def test_what_differs_from_the_baseline() -> None:
    same = {"matching": "coco", "judge": "a"}
    assert told(same) == []
    assert told(same, held=True, samples=1) == [
        "--baseline: made from other data (12 samples; here 1 sample)"
    ]
    # Who was asked by one of both has no part in what both have.
    assert told({"matching": "coco"}, held=True) == []
    words = "evaluated in another way (matching: coco, judge: a; here matching: coco, judge: b)"
    other = {"matching": "coco", "judge": "b"}
    assert told(other) == [f"--baseline: {words}"]
    assert baseline_differences(baseline(), "else", {}, {}, held=True) == [
        f"--baseline: a run of another task, {baseline().task}"
    ]


def test_gates_do_not_hold_values_found_in_another_way() -> None:
    with pytest.raises(ConfigError, match="evaluated in another way") as refused:
        told({"matching": "voc", "judge": "a"}, held=True)
    assert "leave max_drop and not_worse out" in str(refused.value)
