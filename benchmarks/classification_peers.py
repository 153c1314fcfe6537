"""Evaluate a file with scikit-learn, as a user's script would: classification_peers.py FILE

Reads with numpy and the csv or json module and prints JSON: the CPU seconds of ROC AUC and of the
confusion matrix, labels being whole numbers by then; ROC AUC of each label, how many labels those
are, and how many rows are right. Of lists of few scores of many labels scikit-learn takes a column
of zeros for each label: that is done for `SAMPLED` labels, evenly spaced, for all would take
minutes.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterable

import numpy as np
from sklearn.metrics import confusion_matrix, roc_auc_score

SAMPLED = 20


def main() -> None:
    """Evaluate the file named on the command line."""
    path = sys.argv[1]
    print(json.dumps(_dense(path) if path.endswith("dense.csv") else _listed(path)))


def _dense(path: str) -> dict[str, object]:
    with open(path) as file:
        names = file.readline().strip().split(",")[2:]
    truth = np.loadtxt(path, str, delimiter=",", skiprows=1, usecols=1)
    score = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(2, 2 + len(names)))
    number = {name: at for at, name in enumerate(names)}
    truth = np.array([number[name] for name in truth.tolist()])
    labels = np.arange(len(names))
    started = time.process_time()
    areas = roc_auc_score(truth, score, multi_class="ovr", average=None, labels=labels)
    halfway = time.process_time()
    counts = confusion_matrix(truth, score.argmax(axis=1), labels=labels)
    spent = halfway - started, time.process_time() - halfway
    return _told(spent, names, areas.tolist(), len(names), counts)


def _listed(path: str) -> dict[str, object]:
    number: dict[str, int] = {}
    truth: list[int] = []
    listed: list[int] = []
    score: list[float] = []
    for label, pairs in _rows(path):
        truth.append(number.setdefault(label, len(number)))
        for name, value in pairs:
            listed.append(number.setdefault(name, len(number)))
            score.append(float(value))
    names = list(number)
    shape = (len(truth), -1)
    columns = np.array(truth), np.array(listed).reshape(shape), np.array(score).reshape(shape)
    started = time.process_time()
    counts = confusion_matrix(columns[0], columns[1][:, 0], labels=np.arange(len(names)))
    halfway = time.process_time()
    sampled = list(range(0, len(names), max(len(names) // SAMPLED, 1)))[:SAMPLED]
    areas = [_area(*columns, label) for label in sampled]
    ranking = (time.process_time() - halfway) * len(names) / len(sampled)
    spent = ranking, halfway - started
    return _told(spent, [names[label] for label in sampled], areas, len(names), counts)


def _area(truth: np.ndarray, listed: np.ndarray, score: np.ndarray, label: int) -> float:
    column = np.zeros(len(truth))
    row, place = np.nonzero(listed == label)
    column[row] = score[row, place]
    return float(roc_auc_score(truth == label, column))


def _rows(path: str) -> Iterable[tuple[str, Iterable[tuple[str, float | str]]]]:
    """The true label of each row, and the labels listed with their scores."""
    with open(path, newline="") as file:
        if path.endswith(".jsonl"):
            for line in file:
                row = json.loads(line)
                yield row["label"], [(one["label"], one["score"]) for one in row["predictions"]]
        else:
            reader = csv.reader(file)
            next(reader)
            for _, label, *cells in reader:
                yield label, zip(cells[::2], cells[1::2], strict=True)


def _told(
    spent: tuple[float, float],
    labels: list[str],
    areas: list[float],
    count: int,
    counts: np.ndarray,
) -> dict[str, object]:
    return {
        "roc_auc_cpu_s": spent[0],
        "confusion_matrix_cpu_s": spent[1],
        "roc_auc": dict(zip(labels, areas, strict=True)),
        "labels": count,
        "right": int(counts.diagonal().sum()),
    }


if __name__ == "__main__":
    main()
