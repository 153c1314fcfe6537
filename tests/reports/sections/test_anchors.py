"""Names of samples in addresses: stable, safe, no two the same."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from valor_cli.reports.sections.anchors import Anchors


def test_names_worked_by_hand() -> None:
    anchors = Anchors()
    assert anchors.name("faq-003", "small", "rouge_l") == "sample-faq-003"
    assert anchors.name("faq-003", "large", "rouge_l") == "sample-faq-003.large.rouge_l"
    assert anchors.name("faq-003", "large", "rouge_l") == "sample-faq-003.large.rouge_l.2"
    assert anchors.name(17) == "sample-17"
    assert anchors.first("faq-003") == "sample-faq-003"
    assert anchors.first("faq-004") is None
    assert len(anchors) == 2


def test_an_example_in_a_dialog_leaves_the_bare_name_to_others() -> None:
    anchors = Anchors()
    inside = anchors.name(59, "small", "cat taken for dog, small", bare=False)
    assert inside == anchors.first(59) == "sample-59.small.cat-taken-for-dog-small"
    assert anchors.name(59, "small") == "sample-59"


def test_numbers_and_texts_that_read_alike_are_two_samples() -> None:
    anchors = Anchors()
    assert [anchors.name(1, "m"), anchors.name("1", "m")] == ["sample-1", "sample-1.m"]
    assert [anchors.first(1), anchors.first("1")] == ["sample-1", "sample-1.m"]


def test_unsafe_ids_have_a_digest_that_tells_them_apart() -> None:
    anchors = Anchors()
    # the first eight digits of the SHA-256 of "../x": printf ../x | sha256sum
    assert anchors.name("../x") == "sample-x-d6b96a97"
    assert anchors.name("#") != anchors.name("##")
    assert anchors.name("x" * 10_000_000).startswith("sample-" + "x" * 40 + "-")


texts = st.text(st.characters(codec=None)) | st.integers() | st.none() | st.booleans()


@given(st.lists(st.tuples(texts, st.text(max_size=5))))
def test_names_are_safe_and_each_its_own(samples: list[tuple[str | int | None, str]]) -> None:
    anchors = Anchors()
    names = [anchors.name(sample, place) for sample, place in samples]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"sample-[A-Za-z0-9_.-]+", name) for name in names)
    assert [anchors.first(sample) for sample, _ in samples if not anchors.first(sample)] == []
