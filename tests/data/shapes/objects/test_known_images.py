"""Which images the names of an input are: one scheme for all of them, and no guess."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.data.shapes.objects.known_images import KnownImages, find_images, join_images
from valor_cli.data.shapes.objects.object_file import ImageNames, ObjectFile
from valor_cli.data.table import Table
from valor_cli.kernels.geometry.shapes import Shapes


def known(ids: list[int] | list[str], files: list[str | None] | None = None) -> KnownImages:
    column = np.array(ids, object if isinstance(ids[0], str) else np.int64)
    columns = {"id": column} | ({"file_name": np.array(files, object)} if files else {})
    return KnownImages.of(Table("gt.json", columns), "typed")


def find(names: list[str], images: KnownImages, *, from_files: bool = False) -> list[int]:
    return find_images(names, images, from_files=from_files).at.tolist()


def test_files_that_count_from_0_beside_ids_from_1() -> None:
    images = known([1, 2, 3], ["0.jpg", "1.jpg", "2.jpg"])
    assert find(["0", "1", "2"], images, from_files=True) == [0, 1, 2]
    assert find(["1", "2"], images, from_files=True) == [1, 2]
    # All of them fit the file names, and not all the ids.
    assert find(["0", "1", "2"], images) == [0, 1, 2]
    # Nothing says that these are no ids.
    assert find(["1", "2"], images) == [0, 1]
    assert find(["1.jpg", "2.png"], images) == [1, 2]


@pytest.mark.parametrize(
    ("names", "at"),
    [
        (["street.jpg", "night.jpg"], [0, 1]),
        (["street", "night"], [0, 1]),
        (["street.png", "night.png"], [0, 1]),
        (["a/street.jpg", "b/night.jpg"], [0, 1]),
        (["C:\\a\\street.bmp", "C:\\a\\night.bmp"], [0, 1]),
        (["17", "18"], [0, 1]),
        (["18", "street.jpg"], [1, -1]),
        (["street.jpg", "day.jpg"], [0, -1]),
        (["day.jpg"], [-1]),
    ],
)
def test_the_schemes(names: list[str], at: list[int]) -> None:
    assert find(names, known([17, 18], ["street.jpg", "night.jpg"])) == at


def test_folders_tell_files_of_one_name_apart() -> None:
    images = known([1, 2], ["train/1.jpg", "val/1.jpg"])
    for name in ("val/1", "val/1.jpg", "val/1.png"):
        assert find([name], images) == find([name], images, from_files=True) == [1]
    found = find_images(["1.jpg"], images, from_files=True)
    assert found.at.tolist() == [-1]
    assert found.why == {
        "1.jpg": "two images are named '1.jpg' in gt.json: 'train/1.jpg' and 'val/1.jpg'"
    }


def test_two_names_are_not_one_image() -> None:
    images = known([1, 2], ["a.jpg", "b.jpg"])
    found = find_images(["a.png", "a.bmp"], images, from_files=True)
    assert found.at.tolist() == [-1, -1]
    expected = "'a.png' and 'a.bmp' would all be the image 'a.jpg'"
    assert found.why == {"a.png": expected, "a.bmp": expected}
    # What is called by its full name keeps it, the other one is unknown.
    assert find(["a.jpg", "a.png"], images, from_files=True) == [0, -1]
    assert find(["a", "a.png"], images, from_files=True) == [0, -1]


def test_text_ids_are_file_names_where_there_are_no_others() -> None:
    images = known(["street.jpg", "night.jpg"])
    assert find(["street"], images, from_files=True) == [0]
    assert find(["x/night.png"], images) == [1]
    # An image that names its file goes by no other.
    assert find(["val/1.jpg"], known(["1", "b"], ["train/a.jpg", "val/b.jpg"])) == [-1]


def test_dots_in_names() -> None:
    images = known([1, 2], ["frame.0001.jpg", "frame.0002.jpg"])
    assert find(["frame.0002", "frame.0001"], images, from_files=True) == [1, 0]


def file(
    ids: list[int] | list[str], names: ImageNames, listed: list[str] | None = None
) -> ObjectFile:
    column = np.array(ids, object if isinstance(ids[0], str) else np.int64)
    columns = {"image_id": column, "category_id": np.zeros(len(ids), np.int64)}
    return ObjectFile(
        path="dt",
        objects=Table("dt", columns),
        shapes=Shapes.boxes(np.zeros((len(ids), 4))),
        images=None if listed is None else Table("dt", {"id": np.array(listed, object)}),
        categories=None,
        metadata={},
        files=[],
        image_names=names,
    )


def test_ids_of_one_type_are_compared_as_they_are() -> None:
    assert join_images(file([3, 1, 3], "typed"), known([1, 3])).objects.tolist() == [1, 0, 1]
    joined = join_images(file(["a", "b"], "typed"), known(["b", "c"], ["a.jpg", "b.jpg"]))
    assert joined.objects.tolist() == [-1, 0]
    assert joined.problem("a", "gt.json") == "no image 'a' in gt.json"
    unsorted = join_images(file(["a", "b"], "typed"), known(["c", "b", "a"]))
    assert unsorted.objects.tolist() == [2, 1]


def test_images_without_objects_count_too() -> None:
    images = known([1, 2, 3], ["0.jpg", "1.jpg", "2.jpg"])
    joined = join_images(file(["1", "1"], "text", ["0", "1", "2"]), images)
    assert joined.objects.tolist() == [1, 1]
    assert joined.images.tolist() == [0, 1, 2]
    assert join_images(file(["1", "1"], "text"), images).objects.tolist() == [0, 0]


def test_numbers_find_text() -> None:
    assert join_images(file([3, 7], "typed"), known(["7", "3"])).objects.tolist() == [1, 0]


names = st.lists(st.text("ab1./", min_size=1, max_size=5), min_size=1, max_size=6, unique=True)


@given(names, names, st.booleans())
def test_no_image_has_two_names(wanted: list[str], files: list[str], from_files: bool) -> None:
    found = find(wanted, known(list(range(len(files))), list(files)), from_files=from_files)
    there = [at for at in found if at >= 0]
    assert len(there) == len(set(there))
    # The same names in another order are the same images.
    back = find(wanted[::-1], known(list(range(len(files))), list(files)), from_files=from_files)
    assert back[::-1] == found
    if set(wanted) <= set(files) and from_files:
        assert [files[at] for at in found] == wanted
