"""A recording is the same whatever the order of replies, whole or named as partial; and strict."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

from valor_cli.errors import DataError
from valor_cli.models.requests import Purpose, Reply, Request, conversation
from valor_cli.models.scheduler.cassette import CassetteWriter, Recorded, read_cassette


def request(words: str, *purpose: str, variant: int = 0, repeat: int = 0) -> Request:
    return Request(
        conversation(("system", "PROMPT-TEXT"), ("user", words)),
        variant=variant,
        repeat=repeat,
        purpose=Purpose(*purpose),
    )


ASKED = [
    (request("a", "faithfulness", "gpt", "s1", "claims"), Reply('{"claims": ["ä"]}')),
    (request("b", "faithfulness", "gpt", "s2", "claims"), Reply("", refused=True)),
    (
        request("b", "faithfulness", "gpt", "s2", "claims", repeat=1),
        Reply("half", cut=True, tokens_in=7, tokens_out=2048, cost_usd=0.25),
    ),
    (request("c", "bias", "gpt", "s2", "opinions", variant=1), Reply("lone \ud800")),
    (request("d", "bias", "claude", "s9", "opinions"), Reply("line\nbreak\u2028")),
]


EARLIER = '{"key": "an earlier one", "reply": ""}\n'


def recorded(path: Path, asked: list[tuple[Request, Reply]]) -> bytes:
    with CassetteWriter(str(path), "judge") as writer:
        for each in asked:
            writer.record(*each)
    return path.read_bytes()


def test_what_a_line_holds(tmp_path: Path) -> None:
    content = recorded(tmp_path / "new" / "folder" / "c.jsonl", [ASKED[2]])
    assert json.loads(content) == {
        "key": ASKED[2][0].key,
        "judge": "judge",
        "metric": "faithfulness",
        "model": "gpt",
        "sample_id": "s2",
        "prompt": "claims",
        "variant": 0,
        "repeat": 1,
        "reply": "half",
        "refused": False,
        "cut": True,
        "tokens_in": 7,
        "tokens_out": 2048,
        "cost_usd": 0.25,
    }
    assert content.endswith(b"}\n")
    assert b"PROMPT-TEXT" not in content


def test_the_order_of_replies_does_not_show(tmp_path: Path) -> None:
    contents = {recorded(tmp_path / "c.jsonl", list(o)) for o in itertools.permutations(ASKED)}
    assert len(contents) == 1
    # By model, sample, metric, repeat: claude s9, gpt s1, gpt s2 bias, gpt s2 faithfulness 0 and 1.
    keys = [json.loads(line)["key"] for line in contents.pop().splitlines()]
    assert keys == [ASKED[at][0].key for at in (4, 0, 3, 1, 2)]


def test_a_request_that_several_ask_has_one_line(tmp_path: Path) -> None:
    first = request("a", "hallucination", "gpt", "s1", "claims")
    second = request("a", "bias", "gpt", "s1", "claims")
    one = recorded(tmp_path / "one.jsonl", [(first, Reply("x")), (second, Reply("x"))])
    other = recorded(tmp_path / "other.jsonl", [(second, Reply("x")), (first, Reply("x"))])
    assert one == other
    assert json.loads(one)["metric"] == "bias"


def test_written_and_read(tmp_path: Path) -> None:
    recorded(tmp_path / "c.jsonl", ASKED)
    found = {one.key: one for one in read_cassette(str(tmp_path / "c.jsonl"))}
    assert found == {
        asked.key: Recorded(asked.key, "judge", asked.purpose, asked.variant, asked.repeat, reply)
        for asked, reply in ASKED
    }


def test_each_reply_is_in_the_partial_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(EARLIER)
    with CassetteWriter(str(path), "judge") as writer:
        for count, each in enumerate(ASKED, 1):
            writer.record(*each)
            assert len(read_cassette(str(writer.partial))) == count
        assert path.read_text() == EARLIER
    assert len(read_cassette(str(path))) == len(ASKED)
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_that_dies_or_stops_leaves_the_partial_file(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(EARLIER)
    writer = CassetteWriter(str(path), "judge")
    writer.record(*ASKED[0])
    with pytest.raises(KeyboardInterrupt), writer:
        raise KeyboardInterrupt
    assert path.read_text() == EARLIER
    assert writer.partial.name == "c.jsonl.partial"
    assert len(read_cassette(str(writer.partial))) == 1
    # The next recording takes its place.
    recorded(path, ASKED[1:])
    assert len(read_cassette(str(path))) == len(ASKED) - 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "c.jsonl", tmp_path / "folder"):
        with pytest.raises(DataError) as caught:
            CassetteWriter(str(path), "judge")
        assert str(caught.value).startswith(f"{path}: the cassette cannot be written: ")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    "content", ['{"sample_id": "s1", "response": "x"}\n', "task: text_generation\n", "[" * 100_000]
)
def test_a_file_that_is_no_cassette_is_not_overwritten(tmp_path: Path, content: str) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match="is no cassette, and is not overwritten") as caught:
        CassetteWriter(str(path), "judge")
    assert "name another file with `record:`" in str(caught.value)
    assert path.read_text() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(DataError, match="the path is a device"):
        CassetteWriter(str(path), "judge")
    assert path.is_fifo()


@pytest.mark.parametrize("content", ["", "\n\n", f"\ufeff{EARLIER}", f"\r\n{EARLIER}"])
def test_an_empty_file_and_an_earlier_cassette_may_be_replaced(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(content, newline="")
    recorded(path, ASKED)
    assert len(read_cassette(str(path))) == len(ASKED)


def test_what_cannot_be_put_in_its_place_stays_partial(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    writer = CassetteWriter(str(path), "judge")
    writer.record(*ASKED[0])
    path.mkdir()
    with pytest.raises(DataError, match="the cassette cannot be written"):
        writer.close()
    assert len(read_cassette(str(writer.partial))) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c.jsonl", "c.jsonl.partial"]


def test_reading_forgives_marks_line_ends_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    lines = ['{"key": "k", "reply": "a"}', "", "  ", '{"key": "l", "reply": "b"}']
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert [(one.key, one.reply.text) for one in read_cassette(str(path))] == [
        ("k", "a"),
        ("l", "b"),
    ]


def test_every_bad_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    a = b'{"key": "k", "reply": "a"'
    bad = [
        (a, "is not JSON: Expecting ',' delimiter (column 26)"),
        (b'["k", "a"]', "must be an object: {…}"),
        (b'{"key": "k"}', "the key 'reply' is missing"),
        (b'{"reply": "a"}', "the key 'key' is missing"),
        (b'{"key": "k", "reply": null}', "reply: must be a text"),
        (a + b', "error": "too long"}', "has both a reply and an error"),
        (b'{"key": "k", "error": "a", "tries": 0}', "tries: must be a whole number, at least 1"),
        (a + b', "refusd": true}', "no key 'refusd' (did you mean 'refused'?)"),
        (a + b', "cut": 1}', "cut: must be true or false"),
        (a + b', "tokens_in": -1}', "tokens_in: must be a whole number"),
        (a + b', "tokens_in": true}', "tokens_in: must be a whole number"),
        (a + b', "tokens_in": 1.5}', "tokens_in: must be a whole number"),
        (a + b', "repeat": null}', "repeat: must be a whole number"),
        (a + b', "cost_usd": "1"}', "cost_usd: must be a number"),
        (a + b', "cost_usd": NaN}', "is not JSON: NaN is no number"),
        (a + b', "cost_usd": 1e999}', "holds a number that is too large"),
        (a + b', "variant": ' + b"1" * 5000 + b"}", "number that is too long"),
        (a + b', "reply": "b"}', "has the key 'reply' twice"),
        (b'{"key": "k", "reply": "\xff"}', "is not UTF-8: byte 24 of the line"),
        (b"[" * 100_000, "is nested too deeply"),
        *[(b"no", "is not JSON")] * 30,
    ]
    path.write_bytes(b"\n".join([b'{"key": "fine", "reply": "a"}', *(line for line, _ in bad)]))
    with pytest.raises(DataError) as caught:
        read_cassette(str(path))
    assert caught.value.total == len(bad)
    told = [str(problem) for problem in caught.value.problems]
    assert len(told) == 20
    assert f"… and {len(bad) - 20} more problems" in str(caught.value)
    for number, ((_, message), line) in enumerate(zip(bad, told, strict=False), 2):
        assert line.startswith(f"{path}:{number}: ")
        assert message in line


def test_a_request_with_two_replies_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    line = '{"key": "k", "judge": "j", "reply": "%s"}\n'
    path.write_text(line % "a" + line % "a")
    assert len(read_cassette(str(path))) == 1
    path.write_text(line % "a" + line % "b")
    with pytest.raises(DataError, match=r":2: another reply to the request of line 1"):
        read_cassette(str(path))
    path.unlink()
    with pytest.raises(DataError, match=r"c\.jsonl: cannot be read: No such file"):
        read_cassette(str(path))
