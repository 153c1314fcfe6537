"""Cityscapes' folders: what of them is a label map, of which image, and what its values mean."""

from __future__ import annotations

import pytest

from tests.data.png_files import colours, label_map, write
from valor_cli.data.formats.cityscapes import (
    IGNORED_IDS,
    LABELS,
    MEANINGS,
    encoding_of_truth,
    encoding_of_values,
    read_cityscapes,
)
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")

ONE, TWO = "ulm_000000_000019", "bad-honnef_000001_000020"
DOT = label_map([[7]])


def files(*names: str) -> None:
    for name in names:
        write(name, colours([[[0, 0, 0]]]) if name.endswith("_color.png") else DOT)


def truth(ending: str = "labelIds.png") -> None:
    kinds = ("color.png", "instanceIds.png", "polygons.json", ending)
    files(*(f"gt/ulm/{ONE}_gtFine_{kind}" for kind in kinds), f"gt/x/{TWO}_gtFine_{ending}")


def test_the_table() -> None:
    assert len(LABELS) == 19
    assert sorted([*LABELS, *IGNORED_IDS]) == list(range(34))
    assert (LABELS[7], LABELS[33], IGNORED_IDS[-1]) == ("road", "bicycle", 30)
    ids, train_ids = MEANINGS["cityscapes"], MEANINGS["cityscapes_train_ids"]
    assert [one for one in ids if one is not None] == list(LABELS) == list(train_ids[:19])
    assert (ids[4], train_ids[255], set(train_ids[19:255])) == (None, None, {-1})


def test_label_maps_of_ground_truth_are_named_by_the_image() -> None:
    truth()
    found = read_cityscapes("gt", "ground_truth", "cityscapes")
    assert {name: one.path for name, one in found.maps.items()} == {
        ONE: f"gt/ulm/{ONE}_gtFine_labelIds.png",
        TWO: f"gt/x/{TWO}_gtFine_labelIds.png",
    }
    assert (found.categories, found.meanings) == (LABELS, MEANINGS["cityscapes"])


@pytest.mark.parametrize(
    "name",
    [
        f"{ONE}.png",
        f"ulm/{ONE}_leftImg8bit.png",
        f"{ONE}_gtFine_labelIds.png",
        f"a/b/{ONE}-pred.png",
        f"{ONE}_pred.PNG",
    ],
)
def test_predictions_begin_with_the_name_of_the_image(name: str) -> None:
    files(f"pred/{name}", f"pred/{ONE}_pred_color.png")
    found = read_cityscapes("pred", "predictions", "cityscapes")
    assert {name: one.path for name, one in found.maps.items()} == {ONE: f"pred/{name}"}
    assert found.categories is None


def refused(*names: str, role: str = "predictions") -> list[str]:
    files(*(f"in/{name}" for name in names))
    with pytest.raises(DataError) as caught:
        read_cityscapes("in", role, "cityscapes")  # type: ignore[arg-type]
    return str(caught.value).split("\n")


def test_what_is_not_cityscapes() -> None:
    named = "the name does not begin with <city>_<sequence>_<frame>, as frankfurt_000000_000294"
    assert refused("street.png", f"{ONE}x.png", f"{ONE}_a.png", f"ulm/{ONE}.png") == [
        f"in/street.png: {named}",
        f"in/{ONE}_a.png: there is in/ulm/{ONE}.png too; one image, one label map",
        f"in/{ONE}x.png: {named}",
        "Move what is no label map out of in.",
    ]
    assert refused(f"{ONE}_gtFine_color.png", role="ground_truth") == [
        "in: there is no label map in it, <city>/…_labelIds.png",
        "Name the folder of the cities, as gtFine/val.",
    ]


def test_ground_truth_of_train_ids_is_another_format() -> None:
    assert refused(f"{ONE}_gtFine_labelTrainIds.png", role="ground_truth") == [
        "in: there is no label map in it, <city>/…_labelIds.png",
        "There are files of `format: cityscapes_train_ids`.",
    ]
    truth("labelTrainIds.png")
    assert len(read_cityscapes("gt", "ground_truth", "cityscapes_train_ids").maps) == 2


@pytest.mark.parametrize(
    ("endings", "encoding"),
    [
        (("labelIds", "color"), "cityscapes"),
        (("labelIds", "labelTrainIds"), "cityscapes"),
        (("labelTrainIds", "instanceIds"), "cityscapes_train_ids"),
        (("color",), None),
    ],
)
def test_what_names_of_ground_truth_tell(endings: tuple[str, ...], encoding: str | None) -> None:
    names = [f"ulm/{ONE}_gtFine_{ending}.png" for ending in endings]
    assert encoding_of_truth(names) == encoding
    assert encoding_of_truth([one.replace("gtFine", "gtCoarse") for one in names]) == encoding
    # Others may call files so too.
    assert encoding_of_truth([name.replace(ONE, "street") for name in names]) is None
    assert encoding_of_truth([name.replace("_gtFine", "") for name in names]) is None


@pytest.mark.parametrize(
    ("values", "encoding"),
    [
        ({7, 8, 26, 33}, "cityscapes"),
        ({0, 7, 8}, "cityscapes"),  # No label, road, sidewalk: all of them may be ids.
        ({0, 1, 2, 10, 13}, "cityscapes_train_ids"),
        ({0, 8, 255}, "cityscapes_train_ids"),
        ({4, 7, 26}, "cityscapes"),  # No train id is 26.
        (set(), "cityscapes"),
    ],
)
def test_what_values_of_predictions_tell(values: set[int], encoding: str) -> None:
    assert encoding_of_values(values) == encoding
