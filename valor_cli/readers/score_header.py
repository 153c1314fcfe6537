"""Names of columns come in; what they mean goes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from valor_cli.readers.score_files import ScoreReading

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "sample_id": ("id", "uid", "image_id", "image", "file_name", "filename", "name", "path"),
    "label": ("ground_truth", "target", "true_label", "y_true", "gt", "true", "actual", "class"),
    "prediction": ("predicted", "pred", "y_pred", "predicted_label", "predicted_class"),
    "predictions": ("scores", "probabilities", "probs"),
    "score": ("confidence", "probability", "prob", "conf"),
    "label_key": ("key", "attribute", "task"),
}
"""Standard name to the other names that a column, or a key of a JSON object, may have."""

ITEM_LABELS: Final = ("label", "prediction", *ALIASES["prediction"], "class")
ITEM_SCORES: Final = ("score", *ALIASES["score"])
"""What the label and the score of an object in a list may be called, in the order of looking."""


def positions(names: Sequence[str], reading: ScoreReading) -> dict[str, int]:
    """Position of each standard name: of the mapped column, its own, or the first alias."""
    mapped = set(reading.columns.values())
    taken = mapped | set(reading.classes)
    # A classifier of true and false has a column for each.
    taken |= {"true", "True", "TRUE"} if "false" in map(str.casefold, names) else set()
    at: dict[str, int] = {}
    for position, name in enumerate(names):
        if name not in taken:
            at.setdefault(name.casefold(), position)
    asked = {name.casefold() for name in reading.metadata}
    found: dict[str, int] = {}
    for standard, aliases in ALIASES.items():
        if standard in reading.columns:
            if reading.columns[standard] in names:
                found[standard] = names.index(reading.columns[standard])
            continue
        for name in (standard, *(alias for alias in aliases if alias not in asked)):
            if name in at:
                found[standard] = at[name]
                break
    return found
