"""Each kind of reply, as judges send it: what fits, what it says, and what is told where not."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.oracles.reply_kinds import no_rating, not_saying, saying
from tests.oracles.reply_kinds import rating as ratings
from valor_cli.evaluators.judge.evidence.reply_readings import (
    Correctness,
    Evaluation,
    Judged,
    Question,
    Rating,
    Reading,
    Unfit,
    Word,
    correctness,
    evaluation_score,
    plain_rating,
    plain_word,
    question,
    rating,
    sentences,
    statements,
    verdict,
    verdicts,
    word,
)

ONE_TO_FIVE = (1, 2, 3, 4, 5)
WORDS = ("present", "absent", "not sure")
REFUSAL = "I'm sorry, but I can't help with that."

READINGS: Mapping[str, tuple[Reading[Any], dict[str, Any], Any]] = {
    "statements": (
        statements("The sky is blue. Grass is green."),
        {"statements": ["The sky is blue", "Grass is green"]},
        ("The sky is blue", "Grass is green"),
    ),
    "sentences": (
        sentences("One. Two."),
        {"sentences": ["One.", "Two."]},
        ("One.", "Two."),
    ),
    "verdicts": (
        verdicts(2),
        {"verdicts": [{"reason": "it is", "verdict": 1}, {"reason": "it isn't", "verdict": 0}]},
        (Judged(True, "it is"), Judged(False, "it isn't")),
    ),
    "verdicts with contexts": (
        verdicts(2, contexts=3),
        {
            "verdicts": [
                {"reason": "a", "verdict": 1, "context": 3},
                {"reason": "b", "verdict": 0, "context": None},
            ]
        },
        (Judged(True, "a", 3), Judged(False, "b", None)),
    ),
    "verdict": (verdict(), {"reason": "it [is]", "verdict": 1}, Judged(True, "it [is]")),
    "correctness": (
        correctness(["a", "b", "c"], ["a", "d"]),
        {"TP": ["a"], "FP": ["b", "c"], "FN": ["d"]},
        Correctness(("a",), ("b", "c"), ("d",)),
    ),
    "question": (
        question(),
        {"question": "Where is it?", "noncommittal": 0},
        Question("Where is it?", False),
    ),
    "rating": (rating(ONE_TO_FIVE), {"reason": "good", "rating": 4}, Rating(4, "good")),
    "word": (word(WORDS), {"reason": "a phone", "verdict": "present"}, Word("present", "a phone")),
    "evaluation": (
        evaluation_score(),
        {"evaluation_summary": "mostly true", "evaluation_score": 0.75},
        Evaluation(0.75, "mostly true"),
    ),
}
KINDS = [pytest.param(*kind, id=name) for name, kind in READINGS.items()]
DRESSES: Mapping[str, Callable[[str], str]] = {
    "alone": lambda reply: reply,
    "spread": lambda reply: json.dumps(json.loads(reply), indent=2),
    "byte order mark": lambda reply: f"\ufeff{reply}",
    "fence": lambda reply: f"```json\n{reply}\n```",
    "fence of tildes": lambda reply: f"~~~\n{reply}\n~~~\n",
    "fence never closed": lambda reply: f"```json\n{reply}",
    "prose": lambda reply: f'Sure! The "reply" is: {reply}\nIs there anything else?',
    "prose and fence": lambda reply: f"Of 3 points, 2 hold [1].\n\n```json\n{reply}\n```\nDone.",
    "thought": lambda reply: f"<think>{{}} or 3, hm</think>\n\n{reply}",
    "thought of another": lambda reply: f"<think>{reply.replace('a', 'b')}</think>{reply}",
    "thought, opening lost": lambda reply: f"Let me see, {{1}}.\n</think>\n{reply}",
    "trailing comma": lambda reply: re.sub(
        r"\n *([]}])", r" , \1", json.dumps(json.loads(reply), indent=1)
    ),
    "more keys": lambda reply: '{"confidence": 0.5, "steps": [1], ' + reply[1:],
    "inside another": lambda reply: f'{{"answer": {reply}}}',
    "in a list": lambda reply: f"[{reply}]",
    "after one that does not fit": lambda reply: f'{{"rating": 99, "verdict": 7}} {reply}',
    "before one that does not fit": lambda reply: f'{reply} {{"rating": 99, "verdict": 7}}',
    "after a broken one": lambda reply: f'{{"reason": "{reply}',
}


@pytest.mark.parametrize("dress", [pytest.param(one, id=name) for name, one in DRESSES.items()])
@pytest.mark.parametrize(("reading", "reply", "says"), KINDS)
def test_what_fits_is_read_in_any_dress(
    reading: Reading[Any], reply: dict[str, Any], says: Any, dress: Callable[[str], str]
) -> None:
    assert reading.read(dress(json.dumps(reply))) == says


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "the reply is empty"),
        (" \n\t", "the reply is empty"),
        ("\ufeff", "the reply is empty"),
        ("<think>never done", "the reply ends in its thought"),
        ("<think>done</think>", "the reply ends in its thought"),
        (REFUSAL, f'in "{REFUSAL}"'),
        ("a\x00b\x1b[31m\u202e\nc", 'in "a b [31m c"'),
        ("no " * 1_000, "found no"),
        ("null", "found no"),
        ("[]", "found no"),
        ("{}", "found no"),
        ('"{}"', "found no"),
        ("[" * 10_000, "found no"),
        ('{"statements": NaN, "verdicts": NaN, "verdict": NaN, "TP": NaN}', "found no"),
        ("{'statements': [], 'verdicts': [], 'verdict': 1, 'question': ''}", "found no"),
    ],
)
@pytest.mark.parametrize(("reading", "fitting", "says"), KINDS)
def test_what_is_no_such_reply_is_told(
    reading: Reading[Any], fitting: Any, says: Any, reply: str, problem: str
) -> None:
    message = unfit(reading, reply)
    assert problem in message


def unfit(reading: Reading[Any], reply: str) -> str:
    """Why a reply does not fit, in words that a message can show."""
    with pytest.raises(Unfit) as raised:
        reading.read(reply)
    message = str(raised.value)
    assert not [one for one in message if unicodedata.category(one)[0] == "C"]
    assert len(message) < 200
    return message


@pytest.mark.parametrize(
    ("reading", "reply", "says"),
    [
        # Texts: objects with a statement are fine, blank ones are none.
        (statements(""), '{"statements": []}', ()),
        (statements(""), '{"statements": [" a ", "", " \\n", {"statement": "b"}]}', ("a", "b")),
        (sentences(""), '{"sentences": ["a\nb", {"sentence": "c"}]}', ("a\nb", "c")),
        # Of several, the last that fits.
        (statements(""), '{"statements": ["a"]} {"statements": ["b"]}', ("b",)),
        (statements(""), '{"statements": ["a"]} {"statements": "b"}', ("a",)),
        (statements(""), '{"statements": ["a"], "statements": ["b"]}', ("b",)),
        (
            verdicts(1),
            '{"verdicts": [{"verdict": 1}]} {"verdicts": [{"verdict": 0}, {"verdict": 0}]}',
            (Judged(True),),
        ),
        (verdicts(0), '{"verdicts": []}', ()),
        # Verdicts in all the ways to say them; a reason is welcome.
        *(
            (verdict(), json.dumps({"verdict": said}), Judged(said in (1, "1", "Yes", " TRUE")))
            for said in (0, 1, False, True, 0.0, 1.0, "0", "1", "No", "Yes", "false", " TRUE")
        ),
        (verdict(), '{"verdict": 1, "reason": null}', Judged(True)),
        (verdict(), '{"verdict": 1, "reason": ["a"]}', Judged(True)),
        (verdict(), '{"verdict": 1, "reason": " a\nb "}', Judged(True, "a\nb")),
        (verdict(), '{"verdicts": [{"verdict": 1, "reason": "a"}]}', Judged(True, "a")),
        # Contexts from 1 to as many as there are; nothing else is one, and no reason to refuse.
        *(
            (
                verdicts(1, contexts=3),
                json.dumps({"verdicts": [{"verdict": 1, "context": context}]}),
                (Judged(True, "", number),),
            )
            for context, number in (
                *((1, 1), (3, 3), (2.0, 2), ("2", 2), (0, None), (4, None), (-1, None)),
                *((2.5, None), (True, None), ("two", None), ([1], None), (None, None)),
                *(("9" * 5_000, None), (1e300, None)),
            )
        ),
        (verdicts(1, contexts=3), '{"verdicts": [{"verdict": 0}]}', (Judged(False),)),
        (verdicts(1), '{"verdicts": [{"verdict": 0, "context": 1}]}', (Judged(False),)),
        # Statements of an answer: all of them; of a reference: some.
        (
            correctness(["a", "b"], ["c", "d"]),
            '{"TP": [{"statement": "a", "reason": "x"}], "FP": ["b"], "FN": ["c", "d"]}',
            Correctness(("a",), ("b",), ("c", "d")),
        ),
        (correctness(["a"], []), '{"TP": [], "FP": ["a"], "FN": []}', Correctness((), ("a",), ())),
        (
            correctness(["a"], ["b"]),
            '{"TP": ["a"], "FP": [""], "FN": []}',
            Correctness(("a",), (), ()),
        ),
        (question(), '{"question": " Why? ", "noncommittal": "yes"}', Question("Why?", True)),
        # Ratings: JSON, else words.
        (rating(ONE_TO_FIVE), '{"score": 4}', Rating(4)),
        (rating(ONE_TO_FIVE), '{"rating": "4.0"}', Rating(4)),
        (rating(ONE_TO_FIVE), '{"rating": "good", "score": 4}', Rating(4)),
        (rating(ONE_TO_FIVE), '{"score": 3, "rating": 4}', Rating(4)),
        (rating(ONE_TO_FIVE), '{"rating": 3} {"rating": 4}', Rating(4)),
        (rating(ONE_TO_FIVE), '{"rating": 4, "reason": "r"} Rating: 3', Rating(4, "r")),
        (rating(ONE_TO_FIVE), "4", Rating(4)),
        (rating(ONE_TO_FIVE), "```json\n4\n```", Rating(4)),
        (rating(ONE_TO_FIVE), "**Rating**: 4/5", Rating(4)),
        (rating(ONE_TO_FIVE), '{"reason": "cut 3", "rating": 4,', Rating(4)),
        (plain_rating((0, 2, 4)), "I give it 2 out of 4.", Rating(2)),
        (plain_rating((0, 2, 4)), '{"rating": 2}', Rating(2)),
        # Words: alone, as a string, as a verdict.
        (word(WORDS), "Present.", Word("present")),
        (word(WORDS), '"absent"', Word("absent")),
        (word(WORDS), 'Well:\n```\n"absent"\n```', Word("absent")),
        (word(WORDS), '{"verdict": "**Not sure**"}', Word("not sure")),
        (word(WORDS), '{"verdict": "absent"} {"verdict": "present"}', Word("present")),
        (word(("true", "false")), '{"verdict": true, "reason": "a"}', Word("true", "a")),
        (word(("true", "false")), "False", Word("false")),
        (plain_word(WORDS), "<think>absent</think>**present**", Word("present")),
        (plain_word(WORDS), '{"verdict": "present"}', Word("present")),
        # Numbers from 0 to 1.
        (evaluation_score(), '{"score": 1, "summary": "a"}', Evaluation(1.0, "a")),
        (evaluation_score(), '{"rating": "0.5", "reason": "a"}', Evaluation(0.5, "a")),
        (evaluation_score(), '{"score": 1, "evaluation_score": 0.5}', Evaluation(0.5)),
        (evaluation_score(), "0.5", Evaluation(0.5)),
        (evaluation_score(), "Evaluation_score: 0.5", Evaluation(0.5)),
    ],
)
def test_what_a_reply_says(reading: Reading[Any], reply: str, says: Any) -> None:
    assert reading.read(reply) == says


@pytest.mark.parametrize(
    ("reading", "reply", "problem"),
    [
        (statements(""), '["a"]', "found no JSON object with the key statements"),
        (statements(""), '{"statements": "a"}', 'statements is "a", and must be a list'),
        (statements(""), '{"statements": null}', "statements is null, and must be a list"),
        (statements(""), '{"statements": ["a", 1]}', "number 2 is 1, and must be a string"),
        (statements(""), '{"statements": [{"claim": "a"}]}', "number 1 is an object"),
        (statements(""), '{"statements": ["a\x1b", ["b"]]}', "number 2 is a list"),
        (sentences(""), '{"statements": ["a"]}', "the key sentences"),
        (verdicts(3), '{"verdicts": [{"verdict": 1}]}', "expected 3 verdicts, found 1"),
        (verdicts(0), '{"verdicts": [{"verdict": 1}]}', "expected 0 verdicts, found 1"),
        (verdicts(1), '{"verdicts": {"verdict": 1}}', "verdicts is an object"),
        (verdicts(2), '{"verdicts": [{"verdict": 1}, 1]}', "verdict 2 is no object"),
        (verdicts(1), '{"verdicts": [{"reason": "a"}]}', "verdict 1 has no key verdict"),
        (verdicts(1), '{"verdicts": [{"verdict": 2}]}', "verdict is 2, and must be 0 or 1"),
        # Of what does not fit, the outermost and last is told.
        (
            verdicts(1),
            '{"verdicts": [{"verdict": 2}]} {"verdicts": [], "inner": {"verdicts": 1}}',
            "expected 1 verdict, found 0",
        ),
        *(
            (verdict(), json.dumps({"verdict": said}), "must be 0 or 1")
            for said in (2, -1, 0.5, "maybe", "", "10", None, [], {}, [1], "y\x00s", "1" * 5_000)
        ),
        (verdict(), '{"verdict": "\\u0000\\u001b' + "x" * 5_000 + '"}', 'is "'),
        (
            correctness(["a", "b"], []),
            '{"TP": ["a"], "FP": [], "FN": []}',
            "TP and FP together: expected 2, found 1",
        ),
        (
            correctness(["a"], []),
            '{"TP": ["a"], "FP": ["a"], "FN": []}',
            "together: expected 1, found 2",
        ),
        (
            correctness(["a"], ["b"]),
            '{"TP": ["a"], "FP": [], "FN": ["b", "c"]}',
            "FN: expected at most 1, found 2",
        ),
        (correctness(["a"], ["b"]), '{"TP": ["a"], "FN": []}', "the key FP is missing"),
        (correctness(["a"], ["b"]), '{"TP": 1, "FP": 0, "FN": 0}', "TP is 1, and must be a list"),
        (question(), '{"question": " ", "noncommittal": 0}', "the question is empty"),
        (question(), '{"question": 1, "noncommittal": 0}', "or no string"),
        (question(), '{"question": "Why?"}', "has no key noncommittal"),
        (question(), '{"question": "Why?", "noncommittal": 2}', "noncommittal is 2"),
        # A rating that does not fit is none, whatever other numbers there are.
        (
            rating((0, 2, 4)),
            '{"rating": 3, "reason": "4 facts"}',
            "rating is 3, and must be one of",
        ),
        (rating(ONE_TO_FIVE), '{"rating": null} 4', "rating is null, and must be one of 1, 2, 3"),
        (rating(ONE_TO_FIVE), '{"rating": true}', "rating is true"),
        (rating(ONE_TO_FIVE), '{"rating": {"value": 4}}', "rating is an object"),
        (rating(ONE_TO_FIVE), '{"rating": "4/5"}', 'rating is "4/5"'),
        (rating(ONE_TO_FIVE), "3 or 4", 'found no rating, one of 1, 2, 3, 4, 5, in "3 or 4"'),
        (rating(range(30)), "none", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …"),
        (word(WORDS), "It is present.", 'found no word alone, one of "present", "absent"'),
        (word(WORDS), '{"verdict": "is present"}', 'verdict is "is present", and must be one of'),
        (word(WORDS), '{"verdict": true}', "verdict is true"),
        (word(WORDS), '{"word": "present"}', "found no word alone"),
        (word(WORDS), '["present", "present"]', "found no word alone"),
        (evaluation_score(), '{"evaluation_score": 7}', "7, and must be a number from 0 to 1"),
        (evaluation_score(), '{"evaluation_score": "80%"}', 'evaluation_score is "80%"'),
        (evaluation_score(), "Score: 7", "found no evaluation_score from 0 to 1"),
    ],
)
def test_why_a_reply_does_not_fit(reading: Reading[Any], reply: str, problem: str) -> None:
    assert problem in unfit(reading, reply)


def test_messages_quote_little() -> None:
    message = unfit(verdict(), json.dumps({"verdict": "x" * 5_000}))
    assert message == f'the reply: verdict is "{"x" * 60}…", and must be 0 or 1'
    assert unfit(statements(""), "word " * 1_000).count("word") == 12
    assert "9" * 61 not in unfit(verdict(), '{"verdict": ' + "9" * 300 + "}")


@pytest.mark.parametrize(
    ("reading", "form"),
    [
        (statements(""), {"statements": ["a", ""]}),
        (sentences(""), {"sentences": []}),
        (verdicts(1), {"verdicts": [{"reason": "", "verdict": 0}]}),
        (verdicts(1, contexts=1), {"verdicts": [{"reason": "", "verdict": 0, "context": None}]}),
        (verdict(), {"reason": "", "verdict": 1}),
        (correctness([], []), {"TP": ["a"], "FP": [], "FN": []}),
        (question(), {"question": "", "noncommittal": 1}),
        (rating((0, 2)), {"reason": "", "rating": 2}),
        (word(WORDS), {"reason": "", "verdict": "not sure"}),
        (evaluation_score(), {"evaluation_summary": "", "evaluation_score": 0.5}),
    ],
)
def test_schemas_ask_for_the_form(reading: Reading[Any], form: dict[str, Any]) -> None:
    assert reading.schema is not None
    Draft202012Validator.check_schema(reading.schema)
    valid = Draft202012Validator(reading.schema)
    valid.validate(form)
    assert list(reading.schema["properties"]) == list(form)
    assert not valid.is_valid({**form, "more": 1})
    assert not any(valid.is_valid({k: form[k] for k in form if k != key}) for key in form)
    assert reading.name.isidentifier()


def test_schemas_leave_out_what_does_not_fit() -> None:
    for reading, reply in [
        (verdict(), {"reason": "", "verdict": 2}),
        (rating((0, 2)), {"reason": "", "rating": 1}),
        (word(WORDS), {"reason": "", "verdict": "no"}),
    ]:
        assert not Draft202012Validator(reading.schema).is_valid(reply)


@pytest.mark.parametrize(("reading", "reply", "says"), KINDS)
def test_schemas_are_strict_at_every_level(
    reading: Reading[Any], reply: dict[str, Any], says: Any
) -> None:
    # What OpenAI's strict mode demands: https://platform.openai.com/docs/guides/structured-outputs
    open_forms = [reading.schema]
    while open_forms:
        form = open_forms.pop()
        assert form is not None
        assert set(form) <= {"type", "properties", "required", "additionalProperties"} | {
            "items",
            "enum",
        }
        if form["type"] == "object":
            assert form["additionalProperties"] is False
            assert form["required"] == list(form["properties"])
            open_forms += form["properties"].values()
        if form["type"] == "array":
            open_forms.append(form["items"])
    Draft202012Validator(reading.schema or False).validate(reply)


def test_schemas_are_made_anew() -> None:
    verdict().schema["properties"]["verdict"].pop("enum")  # type: ignore[index]
    assert verdict().schema["properties"]["verdict"]["enum"] == [0, 1]  # type: ignore[index]


def test_a_judge_who_is_told_no_form_gets_no_schema() -> None:
    assert plain_rating(ONE_TO_FIVE).schema is None
    assert plain_word(WORDS).schema is None


@pytest.mark.parametrize(
    ("reading", "says"),
    [
        (statements("One is. Two is!\nThree?"), ("One is.", "Two is!", "Three?")),
        (sentences("一です。二です。"), ("一です。", "二です。")),
        (sentences(" \n"), ()),
        (correctness(["a", "b", "c"], ["d", "e"]), Correctness(("a", "b"), ("c",), ("d",))),
        (correctness([], []), Correctness((), (), ())),
        (plain_rating((0, 2, 4)), Rating(4)),
        (plain_word(WORDS), Word("not sure")),
    ],
)
def test_imagined_replies_fit(reading: Reading[Any], says: Any) -> None:
    assert reading.read(reading.example_reply) == says


@pytest.mark.parametrize(
    ("reading", "reasons"),
    [(verdict(), 1), (verdicts(3), 3), (verdicts(2, contexts=5), 2), (rating((0, 1)), 1)],
)
def test_imagined_reasons_are_of_ordinary_length(reading: Reading[Any], reasons: int) -> None:
    said = reading.read(reading.example_reply)
    all_of_it = said if isinstance(said[0], tuple) else (said,)
    assert [10 <= len(one.reason.split()) <= 20 for one in all_of_it] == [True] * reasons


@pytest.mark.parametrize("read", [word, plain_word])
def test_every_way_to_say_a_word(read: Any) -> None:
    for one, other in (("true", "false"), ("false", "true"), ("good", "bad")):
        reading = read((one, other))
        for kind, reply in saying(one, other).items():
            assert reading.read(reply).word == one, kind
        for unsaid in not_saying(one, other).values():
            if isinstance(unsaid, str):
                unfit(reading, unsaid)


@pytest.mark.parametrize("read", [rating, plain_rating])
@pytest.mark.parametrize("scale", [range(11), (0, 2, 4), ONE_TO_FIVE])
def test_every_way_to_give_a_rating(read: Any, scale: Sequence[int]) -> None:
    reading, top = read(scale), scale[-1]
    for number in scale:
        for kind, reply in ratings(number, top).items():
            assert reading.read(reply).rating == number, kind
    for unsaid in no_rating(scale[0], top, top + 1).values():
        if isinstance(unsaid, str):
            unfit(reading, unsaid)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
FILLED = TEXTS.map(str.strip).filter(bool)
PROSE = st.text(st.characters(exclude_characters="[]{}<>", exclude_categories=["Cs"]))


@given(st.lists(FILLED), PROSE, PROSE)
def test_any_statements_in_prose_are_read_back(texts: list[str], before: str, behind: str) -> None:
    reply = f"{before}{json.dumps({'statements': texts})}{behind}"
    assert statements("").read(reply) == tuple(texts)


@given(st.lists(st.tuples(st.booleans(), TEXTS)), PROSE, PROSE)
def test_any_verdicts_in_prose_are_read_back(
    given: list[tuple[bool, str]], before: str, behind: str
) -> None:
    items = [{"reason": reason, "verdict": int(said)} for said, reason in given]
    said = verdicts(len(items)).read(f"{before}{json.dumps({'verdicts': items})}{behind}")
    assert said == tuple(Judged(said, reason.strip()) for said, reason in given)


@given(st.sampled_from(ONE_TO_FIVE), TEXTS, PROSE, PROSE)
def test_any_rating_in_prose_is_read_back(
    number: int, reason: str, before: str, behind: str
) -> None:
    reply = f"{before}{json.dumps({'reason': reason, 'rating': number})}{behind}"
    assert rating(ONE_TO_FIVE).read(reply) == Rating(number, reason.strip())


GARBAGE = st.lists(
    st.sampled_from(
        [
            *("{", "}", "[", "]", '"', ":", ",", " ", "\n", "\\", "\\u0000", "\\ud800", "\x00"),
            *("0", "1", "2", "1e999", "NaN", "true", "null", "```", "~~~\n", "<think>", "</think>"),
            *('"verdicts":', '"verdict":', '"statements":', '"TP":', '"rating":', "Rating: "),
            *(
                '"question":',
                '"noncommittal":',
                '"evaluation_score":',
                '"FP":[],"FN":[]',
                "present",
            ),
        ]
    ),
    max_size=40,
).map("".join)


@given(GARBAGE | st.text())
def test_any_reply_fits_or_is_told_why_not(reply: str) -> None:
    for reading, _, _ in READINGS.values():
        try:
            reading.read(reply)
        except Unfit:
            unfit(reading, reply)


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"verdict":',
        *(
            pytest.param(piece, marks=pytest.mark.slow)
            for piece in ("[", '"', "```\n", "<think>", "1 2 ", "rate ")
        ),
    ],
)
@pytest.mark.parametrize(("reading", "reply", "says"), KINDS)
def test_hostile_replies_do_not_fit(
    reading: Reading[Any], reply: Any, says: Any, piece: str
) -> None:
    assert unfit(reading, "x" + piece * 20_000)
