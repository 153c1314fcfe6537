"""The columns of labels and scores, and their aliases."""

from __future__ import annotations

from typing import Final

from valor_cli.data.schema import Field, Schema

SCHEMA: Final = Schema(
    Field(
        "sample_id",
        "id",
        ("id", "uid", "idx", "index", "image_id", "image", "file_name", "filename", "name", "path"),
        description="the key of a sample",
    ),
    Field(
        "label",
        "label",
        (
            *("ground_truth", "target", "true_label", "y_true", "gt", "true", "actual", "class"),
            "labels",
        ),
        description="the true label, or a list of all of them",
    ),
    Field(
        "prediction",
        "label",
        ("predicted", "pred", "y_pred", "predicted_label", "predicted_class"),
        description="a predicted label",
    ),
    Field(
        "predictions",
        "scores",
        ("scores", "probabilities", "probs"),
        description="all predicted labels of a sample with their scores",
    ),
    Field(
        "score",
        "score",
        ("confidence", "probability", "prob", "conf"),
        description="the score of the predicted label; 1 without one",
    ),
    Field(
        "label_key",
        "name",
        ("key", "attribute", "task"),
        description="what the label says of the sample, where a sample has several labels",
    ),
)

ALIASES: Final = SCHEMA.aliases
"""Standard name to the other names that a column, or a key of a JSON object, may have."""

CLASSES_HINT: Final = "Name the columns that are classes under `data: classes:`."

ITEM_LABELS: Final = ("label", "prediction", *ALIASES["prediction"], "class")
ITEM_SCORES: Final = ("score", *ALIASES["score"])
"""Names of the label and the score of an object in a list, in order of preference."""
