"""Counting in threads: the same evidence and the same errors, whatever their number."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.oracles.label_map_problems import random_maps
from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.segmentation.evidence import shards
from valor_cli.evaluators.segmentation.evidence.confusions import CountingPlan
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.kernels import engine, threads
from valor_cli.kernels.geometry.label_maps import RawPair

PLAN = CountingPlan((0.02,))
IMAGES = 40

needs_kernel = pytest.mark.skipif(engine.compiled is None, reason="no compiled kernel")


@pytest.fixture
def dataset() -> SegmentationDataset:
    return random_maps(3, images=IMAGES, labels=4)


def columns(dataset: SegmentationDataset) -> list[bytes]:
    evidence = count_confusions(dataset, PLAN)
    (edges,) = evidence.boundaries
    parts = (*evidence.cells, edges.image, edges.label, *edges.pixels)
    return [column.tobytes() for column in parts]


@needs_kernel
def test_any_number_of_threads_finds_the_same(
    dataset: SegmentationDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "alone", True)
    expected = columns(dataset)
    monkeypatch.setattr(threads, "alone", False)
    for cores in (1, 2, 3, 8):
        monkeypatch.setattr(threads, "_cores", lambda cores=cores: cores)
        assert columns(dataset) == expected


@needs_kernel
def test_errors_stand_in_the_order_of_the_images(
    dataset: SegmentationDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = dataset.sample_ids[5::7]

    def read(sample: str) -> RawPair:
        if sample in bad:
            raise DataError(Problem(sample, "is damaged"))
        return dataset.read(sample)

    said = []
    for cores in (1, 4):
        monkeypatch.setattr(threads, "_cores", lambda cores=cores: cores)
        with pytest.raises(DataError) as caught:
            count_confusions(replace(dataset, read=read), PLAN)
        said.append(str(caught.value))
    assert said == ["\n".join(f"{sample}: is damaged" for sample in bad)] * 2


@needs_kernel
def test_where_one_thread_is_all(
    dataset: SegmentationDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    # Another test may have worked as a process among others.
    monkeypatch.setattr(threads, "alone", False)
    assert shards._threads(dataset) == 5
    few = replace(dataset, sample_ids=dataset.sample_ids[: shards.FEW - 1])
    assert shards._threads(few) == 1
    large = dataset.sizes.copy()
    large[3] = 1 << 13
    assert shards._threads(replace(dataset, sizes=large)) == 1
    far = (*dataset.places[1:], ("https://example.org/a.png", "b.png"))
    assert shards._threads(replace(dataset, places=far)) == 1
    monkeypatch.setattr(threads, "alone", True)
    assert shards._threads(dataset) == 1
    monkeypatch.setattr(threads, "alone", False)
    monkeypatch.setattr(engine, "compiled", None)
    assert shards._threads(dataset) == 1
