"""Which labels are things and which are stuff."""

from __future__ import annotations

import numpy as np

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.table import Columns, Table
from valor_cli.evaluators.detection.load.images_and_labels import make_frame
from valor_cli.evaluators.detection.load.panoptic_categories import things_of
from valor_cli.kernels.geometry.shapes import Shapes
from valor_cli.metric import Selection


def truth(**more: object) -> ObjectFile:
    categories: Columns = {
        "id": np.array([9, 3, 5, 7]),
        "name": np.array(["sky", "person", "rider", "fence"], object),
        **{name: np.asarray(column) for name, column in more.items()},
    }
    none = np.zeros(0, np.int64)
    return ObjectFile(
        path="gt.json",
        objects=Table("gt.json", {"image_id": none, "category_id": none}),
        shapes=Shapes.boxes(np.zeros((0, 4))),
        images=Table("gt.json", {"id": np.array([1])}),
        categories=Table("gt.json", categories),
        metadata={},
        files=[],
    )


def test_labels_are_in_the_order_of_their_ids() -> None:
    file = truth(isthing=[0, 1, 1, 0])
    frame, _ = make_frame(file, [], Selection())
    assert frame.labels == ("person", "rider", "fence", "sky")
    assert things_of(file, frame) == (True, True, False, False)


def test_a_label_of_both_is_neither() -> None:
    file = truth(isthing=[0, 1, 1, 0])
    selection = Selection(
        label_map={"rider": "person", "fence": "other", "sky": "other"},
    )
    frame, _ = make_frame(file, [], selection)
    assert things_of(file, frame) == (True, False)
    mixed = Selection(label_map={"fence": "person"}, keep={"label": ["person", "sky"]})
    frame, _ = make_frame(file, [], mixed)
    assert frame.labels == ("person", "sky")
    assert things_of(file, frame) == (None, False)


def test_a_ground_truth_that_does_not_say() -> None:
    file = truth()
    frame, _ = make_frame(file, [], Selection())
    assert things_of(file, frame) is None
