"""The models of a run: each loaded once, and what is not there is so for all who ask."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from valor_cli.errors import ConfigError, MissingExtraError, Problem
from valor_cli.models import backends, text_models
from valor_cli.models.embedders.vectors import Vectors
from valor_cli.models.files import hugging_face
from valor_cli.models.protocols import Embedder, ModelIdentity, Unavailable
from valor_cli.models.requests import Stop
from valor_cli.models.session import AbsentEmbedder
from valor_cli.models.settings import EmbedderSettings, LanguageModelSettings
from valor_cli.models.text.windows import Runtime
from valor_cli.models.text_models import TextModels

SETTINGS = EmbedderSettings()


class LoopedEmbedder(Embedder):
    """One that may be asked in the loop that it was opened in alone; it counts both."""

    name = "looped"
    identity = ModelIdentity("looped")

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.asked: list[str] = []
        self.closed = 0

    async def embed(self, texts: Sequence[str]) -> Any:
        here = asyncio.get_running_loop()
        assert self.loop in (None, here)
        self.loop = here
        self.asked += texts
        return np.array([[float(len(text)), 1.0] for text in texts])

    async def close(self) -> None:
        self.loop = None
        self.closed += 1


def opened(embedder: Any = None, stop: Stop | None = None) -> TextModels:
    stop = stop or Stop()
    vectors = None if embedder is None else Vectors(embedder, stop, lambda *_: None)
    return TextModels(SETTINGS, None, Runtime("cpu", stop, lambda *_: None), vectors)


def test_vectors_are_had_in_a_loop_of_their_own_each_time() -> None:
    embedder = LoopedEmbedder()
    models = opened(embedder)
    assert models.embed(["a", "bb"]).tolist() == [[1.0, 1.0], [2.0, 1.0]]
    assert models.embed(["bb", "ccc"]).tolist() == [[2.0, 1.0], [3.0, 1.0]]
    assert sorted(embedder.asked) == ["a", "bb", "ccc"]
    assert (embedder.closed, embedder.loop) == (2, None)
    assert models.embedder == ModelIdentity("looped")
    # The embedder is the session's to tell.
    assert models.used == []


def test_an_embedder_that_is_not_there_says_so_each_time() -> None:
    models = opened(AbsentEmbedder(SETTINGS, "not here; fetch it"))
    for _ in range(2):
        with pytest.raises(Unavailable, match="not here; fetch it"):
            models.embed(["a"])
    assert models.embedder.name == "minilm-int8"


def test_vectors_that_nobody_foresaw_are_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="does not foresee"):
        opened().embed(["a"])
    with pytest.raises(ValueError, match="the plan has none"):
        opened().language_model()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What token encoders are loaded; those called "absent" and "broken" cannot be."""
    loads: list[tuple[Any, ...]] = []

    def load(embedder: EmbedderSettings, model: str | None, layer: int | None, *_: Any) -> Any:
        loads.append((model, layer))
        if model == "absent":
            raise Unavailable("absent is not on this machine")
        if model == "broken":
            raise ConfigError(Problem("broken", "cannot be loaded"))
        return SimpleNamespace(identity=ModelIdentity(model or embedder.called), layer=layer)

    monkeypatch.setattr(backends, "open_token_encoder", load)
    return loads


def test_each_model_is_loaded_once(loads: list[tuple[Any, ...]]) -> None:
    models = opened()
    first = models.token_encoder(None, None)
    assert models.token_encoder(None, None) is first
    assert models.token_encoder(None, 3) is not first
    models.token_encoder("other", None)
    assert loads == [(None, None), (None, 3), ("other", None)]
    # Two layers of one model are one model.
    assert [one.name for one in models.used] == ["minilm-int8", "other"]


def test_what_is_not_there_is_looked_for_once(loads: list[tuple[Any, ...]]) -> None:
    models = opened()
    told = []
    for _ in range(3):
        with pytest.raises(Unavailable) as caught:
            models.token_encoder("absent", None)
        told.append(caught.value)
    assert {str(one) for one in told} == {"absent is not on this machine"}
    # Each is new: what was on the stack of one is not held by the next.
    assert len({id(one) for one in told}) == 3
    assert loads == [("absent", None)]
    assert models.used == []
    assert list(models.missing) == ["absent is not on this machine"]
    with pytest.raises(ConfigError, match="cannot be loaded"):
        models.token_encoder("broken", None)


def test_prompts_whose_beginnings_were_not_seen_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    small = SimpleNamespace(identity=ModelIdentity("small"), cut=0, context=64)
    monkeypatch.setattr(
        "valor_cli.models.language_models.transformers_language_model.TransformersLanguageModel",
        lambda *_: small,
    )
    models = TextModels(
        SETTINGS, LanguageModelSettings(model="small"), Runtime("cpu", Stop(), lambda *_: None)
    )
    assert models.language_model() is small
    assert models.troubles == ()
    small.cut = 3
    assert models.troubles == (
        (
            "3 prompts are longer than the 64 tokens that small sees at once: it did not see how "
            "they begin"
        ),
    )


def test_a_second_signal_ends_the_program_and_closes_what_is_open() -> None:
    class Twice(LoopedEmbedder):
        async def embed(self, texts: Sequence[str]) -> Any:
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.01)
            return await super().embed(texts)

    embedder = Twice()
    models = opened(embedder)
    with pytest.raises(KeyboardInterrupt), models.halting():
        models.embed(["a"])
    assert (embedder.asked, embedder.closed) == ([], 1)


def test_looking_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def located(model: str, what: str) -> None:
        if model == "absent":
            raise Unavailable(f"{model} is not here, says {what}")
        if model == "broken":
            raise ConfigError(Problem(model, "is pickled"))

    monkeypatch.setattr(hugging_face, "located", located)
    models = opened()
    models.look({"there": "toxicity_detoxify", "absent": "fairness_bias"})
    assert list(models.missing) == ["absent is not here, says fairness_bias"]
    with pytest.raises(ConfigError, match="is pickled"):
        models.look({"broken": "perplexity"})


def test_what_lays_vectors_out_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str, name: str, what: str) -> None:
        raise MissingExtraError(Problem(what, f"{package} of {name}"))

    monkeypatch.setattr(text_models, "extra_folder", absent)
    with pytest.raises(MissingExtraError, match=r"completeness: umap"):
        opened().look_for_reduction("completeness")
