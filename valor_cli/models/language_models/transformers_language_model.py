"""Language models of transformers: log-probabilities of target texts.

passages ─tokenizer─▶ sequences ─windows─▶ rows ─batches of similar length─▶ model
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.kernels.columns.surrogates import whole_characters
from valor_cli.kernels.vectors.batching import batches
from valor_cli.models.files.gguf import converted, keep_converted
from valor_cli.models.files.hugging_face import (
    Located,
    config_of,
    loaded,
    located,
    tokenizer_of,
    transformers,
)
from valor_cli.models.language_models.next_token import Ids, NextToken, Row
from valor_cli.models.protocols import Architecture, Passage
from valor_cli.models.settings import LanguageModelSettings
from valor_cli.models.text.windows import Runtime, device_of, in_batches, tokens_at_once

WHAT = "language_model"
STAGE = "scoring texts"

_AT_ONCE = 512
"""Passages that become tokens together: what a tokenizer tells of a token is large."""
_OF_CPU, _OF_ACCELERATOR = 2_048, 65_536
"""Tokens of a batch at most: more is no faster, and none is stopped half way."""
_LONGEST = 100_000
"""Tokenizers that know no length say a number far above."""
_CONTEXTS = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")
_USUAL = {"causal": 1_024, "encoder_decoder": 512}
"""The context of models that tell none."""
_OTHER_TASKS = ("Classification", "QuestionAnswering", "MultipleChoice")


class _Sequence(NamedTuple):
    """A passage in tokens: what an encoder reads, the sequence, and its first scored token."""

    read: Ids
    ids: Ids
    first: int


class TransformersLanguageModel:
    """A causal or an encoder-decoder model.

    Attributes:
        identity: The model, and the hash of its files.
        architecture: Whether an encoder reads the prompt.
        context: Tokens of a window: the positions of the model, or what its tokenizer says, if
            that is less; of models that tell neither 1,024, or 512 with an encoder.
        cut: Prompts that were longer than it sees at once: their beginnings were not seen.
    """

    def __init__(
        self,
        settings: LanguageModelSettings,
        runtime: Runtime,
    ) -> None:
        """Load the model.

        Args:
            settings: Which.
            runtime: Of the run.

        Raises:
            Unavailable: It is not on this machine.
            ConfigError: It cannot be loaded, or is no language model.
            MissingExtraError: transformers is not installed.
        """
        found = located(settings.model, WHAT)
        self.identity = found.identity
        self.cut = 0
        self._name = settings.model
        self._runtime = runtime
        where = device_of(runtime.device)
        model, self._tokenizer = _opened(found, self.identity.sha256 or "", where)
        self.architecture: Architecture = (
            "encoder_decoder" if model.config.is_encoder_decoder else "causal"
        )
        self.context = self._context(model.config)
        try:
            self._model = NextToken(model, where)
        except ValueError as error:
            problem = Problem(self._name, f"is an encoder, not a language model: it {error}")
            raise ConfigError(problem, hint="name a causal or an encoder-decoder model") from None
        most = _OF_CPU if where.type == "cpu" else _OF_ACCELERATOR
        self._most_tokens = min(most, tokens_at_once(where, self._model.bytes_per_token))
        self._most_texts = settings.batch_size

    def _context(self, config: Any) -> int:
        text = config.get_text_config()
        told = (getattr(text, name, None) for name in _CONTEXTS)
        positions = next((int(one) for one in told if one), None)
        said = self._tokenizer.model_max_length
        lengths = [one for one in (positions, said if said <= _LONGEST else None) if one]
        return max(2, min(lengths, default=_USUAL[self.architecture]))

    def log_probabilities(
        self, passages: Sequence[Passage], *, stride: int | None = None
    ) -> list[NDArray[np.float64]]:
        """Of each passage, (tokens,) natural logarithms of the probabilities of its target.

        A token's probability is conditional on the prompt and on the tokens of the target before
        it. The first token of all has nothing before it and is left out; a target without a
        further one has no tokens. Passages longer than the model's context are seen through a
        window that moves by `stride` tokens (None: half the context): every token is scored once,
        in the window in which it first appears. The same in any company and order.

        Of a causal model, prompt and target become tokens together, as one text; a token that
        reaches over the border is the target's. What the tokenizer puts before a text is seen and
        not scored, what it puts after it left out. Of an encoder-decoder, the encoder reads the
        prompt (its last tokens, if it is longer than the context), and every label is scored, the
        end of the target included, as in transformers' own loss.

        Raises:
            Stopped: The run ends.
            ConfigError: The model cannot read its own tokens, or memory does not hold a text.
        """
        sequences = [one for part in _parts(passages) for one in self._sequences(part)]
        places = [
            (at, window)
            for at, one in enumerate(sequences)
            for window in windows(len(one.ids), one.first, self.context, stride)
        ]
        found = [np.empty(max(0, len(one.ids) - one.first)) for one in sequences]
        rows = [_row(sequences[at], window) for at, window in places]
        groups = batches(
            [len(row.read) + len(row.ids) for row in rows],
            most_tokens=self._most_tokens,
            most_texts=self._most_texts,
        )
        done = 0
        if rows:
            self._runtime.on_progress(STAGE, 0, len(rows))
        for group, scores in in_batches(
            groups, lambda of: self._scores(rows, of), self._runtime.stop
        ):
            for place, values in zip(group, scores, strict=True):
                at, window = places[place]
                first = sequences[at].first
                found[at][window.scored - first : window.end - first] = values
            done += len(group)
            self._runtime.on_progress(STAGE, done, len(rows))
        return found

    def _scores(self, rows: Sequence[Row], of: Sequence[int]) -> list[NDArray[np.float64]]:
        return self._model.log_probabilities([rows[at] for at in of])

    def _sequences(self, passages: Sequence[Passage]) -> list[_Sequence]:
        causal = self.architecture == "causal"
        found = self._causal(passages) if causal else self._decoded(passages)
        highest = max((int(ids.max(initial=0)) for one in found for ids in one[:2]), default=0)
        if highest >= self._model.vocabulary:
            message = f"its tokenizer knows a token {highest}, the model only those below"
            problem = Problem(self._name, f"{message} {self._model.vocabulary}")
            raise ConfigError(problem, hint="the tokenizer is another model's")
        return found

    def _causal(self, passages: Sequence[Passage]) -> list[_Sequence]:
        prompts = [whole_characters(passage.prompt) for passage in passages]
        texts = [
            prompt + whole_characters(passage.target)
            for prompt, passage in zip(prompts, passages, strict=True)
        ]
        given = self._tokenizer(texts, return_offsets_mapping=True, verbose=False)
        found = [
            _split(encoding, len(prompt))
            for encoding, prompt in zip(given.encodings, prompts, strict=True)
        ]
        # A window that has moved no longer holds the prompt's beginning.
        lengths = [len(one.ids) for one, prompt in zip(found, prompts, strict=True) if prompt]
        self.cut += sum(length > self.context for length in lengths)
        return found

    def _decoded(self, passages: Sequence[Passage]) -> list[_Sequence]:
        prompts = [whole_characters(passage.prompt) for passage in passages]
        read = self._tokenizer(prompts, verbose=False)["input_ids"]
        long = [at for at, ids in enumerate(read) if len(ids) > self.context]
        self.cut += len(long)
        # By the tokenizer, which keeps what it puts around a text.
        self._tokenizer.truncation_side = "left"
        for at in long:
            cut = self._tokenizer(prompts[at], truncation=True, max_length=self.context)
            read[at] = cut["input_ids"]
        targets = [whole_characters(passage.target) for passage in passages]
        labels = self._tokenizer(text_target=targets, verbose=False)["input_ids"]
        return [
            self._with_start(prompt, target) for prompt, target in zip(read, labels, strict=True)
        ]

    def _with_start(self, read: list[int], labels: list[int]) -> _Sequence:
        ids = np.array(labels, np.int32)
        start = self._model.start(ids) if labels else 0
        # An encoder with nothing at all to read is shown what the decoder starts with.
        shown = np.array(read or [start], np.int32)
        return _Sequence(shown, np.concatenate([[start], ids]).astype(np.int32), 1)


def _opened(found: Located, sha256: str, device: Any) -> tuple[Any, Any]:
    """A model and its tokenizer; for a GGUF file, the cached conversion.

    Raises:
        ConfigError: It cannot be loaded, or is no language model.
    """
    kept = converted(found, sha256) if found.gguf else None
    if kept is not None:
        try:
            return _loaded(kept, device), tokenizer_of(kept)
        except ConfigError:  # a file of the cache is broken; the model is read anew
            pass
    model, tokenizer = _loaded(found, device), tokenizer_of(found)
    if found.gguf:
        keep_converted(model, tokenizer, sha256)
    return model, tokenizer


def _loaded(found: Located, device: Any) -> Any:
    package = transformers(WHAT)
    config = config_of(found)
    made_for = getattr(config, "architectures", None) or []
    if any(name.endswith(_OTHER_TASKS) for name in made_for):
        message = f"is not a language model: its architecture is {made_for[0]}"
        raise ConfigError(Problem(found.model, message))
    if config.is_encoder_decoder:
        return loaded(package.AutoModelForSeq2SeqLM, found, device)
    if type(config) not in package.MODEL_FOR_CAUSAL_LM_MAPPING:
        message = f"is not a language model: there is no head for a {config.model_type} model"
        raise ConfigError(Problem(found.model, message))
    return loaded(package.AutoModelForCausalLM, found, device)


def _parts(passages: Sequence[Passage]) -> list[Sequence[Passage]]:
    return [passages[at : at + _AT_ONCE] for at in range(0, len(passages), _AT_ONCE)]


def _split(encoding: Any, border: int) -> _Sequence:
    """The tokens of a text, and the first of those that end beyond the border."""
    special = np.array(encoding.special_tokens_mask, bool)
    own = np.flatnonzero(~special)
    if not own.size:
        return _Sequence(_NOTHING, _NOTHING, 1)
    ids = np.array(encoding.ids, np.int32)[: own[-1] + 1]
    first = int(own[0])
    if border:
        ends = np.array([end for _, end in encoding.offsets[: len(ids)]])
        beyond = np.flatnonzero((ends > border) & ~special[: len(ids)])
        first = int(beyond[0]) if beyond.size else len(ids)
    return _Sequence(_NOTHING, ids, max(1, first))


def _row(sequence: _Sequence, window: Window) -> Row:
    ids = sequence.ids[window.begin : window.end]
    return Row(sequence.read, ids, window.scored - window.begin)


_NOTHING: Ids = np.empty(0, np.int32)


class Window(NamedTuple):
    """Consecutive tokens that a model sees together.

    Attributes:
        begin: The first token seen.
        end: One after the last.
        scored: The first whose probability is taken here; those before it are its context.
    """

    begin: int
    end: int
    scored: int


def windows(length: int, first: int, context: int, stride: int | None = None) -> list[Window]:
    """Windows in which every token from `first` on is scored once.

    They are those of the perplexity page of transformers' documentation: the k-th begins at
    k · stride, and scores what the one before did not see. Windows that would score nothing are
    left out. A first one that is the last, too, moves back until it is full, so that a short
    target after a long prompt has as much context as there can be. At least `context - stride`
    tokens stand before every token scored, or all there are.

    Args:
        length: Tokens of the sequence.
        first: The first token to be scored; that at 0 has nothing before it and never is.
        context: Tokens of a window, at least 2.
        stride: Tokens from one window to the next; None: half the context. One of the context's
            size or more would leave tokens with nothing before them, and is `context - 1`.
    """
    first = max(first, 1)
    if first >= length:
        return []
    step = max(1, min(context // 2 if stride is None else stride, context - 1))
    passed = max(0, -(-(first + 1 - context) // step))
    nominal = context + passed * step
    end = min(nominal, length)
    found = [Window(max(0, end - context if end == length else nominal - context), end, first)]
    while end < length:
        nominal += step
        scored, end = end, min(nominal, length)
        found.append(Window(nominal - context, end, scored))
    return found
