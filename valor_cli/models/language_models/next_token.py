"""Log-probability of each token given the preceding ones.

A causal model's head is applied only to the scored positions, some at a time: logits of all
positions would take most of the time and memory of a long prompt before a short target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]

_LOGITS = 1 << 24
"""Logits at a time; 64 MiB of them."""
_STATES = 32
"""Vectors of the hidden size that a token takes at most while a layer is computed."""
_SLACK = 1e-4
"""Of the largest logit: what rounding may make of equal logits."""


class Row(NamedTuple):
    """One input sequence.

    Attributes:
        read: What the encoder reads; empty for a causal model.
        ids: The sequence itself.
        scored: The first token whose probability is asked for, at least 1.
    """

    read: Ids
    ids: Ids
    scored: int


class NextToken:
    """A model that returns next-token probabilities."""

    def __init__(self, model: Any, device: Any) -> None:
        """Detect how to run the model.

        Args:
            model: Loaded, with a head of logits; an encoder-decoder says so in its config.
            device: Where it is.

        Raises:
            ValueError: Its logits depend on what comes after them.
        """
        self._model = model
        self._device = device
        self._decodes = bool(model.config.is_encoder_decoder)
        self._rows = int(model.get_input_embeddings().weight.shape[0])
        self._body: Any = None
        self._finish: Callable[[Any], Any] = _finish(model)
        width = model.config.get_text_config().hidden_size
        self.bytes_per_token = 4 * _STATES * int(width)
        if not self._decodes:
            self._probe()
        if self._body is None:
            # Logits, their softmax, and what is gathered of them.
            self.bytes_per_token += 12 * self._rows

    @property
    def vocabulary(self) -> int:
        """Size of the vocabulary."""
        return self._rows

    def start(self, labels: Ids) -> int:
        """The decoder's start token."""
        import torch

        known = torch.tensor([labels.tolist()], device=self._device)
        return int(self._model.prepare_decoder_input_ids_from_labels(labels=known)[0, 0])

    def log_probabilities(self, rows: Sequence[Row]) -> list[NDArray[np.float64]]:
        """(len(ids) - scored,) natural log-probabilities of each row; rows are independent."""
        import torch

        # The last token predicts nothing that is asked for, and is not shown.
        shown, length = _padded([row.ids[:-1] for row in rows])
        places = [
            at * length + np.arange(row.scored - 1, len(row.ids) - 1) for at, row in enumerate(rows)
        ]
        wanted = np.concatenate([row.ids[row.scored :] for row in rows]).astype(np.int64)
        with torch.inference_mode():
            states = self._states(self._on_device(shown), rows)
            states = states.reshape(-1, states.shape[-1])[self._on_device(np.concatenate(places))]
            found = self._at(states, self._on_device(wanted))
        cuts = np.cumsum([len(one) for one in places])[:-1]
        return np.split(found, cuts)

    def _states(self, shown: Any, rows: Sequence[Row]) -> Any:
        """(rows, positions, …) hidden states, or logits if the head cannot be separated."""
        if self._body is not None:
            return self._body(input_ids=shown, use_cache=False)[0]
        if not self._decodes:
            return self._model(input_ids=shown, use_cache=False).logits
        read, _ = _padded([row.read for row in rows])
        lengths = np.array([[len(row.read)] for row in rows])
        mask = (np.arange(read.shape[1]) < lengths).astype(np.int64)
        return self._model(
            input_ids=self._on_device(read),
            attention_mask=self._on_device(mask),
            decoder_input_ids=shown,
            use_cache=False,
        ).logits

    def _at(self, states: Any, wanted: Any) -> NDArray[np.float64]:
        """(n,) the logarithms of what is wanted at each position."""
        from torch.nn.functional import cross_entropy

        step = max(1, _LOGITS // self._rows)
        found = np.empty(len(wanted))
        for at in range(0, len(wanted), step):
            part = states[at : at + step]
            logits = part if self._body is None else self._finish(part)
            lost = cross_entropy(logits.float(), wanted[at : at + step], reduction="none")
            found[at : at + step] = -lost.cpu().numpy()
        return found

    def _probe(self) -> None:
        """Ask the model of eight tokens: does it look ahead, is its head what it seems to be?"""
        import torch

        one = np.arange(8)[None] % self._rows
        other = one.copy()
        other[0, 4:] = (other[0, 4:] + 4) % self._rows
        with torch.inference_mode():
            shown = self._on_device(one)
            logits = self._model(input_ids=shown, use_cache=False).logits
            slack = _SLACK * float(logits.abs().max())
            changed = self._model(input_ids=self._on_device(other), use_cache=False).logits
            if float((logits - changed)[0, :4].abs().max()) > slack:
                raise ValueError("sees what comes after a token")
            body = self._model.base_model
            if body is self._model or self._model.get_output_embeddings() is None:
                return
            guessed = self._finish(body(input_ids=shown, use_cache=False)[0])
            if guessed.shape == logits.shape and float((guessed - logits).abs().max()) <= slack:
                self._body = body

    def _on_device(self, numbers: NDArray[np.int64]) -> Any:
        import torch

        return torch.from_numpy(numbers).to(self._device)


def _padded(many: Sequence[Ids]) -> tuple[NDArray[np.int64], int]:
    """(n, longest) ids, filled up on the right with what no position before it sees."""
    length = max(len(one) for one in many)
    filled = np.zeros((len(many), length), np.int64)
    for at, one in enumerate(many):
        filled[at, : len(one)] = one
    return filled, length


def _finish(model: Any) -> Callable[[Any], Any]:
    """The function from states to logits, from the model's config; must be verified."""
    import torch

    config = model.config.get_text_config()
    head = model.get_output_embeddings()
    cap = getattr(config, "final_logit_softcapping", None)
    factor = (getattr(config, "logit_scale", None) or 1.0) / (
        getattr(config, "logits_scaling", None) or 1.0
    )

    def finished(states: Any) -> Any:
        logits = head(states) * factor if factor != 1.0 else head(states)
        return torch.tanh(logits / cap) * cap if cap else logits

    return finished
