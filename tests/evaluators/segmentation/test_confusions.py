"""The evidence: pooling, shards in any order, subsets, resamples, and what stops it."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.evaluators.segmentation.asking import METRICS, asked, findings
from tests.oracles.label_map_problems import InMemory, codes_of, random_maps
from tests.oracles.segmentation import drawn, pooled
from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.errors import LISTED, DataError
from valor_cli.evaluators.segmentation.evidence.confusions import Confusions, CountingPlan
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions, merge_confusions
from valor_cli.kernels.geometry.label_maps import RawPair

PLAN = CountingPlan((0.02, 0.1))
CALLS = [asked(name) for name in METRICS]


def as_lists(evidence: Confusions) -> object:
    """All that evidence holds, to be compared."""
    return (
        evidence.plan,
        evidence.sample_ids,
        evidence.labels,
        [column.tolist() for column in evidence.cells],
        [
            (part.image.tolist(), part.label.tolist(), [side.tolist() for side in part.pixels])
            for part in evidence.boundaries
        ],
    )


def said(evidence: Confusions) -> list[object]:
    return [findings(evidence, call) for call in CALLS]


def matrix_of(evidence: Confusions) -> Counter[tuple[int, int]]:
    matrix = evidence.matrix()
    rows, columns = (axis.tolist() for axis in matrix.nonzero())
    return Counter(
        {(row, column): int(matrix[row, column]) for row, column in zip(rows, columns, strict=True)}
    )


@pytest.fixture(scope="module")
def dataset() -> SegmentationDataset:
    return random_maps(1, images=9, labels=4)


def test_the_matrix_counts_every_pixel(dataset: SegmentationDataset) -> None:
    evidence = count_confusions(dataset, CountingPlan())
    assert matrix_of(evidence) == pooled(dataset)
    sums = evidence.overlaps()
    matrix = evidence.matrix()
    assert sums.truth[0].tolist() == matrix[:-1].sum(axis=1).tolist()
    assert sums.prediction[0].tolist() == matrix[:, :-1].sum(axis=0).tolist()
    assert sums.both[0].tolist() == matrix.diagonal()[:-1].tolist()


def test_shards_of_other_plans_labels_or_weights_are_not_merged(
    dataset: SegmentationDataset,
) -> None:
    one = count_confusions(dataset, PLAN)
    other = count_confusions(dataset, CountingPlan())
    with pytest.raises(ValueError, match="share their plan"):
        merge_confusions([one, other])
    (again,) = one.resamples(np.ones((1, 9), np.int64))
    with pytest.raises(ValueError, match="no resample"):
        merge_confusions([again])


@given(st.lists(st.integers(0, 3), min_size=9, max_size=9))
@settings(max_examples=10, deadline=None)
def test_a_resample_counts_images_as_often_as_they_stand_in_it(weights: list[int]) -> None:
    dataset = random_maps(1, images=9, labels=4)
    whole = count_confusions(dataset, PLAN)
    (again,) = whole.resamples(np.array([weights]))
    assert matrix_of(again) == +pooled(dataset, weights)
    # Each image as often as it stands there, under a name of its own.
    names = [
        (name, at)
        for name, count in zip(dataset.sample_ids, weights, strict=True)
        for at in range(count)
    ]
    copies = {f"{name} {at}": dataset.read(name) for name, at in names}
    repeated = SegmentationDataset(
        tuple(copies),
        dataset.labels,
        np.zeros((len(copies), 2), np.int64),
        tuple(("", "") for _ in copies),
        copies.__getitem__,
    )
    expected = count_confusions(repeated, PLAN)
    for call in CALLS:
        ours, theirs = findings(again, call).values, findings(expected, call).values
        for one, other in zip(ours, theirs, strict=True):
            assert (one.output, one.label, one.n) == (other.output, other.label, other.n)
            assert one.value == pytest.approx(other.value, abs=1e-12)


def test_sums_beyond_32_bits_are_exact(dataset: SegmentationDataset) -> None:
    whole = count_confusions(dataset, CountingPlan())
    (again,) = whole.resamples(np.full((1, 9), 10**9))
    assert matrix_of(again) == Counter(
        {cell: count * 10**9 for cell, count in pooled(dataset).items()}
    )


def test_evidence_goes_to_other_processes_without_what_was_computed(
    dataset: SegmentationDataset,
) -> None:
    evidence = count_confusions(dataset, PLAN)
    before = len(pickle.dumps(evidence))
    said(evidence)
    copy = pickle.loads(pickle.dumps(evidence))  # noqa: S301 - our own
    assert len(pickle.dumps(evidence)) == before
    assert as_lists(copy) == as_lists(evidence)
    assert said(copy) == said(evidence)


def test_values_without_a_label_are_listed_with_file_and_pixels() -> None:
    dataset = drawn(
        {
            "a": (["ab?z"], ["ab?b"]),
            "b": (["ab##"], ["abzz"]),  # where nobody is judged, anything may stand
            "c": (["aaaa"], ["az??"]),
        },
        2,
    )
    with pytest.raises(DataError) as caught:
        count_confusions(dataset, CountingPlan())
    assert str(caught.value).splitlines() == [
        "truth/a.png: no label for the values 63 (1 pixel), 122 (1 pixel)",
        "found/a.png: no label for the value 63 (1 pixel)",
        "found/c.png: no label for the values 63 (2 pixels), 122 (1 pixel)",
        "Every value needs a label: `labels` under `data:` names the values.",
    ]


def test_one_value_without_a_label_in_the_ground_truth_may_be_ignored() -> None:
    dataset = drawn({"a": (["ab??"], ["abab"]), "b": (["?aaa"], ["aaaa"])}, 2)
    with pytest.raises(DataError, match="`ignore_index: 63`"):
        count_confusions(dataset, CountingPlan())


def test_problems_beyond_the_first_are_counted() -> None:
    dataset = drawn({f"{at:02}": (["a?"], ["aa"]) for at in range(LISTED + 5)}, 1)
    with pytest.raises(DataError) as caught:
        count_confusions(dataset, CountingPlan())
    assert (len(caught.value.problems), caught.value.total) == (LISTED, LISTED + 5)
    assert "… and 5 more problems" in str(caught.value)


def test_labels_that_one_side_has() -> None:
    truth, prediction = codes_of(4)
    maps = np.array([[0, 1, 1]], np.uint8), np.array([[0, 0, 2]], np.uint8)
    dataset = replace(
        random_maps(0, images=1),
        read=InMemory({"image 0": RawPair(*maps, truth, prediction)}),
        sizes=np.array([[1, 3]]),
    )
    evidence = count_confusions(dataset, CountingPlan())
    # Of labels 0 to 3, 1 is there and never predicted, 2 the other way round, 3 on neither side.
    assert evidence.one_sided() == (("label 1",), ("label 2",))
