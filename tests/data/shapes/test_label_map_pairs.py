"""Label maps of two sides whose names differ: what belongs together, and what is not guessed."""

from __future__ import annotations

import pytest

from valor_cli.data.formats.png import PngLabelMap
from valor_cli.data.shapes.label_map_pairs import pair_maps
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.errors import DataError


def side(path: str, names: str) -> LabelMaps:
    maps = {name: PngLabelMap(f"{path}/{name}.png") for name in names.split()}
    return LabelMaps(path, path, maps)


def paired(truth: str, found: str) -> tuple[dict[str, str], list[str]]:
    maps, warnings = pair_maps(side("gt", truth), side("pred", found), "model", skip=True)
    names = {name: one.path.removeprefix("pred/")[: -len(".png")] for name, one in maps.items()}
    return names, warnings


def refused(truth: str, found: str) -> str:
    with pytest.raises(DataError) as caught:
        pair_maps(side("gt", truth), side("pred", found), "model", skip=False)
    return str(caught.value.problems[0])


WORDS = [
    ("a_mask b_mask", "a_pred b_pred", "'_mask' in gt and '_pred' in pred"),
    ("a b", "a-pred b-pred", "nothing in gt and '-pred' in pred"),
    ("gt_a gt_b", "a b", "'gt_' in gt and nothing in pred"),
    (
        "gt_a_label gt_b_label",
        "net_a_out net_b_out",
        "'gt_' and '_label' in gt and 'net_' and '_out' in pred",
    ),
    # What both sides begin with stays.
    ("img_1_gt img_2_gt", "img_1_pred img_2_pred", "'_gt' in gt and '_pred' in pred"),
    # Equal folders, or the last parts alone.
    ("x/1_gt y/1_gt y/2_gt", "x/1_p y/1_p y/2_p", "'_gt' in gt and '_p' in pred"),
    ("x/1_gt y/2_gt", "1_pred 2_pred", "'_gt' in gt and '_pred' in pred"),
    ("1.v2_gt 2.v2_gt", "1 2", "'.v2_gt' in gt and nothing in pred"),
]


@pytest.mark.parametrize(("truth", "found", "words"), WORDS)
def test_words_that_all_names_of_a_side_share(truth: str, found: str, words: str) -> None:
    pairs = dict(zip(truth.split(), found.split(), strict=True))
    warning = f"label maps are paired by their names without {words}"
    assert paired(truth, found) == (pairs, [warning])


def test_what_has_no_partner_is_named_as_ever() -> None:
    pairs, warnings = paired("1_gt 2_gt 3_gt", "1_pred 2_pred 4_pred")
    assert pairs == {"1_gt": "1_pred", "2_gt": "2_pred"}
    assert [one.partition(":")[0] for one in warnings[1:]] == ["left out", "left out"]
    assert refused("1_gt 2_gt 3_gt", "1_pred 2_pred") == "gt/3_gt.png: has no prediction in pred"


UNPAIRED = [
    ("a_gt", "a_pred"),  # Of one file nothing says which words others would have.
    ("x/1_gt y/1_gt", "x/1_pred y/1_pred"),
    ("cat_black", "cat_white"),
    ("run_7_a run_7_b", "a b c d"),  # Numbers tell images apart.
    ("1_gt 2_gt 3_gt", "1_pred 8_pred 9_pred"),  # One of three may be chance.
    ("1gt 2gt", "1pred 2pred"),  # Ends within words are no words.
]


@pytest.mark.parametrize(("truth", "found"), UNPAIRED)
def test_nothing_is_guessed(truth: str, found: str) -> None:
    listed = f"ground truth has {', '.join(truth.split())}"
    assert f"no label map has a prediction of its name in pred ({listed}" in refused(truth, found)


def test_two_ways_to_pair_are_refused() -> None:
    assert refused("a_a a_b_a", "a a_b b_a") == (
        "gt, pred: names can be paired in several ways: 'a_b_a' with 'a_b' or 'b_a'"
    )
    assert refused("x/1_gt y/1_gt z/2_gt", "1_pred 2_pred") == (
        "gt, pred: '1' names several: x/1_gt, y/1_gt"
    )
