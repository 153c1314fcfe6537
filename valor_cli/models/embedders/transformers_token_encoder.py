"""Hidden states of tokens from a transformers encoder.

As in bert-score 0.3.13: texts are stripped, layers above the requested one are removed, and the
output of the shortened model is used, so that its final normalisation applies where it has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.kernels.vectors.batching import batches, runs
from valor_cli.models.files.hugging_face import (
    Located,
    config_of,
    loaded,
    located,
    tokenizer_of,
    transformers,
)
from valor_cli.models.protocols import ENCODING, TokenStates
from valor_cli.models.text.tokens import Ids, check_window, plain, window_of
from valor_cli.models.text.windows import (
    Runtime,
    bytes_per_token,
    device_of,
    in_batches,
    padded,
    tokens_at_once,
)

USUAL_LAYERS: Mapping[str, int] = {
    "albert-base-v2": 9,
    "bart-base": 6,
    "bart-large": 10,
    "bart-large-mnli": 11,
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "deberta-base": 9,
    "deberta-large-mnli": 18,
    "deberta-v3-base": 9,
    "deberta-v3-large": 12,
    "deberta-xlarge-mnli": 40,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "mpnet-base": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "t5-base": 11,
    "t5-large": 23,
    "t5-small": 6,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
"""By the last part of a model's name, the layer that agrees best with people's judgement of
translations (WMT16), as bert_score.utils.model2layers has it."""

_CHARACTERS_AT_ONCE = 1 << 17
"""Of texts whose states are in memory together, so that like lengths are computed together."""
_STACKS = ("encoder.layer", "transformer.layer", "encoder.block", "block", "layers", "layer")
"""Where models keep their layers: BERT and kin, DistilBERT, T5, its encoder, BART, XLNet."""


class TransformersTokenEncoder:
    """A model of `AutoModel`, float32, safetensors only; for an encoder-decoder, its encoder."""

    def __init__(
        self,
        model: str,
        layer: int | None,
        runtime: Runtime,
    ) -> None:
        """Load it.

        Args:
            model: A folder, or an id of the hub.
            layer: Whose hidden states, counted from the embeddings, which are 0; None: the one
                that is usual for the model, else the last.
            runtime: Of the run.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be used, or has not so many layers.
            MissingExtraError: torch or transformers is not installed.
        """
        transformers("bertscore")
        found = located(model, "bertscore")
        self._device = device_of(runtime.device)
        tokenizer = tokenizer_of(found)
        self._model = _encoder(found, self._device)
        self.identity = found.identity
        self.longest = window_of(self._model, tokenizer)
        self.layer = _layer(found.model, found.identity.name, self._model.config, layer)
        self._shortened = _shorten(self._model, self.layer)
        self._spaced = type(tokenizer).__name__.startswith(("GPT2Tokenizer", "RobertaTokenizer"))
        self._tokens = plain(tokenizer)
        self._frame = self._tokens.frame(1)
        check_window(found.model, self.longest, self._frame)
        self._padding = self._model.config.pad_token_id or tokenizer.pad_token_id or 0
        self._runtime = runtime

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        """Token states of each text, in order; long texts are truncated.

        Raises:
            Stopped: The run ends.
        """
        done = 0
        for part in self._parts(texts):
            self._runtime.on_progress(ENCODING, done, len(texts))
            distinct = {text: at for at, text in enumerate(dict.fromkeys(part))}
            found = self._states(self._ids(list(distinct)))
            for text in part:
                yield found[distinct[text]]
            done += len(part)
        self._runtime.on_progress(ENCODING, done, len(texts))

    def cut(self, texts: Sequence[str]) -> int:
        """Number of texts that are truncated."""
        return sum(len(ids) > self._room for part in self._parts(texts) for ids in self._ids(part))

    @property
    def _room(self) -> int:
        return self.longest - self._frame.tokens

    def _parts(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        """Texts whose states memory holds together."""
        seen = (min(len(text), self.longest) for text in texts)
        return (texts[run] for run in runs(seen, _CHARACTERS_AT_ONCE))

    def _ids(self, texts: Sequence[str]) -> list[Ids]:
        """(tokens,) of each text, without special ones."""
        stripped = [text.strip() for text in texts]
        if self._spaced:
            # To these a word at the start of a text is another one than further on.
            stripped = [f" {text}" if text else "" for text in stripped]
        return self._tokens.of(stripped)

    def _states(self, texts: Sequence[Ids]) -> list[TokenStates]:
        """Of each text, computed with those of like lengths."""
        before, after = map(len, self._frame.fixed)
        framed = [self._frame.around([ids[: self._room]]) for ids in texts]
        lengths = [len(ids) for ids, _ in framed]
        most = tokens_at_once(self._device, bytes_per_token(self._model.config, max(lengths)))
        found: dict[int, TokenStates] = {}
        for group, states in in_batches(
            batches(lengths, most_tokens=most),
            lambda group: self._computed([framed[at] for at in group]),
            self._runtime.stop,
        ):
            for at, each in zip(group, states, strict=True):
                special = np.zeros(lengths[at], np.bool_)
                special[:before] = True
                special[lengths[at] - after :] = True
                found[at] = TokenStates(framed[at][0], special, each[: lengths[at]])
        return [found[at] for at in range(len(texts))]

    def _computed(self, framed: Sequence[tuple[Ids, Ids]]) -> NDArray[np.float32]:
        """(texts, tokens, dimensions) the hidden states of a batch."""
        import torch

        batch = padded(framed, self._padding)
        given = {
            "input_ids": torch.from_numpy(batch.ids).to(self._device),
            "attention_mask": torch.from_numpy(batch.mask).to(self._device),
        }
        with torch.inference_mode():
            out = self._model(**given, output_hidden_states=not self._shortened)
        states = out.last_hidden_state if self._shortened else out.hidden_states[self.layer]
        found: NDArray[np.float32] = states.cpu().numpy()
        return found


def _encoder(found: Located, device: Any) -> Any:
    """The model, or its encoder."""
    import transformers

    own = {"t5": transformers.T5EncoderModel, "mt5": transformers.MT5EncoderModel}
    auto = own.get(config_of(found).model_type, transformers.AutoModel)
    # What sums up a text plays no part in its tokens.
    model = loaded(auto, found, device, may_lack=lambda name: "pooler" in name)
    return model.get_encoder() if model.config.is_encoder_decoder else model


def _layer(model: str, called: str, config: Any, wanted: int | None) -> int:
    """Whose hidden states.

    Raises:
        ConfigError: It has not so many layers.
    """
    layers = int(config.num_hidden_layers)
    if wanted is None:
        usual = USUAL_LAYERS.get(called.rpartition("/")[2].lower(), layers)
        # A folder may be called like a model that it is not.
        return usual if usual <= layers else layers
    if not 0 <= wanted <= layers:
        problem = Problem(model, f"has {layers} layers, and layer {wanted} is asked for")
        raise ConfigError(problem, hint=f"name a layer from 0 to {layers}")
    return wanted


def _shorten(model: Any, layers: int) -> bool:
    """Leave out the layers above; False: it keeps them where nobody looks."""
    import torch

    for path in _STACKS:
        parent, _, name = path.rpartition(".")
        at = getattr(model, parent, None) if parent else model
        stack = getattr(at, name, None)
        if isinstance(stack, torch.nn.ModuleList):
            setattr(at, name, stack[:layers])
            return True
    if hasattr(getattr(model, "encoder", None), "albert_layer_groups"):
        # Its layers share their weights.
        model.encoder.config.num_hidden_layers = layers
        return True
    return False
