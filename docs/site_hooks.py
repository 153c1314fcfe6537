"""Pages as a code host shows them in; pages of the site out.

A code host shows the whole checkout, the site docs/ alone: what a page links to beyond that comes
along, under `source/`. Headings get the anchors that a code host gives them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
ELSEWHERE = "source"
REPORT = ROOT / "build" / "report" / "report.html"
"""A real report, which the first page leads to."""

_TOLD = "`demo/reports/classification/report.html`"

_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")
_HEADING = re.compile(r"^(#+ )(.+)$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add what pages link to outside docs/, and what that links to."""
    waiting = [f"docs/{file.src_uri}" for file in files if file.src_uri.endswith(".md")]
    seen = set(waiting)
    while waiting:
        for target in _targets(waiting.pop()):
            if target in seen or target.startswith("docs/") or not (ROOT / target).is_file():
                continue
            seen.add(target)
            content = (ROOT / target).read_bytes()
            files.append(File.generated(config, _place(target), content=content))
            if target.endswith(".md"):
                waiting.append(target)
    files.append(File.generated(config, REPORT.name, content=REPORT.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links at where their targets stand on the site, and name every heading."""
    if page.file.src_uri == "index.md":
        return _marked(markdown.replace(_TOLD, f"[{_TOLD}]({REPORT.name})"), "docs/index.md")
    return _marked(markdown, _origin(page.file.src_uri))


def _marked(markdown: str, origin: str) -> str:
    linked = _outside_code(
        markdown, lambda prose: _LINK.sub(lambda one: _moved(one, origin), prose)
    )
    taken: dict[str, int] = {}
    return _outside_code(linked, lambda prose: _HEADING.sub(lambda one: _named(taken, one), prose))


def _targets(page: str) -> Iterator[str]:
    """What a page of the checkout links to, as paths of the checkout."""
    prose = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for found in _LINK.finditer(prose):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(page), found["target"]))


def _origin(src_uri: str) -> str:
    """Where in the checkout a page of the site comes from."""
    inside, _, outside = src_uri.partition("/")
    return outside if inside == ELSEWHERE else f"docs/{src_uri}"


def _place(path: str) -> str:
    """Where on the site a file of the checkout stands; what is no page is shown as text."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{ELSEWHERE}/{path}" + ("" if path.endswith(".md") else ".txt")


def _moved(link: re.Match[str], origin: str) -> str:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link["target"]))
    here = posixpath.dirname(_place(origin))
    return posixpath.relpath(_place(target), here or ".") + (link["anchor"] or "")


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """The text, changed wherever it is not code."""
    parts, at = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [change(markdown[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, change(markdown[at:])])


def _named(taken: dict[str, int], heading: re.Match[str]) -> str:
    """The heading with its anchor: repeated ones are numbered."""
    name = re.sub(r"[^\w\- ]", "", heading[2]).strip().lower().replace(" ", "-")
    count = taken.get(name, 0)
    taken[name] = count + 1
    return f"{heading[0]} {{: #{name}{f'-{count}' if count else ''} }}"


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Let wide tables be scrolled by keyboard; a heading that says nothing is none."""
    html = html.replace("<table>", '<div class="wide" tabindex="0"><table>')
    return html.replace("</table>", "</table></div>").replace("<th></th>", "<td></td>")


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Name what the theme leaves without a name for those who hear the page."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
