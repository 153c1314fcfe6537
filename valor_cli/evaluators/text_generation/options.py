"""Config of text generation beside the data: models and prompts."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from valor_cli.evaluators.inputs import Strict
from valor_cli.models.settings import (
    Combine,
    Device,
    EmbedderSettings,
    JudgeSettings,
    LanguageModelSettings,
)
from valor_cli.paths import LocalPath


def _several(judges: tuple[JudgeSettings, ...]) -> tuple[JudgeSettings, ...]:
    """Check that results can distinguish the judges.

    Raises:
        ValueError: There are none, or two of one name.
    """
    if not judges:
        raise ValueError("name one judge at least")
    names = [one.called for one in judges]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two judges are called {name!r}; give each a `name:` of its own")
    records = [one.record for one in judges if one.record is not None]
    if len(set(records)) < len(records):
        raise ValueError("two judges `record:` to one file; give each its own")
    return judges


class TextOptions(Strict):
    """The models that a text generation run uses."""

    judge: JudgeSettings | None = Field(
        None, description="the language model that judge metrics ask"
    )
    judges: Annotated[tuple[JudgeSettings, ...], AfterValidator(_several)] | None = Field(
        None, description="several of them, in place of `judge`; their agreement is reported"
    )
    combine: Combine | None = Field(
        None,
        description="how several judges, or repeats, become one value; omitted: pass or fail by "
        "majority, other values by their mean",
    )
    embedder: EmbedderSettings | None = Field(
        None,
        description="the model that makes vectors of texts, for metrics of similarity; omitted: "
        "minilm-int8, which needs no network",
    )
    language_model: LanguageModelSettings | None = Field(
        None, description="the model that says how likely texts are"
    )
    device: Device = Field(
        "auto", description="where models of this machine compute; auto: the accelerator, if any"
    )
    prompts: dict[str, LocalPath] = Field(
        {}, description="own prompts: name of a prompt to a YAML file (valor metrics NAME --prompt)"
    )

    @model_validator(mode="after")
    def _one_way(self) -> TextOptions:
        if self.judge is not None and self.judges is not None:
            raise ValueError("`judge` and `judges` exclude each other")
        return self

    @property
    def panel(self) -> tuple[JudgeSettings, ...]:
        """All judges; empty if none."""
        return self.judges or (() if self.judge is None else (self.judge,))
