"""Seeded random samples of text, and answers that could not be better."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from tests.oracles.text_samples import samples
from valor_cli.data.shapes.samples.dataset import TextDataset

ARTIFACTS = Path(__file__).parents[1] / "real_data" / "text" / "artifacts"
FOLDERS = ("whole", "broken", "nowhere", None)

NOUNS = (
    "river", "apple", "teacher", "garden", "window", "letter", "bridge", "candle", "forest",
    "market", "kitchen", "summer", "doctor", "island", "pocket", "village", "morning", "ticket",
    "blanket", "carpet", "engine", "mirror",
)  # fmt: skip
ADJECTIVES = (
    "quiet", "yellow", "narrow", "heavy", "gentle", "broken", "famous", "early", "hollow", "simple",
)  # fmt: skip
ANSWERS_TO_A_QUESTION = 3


def random_texts(seed: int, *, questions: int = 12, quoted: bool = False) -> TextDataset:
    """Answers to questions, three to each; good, bad, empty, missing, and with what none may say.

    Some lack references, contexts, a condition, a question or a folder of artifacts.

    Args:
        seed: Decides everything.
        questions: How many.
        quoted: Whether references and most answers are JSON strings.
    """
    rng = np.random.default_rng(seed)
    n = questions * ANSWERS_TO_A_QUESTION
    asked = [_question(rng) for _ in range(questions)]
    right = [_references(rng) for _ in range(questions)]
    if quoted:
        right = [tuple(map(json.dumps, references)) for references in right]
    of = rng.permutation(np.repeat(np.arange(questions), ANSWERS_TO_A_QUESTION)).tolist()
    kind = rng.integers(0, 10, n).tolist()
    return replace(
        samples(
            [_response(rng, kind[at], right[of[at]]) for at in range(n)],
            user_input=[None if rng.random() < 0.1 else asked[one] for one in of],
            references=[() if rng.random() < 0.1 else right[one] for one in of],
            retrieved_contexts=[_contexts(rng, right[one][0], right[0][0]) for one in of],
            condition=[None if rng.random() < 0.1 else _condition(right[one][0]) for one in of],
            categories=[("encoding: base64",) if rng.random() < 0.3 else () for _ in of],
            artifacts=[None if one is None else str(ARTIFACTS / one) for one in _folders(rng, n)],
        ),
        group=tuple(f"question {one}" for one in of),
    )


def perfectly_answered(dataset: TextDataset) -> TextDataset:
    """Every answer is the first reference of its question, and so is what was retrieved for it."""
    columns = zip(dataset.user_input, dataset.references, strict=True)
    of = {asked: references[0] for asked, references in columns if asked and references}
    response = tuple(
        references[0] if references else of.get(asked)
        for asked, references in zip(dataset.user_input, dataset.references, strict=True)
    )
    return replace(
        dataset,
        response=response,
        retrieved_contexts=tuple(
            None if contexts is None or answer is None else (answer,)
            for contexts, answer in zip(dataset.retrieved_contexts, response, strict=True)
        ),
        artifacts=tuple(folder and str(ARTIFACTS / "whole") for folder in dataset.artifacts),
    )


def reordered(dataset: TextDataset, seed: int = 0) -> TextDataset:
    """The same samples in another order."""
    order = np.random.default_rng(seed).permutation(dataset.unit_count).tolist()
    columns = {
        name: tuple(column[at] for at in order)
        for name in dataset.__struct_fields__
        if isinstance(column := getattr(dataset, name), tuple)
    }
    return replace(dataset, **columns)


def _question(rng: np.random.Generator) -> str:
    one, other = rng.choice(NOUNS, 2, replace=False)
    return f"What did they tell you about the {one} and its {other} number {rng.integers(1000)}?"


def _references(rng: np.random.Generator) -> tuple[str, ...]:
    """One to three answers in two steps; no ten characters stand twice in one."""
    made = []
    for _ in range(rng.integers(1, 4)):
        a, b, c, d, e = rng.choice(NOUNS, 5, replace=False)
        quiet, heavy = rng.choice(ADJECTIVES, 2, replace=False)
        made.append(
            f"1. Look at the {quiet} {a} that we found near this {b}.\n"
            f"2. Bring me their {heavy} {c}, and put my {d} with your {e}."
        )
    return tuple(made)


def _response(rng: np.random.Generator, kind: int, references: tuple[str, ...]) -> str | None:
    text = str(rng.choice(references))
    words = text.split()
    made = {
        0: None,
        1: "",
        2: text,
        3: text.upper(),
        4: " ".join(rng.permutation(words)),
        5: " ".join(words[: len(words) // 2]),
        6: "It is the same thing again. " * int(rng.integers(3, 12)),
        7: f"{text} Write to jane.doe@example.org, card 4111 1111 1111 1111.",
        8: base64.b64encode(f"Mail to jane.doe@example.org. {text}".encode()).decode(),
        9: "Nous avons trouvé une petite maison au bord de la rivière. AKIAIOSFODNN7EXAMPLE",
    }
    return made[kind]


def _contexts(rng: np.random.Generator, right: str, wrong: str) -> tuple[str, ...] | None:
    drawn = rng.random()
    if drawn < 0.2:
        return None
    return () if drawn < 0.3 else (right, wrong) if drawn < 0.6 else (wrong, f"{wrong} a@b.org")


def _condition(reference: str) -> str:
    word = reference.split()[5]
    return f'("{word}" OR regexp("zeb.a")) AND NOT "jane.doe"'


def _folders(rng: np.random.Generator, n: int) -> list[str | None]:
    return [FOLDERS[at] for at in rng.integers(0, len(FOLDERS), n).tolist()]
