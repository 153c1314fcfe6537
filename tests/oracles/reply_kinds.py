"""A word, or a rating, in; every kind of reply that says it, and those that say nothing, out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.oracles.judges import REFUSED
from valor_cli.models.requests import Reply

Said = Mapping[str, str]
"""By kind, a reply."""
Unsaid = Mapping[str, str | Reply]
"""By kind, a reply that cannot be used."""


def saying(word: str, other: str) -> Said:
    """Replies that say a word, and not the other one."""
    verdict = json.dumps({"reason": f"It is not {other}.", "verdict": word})
    return {
        "bare": word,
        "quoted, with a full stop": f'"{word.title()}".',
        "loud, with white space": f"\n  {word.upper()}\n",
        "a JSON string": json.dumps(word),
        "well-formed": verdict,
        "fenced": f"```json\n{verdict}\n```",
        "prose-wrapped": f"Here is my verdict:\n{verdict}\nI hope that this helps.",
        "<think>": f"<think>It may well be {other}.\n{other}</think>\n{word}",
        "trailing comma": f'{{"reason": "", "verdict": "{word}",}}',
        "byte-order mark": f"\ufeff{verdict}",
    }


def not_saying(word: str, other: str) -> Unsaid:
    """Replies of which nobody can say which of two words they mean."""
    return {
        "inside a sentence": f"I would say that it is {word}, all in all.",
        "both": f"{word} {other}",
        "another word": "perhaps",
        "another verdict": '{"verdict": "perhaps"}',
        "empty": "",
        "white space": " \n ",
        "refused": REFUSED,
        "half a JSON": f'{{"verdict": "{word[:2]}',
    }


def rating(number: int, top: int) -> Said:
    """Replies that give a rating, on a scale with that top."""
    rated = json.dumps({"reason": "It says the same.", "rating": number})
    return {
        "bare": str(number),
        "a float": f"{number}.0",
        "well-formed": rated,
        "as a score": f'{{"score": {number}}}',
        "fenced": f"```\n{rated}\n```",
        "prose-wrapped": f"Let me see. {rated} That is all.",
        "<think>": f"<think>Perhaps {top}? Rating: {top}</think>{rated}",
        "trailing comma": f'{{"reason": "", "rating": {number},}}',
        "after a label": f"It says nearly the same.\nRating: {number}",
        "out of": f"{number} out of {top}",
        "byte-order mark": f"\ufeff{rated}",
    }


def no_rating(number: int, other: int, beyond: int) -> Unsaid:
    """Replies that give no rating of a scale which has two numbers, and not the third."""
    return {
        "out of range": f'{{"rating": {beyond}}}',
        "out of range, bare": str(beyond),
        "negative": '{"rating": -1}',
        "not a whole number": f'{{"rating": {number}.5}}',
        "NaN": '{"rating": NaN}',
        "two numbers": f"between {number} and {other}",
        "no number": "It is quite good.",
        "empty": "",
        "refused": REFUSED,
        "half a JSON": '{"rating": ',
    }


def without_marks(message: str) -> str:
    """A message to a judge less the marks of its delimiters, which depend on the data."""
    return re.sub(r"\b[0-9a-f]{16}\b", "MARK", message)


def enclosed(message: str, text: str) -> bool:
    """Whether a text stands once in a message, and between two delimiters of one mark there."""
    before, found, after = message.partition(text)
    opened = re.findall(r"^<<<(?!end )([\w. ]+ [0-9a-f]{16})>>>$", before, re.MULTILINE)
    closed = re.findall(r"^<<<end ([\w. ]+ [0-9a-f]{16})>>>$", after, re.MULTILINE)
    return bool(found) and text not in after and opened[-1:] == closed[:1] != []
