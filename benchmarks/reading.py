"""What it costs to read classification files, in whole processes: reading.py DENSE.csv TOPK.jsonl

Each reader gives the same columns: ids as bytes, codes of labels and scores as numbers. They take
turns, a file of few rows shows what the import costs. `--worker READER FILE` is one of the
processes; the environment needs the readers that are compared (polars, pyarrow, duckdb).
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FEW = 200
"""Lines of the small file."""

READERS = ("valor", "valor, no kernel", "csv and json modules", "pyarrow", "polars", "duckdb")


def main() -> None:
    """Print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--worker", choices=READERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--valor", default=sys.executable, help="Python that has valor-cli")
    parser.add_argument("--peers", default=sys.executable, help="Python that has the others")
    options = parser.parse_args()
    if options.worker:
        print(work(options.worker, options.files[0]))
        return
    from rotation import print_table, rotate

    for path in options.files:
        with tempfile.TemporaryDirectory() as folder:
            few = Path(folder, "few" + Path(path).suffix)
            with open(path) as file:
                few.write_text("".join(itertools.islice(file, FEW)))
            for one in (path, str(few)):
                print(one)
                commands = {
                    reader: [
                        *(("env", "VALOR_KERNEL=numpy") if "no kernel" in reader else ()),
                        options.valor if reader.startswith("valor") else options.peers,
                        *(__file__, "--worker", reader, one),
                    ]
                    for reader in READERS
                }
                costs = rotate(commands, options.rounds)
                assert len({each.printed for own in costs.values() for each in own}) == 1
                print_table(costs)


def work(reader: str, path: str) -> str:
    """Rows, sum of scores and number of right labels, from the columns that a reader gives."""
    ids, truth, label, score = columns(reader, path)
    assert len(ids) == len(truth)
    best = label[np.arange(len(truth)), score.argmax(axis=1)]
    return f"{len(ids)} {score.sum():.6f} {int((best == truth).sum())}"


def columns(reader: str, path: str) -> tuple[Any, Any, Any, Any]:
    """(n,) ids, (n,) codes of labels, (n, k) codes and (n, k) scores."""
    if reader.startswith("valor"):
        return by_valor(path)
    dense = path.endswith(".csv")
    return {
        "csv and json modules": by_modules,
        "pyarrow": by_pyarrow,
        "polars": by_polars,
        "duckdb": by_duckdb,
    }[reader](path, dense)


def by_valor(path: str) -> tuple[Any, Any, Any, Any]:
    """As `valor evaluate` reads."""
    from valor_cli.data.inputs.scores import read_scores
    from valor_cli.data.shapes.scores.score_file import ScoreReading

    found = read_scores(path, "samples", ScoreReading())
    samples, scores = found.samples, found.scores
    n = len(samples)
    score = scores.score.reshape(n, -1)
    label = scores.label.reshape(n, -1) if scores.label.size == score.size else None
    label = np.broadcast_to(scores.label, score.shape) if label is None else label
    return samples["sample_id"], samples["truth"], label, score


def by_modules(path: str, dense: bool) -> tuple[Any, Any, Any, Any]:
    """As a script would read."""
    import csv
    import json

    ids, truths, labels, scores = [], [], [], []
    codes: dict[str, int] = {}
    with open(path, newline="") as file:
        if dense:
            head, *rows = csv.reader(file)
            own = [codes.setdefault(name, len(codes)) for name in head[2:]]
            for row in rows:
                ids.append(row[0])
                truths.append(codes[row[1]])
                labels.append(own)
                scores.append(list(map(float, row[2:])))
        else:
            for line in file:
                one = json.loads(line)
                ids.append(one["id"])
                truths.append(codes.setdefault(one["label"], len(codes)))
                items = one["predictions"]
                labels.append([codes.setdefault(item["label"], len(codes)) for item in items])
                scores.append([item["score"] for item in items])
    return np.array(ids, "S"), np.array(truths), np.array(labels), np.array(scores)


def _coded(truth: Any, label: Any) -> tuple[Any, Any]:
    _, code = np.unique(np.concatenate([truth, label]), return_inverse=True)
    return code[: len(truth)], code[len(truth) :]


def by_pyarrow(path: str, dense: bool) -> tuple[Any, Any, Any, Any]:
    """With labels encoded by a dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv, json

    if dense:
        types = {"id": pa.string(), "label": pa.dictionary(pa.int32(), pa.string())}
        table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))
        table = table.combine_chunks()
        names = table.column_names[2:]
        chunk = table["label"].unify_dictionaries().combine_chunks()
        where = [names.index(name) for name in chunk.dictionary.to_pylist()]
        truth = np.array(where)[chunk.indices.to_numpy()]
        score = np.stack([table[name].to_numpy() for name in names], axis=1)
        label = np.broadcast_to(np.arange(len(names)), score.shape)
    else:
        table = json.read_json(path, json.ReadOptions(block_size=8 << 20)).combine_chunks()
        items = table["predictions"].combine_chunks().flatten()
        every = pa.chunked_array([table["label"].combine_chunks(), items.field("label")])
        encoded = pc.dictionary_encode(every.combine_chunks())
        code = encoded.indices.to_numpy()
        truth, label = code[: len(table)], code[len(table) :].reshape(len(table), -1)
        score = items.field("score").to_numpy().reshape(len(table), -1)
    ids = table["id"].combine_chunks()
    return ids, truth, label, score


def by_polars(path: str, dense: bool) -> tuple[Any, Any, Any, Any]:
    """With labels as categories."""
    import polars as pl

    if dense:
        table = pl.read_csv(path, schema_overrides={"id": pl.String})
        names = table.columns[2:]
        where = {name: at for at, name in enumerate(names)}
        truth = table["label"].replace_strict(where, return_dtype=pl.Int64).to_numpy()
        score = table.select(names).to_numpy()
        return table["id"], truth, np.broadcast_to(np.arange(len(names)), score.shape), score
    table = pl.read_ndjson(path)
    items = table["predictions"].explode().struct.unnest()
    code = pl.concat([table["label"], items["label"]]).cast(pl.Categorical).to_physical().to_numpy()
    n = len(table)
    score = items["score"].to_numpy().reshape(n, -1)
    return table["id"], code[:n], code[n:].reshape(n, -1), score


def by_duckdb(path: str, dense: bool) -> tuple[Any, Any, Any, Any]:
    """Through Arrow for lists."""
    import duckdb

    if dense:
        found = duckdb.read_csv(path, dtype={"id": "VARCHAR"})
        names = found.columns[2:]
        table = found.fetchnumpy()
        where = {name: at for at, name in enumerate(names)}
        truth = np.array([where[name] for name in table["label"]])
        score = np.stack([table[name] for name in names], axis=1)
        return table["id"], truth, np.broadcast_to(np.arange(len(names)), score.shape), score
    kinds = {
        "id": "VARCHAR",
        "label": "VARCHAR",
        "predictions": "STRUCT(label VARCHAR, score DOUBLE)[]",
    }
    found = duckdb.read_json(path, columns=kinds, format="newline_delimited").project(
        "id, label, list_transform(predictions, lambda p: p.label) l, "
        "list_transform(predictions, lambda p: p.score) s"
    )
    table = found.to_arrow_table().combine_chunks()
    n = len(table)
    truth, label = _coded(
        table["label"].to_numpy(), table["l"].combine_chunks().flatten().to_numpy(False)
    )
    score = table["s"].combine_chunks().flatten().to_numpy().reshape(n, -1)
    return table["id"], truth, label.reshape(n, -1), score


if __name__ == "__main__":
    main()
