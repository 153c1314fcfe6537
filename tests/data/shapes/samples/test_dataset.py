"""Samples of text: shards of them, and what reports show."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.oracles.text_samples import samples
from valor_cli.data.shapes.samples.dataset import shown_text
from valor_cli.kernels.secrets import credentials
from valor_cli.kernels.secrets.spans import Span
from valor_cli.results import LONG_TEXTS, SHORT_TEXT, TEXT, Mark, MetricExample, ShownText


def test_a_shard_has_its_samples_in_all_columns() -> None:
    data = samples(
        ["a", "b", None],
        references=[["x"], [], ["y", "z"]],
        token_logprobs=[[-1.0], None, [-0.5, -2.0]],
    )
    part = data.shard(np.array([True, False, True]))
    assert part.unit_count == 2
    assert part.sample_ids == ("s000", "s002")
    assert part.references == (("x",), ("y", "z"))
    assert part.number.tolist() == [0, 2]
    assert [list(one) for one in part.token_logprobs if one is not None] == [[-1.0], [-0.5, -2.0]]


def test_an_example_shows_all_that_its_sample_says() -> None:
    data = samples(
        ["blue", "red"],
        user_input=["colour?", None],
        references=[["green"], ["red"]],
        retrieved_contexts=[["grass", "leaf"], None],
    )
    first, second = data.illustrate(
        [
            MetricExample("worst_sample", "s000", marks=(Mark("response", 1, 3, "wrong"),)),
            MetricExample("worst_sample", "s001"),
        ]
    )
    assert first.texts == (
        ShownText("user_input", "colour?"),
        ShownText("response", "blue", ((1, 3, "wrong"),)),
        ShownText("references[0]", "green"),
        ShownText("retrieved_contexts[0]", "grass"),
        ShownText("retrieved_contexts[1]", "leaf"),
    )
    assert [one.field for one in second.texts] == ["response", "references[0]"]
    assert first.picture is None


def test_of_many_contexts_the_first_are_shown_and_those_with_a_mark() -> None:
    data = samples(["a"], retrieved_contexts=[[f"c{at}" for at in range(9)]])
    (shown,) = data.illustrate(
        [MetricExample("x", "s000", marks=(Mark("retrieved_contexts[7]", 0, 2, "here"),))]
    )
    assert [one.text for one in shown.texts] == ["a", "c0", "c1", "c2", "c3", "c4", "c7"]


def test_what_is_secret_is_masked_wherever_a_text_is_shown() -> None:
    text = "mail bob@x.org now, key 12-34"
    shown = shown_text("response", text, [Mark("response", 24, 29, "KEY", secret=True)], [(5, 14)])
    assert shown == ShownText(
        "response", "mail •••@•.••• now, key ••-••", ((24, 29, "KEY"),), left_out=0
    )


def test_a_text_is_searched_for_secrets_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def found(text: str) -> list[Span]:
        searched.append(text)
        return [Span(0, 4, "KEY")]

    # Its search begins when there may be a key.
    monkeypatch.setattr(credentials, "find_credentials", found)
    data = samples(["AKey of a sample that many metrics show"])
    assert data.sample_texts()["response"] == ["•••• of a sample that many metrics show"]
    shown = data.illustrate([MetricExample("x", "s000"), MetricExample("y", "s000")])
    assert [one.texts[0].text[:7] for one in shown] == ["•••• of"] * 2
    assert searched == [data.response[0]]


def test_a_dataset_masks_what_its_own_eye_finds() -> None:
    data = replace(samples(["my secret"]), secrets=lambda text: [(3, len(text))])
    (shown,) = data.illustrate([MetricExample("x", "s000")])
    assert shown.texts[0].text == "my ••••••"


def test_a_long_text_is_cut_around_its_first_mark() -> None:
    text = "a" * 10_000 + "HERE" + "b" * 10_000
    shown = shown_text("response", text, [Mark("response", 10_000, 10_004, "found")], ())
    start, end, kind = shown.marks[0]
    assert (shown.text[start:end], kind) == ("HERE", "found")
    assert len(shown.text) == TEXT
    assert shown.left_out == len(text) - TEXT
    whole = shown_text("response", text, (), ())
    assert (whole.text, whole.left_out) == ("a" * TEXT, len(text) - TEXT)


def test_marks_do_not_reach_into_each_other_or_out_of_the_text() -> None:
    marks = [Mark("r", 2, 6, "b"), Mark("r", 0, 4, "a"), Mark("r", 1_990, 2_500, "c")]
    shown = shown_text("r", "x" * 3_000, marks, ())
    assert shown.marks == ((0, 4, "a"), (1_990, 2_000, "c"))


def test_contexts_of_the_first_samples_and_texts_cut_without_their_secrets() -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    contexts = [["first", "second"], None, [], *[["late"]] * (LONG_TEXTS - 2)]
    data = samples(["x" * 3_000] * len(contexts), retrieved_contexts=contexts)
    for found in (data.sample_texts(), data.prepare().sample_texts()):
        lengths = [len(text) for text in found["response"]]  # type: ignore[arg-type]
        assert lengths == [TEXT] * LONG_TEXTS + [SHORT_TEXT]
        first, second = list(found["retrieved_contexts[0]"]), list(found["retrieved_contexts[1]"])
        assert first[:4] == ["first", None, None, "late"]
        assert (first[LONG_TEXTS - 1], first[LONG_TEXTS]) == ("late", None)
        assert second[:2] == ["second", None]
    assert "retrieved_contexts[2]" not in data.sample_texts()
    late = data.shard(np.arange(len(contexts)) >= LONG_TEXTS)
    assert {*late.prepare().sample_texts()["retrieved_contexts[0]"]} == {None}
    cut = samples(["a"], retrieved_contexts=[["x" * (TEXT - 20) + f" {key}", key]]).sample_texts()
    assert all(key[:12] not in str(column) for column in cut.values())
