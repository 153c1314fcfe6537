"""Judges held against people: real ratings against scikit-learn, each scale worked by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from tests.pipeline.calibrating import (
    CUSTOM,
    JUDGES,
    RUBRIC,
    annotated,
    calibrated,
    in_some_form,
    lines,
    median_of,
    mtrag,
    plan_of,
    ratings_of,
    row,
    written,
)
from valor_cli import pipeline
from valor_cli.errors import ConfigError, DataError


def mean_rating(said: Sequence[int | None]) -> float:
    known = [one for one in said if one is not None]
    return sum(known) / len(known)


def majority_rating(said: Sequence[int | None]) -> float:
    """Of those on the side where most are (2.5 and above passes), the most frequent, or worst."""
    known = [one for one in said if one is not None]
    passing = [one for one in known if one >= 2.5]
    side = passing if len(passing) > len(known) / 2 else [one for one in known if one < 2.5]
    counts = Counter(side)
    return min(one for one in counts if counts[one] == max(counts.values()))


def level(value: float) -> int:
    """The level that a mean is nearest to; of two, the worse."""
    return min(range(1, 5), key=lambda one: (abs(one - value), one))


def holds(found: Any, people: Sequence[int | None], values: Sequence[float | None]) -> None:
    """See that a row says what scikit-learn and scipy say of the same pairs."""
    stats = pytest.importorskip("scipy.stats")
    pairs = [
        (human, value)
        for human, value in zip(people, values, strict=True)
        if human is not None and value is not None
    ]
    first, raw = [human for human, _ in pairs], [value for _, value in pairs]
    second = [level(value) for value in raw]
    assert found.n == len(pairs)
    assert found.unjudged == sum(one is not None for one in people) - len(pairs)
    expected = confusion_matrix(first, second, labels=[1, 2, 3, 4])
    assert np.array_equal(found.matrix, expected)
    assert found.agreement == pytest.approx(np.mean(np.equal(first, second)), abs=1e-12)
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    quadratic = cohen_kappa_score(first, second, weights="quadratic", labels=[1, 2, 3, 4])
    assert found.weighted_kappa == pytest.approx(quadratic, abs=1e-12)
    assert found.correlation == pytest.approx(stats.spearmanr(first, raw).statistic, abs=1e-12)
    assert found.human_mean == pytest.approx(np.mean(first), abs=1e-12)
    assert found.judge_mean == pytest.approx(np.mean(raw), abs=1e-12)
    low, high = found.kappa_interval
    assert low <= found.kappa <= high


@pytest.mark.parametrize("combine", [None, "mean", "majority"])
def test_three_judges_on_mtrag_agree_with_people_as_scikit_learn_says(
    tmp_path: Path, combine: str | None
) -> None:
    path, samples = mtrag(tmp_path, combine)
    found = calibrated(path)
    assert found.warnings == []
    assert found.unanswered == 0
    together = majority_rating if combine == "majority" else mean_rating
    models = list(dict.fromkeys(one["model"] for one in samples))
    assert [(one.model, one.judge) for one in found.rows] == [
        (model, judge) for model in (None, *models) for judge in (None, *JUDGES)
    ]
    for model in (None, *models):
        own = [one for one in samples if model in (None, one["model"])]
        assert len(own) == (222 if model is None else 74)
        people = [median_of(one) for one in own]
        holds(row(found, model), people, [together(ratings_of(one)) for one in own])
        for k, judge in enumerate(JUDGES):
            holds(row(found, model, judge), people, [ratings_of(one)[k] for one in own])
    whole = row(found)
    assert whole.scale == "ratings"
    assert whole.labels == ("1", "2", "3", "4")
    assert whole.column == "human_custom_judge"
    assert whole.self_agreement is None


def test_people_may_say_pass_or_fail_of_what_judges_rate(tmp_path: Path) -> None:
    stats: dict[str, list[int]] = {"people": [], "judge": []}
    samples = []
    for one in annotated():
        first, second = one.pop("annotators")[:2]
        samples.append({**one, "human_custom_judge": "PASS" if first >= 3 else "fail"})
        stats["people"].append(int(first >= 3))
        stats["judge"].append(int(second >= 2.5))
        one["second"] = second
    replies = [in_some_form(one["second"], at) for at, one in enumerate(annotated_second())]
    found = row(calibrated(written(tmp_path, samples, {"j": replies}, [CUSTOM])))
    assert found.scale == "verdicts"
    assert found.labels == ("fail", "pass")
    assert np.array_equal(found.matrix, confusion_matrix(stats["people"], stats["judge"]))
    assert found.kappa == pytest.approx(
        cohen_kappa_score(stats["people"], stats["judge"]), abs=1e-12
    )
    assert found.human_mean == pytest.approx(np.mean(stats["people"]), abs=1e-12)
    assert found.judge_mean == pytest.approx(np.mean(stats["judge"]), abs=1e-12)
    assert (found.weighted_kappa, found.correlation) == (None, None)


def annotated_second() -> list[dict[str, Any]]:
    return [{**one, "second": one["annotators"][1]} for one in annotated()]


def four(name: str, *words: Any, **more: Any) -> list[dict[str, Any]]:
    """Samples a, b, c … with what people said of each."""
    return [
        {"sample_id": chr(97 + at), "user_input": "Q?", "response": "A.", name: word, **more}
        for at, word in enumerate(words)
    ]


def rated(*ratings: int) -> list[str]:
    return [in_some_form(one, at) for at, one in enumerate(ratings)]


def test_a_bare_one_is_a_rating_where_there_is_such_a_one(tmp_path: Path) -> None:
    # People and judge: all gave the worst rating, which a reader of verdicts would call a pass.
    samples = four("human_custom_judge", 1, "1", 1.0)
    found = row(calibrated(written(tmp_path, samples, {"j": rated(1, 1, 4)}, [CUSTOM])))
    assert found.scale == "ratings"
    assert found.matrix[0] == [2, 0, 0, 1]
    assert found.human_mean == 1.0


def test_a_zero_beside_ratings_from_one_can_only_fail(tmp_path: Path) -> None:
    samples = four("human_custom_judge", 1, 0, True, False)
    found = row(calibrated(written(tmp_path, samples, {"j": rated(4, 1, 3, 3)}, [CUSTOM])))
    assert found.scale == "verdicts"
    # fail/fail: b; fail/pass: d; pass/pass: a, c.
    assert found.matrix == [[1, 1], [0, 2]]
    assert found.disagreements == ["d"]


def test_a_mean_between_two_ratings_counts_as_the_worse_one(tmp_path: Path) -> None:
    # Means: a (2 + 3) / 2 = 2.5 -> 2, b (3 + 4) / 2 = 3.5 -> 3, c (1 + 4) / 2 = 2.5 -> 2.
    samples = four("human_custom_judge", 2, 3, 4)
    replies = {"x": rated(2, 3, 1), "y": rated(3, 4, 4)}
    found = row(calibrated(written(tmp_path, samples, replies, [CUSTOM])))
    assert found.matrix == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]]
    assert found.judge_mean == pytest.approx((2.5 + 3.5 + 2.5) / 3)
    assert found.disagreements == ["c"]


def test_the_widest_disagreements_come_first_and_are_bounded(tmp_path: Path) -> None:
    # a and c are one apart, b three, d none; e and 20 more are two apart.
    samples = four("human_custom_judge", 2, 1, 3, 4, *[2] * 21)
    replies = rated(3, 4, 4, 4, *[4] * 21)
    found = row(calibrated(written(tmp_path, samples, {"j": replies}, [CUSTOM])))
    assert found.disagreements == ["b", *(one["sample_id"] for one in samples[4:23])]
    assert found.agreement == pytest.approx(1 / 25)


def test_repeats_of_a_judge_are_held_against_each_other(tmp_path: Path) -> None:
    # Replies stand sample by sample, repeats within: a 4 4 4, b 1 2 4, c none 3 3.
    # Equal ordered pairs: a 6 of 6, b 0 of 6, c 2 of 2 -> 8 of 14. Means: 4, 7/3 -> 2, 3.
    samples = four("human_custom_judge", 4, 2, 4)
    replies = [*rated(4, 4, 4, 1, 2, 4), "no idea", *rated(3, 3)]
    path = written(tmp_path, samples, {"j": replies}, [CUSTOM], judge={"repeat": 3})
    found = calibrated(path)
    assert len(found.rows) == 1
    assert found.rows[0].self_agreement == pytest.approx(8 / 14)
    assert found.rows[0].matrix == [[0] * 4, [0, 1, 0, 0], [0] * 4, [0, 0, 1, 1]]
    assert found.rows[0].agreement == pytest.approx(2 / 3)


def test_ties_of_verdicts_fail_by_mean_and_by_majority(tmp_path: Path) -> None:
    samples = four("human_custom_judge", "fail", "pass")
    for combine in ("mean", "majority"):
        replies = {"x": ["true", "true"], "y": ["false", "true"]}
        path = written(tmp_path, samples, replies, ["custom_judge"], combine=combine)
        found = row(calibrated(path))
        assert found.matrix == [[1, 0], [0, 1]]
        assert found.judge_mean == 0.5


CLASSES = {
    "custom_judge": {
        "prompt": "What is the tone of {response}?",
        "classes": ["kind", "dry", "rude"],
    }
}


def test_class_words_of_people_are_compared_class_by_class(tmp_path: Path) -> None:
    people = ["kind", "Dry", "rude", "rude", None, "dry"]
    judge = ["kind", "rude", "rude", "dry", "dry", "kind"]
    samples = four("human_custom_judge", *people)
    found = row(calibrated(written(tmp_path, samples, {"j": judge}, [CLASSES])))
    assert found.scale == "classes"
    assert found.labels == ("kind", "dry", "rude")
    # kind/kind a; dry/rude b, dry/kind f; rude/rude c, rude/dry d.
    assert found.matrix == [[1, 0, 0], [1, 0, 1], [0, 1, 1]]
    both = [(one.lower(), said) for one, said in zip(people, judge, strict=True) if one]
    expected = cohen_kappa_score(*zip(*both, strict=True))
    assert found.kappa == pytest.approx(expected, abs=1e-12)
    assert found.disagreements == ["b", "d", "f"]
    assert (found.human_mean, found.judge_mean, found.correlation) == (None, None, None)


def test_classes_of_several_judges_stand_by_majority_and_ties_do_not_pass(tmp_path: Path) -> None:
    # a: dry, dry, kind -> dry. b: kind, dry, rude -> dry, the first that does not pass.
    # c: rude, kind, and no class -> rude.
    samples = four("human_custom_judge", "dry", "dry", "rude")
    replies = {
        "x": ["dry", "kind", "rude"],
        "y": ["dry", "dry", "kind"],
        "z": ["kind", "rude", "?"],
    }
    found = calibrated(written(tmp_path, samples, replies, [CLASSES]))
    assert row(found).matrix == [[0, 0, 0], [0, 2, 0], [0, 0, 1]]
    assert row(found, judge="z").matrix == [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    assert row(found, judge="z").unjudged == 1


def test_two_classes_mean_what_they_mean_to_the_judge(tmp_path: Path) -> None:
    # "no" is the class that passes: nothing is wrong with the answer.
    asked = {"custom_judge": {"prompt": "Is {response} rude?", "classes": ["no", "yes"]}}
    samples = four("human_custom_judge", "no", "yes", "NO")
    found = row(calibrated(written(tmp_path, samples, {"j": ["no", "yes", "yes"]}, [asked])))
    assert found.matrix == [[1, 0], [1, 1]]
    assert found.human_mean == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("metric", "words", "said"),
    [
        # Of sexism the judge says "true", and so do people: that fails.
        ("sexism", [True, False, "false"], ["true", "false", "true"]),
        ("sexism", ["yes", 0, "pass"], ["true", "false", "true"]),
        ("contact_information", ["present", "absent", "pass"], ["present", "absent", "present"]),
        ("contact_information", ["fail", "yes", 1], ["present", "absent", "present"]),
    ],
)
def test_people_may_use_the_words_of_the_judge(
    tmp_path: Path, metric: str, words: list[Any], said: list[str]
) -> None:
    samples = four(f"human_{metric}", *words)
    found = row(calibrated(written(tmp_path, samples, {"j": said}, [metric])))
    # fail/fail a; pass/pass b; pass/fail c.
    assert found.matrix == [[1, 0], [1, 1]]


def claims(*verdicts: int) -> list[str]:
    """What a judge of faithfulness replies about as many claims."""
    said = [{"reason": "", "verdict": one} for one in verdicts]
    names = [f"claim {at}" for at in range(len(verdicts))]
    return [json.dumps({"statements": names}), json.dumps({"verdicts": said})]


def test_values_are_compared_by_their_side_of_the_threshold(tmp_path: Path) -> None:
    # Judge: 1, 0.5, 0.75, 0; at 0.75: above, below, above, below. People: 0.9, 0.8, 0.1, "fail".
    samples = four("human_faithfulness", 0.9, "0.8", 0.1, "fail", retrieved_contexts=["C."])
    replies = [*claims(1, 1), *claims(1, 0), *claims(1, 1, 1, 0), *claims(0)]
    asked = {"faithfulness": {"threshold": 0.75}}
    found = row(calibrated(written(tmp_path, samples, {"j": replies}, [asked])))
    assert found.scale == "values"
    assert found.threshold == 0.75
    assert found.labels == ("below 0.75", "0.75 and above")
    assert found.matrix == [[1, 1], [1, 1]]
    assert found.disagreements == ["c", "b"]  # 0.65 and 0.3 apart
    # Ranks of people 4 3 2 1, of the judge 4 2 3 1: rho = 1 - 6 * (1 + 1) / (4 * 15).
    assert found.correlation == pytest.approx(0.8)
    assert found.weighted_kappa is None


def test_a_pass_of_a_metric_of_faults_is_the_lowest_value(tmp_path: Path) -> None:
    samples = four("human_bias", "pass", "fail", "true", 0.25)
    opinions = [*claims(0), *claims(1), *claims(1, 1), *claims(0, 0, 0, 1)]
    found = row(calibrated(written(tmp_path, samples, {"j": opinions}, ["bias"])))
    assert found.matrix == [[2, 0], [0, 2]]
    assert found.human_mean == pytest.approx((0 + 1 + 1 + 0.25) / 4)


def test_blank_words_of_people_and_unread_replies_are_left_out(tmp_path: Path) -> None:
    samples = four("human_custom_judge", 4, None, "", "  ", 2)
    replies = ["hard to say", *rated(1, 1, 1, 2)]
    found = calibrated(written(tmp_path, samples, {"j": replies}, [CUSTOM]))
    assert row(found).n == 1
    assert row(found).unjudged == 1
    assert row(found).kappa is None
    assert found.unanswered == 0


def test_samples_that_no_judge_replied_about_are_counted(tmp_path: Path) -> None:
    samples = four("human_custom_judge", 4, 3)
    replies = [{"error": "unanswerable"}, *rated(3)]
    found = calibrated(written(tmp_path, samples, {"j": replies}, [CUSTOM]))
    assert found.unanswered == 1
    assert (row(found).n, row(found).unjudged) == (1, 1)


def test_words_off_the_scale_are_named_with_their_place(tmp_path: Path) -> None:
    samples = four("human_custom_judge", 4, 5, 2.5, "good", None)
    path = written(tmp_path, samples, {"j": rated(*[4] * 5)}, [CUSTOM])
    with pytest.raises(DataError) as caught:
        calibrated(path)
    told = str(caught.value)
    assert (
        "samples: sample b: human_custom_judge: expected a whole number from 1 to 4, found 5"
        in told
    )
    assert "sample c: human_custom_judge" in told
    assert "sample d: human_custom_judge" in told
    assert "found 'good'" in told
    assert "leave cells empty that say nothing" in told


def test_numbers_off_the_bounds_name_the_bounds(tmp_path: Path) -> None:
    samples = four("human_faithfulness", 0.5, 4, retrieved_contexts=["C."])
    path = written(tmp_path, samples, {"j": [*claims(1), *claims(1)]}, ["faithfulness"])
    with pytest.raises(DataError, match=r"sample b.*expected a number from 0 to 1.*found 4"):
        calibrated(path)


def test_a_metric_asked_in_two_ways_has_rows_of_each(tmp_path: Path) -> None:
    samples = four("human_faithfulness", 1, 0, retrieved_contexts=["C."])
    asked = [{"faithfulness": {"batch_size": size}} for size in (1, 5)]
    one = json.dumps({"verdicts": [{"reason": "", "verdict": 1}]})
    none = json.dumps({"verdicts": [{"reason": "", "verdict": 0}]})
    said = json.dumps({"statements": ["claim"]})
    # The claims are asked for once a sample; each way of asking has verdicts of its own.
    path = written(tmp_path, samples, {"j": [said, one, none, said, none, none]}, asked)
    found = calibrated(path).rows
    assert [each.parameters["batch_size"] for each in found] == [1, 5]
    assert found[0].agreement == 1.0
    assert found[1].agreement == 0.5


def test_scales_and_classes_that_count(tmp_path: Path) -> None:
    # The judge says 1, 4, 3, 3 on 1 to 4, and bad, good, fair, fair, of which 0.5 passes.
    rated = {"custom_judge": {"name": "tone", "steps": ["Read."], "scale": [1, 4]}}
    samples = [
        {**one, "human_tone": one["human_custom_judge"]}
        for one in four("human_custom_judge", 1, 4, 3, 2)
    ]
    (row,) = calibrated(written(tmp_path, samples, {"j": ["1", "4", "3", "3"]}, [rated])).rows
    assert (row.metric, row.scale, row.labels) == ("own.tone", "ratings", ("1", "2", "3", "4"))
    assert row.agreement == 0.75
    counted = {"name": "tone", "steps": ["Read."], "classes": {"good": 1, "fair": 0.5, "bad": 0}}
    people = four("human_tone", "fail", "pass", "pass", "fail")
    path = written(
        tmp_path, people, {"j": ["bad", "good", "fair", "fair"]}, [{"custom_judge": counted}]
    )
    (row,) = calibrated(path).rows
    assert (row.scale, row.agreement) == ("verdicts", 0.75)


def test_custom_judges_with_names_have_columns_of_their_own(tmp_path: Path) -> None:
    samples = [
        {**one, "human_tone": two["human_tone"]}
        for one, two in zip(four("human_custom_judge", 1, 4), four("human_tone", 4, 1), strict=True)
    ]
    asked = [{"custom_judge": {"rubric": RUBRIC, "name": name}} for name in ("tone", "depth")]
    path = written(tmp_path, samples, {"j": rated(4, 1, 1, 4)}, asked)
    found = calibrated(path).rows
    assert [(one.parameters["name"], one.column, one.agreement) for one in found] == [
        ("tone", "human_tone", 1.0),
        ("depth", "human_custom_judge", 1.0),
    ]
    swapped = calibrated(path, {"tone": "human_custom_judge"}).rows
    assert [(one.column, one.agreement) for one in swapped] == [
        ("human_custom_judge", 0.0),
        ("human_custom_judge", 1.0),
    ]


def test_models_that_nothing_is_said_of_have_no_row(tmp_path: Path) -> None:
    samples = [
        {**one, "model": model, "human_custom_judge": word}
        for model, words in (("m", (1, 4)), ("n", (None, None)))
        for one, word in zip(four("x", 0, 0), words, strict=True)
    ]
    found = calibrated(written(tmp_path, samples, {"j": rated(1, 2, 4, 2)}, [CUSTOM]))
    assert [(one.model, one.n) for one in found.rows] == [("m", 2)]
    assert found.warnings == ["human_custom_judge says nothing of the answers of n"]


def test_rows_that_only_some_models_have_keep_their_own_word(tmp_path: Path) -> None:
    samples = [
        {**one, "model": model, "human_custom_judge": word}
        for model, words in (("m", (1, 4)), ("n", (3, 2)))
        for one, word in zip(four("x", 0, 0), words, strict=True)
    ]
    found = calibrated(written(tmp_path, samples, {"j": rated(1, 2, 4, 2)}, [CUSTOM]))
    assert row(found, "m").agreement == 1.0
    assert row(found, "n").agreement == 0.5
    assert row(found).disagreements == ["n: a"]


def test_metrics_without_words_of_people_are_asked_and_named(tmp_path: Path) -> None:
    samples = four("human_custom_judge", 1, 4)
    path = written(
        tmp_path,
        samples,
        {"j": ["absent", "1", "present", "4"]},
        [
            "contact_information",
            CUSTOM,
        ],
    )
    found = calibrated(path)
    assert [one.metric for one in found.rows] == ["custom_judge"]
    assert found.rows[0].agreement == 1.0
    assert found.warnings == [
        "not compared, because the data have no labels in human_contact_information"
    ]


def test_limit_and_filter_leave_out_samples_and_their_calls(tmp_path: Path) -> None:
    samples = four("human_custom_judge", 1, 4, 2, 3)
    path = written(tmp_path, samples, {"j": rated(1, 4)}, [CUSTOM])
    found = calibrated(path, limit=2)
    assert (row(found).n, found.warnings) == (2, [])
    only = written(
        tmp_path, samples, {"j": rated(4, 2)}, [CUSTOM], filter={"sample_id": ["b", "c"]}
    )
    assert row(calibrated(only)).agreement == 1.0


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    samples = four("human_custom_judge", None, "")
    empty = written(tmp_path, samples, {"j": []}, [CUSTOM])
    with pytest.raises(
        ConfigError, match="the data have no labels in human_custom_judge"
    ) as caught:
        calibrated(empty)
    assert "--human METRIC=COLUMN names another" in str(caught.value)
    with pytest.raises(ConfigError, match=r"no judge metric 'custom_jugde'.*did you mean"):
        calibrated(empty, {"custom_jugde": "human_custom_judge"})
    with pytest.raises(DataError, match="'absent'"):
        calibrated(empty, {"custom_judge": "absent"})
    unjudged = written(tmp_path, samples, {"j": []}, ["looping"])
    with pytest.raises(ConfigError, match="none of its metrics asks a judge"):
        calibrated(unjudged)


def test_slices_gates_and_intervals_of_the_config_are_left_alone(tmp_path: Path) -> None:
    samples = four("human_custom_judge", 1, 4, kind="x")
    path = written(
        tmp_path,
        samples,
        {"j": rated(1, 4)},
        [CUSTOM],
        slices=["metadata.kind"],
        gates=[{"metric": "custom_judge", "output": "pass", "min": 1.0}],
        interval={"resamples": 50},
    )
    found = calibrated(path)
    assert len(found.rows) == 1
    assert found.rows[0].n == 2


def test_peoples_word_on_one_model_is_not_lent_to_another(tmp_path: Path) -> None:
    config = written(tmp_path, [], {"j": rated(4, 1, 2, 1)}, [CUSTOM])
    judged = lines(tmp_path / "a.jsonl", four("human_custom_judge", 4, 2))
    bare = [{**one, "response": "another"} for one in four("z", 0, 0)]
    for one in bare:
        del one["z"]
    changed = json.loads(config.read_text())
    changed["data"] = {"samples": {"A": judged, "B": lines(tmp_path / "b.jsonl", bare)}}
    config.write_text(json.dumps(changed))
    found = calibrated(config)
    assert [(one.model, one.n, one.agreement) for one in found.rows] == [("A", 2, 1.0)]
    assert found.warnings == ["human_custom_judge says nothing of the answers of B"]


def test_agreement_of_judges_who_name_classes_is_of_verdicts(tmp_path: Path) -> None:
    replies = {"x": ["true", "true", "false"], "y": ["true", "false", "false"]}
    config = written(tmp_path, four("human_custom_judge", 1, 1, 1), replies, ["custom_judge"])
    (found,) = pipeline.evaluate(plan_of(config), command="").agreements
    # They agree on two of three. Three of six verdicts pass: chance 1/2; (2/3 - 1/2) / (1/2).
    assert (found.n, found.statistic) == (3, "Fleiss' kappa")
    assert found.coefficient == pytest.approx(1 / 3, abs=1e-12)
