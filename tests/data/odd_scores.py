"""Files of labels and scores as odd as formats allow, some of them faulty."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from valor_cli.data.shapes.scores.score_file import ScoreReading, Side

PLAIN = ("cat", "dog", "é", "Ω漢", "x y", "{a}", "},{", "1", "]}")
QUOTED = (*PLAIN, "a,b", '"q', 'c"d"e', "tab\tx")


class OddFile(NamedTuple):
    """A file, and how to read it."""

    name: str
    content: bytes
    side: Side
    reading: ScoreReading


def odd_csv(seed: int) -> OddFile:
    """A CSV file: of any form, with quotes and line ends of any kind."""
    dice = random.Random(seed)
    form = dice.choice(["ground_truth", "wide", "pairs", "long"])
    side: Side = (
        "ground_truth" if form == "ground_truth" else dice.choice(["predictions", "samples"])
    )
    quoting = dice.choice(["none", "some", "with line ends"])
    delimiter = dice.choice([",", ";", "\t"])
    names = PLAIN if quoting == "none" else QUOTED
    head, rows = _table(dice, form, side, names)
    if dice.random() < 0.2:
        _spoil(dice, rows)
    end = dice.choice(["\n", "\n", "\r\n"])
    lines = [delimiter.join(head) + end]
    for row in rows:
        cells = [_cell(dice, one, quoting, delimiter) for one in row]
        blank = end * dice.choice([1, 3]) if dice.random() < 0.1 else ""
        lines.append(delimiter.join(cells) + end + blank)
    metadata = ["site"] if "site" in head and side != "predictions" else []
    return OddFile("a.csv", _bytes(dice, lines), side, _reading(dice, metadata))


def odd_jsonl(seed: int) -> OddFile:
    """A JSONL file: of any form, with spaces and line ends of any kind."""
    dice = random.Random(seed)
    form = dice.choice(["ground_truth", "object", "list", "single", "mixed", "keys", "wide"])
    side: Side = (
        "ground_truth" if form == "ground_truth" else dice.choice(["predictions", "samples"])
    )
    style: dict[str, Any] = dice.choice([{}, {"separators": (",", ":")}, {"ensure_ascii": False}])
    end = dice.choice(["\n", "\n", "\r\n"])
    records = []
    for number in range(dice.choice([1, 2, 3, 5, 9])):
        record: dict[str, Any] = {"id": dice.choice([f"s{number}", f"é{number}", number])}
        if side != "predictions":
            record["label"] = dice.choice(QUOTED)
        if dice.random() < 0.5:
            record["site"] = dice.choice(["a", None, 3])
        records += _said(dice, form, record, side)
    lines = []
    for one in records:
        text = json.dumps(one, **style)
        if dice.random() < 0.05:
            text = dice.choice([f"  {text} \t", text[:-1], text.replace('"id"', '"ids"')])
        lines.append(text + end + (dice.choice([end, " " + end]) if dice.random() < 0.1 else ""))
    metadata = ["site"] if side != "predictions" and dice.random() < 0.4 else []
    return OddFile("a.jsonl", _bytes(dice, lines), side, _reading(dice, metadata))


def _table(
    dice: random.Random, form: str, side: Side, names: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    labelled = side != "predictions"
    head = ["id", *(["label"] if labelled else [])]
    head += {
        "wide": ["cat", "dog"],
        "pairs": ["pred0", "score0", "pred1", "score1"],
        "long": ["prediction", "score"],
    }.get(form, [])
    rows = []
    for number in range(dice.choice([1, 2, 3, 5, 9])):
        first = [f"{dice.choice(['s', 'é', ''])}{number}"]
        truth = dice.choice(["cat", "dog"] if form == "wide" else names)
        if form == "long":
            for place, name in enumerate(dice.sample(names, dice.choice([1, 2, 3]))):
                said = truth if place == 0 or dice.random() < 0.5 else ""
                rows.append([*first, *([said] if labelled else []), name, _number(dice)])
            continue
        row = [*first, *([truth] if labelled else [])]
        if form == "wide":
            row += [_number(dice), _number(dice)]
        if form == "pairs":
            one, other = dice.sample(names, 2)
            row += [one, _number(dice), *dice.choice([[other, _number(dice)], ["", ""]])]
        rows.append(row)
    if form == "long" and dice.random() < 0.2:
        dice.shuffle(rows)
    if form != "wide" and dice.random() < 0.3:
        head.append("site")
        rows = [[*row, f"of {row[0]}"] for row in rows]
    return head, rows


def _spoil(dice: random.Random, rows: list[list[str]]) -> None:
    """Rows with fields too many, ids that stand twice, nothing for a label, no number."""
    for _ in range(dice.choice([1, 2])):
        row = dice.choice(rows)
        dice.choice(
            [
                lambda row=row: row.append("more"),
                lambda row=row: row.__setitem__(0, dice.choice(rows)[0]),
                lambda row=row: row.__setitem__(1, ""),
                lambda row=row: row.__setitem__(-1, "nan"),
            ]
        )()


def _said(
    dice: random.Random, form: str, record: dict[str, Any], side: Side
) -> list[dict[str, Any]]:
    """The lines of a sample."""
    pairs = {name: float(_number(dice)) for name in dice.sample(QUOTED, dice.choice([1, 2, 3]))}
    if form == "ground_truth":
        return [record]
    if form == "wide":
        return [{**record, "cat": float(_number(dice)), "dog": float(_number(dice))}]
    if form == "mixed":
        form = dice.choice(["object", "list", "single"])
    if form == "single":
        return [record | {"prediction": name, "score": score} for name, score in pairs.items()]
    if form == "keys":
        label = {"label": {"k": record["label"]}} if side != "predictions" else {}
        return [record | label | {"predictions": {"k": pairs}}]
    if form == "object":
        return [record | {"predictions": pairs}]
    items = [{"label": name, "score": score} for name, score in pairs.items()]
    return [record | {"predictions": items}]


def _number(dice: random.Random) -> str:
    return dice.choice(["0.5", "0.25", "1", "0", "1e-3", "0.1234567891234567"])


def _cell(dice: random.Random, cell: str, quoting: str, delimiter: str) -> str:
    if quoting == "with line ends" and cell and dice.random() < 0.05:
        cell += "\n"
    if quoting == "none" or not ({delimiter, '"', "\n"} & set(cell) or dice.random() < 0.5):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _bytes(dice: random.Random, lines: list[str]) -> bytes:
    text = "".join(lines)
    content = (text.rstrip("\r\n") if dice.random() < 0.3 else text).encode()
    mark = b"\xef\xbb\xbf" if dice.random() < 0.2 else b""
    if dice.random() < 0.03:
        at = dice.randrange(len(content))
        content = content[:at] + b"\xff" + content[at:]
    return mark + content


def _reading(dice: random.Random, metadata: Sequence[str]) -> ScoreReading:
    return ScoreReading(metadata=metadata, invalid="skip" if dice.random() < 0.4 else "error")
