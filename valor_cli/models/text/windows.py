"""Run texts on a device in batches within its memory; long texts and pairs in windows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.kernels.vectors.batching import batches
from valor_cli.models.protocols import Pair
from valor_cli.models.requests import ProgressCallback, Stop, Stopped
from valor_cli.models.settings import Device
from valor_cli.models.text.tokens import Frame, Ids, TextTokens

Floats = NDArray[np.float64]
T = TypeVar("T")

_OF_CPU = 1 << 30
"""Bytes that a batch may take where there is no accelerator."""
_LEAST_TOKENS = 512


class Runtime(Struct, frozen=True):
    """Where the models of a run compute, and whom they tell.

    Attributes:
        device: As the config has it.
        stop: Asked between batches.
        on_progress: Called with the progress.
    """

    device: Device
    stop: Stop
    on_progress: ProgressCallback


def device_of(wanted: Device) -> Any:
    """The torch device; auto selects an accelerator if there is one.

    Raises:
        ConfigError: It is not there.
    """
    import torch

    with warnings.catch_warnings(action="ignore"):  # of drivers too old, which then do not count
        there = {
            "cuda": torch.cuda.is_available(),
            "mps": torch.backends.mps.is_available(),
            "cpu": True,
        }
    if wanted == "auto":
        return torch.device(next(name for name, found in there.items() if found))
    if not there[wanted]:
        names = ", ".join(name for name, found in there.items() if found)
        raise ConfigError(Problem("device", f"there is no {wanted} here; there is {names}"))
    return torch.device(wanted)


def tokens_at_once(device: Any, bytes_per_token: int) -> int:
    """Number of tokens per batch that fit in memory."""
    import torch

    free = torch.cuda.mem_get_info(device)[0] // 2 if device.type == "cuda" else _OF_CPU
    return max(_LEAST_TOKENS, int(free) // bytes_per_token)


def in_batches(
    groups: Sequence[list[int]], run: Callable[[list[int]], T], stop: Stop
) -> Iterator[tuple[list[int], T]]:
    """Run batches; a batch that does not fit in memory is halved.

    Args:
        groups: Positions of texts.
        run: Computes a batch.
        stop: Asked before each.

    Raises:
        Stopped: The run ends.
        ConfigError: Memory does not even hold a single text.
    """
    left = list(reversed(groups))
    while left:
        if stop.reason is not None:
            raise Stopped(stop.reason)
        group = left.pop()
        try:
            made = run(group)
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            if len(group) == 1:
                problem = Problem("memory", "not enough for a single text")
                raise ConfigError(problem, hint="use a smaller model, or `device: cpu`") from None
            half = len(group) // 2
            left += [group[half:], group[:half]]
        else:
            yield group, made


def _out_of_memory(error: Exception) -> bool:
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "can't allocate memory" in str(error) or "out of memory" in str(error)


STAGE = "classifying texts"


class Batch(Struct, frozen=True):
    """Sequences for a model, padded to one length.

    Attributes:
        ids: (texts, tokens).
        mask: (texts, tokens) 1, and 0 where it is padding.
        kinds: (texts, tokens) token types.
    """

    ids: Ids
    mask: Ids
    kinds: Ids


class WindowedTexts(Struct, frozen=True):
    """A model with its window settings.

    Attributes:
        tokens: Its tokenizer.
        one: What stands around a text.
        two: What stands around a premise and a hypothesis.
        window: Tokens that it sees at once.
        padding: The id that fills up short texts.
        probabilities: (texts, labels) of a batch.
        device: Where it computes.
        config: Of the model, whose sizes say what memory a token takes.
        most_texts: In a batch; None: any number.
        runtime: Of the run.
    """

    tokens: TextTokens
    one: Frame
    two: Frame
    window: int
    padding: int
    probabilities: Callable[[Batch], Floats]
    device: Any
    config: Any
    most_texts: int | None
    runtime: Runtime

    def of_texts(self, texts: Sequence[str]) -> list[Floats]:
        """(windows, labels) probabilities of each text. Distinct texts are computed once.

        Raises:
            Stopped: The run ends.
        """
        distinct = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        tokens = self.tokens.of(list(distinct))
        room = self.window - self.one.tokens
        spans = [windows(len(ids), room) for ids in tokens]
        shown = [(ids[span],) for ids, each in zip(tokens, spans, strict=True) for span in each]
        found = np.split(
            self._found(shown, self.one), np.cumsum([len(each) for each in spans])[:-1]
        )
        return [found[distinct[text]] for text in texts]

    def of_pairs(self, pairs: Sequence[Pair]) -> list[Floats]:
        """(hypothesis windows, premise windows, labels) probabilities of each pair.

        Raises:
            Stopped: The run ends.
        """
        distinct = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
        texts = list(dict.fromkeys(text for pair in distinct for text in pair))
        tokens = dict(zip(texts, self.tokens.of(texts), strict=True))
        shown: list[tuple[Ids, ...]] = []
        shapes: list[tuple[int, int]] = []
        for premise, hypothesis in distinct:
            each = self._windows(tokens[premise], tokens[hypothesis])
            shown += [(ids, mine) for mine in each[1] for ids in each[0]]
            shapes.append((len(each[1]), len(each[0])))
        found = np.split(
            self._found(shown, self.two), np.cumsum([rows * of for rows, of in shapes])[:-1]
        )
        shaped = [part.reshape(*shape, -1) for part, shape in zip(found, shapes, strict=False)]
        return [shaped[distinct[pair]] for pair in pairs]

    def _windows(self, premise: Ids, hypothesis: Ids) -> tuple[list[Ids], list[Ids]]:
        room = self.window - self.two.tokens
        mine, rest = window_shares(len(hypothesis), len(premise), room)
        return (
            [premise[span] for span in windows(len(premise), rest)],
            [hypothesis[span] for span in windows(len(hypothesis), mine)],
        )

    def _found(self, shown: Sequence[tuple[Ids, ...]], frame: Frame) -> Floats:
        """(windows, labels) probabilities of all that is shown."""
        if not shown:
            return np.empty((0, 0))
        lengths = [frame.tokens + sum(map(len, texts)) for texts in shown]
        most = tokens_at_once(self.device, bytes_per_token(self.config, max(lengths)))
        groups = batches(lengths, most_tokens=most, most_texts=self.most_texts)
        table: Floats | None = None
        done = 0
        self.runtime.on_progress(STAGE, 0, len(shown))
        for group, found in in_batches(
            groups, lambda group: self._of_group(shown, frame, group), self.runtime.stop
        ):
            if table is None:
                table = np.empty((len(shown), found.shape[1]))
            table[group] = found
            done += len(group)
            self.runtime.on_progress(STAGE, done, len(shown))
        return np.empty((0, 0)) if table is None else table

    def _of_group(self, shown: Sequence[tuple[Ids, ...]], frame: Frame, group: list[int]) -> Floats:
        return self.probabilities(padded([frame.around(shown[at]) for at in group], self.padding))


def padded(texts: Sequence[tuple[Ids, Ids]], padding: int) -> Batch:
    """Pad texts to one length.

    Args:
        texts: The ids and types of each.
        padding: The id that fills up short ones, at their ends.
    """
    shape = len(texts), max(len(ids) for ids, _ in texts)
    batch = Batch(np.full(shape, padding), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    for at, (ids, kinds) in enumerate(texts):
        batch.ids[at, : len(ids)] = ids
        batch.mask[at, : len(ids)] = 1
        batch.kinds[at, : len(ids)] = kinds
    return batch


def bytes_per_token(config: Any, longest: int) -> int:
    """Memory per token at the widest point of a layer, in float32."""
    hidden = getattr(config, "hidden_size", 768)
    inner = getattr(config, "intermediate_size", None) or getattr(config, "d_ff", None)
    heads = getattr(config, "num_attention_heads", 12)
    # Scores of attention, their softmax, and a mask or bias of the same shape.
    return 4 * (8 * hidden + 3 * (inner or 4 * hidden) + 4 * heads * longest)


def windows(tokens: int, room: int) -> list[slice]:
    """Windows of like size over a text; each but the first repeats a quarter of the one before.

    What a border cuts in two stands whole in a neighbour, unless it is longer than a quarter.

    Args:
        tokens: Of the text.
        room: Tokens of a window, at least 1.

    Returns:
        One window, of all there is, where it fits; the last one may be shorter than the others,
        and never lies within the one before.
    """
    step = room - room // 4
    last = max(0, tokens - room)
    starts = range(0, last + step, step)
    return [slice(start, min(start + room, tokens)) for start in starts]


def window_shares(hypothesis: int, premise: int, room: int) -> tuple[int, int]:
    """Shares of a window for the hypothesis and the premise.

    Args:
        hypothesis: Tokens.
        premise: Tokens.
        room: Tokens of both together, at least 2.

    Returns:
        Tokens of a window of the hypothesis and of the premise, each at least 1: all of both
        where they fit, else at most half the room for the hypothesis, the rest for the premise.
    """
    mine = hypothesis if hypothesis + premise <= room else min(hypothesis, room // 2)
    return max(1, mine), max(1, room - mine)
