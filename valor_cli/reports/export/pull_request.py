"""Show a run in one comment of a pull request on GitHub, which later runs update.

What it works on comes from the environment of a GitHub Actions step: GITHUB_TOKEN,
GITHUB_REPOSITORY, GITHUB_EVENT_PATH, GITHUB_API_URL. The comment is found by a hidden marker in its
first line. A token that may not write, as that of a pull request from a fork, is no error.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from msgspec import Struct

from valor_cli.errors import DataError, Problem
from valor_cli.masking import keep_secret
from valor_cli.reports.digests.formatting import clean
from valor_cli.results import RunResult

LIMIT = 65_536
"""Characters of a comment at most; bytes are counted, of which there are never fewer."""

WAITS = (1.0, 4.0, 15.0)
"""Seconds before another try, after what may pass: a lost connection, a server at its limit."""

LONGEST_WAIT = 60.0
"""Seconds waited where GitHub says how long; longer ones are not waited for."""

_PAGES, _PER_PAGE = 50, 100
_SECONDS = 30
_PLACE = "--to pull-request"
_CUT = "*The report is longer than a comment may be: the page of the run has all of it.*"


class Thread(Struct, frozen=True):
    """A pull request, as the environment names it."""

    api: str
    token: str
    repository: str
    number: int
    commit: str
    page: str


class _RequestError(Exception):
    """An answer that is not success; `again` is in how many seconds it may be, None: never."""

    def __init__(self, status: int, said: str, again: float | None = None) -> None:
        super().__init__(said)
        self.status = status
        self.said = said
        self.again = again


def comment_on_pull_request(result: RunResult, path: str, name: str | None = None) -> str:
    """Write the run's comment, or update the one of an earlier run, and say which.

    Args:
        result: The run.
        path: Of its results, or their folder.
        name: Tells it from other comments of valor; None: the name of the folder.

    Raises:
        DataError: GitHub cannot be reached or refuses the token; or there is none.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
    name = plain_name(name or os.path.basename(os.path.abspath(folder)))
    thread = _thread(os.environ)
    if thread is None:
        return _notice("no comment: this is not the run of a pull request")
    return _written(thread, name, comment_of(result, name, thread))


def plain_name(name: str) -> str:
    """A name that may stand in a hidden marker."""
    plain = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._ -]+", "-", name)).strip("- ")
    return plain[:80] or "valor"


def marker(name: str) -> str:
    """The first line of a comment, which GitHub does not show."""
    return f"<!-- valor:{name} -->"


def comment_of(result: RunResult, name: str, thread: Thread) -> str:
    """The text of the comment, as long as GitHub allows."""
    from valor_cli.reports.writer import content_of

    parts = [f"valor · {name}"]
    parts += [f"commit {thread.commit[:7]}"] if thread.commit else []
    parts += [f"[page of the run]({thread.page})"] if thread.page else []
    head, foot = marker(name) + "\n", f"\n\n<sub>{' · '.join(parts)}</sub>\n"
    room = LIMIT - len(f"{head}{foot}".encode())
    return head + shortened(content_of(result, "markdown").decode().rstrip(), room) + foot


def shortened(text: str, room: int) -> str:
    """As many lines as there is room for, in bytes, with what they opened closed."""
    if len(text.encode()) <= room:
        return text
    kept: list[str] = []
    size, depth, fenced = 0, 0, False
    best = 0
    for line in text.split("\n"):
        size += len(line.encode()) + 1
        kept.append(line)
        fenced ^= line.startswith("```")
        depth += line.count("<details") - line.count("</details>")
        if size + len(_closing(depth, fenced=fenced).encode()) > room:
            break
        best = len(kept)
    kept = kept[:best]
    depth = sum(line.count("<details") - line.count("</details>") for line in kept)
    fenced = sum(line.startswith("```") for line in kept) % 2 == 1
    return "\n".join(kept) + _closing(depth, fenced=fenced)


def _closing(depth: int, *, fenced: bool) -> str:
    return ("\n```" if fenced else "") + "\n\n</details>" * max(depth, 0) + f"\n\n{_CUT}"


def _thread(environment: Mapping[str, str]) -> Thread | None:
    """The pull request that this is a run of; None: it is of none.

    Raises:
        DataError: The environment lacks what it takes.
    """
    event = _event(environment.get("GITHUB_EVENT_PATH", ""))
    request = event.get("pull_request")
    request = request if isinstance(request, dict) else {}
    number = request.get("number")
    if not isinstance(number, int):
        ref = re.fullmatch(r"refs/pull/(\d+)/\w+", environment.get("GITHUB_REF", ""))
        if ref is None:
            return None
        number = int(ref[1])
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise DataError(Problem("GITHUB_REPOSITORY", "expected OWNER/NAME"), hint=_hint())
    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN") or ""
    if not token:
        raise DataError(Problem("GITHUB_TOKEN", "no token is given"), hint=_hint())
    keep_secret("GITHUB_TOKEN", token, "", "")
    server = environment.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")
    run = environment.get("GITHUB_RUN_ID", "")
    head = request.get("head")
    commit = str(head.get("sha", "")) if isinstance(head, dict) else ""
    return Thread(
        api=environment.get("GITHUB_API_URL", "https://api.github.com").rstrip("/"),
        token=token,
        repository=repository,
        number=number,
        commit=commit if re.fullmatch(r"[0-9a-f]{40,64}", commit) else "",
        page=f"{server}/{repository}/actions/runs/{run}" if run.isdecimal() else "",
    )


def _event(path: str) -> dict[str, Any]:
    if not path:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            event = json.load(file)
    except (OSError, ValueError) as error:
        problem = Problem(path, f"not an event of GitHub: {error}")
        raise DataError(problem, hint=_hint()) from None
    return event if isinstance(event, dict) else {}


def _hint() -> str:
    return "run it in a step of GitHub Actions, with env: {GITHUB_TOKEN: ${{ github.token }}}"


def _written(thread: Thread, name: str, body: str) -> str:
    """Write the comment; what may pass is tried again from the start, so that none is doubled.

    Raises:
        DataError: It cannot be written.
    """
    for wait in (*WAITS, None):
        try:
            return _once(thread, name, body)
        except _RequestError as failed:
            if failed.status in (403, 404) and failed.again is None:
                reason = "the token may not write comments here, as in a run for a fork"
                return _notice(f"no comment: {reason} ({failed.status})")
            if failed.again is None or wait is None or failed.again > LONGEST_WAIT:
                raise DataError(Problem(_PLACE, failed.said), hint=_next(failed.status)) from None
            time.sleep(max(wait, failed.again) if wait else 0.0)
    raise AssertionError("the last try returns or raises")


def _next(status: int) -> str:
    if status == 401:
        return "GITHUB_TOKEN is refused: give the job `permissions: {pull-requests: write}`"
    return "run the job again; the report is in its folder"


def _once(thread: Thread, name: str, body: str) -> str:
    comments = f"/repos/{thread.repository}/issues/{thread.number}/comments"
    for number in _own(thread, comments, marker(name)):
        try:
            path = f"/repos/{thread.repository}/issues/comments/{number}"
            found = _asked(thread, "PATCH", path, {"body": body})
        except _RequestError as failed:
            if failed.status not in (403, 404) or failed.again is not None:
                raise
            continue  # somebody else's, with the marker in it; or deleted since
        return f"updated {_address(found)}"
    return f"wrote {_address(_asked(thread, 'POST', comments, {'body': body}))}"


def _address(comment: Any) -> str:
    url = comment.get("html_url") if isinstance(comment, dict) else None
    return clean(url, 200) if isinstance(url, str) else "the comment"


def _own(thread: Thread, comments: str, first_line: str) -> Iterator[int]:
    """Ids of the comments that begin with the marker, those of programs first."""
    found: list[tuple[bool, int]] = []
    for page in range(1, _PAGES + 1):
        listed = _asked(thread, "GET", f"{comments}?per_page={_PER_PAGE}&page={page}")
        if not isinstance(listed, list):
            raise _RequestError(0, "GitHub did not answer with a list of comments", again=0.0)
        for one in listed:
            if isinstance(one, dict) and str(one.get("body", "")).startswith(first_line):
                user = one.get("user")
                human = not (isinstance(user, dict) and user.get("type") == "Bot")
                if isinstance(one.get("id"), int):
                    found.append((human, one["id"]))
        if len(listed) < _PER_PAGE:
            break
    yield from (number for _, number in sorted(found))


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: the token would go with it, to whatever host it names."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _asked(thread: Thread, method: str, path: str, content: Any = None) -> Any:
    """The answer, as JSON.

    Raises:
        _RequestError: There is none, or it is not success.
    """
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {thread.token}",
        "Content-Type": "application/json",
        "User-Agent": "valor",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    data = None if content is None else json.dumps(content).encode()
    url = thread.api + path
    if not url.startswith(("https://", "http://")):
        raise _RequestError(0, f"GITHUB_API_URL is no web address: {clean(thread.api)}")
    request = Request(url, data, headers, method=method)  # noqa: S310 - of the web, as checked
    try:
        with build_opener(_Stay).open(request, timeout=_SECONDS) as answer:
            return json.loads(answer.read())
    except HTTPError as error:
        raise _refused(error) from None
    except (URLError, HTTPException, OSError) as error:
        why = clean(str(getattr(error, "reason", "") or error or type(error).__name__), 120)
        raise _RequestError(0, f"{thread.api} cannot be reached: {why}", again=0.0) from None
    except ValueError:
        raise _RequestError(0, f"{thread.api} did not answer with JSON", again=0.0) from None


def _refused(error: HTTPError) -> _RequestError:
    """What an answer that is not success means."""
    try:
        said = str(json.loads(error.read(100_000)).get("message", ""))
    except (ValueError, OSError, HTTPException, AttributeError):
        said = ""
    told = f"GitHub answered {error.code}" + (f": {clean(said, 200)}" if said else "")
    asked = error.headers.get("Retry-After", "")
    spent = error.headers.get("X-RateLimit-Remaining") == "0" or "rate limit" in said.lower()
    limited = error.code == 429 or (error.code == 403 and (bool(asked) or spent))
    if not (limited or error.code >= 500):
        return _RequestError(error.code, told)
    return _RequestError(error.code, told, again=float(asked) if asked.isdecimal() else 0.0)


def _notice(text: str) -> str:
    """A line that GitHub shows on the page of the run."""
    watched = os.environ.get("GITHUB_ACTIONS") == "true"
    return f"::notice title=valor::{text}" if watched else text
