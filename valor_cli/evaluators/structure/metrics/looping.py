"""Looping: whether a response repeats itself.

unique_sentences is the number of distinct sentences over the number of sentences, counting those
of at least ten characters. longest_repeated_substring is the length of a substring times the
number of its non-overlapping occurrences, over the length of the text, for the substring of at
least ten characters that maximises it. compression_ratio is the zlib-compressed length of the text
over its length in bytes.

H2O Eval Studio describes the three; which substring is meant, and that the last is undefined for
texts under 200 bytes, where zlib's header and tables dominate, is decided here.
"""

from __future__ import annotations

import re
import zlib
from typing import Annotated, Any

from pydantic import AfterValidator

from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.text.repeats import Repeat, most_repeated
from valor_cli.kernels.text.sentences import SPLITTER, split_sentences
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, Mark


def _code(language: str) -> str:
    if not re.fullmatch("[a-z]{2,3}", language):
        raise ValueError("expected an ISO 639 code of two or three small letters, as en")
    return language


Language = Annotated[str, AfterValidator(_code)]

SHORTEST = 10
"""Characters of a sentence, and of a repeated substring, at least."""

FEWEST_BYTES = 200
"""Of a text whose compression tells something."""

SEARCHED = 1_000_000
"""Characters of a text, from its beginning, in which repetitions are looked for."""

MARKED = 100
"""Repetitions that reports mark in a text, at most."""

OUTPUTS = (
    Output("unique_sentences", "higher"),
    Output("longest_repeated_substring", "lower"),
    Output("compression_ratio", "higher", (0, None)),
)


def looping(texts: Texts, *, language: Language = "en") -> Outcomes:
    """Repetition in the response: the share of distinct sentences, the share covered by one
    repeated substring, and the compression ratio.

    Sentences, and repeated substrings, have 10 characters or more. Sentences end by the rules of
    `language`, an ISO 639 code, as sentencex has them; items of lists, headings, rows of tables and
    blocks of code are sentences too. Repetitions are looked for in the first million characters. A
    text of less than 200 bytes has no compression ratio.

    Formula:
        unique_sentences = different sentences / sentences
        longest_repeated_substring = its length · its occurrences / length of the text
        compression_ratio = bytes after zlib / bytes before

    Pitfalls:
        Directions differ: lower is better for longest_repeated_substring alone. Only what is
        repeated word for word is seen; tables, lists and code repeat themselves by nature.
        compression_ratio falls as texts grow: compare those of similar length.

    Example:
        "I cannot tell. I cannot tell. I cannot tell. Goodbye for now." has 2 different sentences
        of 4, 0.5; "I cannot tell. " has 15 characters and occurs 3 times in 61, 45 / 61 = 0.738;
        with fewer than 200 bytes there is no compression_ratio.
    """
    return Outcomes.of(
        [
            missing("no response") if response is None else _outcome(response, language)
            for response in texts.data.response
        ],
        [output.name for output in OUTPUTS],
    )


def looping_values(sampled: Sampled) -> Findings:
    """Mean of every output over the samples that have it."""
    everywhere = sampled.outcomes.status >= 0
    return sampled.findings(sampled.means(within=everywhere))


LOOPING = Metric(
    name="looping",
    measure=looping,
    compute=looping_values,
    outputs=OUTPUTS,
    reference="H2O Eval Studio, Looping Detection",
    citation="H2O.ai, H2O Eval Studio documentation, Looping Detection Evaluator; sentences as "
    "sentencex finds them",
    needs=("response",),
    threshold=0.75,
    aliases=("looping_detection",),
)


def _outcome(text: str, language: str) -> Outcome:
    sentences = [
        text[start:end] for start, end in split_sentences(text, language) if end - start >= SHORTEST
    ]
    different = len(set(sentences))
    searched = text[:SEARCHED]
    repeat = most_repeated(searched, SHORTEST)
    return Outcome(
        {
            "unique_sentences": different / len(sentences) if sentences else None,
            "longest_repeated_substring": repeat.covered / len(searched) if text else None,
            "compression_ratio": _compression(text),
        },
        "ok" if sentences else "not_applicable",
        _reason(text, len(sentences), repeat),
        _details(len(sentences), different, repeat),
        tuple(
            Mark("response", start, start + repeat.length, "repeated")
            for start in repeat.starts[:MARKED]
        ),
    )


def _compression(text: str) -> float | None:
    data = text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(data, 9)) / len(data) if len(data) >= FEWEST_BYTES else None


def _reason(text: str, sentences: int, repeat: Repeat) -> str | None:
    """A remark on a value, or why it is undefined."""
    said = []
    if not sentences:
        said.append(f"no sentence of {SHORTEST} characters or more")
    if len(text) > SEARCHED:
        said.append(f"repetitions were looked for in the first {SEARCHED:,} characters")
    if repeat.at_most > repeat.covered:
        most = repeat.at_most / min(len(text), SEARCHED)
        said.append(f"the search for repetitions was cut short; none makes up more than {most:.4f}")
    return "; ".join(said) or None


def _details(sentences: int, different: int, repeat: Repeat) -> dict[str, Any]:
    """What the values rest on; the repeated text itself is what the marks point at."""
    return {
        "splitter": SPLITTER,
        "sentences": sentences,
        "unique": different,
        "repeated": {
            "start": repeat.starts[0],
            "length": repeat.length,
            "times": len(repeat.starts),
        }
        if repeat.starts
        else None,
    }
