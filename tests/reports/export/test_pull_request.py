"""The comment of a pull request: written once, then updated, whatever the server does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.github_server import LIMIT, TOKEN, GitHub, github
from tests.oracles.nights import night
from valor_cli.errors import DataError
from valor_cli.reports.export import pull_request
from valor_cli.reports.export.pull_request import (
    comment_on_pull_request,
    marker,
    plain_name,
    shortened,
)
from valor_cli.results import RunResult

HEAD = "ab" * 20
RUN = night(1, 9, gate=0.5)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[GitHub]:
    """A server, and the environment of a step that reports to it; nobody waits."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": HEAD}}}))
    monkeypatch.setattr(pull_request, "WAITS", (0.0, 0.0, 0.0))
    monkeypatch.setattr(pull_request.time, "sleep", lambda seconds: None)
    with github() as made:
        for name, value in {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": made.url,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_RUN_ID": "42",
            "GITHUB_SERVER_URL": "https://github.test",
            "GITHUB_TOKEN": TOKEN,
        }.items():
            monkeypatch.setenv(name, value)
        yield made


def say(result: RunResult = RUN, name: str = "nightly") -> str:
    return comment_on_pull_request(result, "reports/valor", name)


def test_it_is_written_once_and_then_updated(server: GitHub) -> None:
    server.add("a review")
    assert say() == f"wrote {server.url}/comment/1001"
    assert say(night(1, 1, gate=0.5)) == f"updated {server.url}/comment/1001"
    _, one = server.comments
    first, heading, *_ = one["body"].splitlines()
    assert first == "<!-- valor:nightly -->"
    assert heading.startswith("## ✗ FAILED")
    assert one["body"].endswith(
        "<sub>valor · nightly · commit abababa · "
        "[page of the run](https://github.test/o/r/actions/runs/42)</sub>\n"
    )


def test_each_name_has_a_comment(server: GitHub) -> None:
    for name in ("a", "a b", "a", "a b"):
        say(name=name)
    assert [one["body"].splitlines()[0] for one in server.comments] == [marker("a"), marker("a b")]


def test_a_comment_of_somebody_else_is_left_alone(server: GitHub) -> None:
    """Anyone may write the marker; and a comment on the second page is found, too."""
    server.add(f"{marker('nightly')}\nnot ours", user="User", own=False)
    for _ in range(150):
        server.add("a review")
    server.add(f"quoted: {marker('nightly')}")
    assert say().startswith("wrote ")
    assert say().startswith("updated ")
    assert server.comments[0]["body"].endswith("not ours")
    assert len(server.comments) == 153


@pytest.mark.parametrize(
    "faults",
    [
        [500],
        [503, 502, 500],
        ["cut"],
        [None, "cut"],
        ["html"],
        [(429, {"Retry-After": "2"}, "slow down")],
        [(403, {"X-RateLimit-Remaining": "0"}, "API rate limit exceeded")],
        [None, (403, {}, "You have exceeded a secondary rate limit")],
        # Written, but nobody said so: it is found and not written twice.
        [None, "late"],
    ],
)
def test_what_passes_is_tried_again(server: GitHub, faults: list[Any]) -> None:
    server.faults = list(faults)
    say()
    assert len(server.comments) == 1


@pytest.mark.parametrize(
    ("faults", "told"),
    [
        ([500] * 9, "GitHub answered 500: a fault"),
        (["cut"] * 9, "cannot be reached"),
        ([422], "GitHub answered 422"),
        ([(302, {"Location": "http://127.0.0.1:1/"}, "moved")], "GitHub answered 302"),
        ([(429, {"Retry-After": "3600"}, "slow down")], "GitHub answered 429"),
    ],
)
def test_what_stays_is_an_error(server: GitHub, faults: list[Any], told: str) -> None:
    server.faults = list(faults)
    with pytest.raises(DataError, match=told):
        say()
    assert server.comments == []


def test_a_token_that_may_not_write_is_a_notice(server: GitHub) -> None:
    server.writable = False
    assert say().startswith("::notice title=valor::no comment: the token may not write")
    # One that may update none writes none either.
    server.add(f"{marker('nightly')}\n")
    assert say().startswith("::notice title=valor::no comment")


def test_a_wrong_token_is_an_error_that_does_not_show_it(
    server: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_wrong_wrong_wrong")
    with pytest.raises(DataError) as caught:
        say()
    assert "401" in str(caught.value)
    assert "pull-requests: write" in caught.value.hint
    assert "ghs_wrong" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"GITHUB_TOKEN": ""}, "no token is given"),
        ({"GITHUB_REPOSITORY": "../../x"}, "expected OWNER/NAME"),
        ({"GITHUB_EVENT_PATH": "none.json"}, "not an event of GitHub"),
        ({"GITHUB_API_URL": "file:///etc"}, "no web address"),
    ],
)
def test_an_environment_that_lacks_something(
    server: GitHub, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], told: str
) -> None:
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(DataError, match=told):
        say()
    assert server.asked == []


def test_no_pull_request_is_a_notice(server: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_EVENT_PATH")
    assert say() == "::notice title=valor::no comment: this is not the run of a pull request"
    monkeypatch.setenv("GITHUB_REF", "refs/pull/7/merge")
    assert say().startswith("wrote ")


def test_a_long_report_is_cut_where_a_line_ends(
    server: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    say()
    whole = server.comments[0]["body"]
    monkeypatch.setattr(pull_request, "LIMIT", len(whole.encode()) - 1)
    say()
    body = server.comments[0]["body"]
    assert len(body.encode()) < len(whole.encode()) < LIMIT
    assert "longer than a comment may be" in body
    assert "page of the run]" in body


@pytest.mark.parametrize("room", range(90, 330, 7))
def test_what_a_cut_report_opened_is_closed(room: int) -> None:
    text = "\n".join(
        ["# a", *["word " * 4] * 3, "<details><summary>b</summary>", *["| c |"] * 9, "```", "x = 1"]
        + ["```", "</details>", *["last line"] * 30]
    )
    cut = shortened(text, room)
    assert len(cut.encode()) <= room
    assert cut.count("<details") == cut.count("</details>")
    assert cut.count("```") % 2 == 0
    assert cut.endswith("*")
    assert shortened(text, len(text.encode())) == text


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("nightly", "nightly"),
        ("a --> b", "a - b"),
        ("<!--", "valor"),
        ("ä", "valor"),
        ("a\nb", "a-b"),
    ],
)
def test_a_name_cannot_end_the_marker(name: str, plain: str) -> None:
    assert plain_name(name) == plain
    assert "--" not in plain_name(name)
