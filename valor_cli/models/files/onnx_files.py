"""Locate an ONNX model's files and read its settings.

A folder is one of sentence-transformers or of optimum: `model.onnx` or `onnx/model.onnx`,
`tokenizer.json`, and optionally `modules.json`, `1_Pooling/config.json`,
`sentence_bert_config.json`, `tokenizer_config.json` and `config.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.files.model_folder import decoded, readable
from valor_cli.models.files.packaged import (
    MINILM_LAYERS,
    MINILM_LONGEST,
    MINILM_POSITIONS,
    MINILM_SHA256,
    MINILM_TOKENIZER,
    minilm_file,
)
from valor_cli.models.protocols import Unavailable, sha256_of_files
from valor_cli.models.settings import MINILM

_LONGEST = 512
"""Tokens that are seen where no file says how many."""
_NAMES = ("model.onnx", "onnx/model.onnx")
_POOLINGS = {
    "cls_token": "cls",
    "mean_tokens": "mean",
    "max_tokens": "max",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "weightedmean_tokens": "weightedmean",
    "lasttoken": "lasttoken",
}
_SAME_DIRECTION = {"mean_sqrt_len_tokens": "mean"}
_NO_CHANGE = ("Transformer", "Pooling", "Normalize", "Dropout")
"""Modules after which a vector points where it did."""
_POSITIONS_AFTER_PADDING = ("camembert", "data2vec-text", "mpnet", "roberta", "xlm-roberta")
"""Types of models that count positions from behind the id of the padding."""


class OnnxFiles(Struct, frozen=True):
    """A model with its settings.

    Attributes:
        name: As the config says it.
        model: The file with the graph.
        tokenizer: `tokenizer.json`.
        sha256: Of all files that its vectors depend on.
        pooling: How tokens become one vector, as sentence-transformers calls it; several: it
            puts vectors side by side.
        added: Modules that change the vector further, and are not in the graph.
        longest: Tokens of a text that it is shown.
        positions: Tokens that it has positions for; None: not known, or any number.
        layers: How many it has; None: not known.
        padding: The id of the token that fills rows; None: as the tokenizer says.
        lower: Whether texts are put in lower case.
    """

    name: str
    model: Path
    tokenizer: Path
    sha256: str
    pooling: tuple[str, ...] = ("mean",)
    added: tuple[str, ...] = ()
    longest: int = _LONGEST
    positions: int | None = None
    layers: int | None = None
    padding: int | None = None
    lower: bool = False


def onnx_files(model: str | None) -> OnnxFiles:
    """Locate the files of a model.

    Args:
        model: A folder, a file model.onnx, or minilm-int8; None: the latter.

    Raises:
        Unavailable: It is not on this machine.
        ConfigError: Files are missing or cannot be used.
        MissingExtraError: The package of minilm-int8 is not installed.
    """
    if model is None or model == MINILM:
        return OnnxFiles(
            MINILM,
            minilm_file(),
            MINILM_TOKENIZER,
            MINILM_SHA256,
            longest=MINILM_LONGEST,
            positions=MINILM_POSITIONS,
            layers=MINILM_LAYERS,
            padding=0,
        )
    with readable(model):
        return _named(model)


def _named(model: str) -> OnnxFiles:
    path = Path(model)
    if path.is_file():
        if path.suffix != ".onnx":
            raise ConfigError(
                Problem(model, "is not an ONNX file"), hint="name a folder or a .onnx"
            )
        return _in_folder(model, _home(path), path)
    if not path.is_dir():
        fetch = f"hf download {model} --local-dir FOLDER, and name that folder"
        raise Unavailable(f"the model {model} is not on this machine; fetch it: {fetch}")
    found = next((path / name for name in _NAMES if (path / name).is_file()), None)
    if found is None:
        found_ones = (each for each in path.rglob("*.onnx") if each.is_file())
        others = sorted(str(each.relative_to(path)) for each in found_ones)
        there = f"; it has {', '.join(others[:5])}" if others else ""
        hint = "name one of these files" if others else "name a folder with an ONNX export"
        raise ConfigError(Problem(model, f"has no {' and no '.join(_NAMES)}{there}"), hint=hint)
    return _in_folder(model, path, found)


def _home(model: Path) -> Path:
    """The folder that describes a file: its own, or the one above `onnx/`."""
    own = model.parent
    return own.parent if own.name == "onnx" and not (own / "tokenizer.json").is_file() else own


def _in_folder(name: str, folder: Path, model: Path) -> OnnxFiles:
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        hint = "save the fast tokenizer of the model beside it (tokenizer.save_pretrained)"
        raise ConfigError(Problem(str(folder), "has no tokenizer.json"), hint=hint)
    modules = list(_modules(folder / "modules.json"))
    places = [place for kind, place in modules if kind == "Pooling"] or ["1_Pooling"]
    pooling = folder / places[0] / "config.json"
    config = _read(folder / "config.json")
    sentences = next(iter(sorted(folder.glob("sentence_*_config.json"))), None)
    shown = {} if sentences is None else _read(sentences)
    allowed = _read(folder / "tokenizer_config.json")
    positions = _positions(config)
    limits = [_number(shown, "max_seq_length") or _number(allowed, "model_max_length"), positions]
    hashed = {model, tokenizer, *_weights(model), *([pooling] if pooling.is_file() else [])}
    return OnnxFiles(
        name,
        model,
        tokenizer,
        sha256_of_files(hashed),
        pooling=_pooling(_read(pooling)),
        added=tuple(kind for kind, _ in modules if kind not in _NO_CHANGE),
        longest=min((each for each in limits if each), default=_LONGEST),
        positions=positions,
        layers=_number(config, "num_hidden_layers") or _number(config, "n_layers"),
        padding=config.get("pad_token_id") if _number(config, "pad_token_id") else None,
        lower=shown.get("do_lower_case") is True,
    )


def _weights(model: Path) -> Iterator[Path]:
    """Files in which a graph over 2 GB keeps its weights; ONNX itself prescribes no name."""
    for form in (f"{model.name}*", "*.data", "*_data"):
        yield from (each for each in model.parent.glob(form) if each.is_file())


def _modules(path: Path) -> Iterator[tuple[str, str]]:
    """The kind and folder of each module that sentence-transformers would run."""
    for one in decoded(path, list[dict[str, Any]]) or ():
        yield str(one.get("type", "")).rpartition(".")[2], str(one.get("path", ""))


def _pooling(config: dict[str, Any]) -> tuple[str, ...]:
    said = config.get("pooling_mode")
    if isinstance(said, str):
        modes = [said]
    elif isinstance(said, list):
        modes = [str(each) for each in said]
    else:
        # As releases before 5.2 wrote it.
        modes = [mode for key, mode in _POOLINGS.items() if config.get(f"pooling_mode_{key}")]
    return tuple(_SAME_DIRECTION.get(mode, mode) for mode in modes) or ("mean",)


def _positions(config: dict[str, Any]) -> int | None:
    positions = _number(config, "max_position_embeddings")
    if positions is not None and config.get("model_type") in _POSITIONS_AFTER_PADDING:
        positions -= (_number(config, "pad_token_id") or 0) + 1
    return positions


def _number(config: dict[str, Any], key: str) -> int | None:
    """A positive number, except placeholders: transformers writes 1e30 for "any"."""
    found = config.get(key)
    sane = isinstance(found, int) and not isinstance(found, bool) and 0 < found < 10**6
    return found if sane else None


def _read(path: Path) -> dict[str, Any]:
    """The content of a file; empty if missing."""
    return decoded(path, dict[str, Any]) or {}
