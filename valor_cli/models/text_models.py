"""Load the text models of a run on first use, each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.extras import extra_folder
from valor_cli.models.embedders.vectors import Vectors
from valor_cli.models.protocols import Classifier, ModelIdentity, TokenEncoder, Unavailable
from valor_cli.models.scheduler.event_loop import Halting, run_async
from valor_cli.models.settings import EmbedderSettings, LanguageModelSettings
from valor_cli.models.text.windows import Runtime

if TYPE_CHECKING:
    from valor_cli.models.embedders.reduction import UmapReduction
    from valor_cli.models.language_models.transformers_language_model import (
        TransformersLanguageModel,
    )

T = TypeVar("T")


class _Lacking(NamedTuple):
    """In place of a model that is not on this machine."""

    reason: str


class TextModels:
    """The text models of a run; a missing model is reported to all callers.

    Attributes:
        vectors: Of the run; None: no metric asks for any.
        used: Which models were loaded, in their order, the embedder apart.
        missing: What is said of those that are not on this machine.
    """

    def __init__(
        self,
        embedder: EmbedderSettings,
        language_model: LanguageModelSettings | None,
        runtime: Runtime,
        vectors: Vectors | None = None,
    ) -> None:
        """Initialise without loading; `vectors` is given if a metric needs embeddings."""
        self.vectors = vectors
        self._embedder = embedder
        self._language_model = language_model
        self._runtime = runtime
        self._found: dict[object, object] = {}
        self._language: TransformersLanguageModel | None = None
        self.used: list[ModelIdentity] = []
        self.missing: dict[str, None] = {}

    def look(self, named: Mapping[str, str]) -> None:
        """Check that models exist before any is loaded.

        Args:
            named: From folders and ids to who asks for it, for messages.

        Raises:
            ConfigError: The files of one can be told to be of no use.
            MissingExtraError: A package that loads them is not installed.
        """
        from valor_cli.models.files.hugging_face import located

        for model, metric in named.items():
            try:
                located(model, metric)
            except Unavailable as lack:
                self.missing[str(lack)] = None

    def look_for_reduction(self, metric: str) -> None:
        """Check that the dimensionality reduction is installed.

        Raises:
            MissingExtraError: It is not.
        """
        extra_folder("umap", "summary", metric)

    def halting(self) -> Halting:
        """A context in which Ctrl-C lets running work finish and stops the run."""
        return Halting(self._runtime.stop)

    @property
    def embedder(self) -> ModelIdentity:
        """The identity of the embedder."""
        return self._vectors.embedder.identity

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) their vectors.

        Raises:
            Unavailable: The embedder is not on this machine.
            NoAnswer: Its endpoint does not answer.
            Stopped: The run ends.
        """
        return run_async(self._embedded(texts))

    @property
    def troubles(self) -> tuple[str, ...]:
        """Warnings of the run: truncated texts, vectors that could not be cached."""
        found = [] if self.vectors is None else list(self.vectors.troubles)
        if (model := self._language) is not None and model.cut:
            found.append(
                f"{model.cut:,} prompts are longer than the {model.context:,} tokens that "
                f"{model.identity.name} sees at once: it did not see how they begin"
            )
        return tuple(found)

    async def _embedded(self, texts: Sequence[str]) -> NDArray[np.float64]:
        try:
            return await self._vectors.embed(texts)
        finally:
            await self._vectors.embedder.close()

    @property
    def _vectors(self) -> Vectors:
        if self.vectors is None:
            raise ValueError("a metric asks for vectors that the plan does not foresee")
        return self.vectors

    def language_model(self) -> TransformersLanguageModel:
        """The language model named in the config.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used, or the config names none.
        """
        from valor_cli.models.language_models.transformers_language_model import (
            TransformersLanguageModel,
        )

        settings = self._language_model
        if settings is None:
            raise ValueError("a metric asks for a language model, and the plan has none")
        self._language = self._once(
            "language model",
            lambda: TransformersLanguageModel(settings, self._runtime),
        )
        return self._language

    def classifier(self, model: str, metric: str) -> Classifier:
        """A sequence classifier.

        Args:
            model: A folder, or an id of the hub.
            metric: Who asks, for messages.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used.
        """
        from valor_cli.models.classifiers.transformers_classifier import TransformersClassifier

        return self._once(
            ("classifier", model),
            lambda: TransformersClassifier(model, metric, self._runtime),
        )

    def consistency(self, model: str, metric: str) -> Classifier:
        """A model like HHEM-2.1-Open, whose second label means "supported".

        Raises:
            Unavailable, ConfigError: As `classifier`.
        """
        from valor_cli.models.classifiers.consistency_model import ConsistencyModel

        return self._once(
            ("consistency", model),
            lambda: ConsistencyModel(model, metric, self._runtime),
        )

    def reduction(self, metric: str) -> UmapReduction:
        """A dimensionality reduction.

        Args:
            metric: Who asks, for messages.

        Raises:
            MissingExtraError: Its package is not installed.
        """
        from valor_cli.models.embedders.reduction import UmapReduction

        return UmapReduction(metric, self._runtime)

    def token_encoder(self, model: str | None, layer: int | None) -> TokenEncoder:
        """A token encoder.

        Args:
            model: A folder, or an id of the hub; None: the embedder of the config.
            layer: Whose hidden states; None: the layer that is usual for the model, else the last.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used; the embedder has vectors of whole texts alone.
        """
        from valor_cli.models.backends import open_token_encoder

        return self._once(
            ("token encoder", model, layer),
            lambda: open_token_encoder(self._embedder, model, layer, self._runtime),
        )

    def _once(self, key: object, make: Callable[[], T]) -> T:
        if key not in self._found:
            try:
                self._found[key] = made = make()
                identity: ModelIdentity = made.identity  # type: ignore[attr-defined]
                if identity not in self.used:
                    self.used.append(identity)
            except Unavailable as failure:
                # The words alone: an error holds on to all that was on the stack.
                self._found[key] = _Lacking(str(failure))
                self.missing[str(failure)] = None
        found = self._found[key]
        if isinstance(found, _Lacking):
            raise Unavailable(found.reason)
        return found  # type: ignore[return-value]
