"""Porter stemmer with NLTK's extensions.

M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980; with the changes of nltk's
`PorterStemmer` in its default mode `NLTK_EXTENSIONS`, which rouge-score uses: irregular words,
"ies" and "ied" of words of four letters, y to i after a consonant, "bli" for "abli", "fulli" and
"logi". Time is linear in the length of a word.
"""

from __future__ import annotations

from typing import Final

_IRREGULAR: Final = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}

# In the order in which they are tried: the first that fits the ending decides.
_STEP_2: Final = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
)
_STEP_3: Final = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4: Final = tuple(
    (ending, "")
    for ending in (
        *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"),
        *("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
    )
)

_VOWELS: Final = frozenset("aeiou")


def stem(word: str) -> str:
    """Stem of a lower-case word: "relational" and "relate" become "relat"."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past_and_progressive(_plural(word))
    if word.endswith("y") and len(word) > 2 and _sounds(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _replaced(_derived(word), _STEP_3, 0)
    return _tidied(_shortened(word))


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_progressive(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            root = word[: -len(ending)]
            if "v" in _sounds(root):
                return _restored(root)
    return word


def _restored(root: str) -> str:
    """What is left of a word without its "ed" or "ing", as a word again."""
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    sounds = _sounds(root)
    if len(root) > 1 and root[-1] == root[-2] and sounds[-1] == "c":
        return root if root[-1] in "lsz" else root[:-1]
    if sounds.count("vc") == 1 and _is_short(root, sounds):
        return root + "e"
    return root


def _derived(word: str) -> str:
    """Step 2."""
    if word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        # The l counts with the stem, so that "geologi" does as "archaeologi" does.
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _STEP_2, 0)


def _shortened(word: str) -> str:
    """Step 4."""
    if word.endswith("ion") and not word[:-3].endswith(("s", "t")):
        return word
    return _replaced(word, _STEP_4, 1)


def _tidied(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        root = word[:-1]
        sounds = _sounds(root)
        measure = sounds.count("vc")
        if measure > 1 or (measure == 1 and not _is_short(root, sounds)):
            word = root
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _replaced(word: str, rules: tuple[tuple[str, str], ...], above: int) -> str:
    """The word after the first rule that fits its ending, if what stays measures enough."""
    for ending, instead in rules:
        if word.endswith(ending):
            root = word[: -len(ending)]
            return root + instead if _measure(root) > above else word
    return word


def _measure(root: str) -> int:
    """How often a vowel is followed by a consonant, which is the paper's m."""
    return _sounds(root).count("vc")


def _is_short(root: str, sounds: str) -> bool:
    """Whether it ends in consonant, vowel, consonant other than w, x, y; or is vowel, consonant."""
    return sounds == "vc" or (sounds.endswith("cvc") and root[-1] not in "wxy")


def _sounds(word: str) -> str:
    """Its letters as v (vowel) and c: y is a vowel after a consonant only."""
    if "y" not in word:
        return "".join(["v" if letter in _VOWELS else "c" for letter in word])
    found: list[str] = []
    before = "v"
    for letter in word:
        vowel = before == "c" if letter == "y" else letter in _VOWELS
        before = "v" if vowel else "c"
        found.append(before)
    return "".join(found)
