"""Penn Treebank word tokenizer: "do", "n't", "``".

The rules, and their order, are those of NLTK's NLTKWordTokenizer, which extends Robert McIntyre's
tokenizer.sed. Every pattern is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import Final

_RULES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Opening quotes.
        (r"([«“‘„]|[`]+)", r" \1 "),
        (r"^\"", r"``"),
        (r"(``)", r" \1 "),
        (r"([ \(\[{<])(\"|\'{2})", r"\1 `` "),
        (r"(?i)(?<!\w)(\')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\1 "),
        # Punctuation; the last period of the text, not those before.
        (r"([^\.])(\.)([\]\)}>\"\'»”’ ]*+)\s*$", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"[\u2012-\u2015]", r" \g<0> "),
        (r"([^\.])(\.)([\]\)}>\"\']*)\s*$", r"\1 \2\3 "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[\(\)\{\}\<\>]", r" \g<0> "),
        (r"--", r" -- "),
    )
)

_RULES_BETWEEN_SPACES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Closing quotes.
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"\s+", " "),
        # Endings that are words of their own.
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        # Two words written as one.
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is)\b", r" \1 \2 "),
        (r"(?i) ('t)(was)\b", r" \1 \2 "),
    )
)


def treebank_words(text: str) -> list[str]:
    """The words of a text as one sentence: a period inside it stays with its word.

    Equal to NLTK's `word_tokenize(text, preserve_line=True)`. Beside accents of their own and
    joiners that is so up to NLTK 3.9: 3.10 takes `regex`, to which these are letters.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in _RULES_BETWEEN_SPACES:
        text = pattern.sub(replacement, text)
    return text.split()
