"""Settings in; the judge or embedder that they name out. Each backend is imported on first use."""

from __future__ import annotations

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.embedder import Embedder
from valor_cli.models.embedder_settings import Device, EmbedderSettings
from valor_cli.models.judge import Judge
from valor_cli.models.settings import JudgeSettings
from valor_cli.models.stop import Stop
from valor_cli.models.token_encoder import TokenEncoder
from valor_cli.models.vectors import Told


def open_judge(settings: JudgeSettings) -> Judge:
    """The judge.

    Raises:
        ValorError: Its file cannot be used, or its package is not installed.
    """
    if settings.backend == "scripted":
        from valor_cli.models.scripted_judge import ScriptedJudge

        return ScriptedJudge(settings)
    if settings.backend == "replay":
        from valor_cli.models.replay_judge import ReplayJudge

        return ReplayJudge(settings)
    if settings.backend == "local":
        from valor_cli.models.local_judge import LocalJudge

        return LocalJudge(settings)
    from valor_cli.models.litellm_judge import LitellmJudge

    return LitellmJudge(settings)


def open_embedder(settings: EmbedderSettings, device: Device, stop: Stop) -> Embedder:
    """The embedder.

    Raises:
        ValorError: Its file cannot be used, or its package is not installed.
    """
    if settings.backend == "precomputed":
        from valor_cli.models.precomputed_embedder import PrecomputedEmbedder

        return PrecomputedEmbedder(settings)
    if settings.backend == "litellm":
        from valor_cli.models.litellm_embedder import LitellmEmbedder

        return LitellmEmbedder(settings, stop)
    if settings.backend == "static":
        from valor_cli.models.static_embedder import StaticEmbedder

        return StaticEmbedder(settings)
    if settings.backend == "sentence_transformers":
        from valor_cli.models.sentence_transformers_embedder import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(settings, device, stop)
    from valor_cli.models.onnx_embedder import OnnxEmbedder

    return OnnxEmbedder(settings, stop)


def look_for_embedder(settings: EmbedderSettings, stop: Stop) -> None:
    """See that the embedder can be had; torch, which takes seconds, is not imported for it.

    Raises:
        Unavailable: It is not on this machine.
        ValorError: As `open_embedder`.
    """
    if settings.backend != "sentence_transformers":
        open_embedder(settings, "cpu", stop)
        return
    from valor_cli.models.sentence_transformers_embedder import folder_of_embedder

    folder_of_embedder(settings)


def open_token_encoder(
    embedder: EmbedderSettings,
    model: str | None,
    layer: int | None,
    device: Device,
    stop: Stop,
    told: Told,
) -> TokenEncoder:
    """A model of which tokens have vectors: the one named, else the embedder's.

    Raises:
        Unavailable: It is not on this machine.
        ValorError: It cannot be used, or makes vectors of whole texts alone.
    """
    if model is None and embedder.backend == "onnx":
        from valor_cli.models.onnx_token_encoder import OnnxTokenEncoder

        return OnnxTokenEncoder(embedder, layer, stop, told)
    if model is None and embedder.backend == "sentence_transformers":
        model = embedder.model
    if model is None:
        problem = Problem("embedder", f"{embedder.called} has no vectors of single tokens")
        raise ConfigError(problem, hint="name a `model:` under bertscore")
    from valor_cli.models.transformers_token_encoder import TransformersTokenEncoder

    return TransformersTokenEncoder(model, layer, device, stop, told)
