"""The judge of docs/adding-a-judge.md, taken from the page, added as it says, and run."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.docs.package_copy import PackageCopy
from tests.docs.pages import blocks

PAGE = "docs/adding-a-judge.md"
JUDGE = "valor_cli/models/judge/ollama_judge.py"
TEST = "tests/models/judge/test_ollama_judge.py"
CHANGED = ("valor_cli/models/settings.py",)
SAMPLE = {
    "sample_id": "kettle",
    "user_input": "Does the kettle have a warranty?",
    "response": "Yes, of two years. It is blue.",
    "retrieved_contexts": ["All kettles have a warranty of two years."],
}
STATEMENTS = {"statements": ["The kettle has a warranty of two years.", "The kettle is blue."]}
VERDICTS = {
    "verdicts": [{"reason": "It says so.", "verdict": 1}, {"reason": "No word.", "verdict": 0}]
}


class Ollama(BaseHTTPRequestHandler):
    """Says the statements to those who ask for statements, else the verdicts; busy at first."""

    calls: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.calls.append(body["model"])
        self.send_response(429 if len(self.calls) == 1 else 200)
        self.end_headers()
        said = STATEMENTS if "statements" in body["format"]["properties"] else VERDICTS
        reply = {
            "message": {"content": json.dumps(said)},
            "prompt_eval_count": 100,
            "eval_count": 9,
        }
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """The address of one that nobody has asked yet."""
    Ollama.calls = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Ollama) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> PackageCopy:
    """A copy with all steps of the page done, and a sample beside it."""
    package = PackageCopy(tmp_path_factory.mktemp("package"))
    package.follow(PAGE, (JUDGE, TEST), CHANGED)
    (config,) = blocks(PAGE, "yaml")
    package.add("run.yaml", config.text)
    package.add("samples.jsonl", json.dumps(SAMPLE) + "\n")
    return package


@pytest.fixture(autouse=True)
def empty_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.slow
def test_the_test_of_the_page_passes(package: PackageCopy) -> None:
    assert "6 passed" in package.pytest(TEST)


@pytest.mark.slow
def test_a_run_asks_it_and_then_its_cache(package: PackageCopy, server: str) -> None:
    options = (
        "run.yaml",
        "--set",
        f"judge.api_base={server}",
        "--out",
        "report",
        "--offline",
        "-q",
    )
    package.valor("evaluate", *options)
    results = json.loads((package.folder / "report/results.json").read_text())
    (row,) = [row for row in results["metrics"] if row["metric"] == "faithfulness"]
    assert row["value"] == 0.5
    # Busy once, asked again: 3 calls, 2 of them with a reply.
    assert Ollama.calls == ["qwen3:8b"] * 3
    assert results["run"]["calls"] == 3
    package.valor("evaluate", *options)
    assert len(Ollama.calls) == 3
    package.valor("evaluate", *options, "--set", "judge.temperature=0.5")
    assert len(Ollama.calls) == 5


def test_an_estimate_costs_nothing_and_asks_nobody(package: PackageCopy, server: str) -> None:
    said = package.valor("estimate", "run.yaml", "--set", f"judge.api_base={server}")
    assert "qwen3:8b" in said
    assert "$0" in said
    assert Ollama.calls == []


def test_it_needs_a_model(package: PackageCopy) -> None:
    said = package.valor("validate", "run.yaml", "--set", "judge={backend: ollama}", code=2)
    assert "backend: ollama needs `model:`" in said


def test_a_server_elsewhere_is_remote(package: PackageCopy) -> None:
    options = ("--set", "judge.api_base=http://192.0.2.1:11434", "--offline")
    said = package.valor("evaluate", "run.yaml", *options, code=2)
    assert "is not on this machine" in said
