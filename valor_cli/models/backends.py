"""Open the judge or embedder that a config names; backends are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.protocols import Embedder, TokenEncoder
from valor_cli.models.requests import Judge, Stop
from valor_cli.models.settings import Device, EmbedderSettings, JudgeSettings, judge_backend
from valor_cli.models.text.windows import Runtime

_EMBEDDERS = {
    "onnx": ("onnx_embedder:OnnxEmbedder", "stop"),
    "sentence_transformers": (
        "sentence_transformers_embedder:SentenceTransformersEmbedder",
        "device",
        "stop",
    ),
    "static": ("static_embedder:StaticEmbedder",),
    "litellm": ("litellm_embedder:LitellmEmbedder", "stop"),
    "precomputed": ("precomputed_embedder:PrecomputedEmbedder",),
}
"""The class of each backend, and what it is given besides its settings."""


def open_judge(settings: JudgeSettings) -> Judge:
    """The judge.

    Raises:
        ValorError: Its file cannot be used, or its package is not installed.
    """
    judge: Judge = _class("judge", judge_backend(settings.backend).opened)(settings)
    return judge


def open_embedder(settings: EmbedderSettings, device: Device, stop: Stop) -> Embedder:
    """The embedder.

    Raises:
        ValorError: Its file cannot be used, or its package is not installed.
    """
    opened, *takes = _EMBEDDERS[settings.backend]
    given: dict[str, Device | Stop] = {"device": device, "stop": stop}
    embedder: Embedder = _class("embedders", opened)(settings, *(given[name] for name in takes))
    return embedder


def _class(folder: str, opened: str) -> Any:
    """The class of "module:Class" in a folder of the models."""
    module, _, name = opened.partition(":")
    return getattr(import_module(f"valor_cli.models.{folder}.{module}"), name)


def check_embedder(settings: EmbedderSettings, stop: Stop) -> None:
    """Check that the embedder is available, without importing torch, which takes seconds.

    Raises:
        Unavailable: It is not on this machine.
        ValorError: As `open_embedder`.
    """
    if settings.backend != "sentence_transformers":
        open_embedder(settings, "cpu", stop)
        return
    from valor_cli.models.embedders.sentence_transformers_embedder import folder_of_embedder

    folder_of_embedder(settings)


def open_token_encoder(
    embedder: EmbedderSettings,
    model: str | None,
    layer: int | None,
    runtime: Runtime,
) -> TokenEncoder:
    """A token encoder: the named one, otherwise the embedder's model.

    Raises:
        Unavailable: It is not on this machine.
        ValorError: It cannot be used, or makes vectors of whole texts alone.
    """
    if model is None and embedder.backend == "onnx":
        from valor_cli.models.embedders.onnx_embedder import OnnxTokenEncoder

        return OnnxTokenEncoder(embedder, layer, runtime)
    if model is None and embedder.backend == "sentence_transformers":
        model = embedder.model
    if model is None:
        problem = Problem("embedder", f"{embedder.called} has no vectors of single tokens")
        raise ConfigError(problem, hint="name a `model:` under bertscore")
    from valor_cli.models.embedders.transformers_token_encoder import TransformersTokenEncoder

    return TransformersTokenEncoder(model, layer, runtime)


def refuse_remote(asked: Judge | Embedder, what: str, *, offline: bool, hint: str) -> None:
    """Raise an error for a remote model under `--offline`.

    Args:
        asked: The model.
        what: Its block in the config.
        offline: Whether nothing may leave this machine.
        hint: What else could be asked.

    Raises:
        ConfigError: Asking it leaves this machine.
    """
    if offline and asked.remote:
        problem = Problem(what, f"{asked.name} is not on this machine, and --offline forbids that")
        raise ConfigError(problem, hint=hint)
