"""Language consistency: whether the response is in the language of the user input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from annotated_types import Interval
from pydantic import AfterValidator

from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import rate_of_samples
from valor_cli.evaluators.verdicts import OUTPUTS, RATES, verdict
from valor_cli.kernels.text.languages import (
    LANGUAGES,
    NO_LANGUAGE,
    Language,
    language_of,
    letters,
    one_language,
    prose,
    shares,
)
from valor_cli.metric import ByParameters, Metric


def _told(code: str) -> str:
    """A detectable language."""
    if code not in LANGUAGES and one_language(code) not in LANGUAGES:
        raise ValueError(
            f"no language {code!r} can be told; expected a code of ISO 639-1, one of "
            + ", ".join(sorted(LANGUAGES))
        )
    return code


LanguageCode = Annotated[str, AfterValidator(_told)]
Letters = Annotated[int, Interval(ge=1)]
Odds = Annotated[float, Interval(ge=1)]


def language_consistency(
    texts: Texts,
    *,
    language: LanguageCode | None = None,
    least_letters: Letters = 10,
    least_odds: Odds = 100.0,
) -> Outcomes:
    """Whether the response is in the language of the user input, or in a given `language`.

    It passes where both are likeliest in the same language. It fails where they are not, and each
    is `least_odds` times as likely in its own language as in the other's. All else, and a text of
    fewer than `least_letters` letters, is not_applicable: of 10 letters one in five languages is
    told wrong, of 50 one in ninety, and a name may look like any language. Code, addresses and
    tags are not read; of a text longer than 6,000 characters six pieces of 1,000 are. Languages
    that ISO 639-3 has as one macrolanguage (Croatian, Bosnian and Serbian; Indonesian and Malay;
    the kinds of Norwegian, Arabic, Chinese) count as one. Contexts are not looked at.

    Formula:
        a sample passes if response and user input are likeliest in one language;
        it fails if they are not, and the odds are `least_odds` or more
        pass = samples that pass / samples that pass or fail

    Pitfalls:
        Samples that are too short or too mixed have no verdict: look at `n` before you trust the
        rate. A response requested in another language ("Translate into French …") fails
        when it obeys. Which language is meant by a text of two is decided by the likelier one.

    Example:
        A French question is answered in French, in English, and by "Paris", which is too short to
        tell: pass = 1 / 2 = 0.5.
    """
    data = texts.data
    reader = _Reader(least_letters, {})
    return Outcomes.of(
        [
            _judged(response, user_input, language, reader, least_odds)
            for response, user_input in zip(data.response, data.user_input, strict=True)
        ],
        OUTPUTS,
    )


class _Read(NamedTuple):
    """What of a text was read, and its language."""

    prose: str
    language: Language


class _Reader(NamedTuple):
    """Detects the language of each distinct text once.

    Attributes:
        least: Letters that a text must have.
        known: By text, what was found.
    """

    least: int
    known: dict[str, _Read | str]

    def read(self, text: str) -> _Read | str:
        """The text with its language, or why that is unknown."""
        if text not in self.known:
            self.known[text] = self._told(prose(text))
        return self.known[text]

    def _told(self, bare: str) -> _Read | str:
        if letters(bare) < self.least:
            return f"fewer than {self.least} letters to tell a language by"
        found = language_of(bare)
        return "no natural language" if found.code == NO_LANGUAGE else _Read(bare, found)


def _judged(
    response: str | None,
    user_input: str | None,
    language: str | None,
    reader: _Reader,
    least_odds: float,
) -> Outcome:
    if response is None:
        return missing("no response")
    answer = reader.read(response)
    if language is not None:
        return _against_language(answer, language, least_odds)
    if user_input is None:
        return missing("no user_input to compare the response with")
    asked = reader.read(user_input)
    if isinstance(answer, str):
        return _untold(f"response: {answer}")
    if isinstance(asked, str):
        return _untold(f"user_input: {asked}")
    own, other = answer.language.code, asked.language.code
    sure = _surely(answer.prose, own, other, least_odds)
    sure = sure and _surely(asked.prose, other, own, least_odds)
    details = {"response": _detail(answer.language), "user_input": _detail(asked.language)}
    return _decided(own, other, details, sure=sure)


def _against_language(answer: _Read | str, language: str, least_odds: float) -> Outcome:
    if isinstance(answer, str):
        return _untold(f"response: {answer}")
    own = answer.language.code
    details = {"response": _detail(answer.language), "language": language}
    sure = _surely(answer.prose, own, language, least_odds)
    return _decided(own, language, details, sure=sure)


def _untold(reason: str) -> Outcome:
    return Outcome(status="not_applicable", reason=reason)


def _detail(language: Language) -> dict[str, str | float]:
    return {"language": language.code, "confidence": round(language.confidence, 4)}


def _surely(text: str, own: str, other: str, least_odds: float) -> bool:
    """Whether a text is so many times as likely in its own language as in another."""
    if one_language(own) == one_language(other):
        return True
    found = shares(text)
    return found[one_language(own)] >= least_odds * found.get(one_language(other), 0.0)


def _decided(own: str, other: str, details: dict[str, Any], *, sure: bool) -> Outcome:
    if one_language(own) == one_language(other):
        return verdict(True, details=details)
    if sure:
        return verdict(False, reason=f"the response is in {own}, not {other}", details=details)
    why = f"too short or too mixed to tell whether it is in {other}"
    return Outcome(status="not_applicable", reason=why, details=details)


def _needs(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    return () if parameters["language"] is not None else ("user_input",)


LANGUAGE_CONSISTENCY = Metric(
    name="language_consistency",
    measure=language_consistency,
    compute=rate_of_samples,
    reference="py3langid.langid.LanguageIdentifier.classify",
    citation="Lui and Baldwin, langid.py: An Off-the-shelf Language Identification Tool, ACL 2012",
    outputs=RATES,
    needs=("response",),
    by_parameters=ByParameters(needs=_needs),
    threshold=0.5,
)
