"""`valor evaluate` from start to exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run, Shell, Valor, read_run
from tests.program import invoke


def ran(project: Path) -> Run:
    """What the last run wrote."""
    return read_run(project / "out")


def test_one_of_two_right(valor: Valor, project: Path) -> None:
    done = valor("evaluate", "run.yaml", cwd=project)
    assert done.returncode == 0, done.stderr
    run = ran(project)
    assert run.value("mean_average_precision") == pytest.approx(0.5, abs=1e-12)
    assert run.value("recall", label="cat") == 1
    assert run.value("recall", label="dog") == 0
    assert run.result["run"]["inputs"][1]["rows"] == 2


SAME = {
    "object_detection": "metrics=[coco, counts, pr_curve]",
    "classification": "metrics=[accuracy, f1, roc_auc, confusion_matrix, log_loss]",
    "semantic_segmentation": "metrics=[mean_iou, f1, confusion_matrix, image_scores]",
    "text_generation": "metrics=[rouge_l, corpus_bleu, self_consistency, looping]",
}
"""Shipped configs, and what of them is computed."""


@pytest.mark.parametrize("name", SAME)
def test_runs_differ_in_the_run_block_only(valor: Valor, tmp_path: Path, name: str) -> None:
    """Twice, in a process in which sets have another order, and in two at a time."""
    config = ROOT / "configs" / f"{name}.yaml"
    # More resamples than are drawn at once, so that two processes have work.
    more = ("--set", "interval.resamples=60", "--set", "gates=[]", "--set", SAME[name])

    def files(out: str, *options: object, **environment: str) -> tuple[str, bytes]:
        place = ("--out", tmp_path / out, "--format", "json")
        done = valor("evaluate", config, *more, *place, *options, **environment)
        assert done.returncode == 0, done.stderr
        run = read_run(tmp_path / out)
        samples = run.folder / "samples.jsonl"
        content = samples.read_bytes() if samples.exists() else b""
        return json.dumps({**run.result, "run": None}), content

    first = files("first")
    assert files("second", PYTHONHASHSEED="1") == first
    assert files("third", "--jobs", 2) == first
    assert files("fourth", "--set", "interval.seed=6") != first


def test_gates_decide_the_exit_code(valor: Valor, project: Path) -> None:
    def gated(gate: str) -> subprocess.CompletedProcess[str]:
        return valor("evaluate", "run.yaml", "--set", f"gates=[{gate}]", cwd=project)

    assert gated("{metric: mAP, min: 0.4}").returncode == 0
    failed = gated("{metric: mean_average_precision, min: 0.6}")
    assert failed.returncode == 1
    assert failed.stdout.startswith("FAILED  1 of 1 gate")
    assert gated("{metric: recall, label: dog, max: 0.1}").returncode == 0
    # A metric that only a gate names is computed too.
    assert gated("{metric: f1, label: cat, min: 1.0}").returncode == 0
    gate = ran(project).result["gates"][0]
    assert (gate["metric"], gate["status"], gate["value"]) == ("f1", "passed", 1.0)


def test_a_gate_on_an_undefined_value_is_not_checked(valor: Valor, project: Path) -> None:
    gate = "gates=[{metric: coco, output: APlarge, min: 0.1}]"
    done = valor("evaluate", "run.yaml", "--set", gate, cwd=project)
    assert done.returncode == 3
    gate = ran(project).result["gates"][0]
    assert (gate["status"], gate["reason"]) == (
        "not checked",
        "undefined: no label has ground truth",
    )


def test_max_drop_against_a_baseline(valor: Valor, project: Path) -> None:
    assert valor("evaluate", "run.yaml", "--out", "before", cwd=project).returncode == 0
    found = json.loads((project / "dt.json").read_text())
    (project / "dt.json").write_text(json.dumps(found[1:]))
    gate = ("--set", "gates=[{metric: mean_average_precision, max_drop: 0.1}]")
    unchecked = valor("evaluate", "run.yaml", *gate, cwd=project)
    assert unchecked.returncode == 3
    told = "INCOMPLETE 1 of 1 gate could not be checked (max_drop of mean_average_precision: no "
    assert told in " ".join(unchecked.stdout.split())
    done = valor("evaluate", "run.yaml", *gate, "--baseline", "before", cwd=project)
    assert done.returncode == 1
    assert ran(project).result["gates"][0]["value"] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(
    ("lose", "why"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_text(""), "not JSON"),
        (lambda path: path.write_text("{"), "not JSON"),
        (lambda path: path.write_text(_without_values(path)), "the baseline has no such value"),
    ],
    ids=["lost", "empty", "broken", "without the row"],
)
def test_a_baseline_that_says_nothing_leaves_the_run_incomplete(
    project: Path, lose: Callable[[Path], object], why: str
) -> None:
    run, before = str(project / "run.yaml"), project / "before"
    assert invoke(["evaluate", run, "--out", str(before)]).exit_code == 0
    lose(before / "results.json")
    gates = "{metric: mAP, min: 0.4}, {metric: mAP, max_drop: 0.1, not_worse: 0.05}"
    command = ["evaluate", run, "--out", str(project / "out"), "--baseline", str(before)]
    done = invoke([*command, "--set", f"gates=[{gates}]"])
    assert done.exit_code == 3, done.output
    assert "PASSED" not in done.output
    told = ran(project).result["gates"]
    assert [one["status"] for one in told] == ["passed", "not checked", "not checked"]
    assert all(why in one["reason"] for one in told[1:]), told
    # A gate that failed is known, whatever the others would say.
    failing = gates.replace("0.4", "0.6")
    done = invoke([*command, "--set", f"gates=[{failing}]"])
    assert done.exit_code == 1
    assert "FAILED  1 of 3 gates, 2 not checked" in done.output


def _without_values(path: Path) -> str:
    return json.dumps({**json.loads(path.read_text()), "metrics": []})


def test_slices_filter_and_label_map(valor: Valor, project: Path) -> None:
    done = valor(
        *("evaluate", "run.yaml", "--set", "slices=[metadata.weather, {area: [small]}]"),
        cwd=project,
    )
    assert done.returncode == 0, done.stderr
    by_slice = {
        name: ran(project).value("mean_average_precision", slice=name)
        for name in ("metadata.weather=rain", "metadata.weather=sun", "area=small")
    }
    assert by_slice == pytest.approx(
        {"metadata.weather=rain": 1, "metadata.weather=sun": 0, "area=small": 0.5}, abs=1e-12
    )
    rain = valor("evaluate", "run.yaml", "--set", 'filter."metadata.weather"=rain', cwd=project)
    assert rain.returncode == 0, rain.stderr
    assert ran(project).result["data"] == {"ground_truths": 1, "images": 1, "labels": 1}
    merged = valor("evaluate", "run.yaml", "--set", "label_map.dog=cat", cwd=project)
    assert merged.returncode == 0, merged.stderr
    # One label, two objects: the first detection is right, the second wrong. 51 of 101 recalls.
    merged_map = ran(project).value("mean_average_precision")
    assert merged_map == pytest.approx(51 / 101, abs=1e-12)


def test_a_label_map_for_a_label_that_is_not_there_warns(valor: Valor, project: Path) -> None:
    done = valor("evaluate", "run.yaml", "--set", "label_map.dgo=cat", cwd=project)
    assert done.returncode == 0
    assert ran(project).result["warnings"] == [
        "label_map: the ground truth has no label 'dgo' (did you mean 'dog'?)"
    ]


def test_json_to_stdout(valor: Valor, project: Path) -> None:
    done = valor("evaluate", "run.yaml", "--out", "-", "--format", "json", cwd=project)
    assert json.loads(done.stdout)["task"] == "object_detection"
    assert not (project / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--out - --format html", "--out - prints one of json, markdown, junit, csv"),
        ("--out s3://bucket/a", "--out: reports need a folder on this machine, found 's3://bucket"),
        ("--format pdf", "no format 'pdf'; formats: json, markdown, html"),
        (f"--baseline {'x' * 300}", "File name too long"),
        ("--limit 0", "'--limit': Input should be greater than or equal to 1"),
        ("--jobs 0", "'--jobs': Input should be greater than or equal to 1"),
        ("--set data.class=[cat]", "--set data.class: unknown key"),
    ],
)
def test_options_that_cannot_be(valor: Valor, project: Path, options: str, message: str) -> None:
    done = valor("evaluate", "run.yaml", *options.split(), cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert {one.name for one in project.iterdir()} == {"gt.json", "dt.json", "run.yaml"}


def test_predictions_from_stdin(valor: Valor, project: Path) -> None:
    text = (project / "dt.json").read_text()
    done = valor("evaluate", "run.yaml", "--set", 'data.predictions="-"', cwd=project, stdin=text)
    assert done.returncode == 0, done.stderr
    assert ran(project).result["models"] == ["stdin"]


def test_formats(valor: Valor, project: Path) -> None:
    assert valor("evaluate", "run.yaml", "--format", "markdown", cwd=project).returncode == 0
    assert [path.name for path in (project / "out").iterdir()] == ["report.md"]


def test_limit_and_dry_run(valor: Valor, project: Path) -> None:
    assert valor("evaluate", "run.yaml", "--limit", 1, cwd=project).returncode == 0
    assert ran(project).result["data"]["images"] == 1
    dry = valor("evaluate", "run.yaml", "--dry-run", "--out", "new", cwd=project)
    assert dry.returncode == 0
    assert "would compute coco, mean_average_precision, recall" in dry.stdout
    assert not (project / "new").exists()


def test_quiet_and_verbose(valor: Valor, project: Path) -> None:
    quiet = valor("evaluate", "run.yaml", "-q", cwd=project)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    verbose = valor("evaluate", "run.yaml", "-v", cwd=project)
    line = " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.500"
    assert line in verbose.stdout
    assert "reading:" in verbose.stderr


def test_several_configs_each_run_and_the_worst_code_counts(valor: Valor, project: Path) -> None:
    text = (project / "run.yaml").read_text()
    (project / "gated.yaml").write_text(text + "gates: [{metric: mAP, min: 0.9}]\n")
    done = valor("evaluate", "gated.yaml", "run.yaml", "--out", "all", cwd=project)
    assert done.returncode == 1
    assert (project / "all" / "run" / "report.html").exists()
    assert (project / "all" / "gated" / "report.html").exists()
    done = valor("evaluate", "missing.yaml", "run.yaml", cwd=project)
    assert done.returncode == 2
    assert "missing.yaml" in done.stderr
    assert "DONE" in done.stdout


def test_environment_in_a_config(valor: Valor, project: Path) -> None:
    text = (project / "run.yaml").read_text().replace("dt.json", "'${PREDICTIONS}'")
    (project / "run.yaml").write_text(text)
    assert valor("evaluate", "run.yaml", cwd=project, PREDICTIONS="dt.json").returncode == 0
    unset = valor("evaluate", "run.yaml", cwd=project)
    assert unset.returncode == 2
    assert "run.yaml:2:" in unset.stderr


@contextmanager
def resampling(project: Path, jobs: int) -> Iterator[subprocess.Popen[bytes]]:
    """A run that would resample for many minutes, and has begun to."""
    child = subprocess.Popen(
        [sys.executable, "-m", "valor_cli", "evaluate", "run.yaml", "-v"]
        + ["--set", "interval.resamples=100000", "--jobs", str(jobs)],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with child:
        assert child.stderr is not None
        # -v tells each stage when it ends: after the evidence the resampling has begun.
        for line in child.stderr:
            if line.startswith(b"building evidence"):
                break
        time.sleep(0.2)
        try:
            yield child
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing_half_written(
    project: Path, number: signal.Signals, code: int, jobs: int
) -> None:
    with resampling(project, jobs) as child:
        # As a terminal does it: to every process of the run.
        os.killpg(child.pid, number)
        _, talk = child.communicate(timeout=120)
    assert child.returncode == code
    assert b"Traceback" not in talk
    assert not (project / "out").exists()


def children(parent: int) -> list[int]:
    """The workers that a process has started; not what keeps account of its semaphores."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            own = (folder / "stat").read_text().rpartition(") ")[2].split()[1] == str(parent)
            if own and b"resource_tracker" not in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc"), reason="finds the processes in /proc")
def test_processes_that_are_killed_again_and_again_end_the_run_with_a_message(
    project: Path,
) -> None:
    with resampling(project, jobs=2) as child:
        while child.poll() is None:
            for process in children(child.pid):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)
        _, talk = child.communicate(timeout=120)
    assert child.returncode == 2, talk
    assert b"error: --jobs 2: processes ended before they were done" in talk
    assert b"the machine may be out of memory; try fewer jobs" in talk
    assert b"Traceback" not in talk


@pytest.mark.parametrize(
    ("output", "limit", "code"), [("--out -", "min", 0), ("--out -", "max", 1), ("", "max", 1)]
)
def test_a_closed_pipe_changes_no_verdict(
    shell: Shell, project: Path, output: str, limit: str, code: int
) -> None:
    gate = f"gates=[{{metric: mAP, {limit}: 0.4}}]"
    line = f"valor evaluate run.yaml {output} --set '{gate}' | true; exit ${{PIPESTATUS[0]}}"
    done = shell(line, project)
    assert (done.returncode, done.stderr) == (code, "")


def test_two_configs_cannot_share_a_place(valor: Valor, project: Path) -> None:
    (project / "more").mkdir()
    (project / "more" / "run.yaml").write_text(
        (project / "run.yaml").read_text().replace("gt.json", "../gt.json").replace("dt", "../dt")
    )
    for out, where in (("all", "all/run"), ("-", "standard output")):
        done = valor("evaluate", "run.yaml", "more/run.yaml", "--out", out, cwd=project)
        assert done.returncode == 2
        message = f"more/run.yaml: its reports would overwrite those of run.yaml: {where}"
        assert message in done.stderr


def test_a_filter_that_leaves_no_box_leaves_no_values(valor: Valor, project: Path) -> None:
    truth = json.loads((project / "gt.json").read_text())
    truth["images"].append({"id": 3})
    (project / "gt.json").write_text(json.dumps(truth))
    options = ("--set", "filter.image_id=3", "--set", "metrics=[coco, counts, precision, pr_curve]")
    done = valor("evaluate", "run.yaml", *options, cwd=project)
    assert done.returncode == 0, done.stderr
    rows = ran(project).result["metrics"]
    assert {row["value"] for row in rows} == {None}


def test_rows_keep_their_order_whatever_the_config_says(valor: Valor, project: Path) -> None:
    lists = (
        "[coco, {recall: {score_threshold: 0.9}}, recall]",
        "[recall, {recall: {score_threshold: 0.9}}, coco]",
    )
    texts = [
        valor("evaluate", "run.yaml", "--out", "-", "--set", f"metrics={names}", cwd=project).stdout
        for names in lists
    ]
    one, two = (json.loads(text)["metrics"] for text in texts)
    assert one == two
    order = [
        (row["label"], row["parameters"]["score_threshold"])
        for row in one
        if row["metric"] == "recall"
    ]
    assert order == [
        (None, 0.5),
        (None, 0.9),
        ("cat", 0.5),
        ("cat", 0.9),
        ("dog", 0.5),
        ("dog", 0.9),
    ]


def test_a_code_page_without_the_marks(valor: Valor, project: Path) -> None:
    gate = "gates=[{metric: mAP, min: 0.4}]"
    done = valor("evaluate", "run.yaml", "--set", gate, cwd=project, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "PASSED" in done.stdout


def test_a_closed_standard_output(shell: Shell, project: Path) -> None:
    done = shell("valor evaluate run.yaml >&-", project)
    assert (done.returncode, done.stderr) == (0, "")
    assert (project / "out" / "results.json").exists()


def test_the_coco_table_says_its_own_thresholds(valor: Valor, project: Path) -> None:
    metrics = "metrics=[coco: {iou_thresholds: [0.1]}]"
    done = valor("evaluate", "run.yaml", "-v", "--set", metrics, cwd=project)
    assert "@[ IoU=0.10      | area=   all |" in done.stdout
    assert "0.50:0.95" not in done.stdout


def test_no_digit_is_cut_on_a_narrow_terminal(valor: Valor, tmp_path: Path) -> None:
    config = ROOT / "configs" / "object_detection.yaml"
    few = ("--set", "interval.resamples=4")
    done = valor("evaluate", config, *few, "--out", tmp_path, COLUMNS="30")
    values = [line for line in done.stdout.splitlines() if line.startswith("AP50 ")]
    assert len(values) == 1
    assert re.match(r"AP50 ↑( +0\.\d{3}){2} +\+0\.\d{3} \[0\.\d{3}, 0\.\d{3}\] ", values[0])


def test_names_from_files_cannot_command_the_terminal(valor: Valor, project: Path) -> None:
    truth = json.loads((project / "gt.json").read_text())
    truth["categories"][0]["name"] = "\x1b[31mcat\u202e"
    (project / "gt.json").write_text(json.dumps(truth))
    done = valor("evaluate", "run.yaml", "--set", "filter.label=nope", cwd=project)
    assert done.returncode == 2
    assert "\\x1b[31mcat\\u202e, dog" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_baseline_of_other_data_warns(valor: Valor, project: Path) -> None:
    assert valor("evaluate", "run.yaml", "--limit", 1, "--out", "few", cwd=project).returncode == 0
    done = valor("evaluate", "run.yaml", "--baseline", "few", cwd=project)
    assert done.returncode == 0
    assert "--baseline: made from other data (1 image, " in done.stdout


def test_a_config_behind_a_link(valor: Valor, project: Path) -> None:
    (project / "a" / "b").mkdir(parents=True)
    (project / "a" / "b" / "run.yaml").write_text(
        (project / "run.yaml").read_text().replace("gt.json", "../gt.json").replace("dt.", "../dt.")
    )
    for name in ("gt.json", "dt.json"):
        (project / name).rename(project / "a" / name)
    (project / "link").symlink_to(project / "a" / "b")
    done = valor("evaluate", "link/run.yaml", cwd=project)
    assert done.returncode == 0, done.stderr
