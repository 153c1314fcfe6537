"""What docs/integrations.md tells to copy, copied and run: make, workflows, jobs, hooks, cron."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree

from tests.docs.composite_action import Ended, filled, outputs_in, run_action
from tests.docs.pages import ROOT, blocks, text_of
from tests.oracles.github_server import TOKEN, GitHub, github
from valor_cli import __version__

pytestmark = pytest.mark.slow

PAGE = "docs/integrations.md"
CONFIG = "configs/object_detection.yaml"
JUNIT = etree.XMLSchema(etree.parse(ROOT / "tests" / "reports" / "files" / "junit.xsd"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
HOSTILE = (
    "x.yaml; touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "x' || touch pwned '",
    "--help",
)

SMALL = """\
task: object_detection
data:
  ground_truth: ../sample_data/object_detection/ground_truth.json
  predictions: {detector: "${PREDICTIONS:-../sample_data/object_detection/large.json}"}
metrics: [coco]
gates:
  - {metric: coco, output: AP, min: 0.1}
report: {formats: [json, markdown]}
"""
COMPARED = SMALL.replace("min: 0.1", "min: 0.1, max_drop: 0.01")
BROKEN = SMALL.replace("gates:", "gatess:")
FAILING = SMALL.replace("min: 0.1", "min: 0.9")
WORSE = {"PREDICTIONS": "../sample_data/object_detection/small.json"}


def file_of_page(path: str) -> str:
    """The block that a reader keeps in that file."""
    (text,) = (block.text for block in blocks(PAGE) if block.path == path)
    return text


@dataclass(frozen=True)
class Project:
    """A reader's repository, with a config, data and `valor` on the path."""

    folder: Path
    programs: Path

    def config(self, text: str, path: str = CONFIG) -> None:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def copy(self, path: str) -> Path:
        """A file of the page, put where it belongs."""
        kept = self.folder / path
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(file_of_page(path), encoding="utf-8")
        return kept

    @property
    def environment(self) -> dict[str, str]:
        """Next to nothing: what a test needs beside, it gives."""
        return {"PATH": f"{self.programs}{os.pathsep}/usr/local/bin:/usr/bin:/bin"}

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )

    def act(self, **inputs: str) -> Ended:
        """The composite action in a step of this repository, with the valor that is on the path."""
        given = {"config": CONFIG, "install": "none", **inputs}
        temp = self.folder.parent / "runner"
        return run_action(ROOT, given, workspace=self.folder, temp=temp, env=self.environment)

    def text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    programs = tmp_path / "programs"
    programs.mkdir()
    wrapper = f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m valor_cli "$@"\n'
    (programs / "valor").write_text(wrapper)
    (programs / "valor").chmod(0o755)
    # What installs is checked by tests/docs/check_integrations.py, which may use the network.
    (programs / "pip").write_text('#!/bin/sh\necho "pip $*"\n')
    (programs / "pip").chmod(0o755)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    made = Project(folder, programs)
    made.config(SMALL)
    return made


def check_junit(path: Path, failures: int) -> None:
    """It has the structure that CI systems read, and every case a name of its own with a class."""
    root = etree.parse(path).getroot()
    JUNIT.assertValid(root)
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(cases)) == len(cases) > 0
    assert all(classname and name for classname, name in cases)
    failed = list(root.iter("failure"))
    assert len(failed) == failures
    # GitLab shows what stands inside, Jenkins the attribute.
    assert all(one.text and one.get("message") for one in failed)


def test_the_page_names_the_release_that_it_belongs_to() -> None:
    named = re.findall(
        r"OWNER/valor@(\S+?)['\s]|rev: (\S+)|valor-cli\S*==([\d.]+\d)", text_of(PAGE)
    )
    found = {"".join(one).removeprefix("v") for one in named}
    assert found == {__version__}


# --- make


def test_make_fails_with_a_gate_and_holds_runs_against_the_accepted_one(project: Project) -> None:
    project.copy("Makefile")
    assert project.run("make", "evaluate").returncode == 0
    project.config(COMPARED)
    done = project.run("make", "evaluate")
    assert "Error 3" in done.stdout
    assert "--baseline" not in done.stdout.splitlines()[0]
    assert "INCOMPLETE  1 of 2 gates could not be checked" in done.stdout
    assert project.run("make", "accept").returncode == 0

    # Worse than what was accepted, and above the limit all the same.
    done = project.run("make", "evaluate", **WORSE)
    assert done.returncode == 2
    assert "Error 1" in done.stdout
    assert "--baseline reports/accepted" in done.stdout
    assert "FAILED" in project.text("reports/today/report.md")
    assert "INCOMPLETE" in project.text("reports/accepted/report.md")

    assert project.run("make", "accept").returncode == 0
    assert "FAILED" in project.text("reports/accepted/report.md")
    assert project.run("make", "evaluate", **WORSE).returncode == 0
    project.config(BROKEN)
    assert "Error 2" in project.run("make", "evaluate").stdout


# --- GitHub Actions


def job_steps(path: str) -> list[dict[str, Any]]:
    """The steps of the one job of a workflow of the page."""
    (job,) = yaml.safe_load(file_of_page(path))["jobs"].values()
    return list(job["steps"])


@pytest.mark.parametrize(
    ("config", "code", "shown"), [(SMALL, 0, "PASSED"), (FAILING, 1, "FAILED"), (BROKEN, 2, "")]
)
def test_the_workflow_shows_the_report_whatever_the_verdict(
    project: Project, config: str, code: int, shown: str
) -> None:
    project.config(config)
    summary = project.folder.parent / "summary.md"
    summary.touch()
    told = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    codes = []
    for step in job_steps(".github/workflows/evaluate.yml"):
        if "run" not in step or (any(codes) and step.get("if") != "${{ !cancelled() }}"):
            continue
        assert "${{" not in step["run"]
        # What GitHub runs where no shell is named.
        done = project.run("bash", "-e", "-c", step["run"], **told)
        codes.append(done.returncode)
    assert codes == [0, code, 0]
    assert summary.read_text().startswith(f"## ✗ {shown}" if code else f"## ✓ {shown}") or code == 2
    assert bool(summary.read_text()) == bool(shown)


@pytest.mark.parametrize(
    "path", [".github/workflows/evaluate.yml", ".github/workflows/evaluate-step.yml"]
)
def test_workflows_may_read_only_and_end(path: str) -> None:
    workflow = yaml.safe_load(file_of_page(path))
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert job["timeout-minutes"]
    checkout = job["steps"][0]
    assert checkout["with"] == {"persist-credentials": False}
    assert all(
        re.fullmatch(r"[\w/-]+@v\d[\d.]*", step["uses"]) for step in job["steps"] if "uses" in step
    )


# --- the composite action


def test_inputs_and_outputs_of_the_action_are_on_the_page() -> None:
    tables = re.findall(r"^\| `([\w-]+)` \|", text_of(PAGE), re.MULTILINE)
    assert set(tables) == {*ACTION["inputs"], *ACTION["outputs"]}
    used = {
        name
        for step in job_steps(".github/workflows/evaluate-step.yml")
        if step.get("uses", "").startswith("OWNER/")
        for name in step["with"]
    }
    assert used <= set(ACTION["inputs"])


def test_no_expression_stands_in_a_script_of_the_action() -> None:
    steps = ACTION["runs"]["steps"]
    assert all("${{" not in step["run"] and step["shell"] == "bash" for step in steps)


@pytest.mark.parametrize(
    ("config", "inputs", "code", "told", "summary"),
    [
        (SMALL, {}, 0, ("0", "passed"), "## ✓ PASSED"),
        (FAILING, {}, 1, ("1", "failed"), "## ✗ FAILED"),
        (FAILING, {"fail": "false", "summary": "false"}, 0, ("1", "failed"), ""),
        (BROKEN, {}, 2, ("2", "unusable"), "## valor evaluate: unusable (exit code 2)"),
    ],
    ids=["passes", "fails", "says what was found", "is broken"],
)
def test_a_step(
    project: Project,
    config: str,
    inputs: dict[str, str],
    code: int,
    told: tuple[str, str],
    summary: str,
) -> None:
    # Results of an earlier step are not those of a broken one.
    assert project.act().outputs["results"]
    project.config(config)
    ended = project.act(**inputs)
    assert ended.code == code, ended.said
    results = "" if config == BROKEN else "reports/valor/results.json"
    assert ended.outputs == {"exit-code": told[0], "verdict": told[1], "results": results}
    assert ended.summary.startswith(summary)
    assert bool(ended.summary) == bool(summary)
    if config == SMALL:
        assert ended.summary.rstrip() == project.text("reports/valor/report.md").rstrip()
    place = rf"^::error file={CONFIG},line=7,col=\d+,title=gate failed"
    assert bool(re.search(place, ended.said, re.M)) == (config == FAILING)
    assert ("gatess" in ended.said) == (config == BROKEN)
    assert config != BROKEN or "PASSED" not in ended.summary


def test_several_configs_and_arguments(project: Project) -> None:
    project.config(FAILING, "configs/of two words.yaml")
    project.config(SMALL.replace("json, markdown", "json"), "configs/bare.yaml")
    ended = project.act(
        config="\n  configs/bare.yaml  \n\n  configs/of two words.yaml\nconfigs/none.yaml",
        arguments="--set=gates.0.max=0.95\n--format=json,junit\n",
        out="out put",
    )
    # All of them run, and the highest code counts.
    assert (ended.code, ended.outputs["verdict"]) == (2, "unusable")
    assert ended.outputs["results"].splitlines() == [
        "out put/bare/results.json",
        "out put/of two words/results.json",
    ]
    headings = re.findall(r"^#{1,2} .*", ended.summary, re.MULTILINE)
    assert headings[0] == "# bare"
    assert headings[1].startswith("## ✓ PASSED · 2 of 2 gates")
    assert "# of two words" in headings
    assert "## ✗ FAILED · 1 of 2 gates" in headings
    check_junit(project.folder / "out put" / "bare" / "junit.xml", failures=0)


def test_a_baseline_is_an_argument(project: Project) -> None:
    assert project.act(out="before").code == 0
    project.config(COMPARED.replace("large.json", "small.json"))
    ended = project.act(arguments="--baseline=before")
    assert (ended.code, ended.outputs["verdict"]) == (1, "failed")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", list(ACTION["inputs"]))
def test_no_input_is_a_command(project: Project, name: str, text: str) -> None:
    with_python(project)
    before = everything(project)
    ended = project.act(**{"install": "" if name == "extras" else "none", name: text})
    match name:
        case "install":
            # Pip is given the text as it stands, as the one thing to install.
            assert project.text("../pip.log") == f"-m pip install --quiet -- {shlex.quote(text)}\n"
        case "out" if text != "--help":
            assert ended.outputs["results"] == f"{text}/results.json"
        case "arguments" if text == "--help":
            assert "Usage: valor evaluate" in ended.said
        case "token":
            # No comment is asked for, so nobody sees it.
            assert ended.code == 0, ended.said
        case _:
            assert ended.code == 2, ended.said
    assert not any(path.name == "pwned" for path in everything(project) - before)


def test_the_comment_of_a_pull_request_is_written_once(project: Project) -> None:
    event = project.folder.parent / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    given = {"config": CONFIG, "install": "none", "comment": "nightly", "token": TOKEN}

    def act(server: GitHub, **inputs: str) -> Ended:
        told = {
            "GITHUB_API_URL": server.url,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": "o/r",
        }
        temp, env = project.folder.parent / "runner", {**project.environment, **told}
        inputs = {**given, **inputs}
        return run_action(ROOT, inputs, workspace=project.folder, temp=temp, env=env)

    with github() as server:
        assert act(server).code == 0
        assert "## ✓ PASSED" in server.comments[0]["body"]
        project.config(FAILING)
        ended = act(server)
        # The comment is updated, and the gate fails the step all the same.
        assert (ended.code, ended.outputs["verdict"]) == (1, "failed")
        (one,) = server.comments
        assert one["body"].startswith("<!-- valor:nightly -->\n## ✗ FAILED")
        assert TOKEN not in ended.said
        server.writable = False
        assert re.search(r"^::notice title=valor::no comment", act(server).said, re.MULTILINE)
        ended = act(server, token="wrong-and-not-a-token", fail="false")
        assert ended.code == 0
        assert re.search(r"^::warning title=valor::the comment was not", ended.said, re.MULTILINE)
        project.config(SMALL, "configs/other.yaml")
        server.writable = True
        act(server, config=f"{CONFIG}\nconfigs/other.yaml")
        names = [one["body"].splitlines()[0] for one in server.comments]
        assert names[1:] == [
            "<!-- valor:nightly object_detection -->",
            "<!-- valor:nightly other -->",
        ]


def everything(project: Project) -> set[Path]:
    return set(project.folder.parent.rglob("*"))


def test_an_output_is_not_written_by_an_input(project: Project) -> None:
    project.config(FAILING)
    ended = project.act(out="x\nverdict=passed\nexit-code=0", fail="false")
    assert (ended.outputs["exit-code"], ended.outputs["verdict"]) == ("1", "failed")
    ended = project.act(config="none\nverdict=passed", fail="false")
    assert (ended.outputs["exit-code"], ended.outputs["verdict"]) == ("2", "unusable")


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"config": " \n"}, "names no file"),
        ({"out": ""}, "is a folder"),
        ({"out": "-"}, "is a folder"),
        ({"fail": "no"}, "true or false"),
        ({"summary": ""}, "true or false"),
        ({"comment": "a --> b"}, "a name of letters"),
    ],
)
def test_inputs_that_say_nothing_usable(
    project: Project, inputs: dict[str, str], told: str
) -> None:
    ended = project.act(**inputs)
    assert ended.code == 2
    assert re.search(rf"^::error title=valor::.*{told}", ended.said, re.MULTILINE)
    assert ended.outputs == {"exit-code": "2", "verdict": "unusable", "results": ""}


def with_python(project: Project, version: str = "3.13") -> None:
    """A Python that notes what its pip is told, and has the valor of the path."""
    (project.programs / "python3").write_text(
        f"""#!{sys.executable}
import pathlib, shlex, sys
log = pathlib.Path({str(project.folder.parent / "pip.log")!r})
if sys.argv[1] == "-c":
    sys.exit({version!r} == "3.10")
assert sys.argv[1:3] == ["-m", "venv"], sys.argv
programs = pathlib.Path(sys.argv[3], "bin")
programs.mkdir(parents=True)
(programs / "python").write_text(
    '#!/bin/sh\\n{sys.executable} -c "import shlex, sys; print(shlex.join(sys.argv[1:]))" "$@" >> '
    + shlex.quote(str(log)) + chr(10)
)
(programs / "python").chmod(0o755)
(programs / "valor").symlink_to({str(project.programs / "valor")!r})
"""
    )
    (project.programs / "python3").chmod(0o755)


LOCKED = f"--require-hashes --requirement {ROOT}/requirements.lock"


@pytest.mark.parametrize(
    ("inputs", "installed"),
    [
        ({}, [LOCKED, f"--no-build-isolation -- {ROOT}"]),
        (
            {"extras": "judge,cloud"},
            [LOCKED, f"--no-build-isolation -- '{ROOT}[judge,cloud]'"],
        ),
        ({"install": "valor-cli[judge] == 0.1.0"}, ["-- 'valor-cli[judge] == 0.1.0'"]),
    ],
)
def test_what_is_installed(project: Project, inputs: dict[str, str], installed: list[str]) -> None:
    with_python(project)
    ended = project.act(**{"install": "", **inputs})
    assert ended.code == 0, ended.said
    log = project.text("../pip.log").splitlines()
    assert log == [f"-m pip install --quiet {one}" for one in installed]
    assert ended.outputs["verdict"] == "passed"


@pytest.mark.parametrize(
    ("inputs", "version", "told"),
    [
        (
            {"install": "valor-cli", "extras": "judge"},
            "3.13",
            "extras are named in the input install",
        ),
        ({"install": "", "extras": "judge]; x"}, "3.13", "a list of names"),
        ({"install": ""}, "3.10", "Python 3.11 or later is needed"),
    ],
)
def test_what_cannot_be_installed(
    project: Project, inputs: dict[str, str], version: str, told: str
) -> None:
    with_python(project, version)
    ended = project.act(**inputs)
    assert ended.code == 2
    assert "::error title=valor::" in ended.said
    assert told in ended.said
    assert not (project.folder.parent / "pip.log").exists()


def test_the_runner_of_actions_reads_as_github_does() -> None:
    assert outputs_in("a=b=c\nd<<END\n1\n\nEN\nEND\ne=\n") == {"a": "b=c", "d": "1\n\nEN", "e": ""}
    assert filled("${{ inputs.a }}-${{steps.x.outputs.y-z}}", {"inputs.a": "$(b)"}) == "$(b)-"
    with pytest.raises(AssertionError, match="unknown"):
        filled("${{ github.event.issue.title }}", {})
    with pytest.raises(AssertionError, match="no end"):
        outputs_in("a<<END\n1\n")


# --- GitLab and the others


@pytest.mark.parametrize(
    ("config", "codes"), [(SMALL, [0, 0]), (FAILING, [0, 1]), (BROKEN, [0, 2])]
)
def test_the_job_of_gitlab(project: Project, config: str, codes: list[int]) -> None:
    project.config(config)
    (job,) = yaml.safe_load(file_of_page(".gitlab-ci.yml")).values()
    assert [project.run("sh", "-e", "-c", line).returncode for line in job["script"]] == codes
    (kept,) = job["artifacts"]["paths"]
    junit = job["artifacts"]["reports"]["junit"]
    assert junit.startswith(kept)
    assert (project.folder / kept).is_dir() == (codes[1] != 2)
    if codes[1] != 2:
        check_junit(project.folder / junit, failures=codes[1])
        assert (project.folder / kept / "report.html").is_file()
    # Of all codes, only that of too few values is a mere warning.
    assert job["allow_failure"] == {"exit_codes": [3]}
    assert job["artifacts"]["when"] == "always"


def test_too_few_values_are_the_code_that_gitlab_forgives(project: Project) -> None:
    project.config(
        "task: text_generation\n"
        "data: {samples: ../samples.jsonl}\n"
        "metrics: [exact_match]\n"
        "gates:\n  - {coverage: 0.95}\n"
    )
    rows = [
        '{"sample_id": "1", "response": "a", "references": ["a"]}',
        '{"sample_id": "2", "response": "b"}',
    ]
    (project.folder / "samples.jsonl").write_text("\n".join(rows) + "\n")
    (job,) = yaml.safe_load(file_of_page(".gitlab-ci.yml")).values()
    assert project.run("sh", "-e", "-c", job["script"][1]).returncode == 3
    root = etree.parse(project.folder / "reports" / "ci" / "junit.xml").getroot()
    JUNIT.assertValid(root)
    assert root.get("errors") == "1"


def test_the_commands_of_jenkins(project: Project) -> None:
    project.config(FAILING)
    pipeline = file_of_page("Jenkinsfile")
    (script,) = re.findall(r"sh '''\n(.*?)'''", pipeline, re.DOTALL)
    programs = project.folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (project.programs / "python").write_text("#!/bin/sh\n")
    (project.programs / "python").chmod(0o755)
    for name in ("pip", "valor"):
        (programs / name).symlink_to(project.programs / name)
    # As Jenkins runs it; at the first failure it stops.
    assert project.run("sh", "-xe", "-c", script).returncode == 1
    (junit,) = re.findall(r"junit testResults: '([^']+)'", pipeline)
    check_junit(project.folder / junit, failures=1)


# --- pre-commit


def pre_commit(project: Project, *files: str, entry: str | None = None) -> tuple[int, str]:
    """The hook as pre-commit calls it: its entry, and the files that it is for."""
    chosen = [file for file in files if re.search(HOOK["files"], file)]
    assert chosen
    done = project.run(*shlex.split(entry or HOOK["entry"]), *chosen)
    return done.returncode, done.stdout


def test_the_hook_is_for_configs() -> None:
    for file in ("configs/a.yaml", "models/x/configs/nested/b.yml"):
        assert re.search(HOOK["files"], file), file
    for file in (
        ".gitlab-ci.yml",
        "myconfigs/a.yaml",
        "configs/a.yaml.orig",
        ".github/workflows/x.yml",
    ):
        assert not re.search(HOOK["files"], file), file
    assert all(
        re.search(HOOK["files"], f"configs/{file.name}") for file in (ROOT / "configs").iterdir()
    )


def test_the_hook_checks_all_configs_of_a_commit(project: Project) -> None:
    project.config(SMALL, "configs/second.yaml")
    files = (CONFIG, "configs/second.yaml", "README.md")
    assert pre_commit(project, *files) == (0, f"{CONFIG}: ok\nconfigs/second.yaml: ok\n")
    project.config(BROKEN, "configs/second.yaml")
    code, said = pre_commit(project, *files)
    assert code != 0
    assert f"{CONFIG}: ok" in said
    assert "configs/second.yaml:6:1: gatess: unknown key" in said


def test_the_hook_where_the_data_is_not_in_the_repository(project: Project) -> None:
    (entry,) = re.findall(r"# entry: (.*?)  ", file_of_page(".pre-commit-config.yaml"))
    project.config(SMALL.replace("large.json", "none.json"))
    code, said = pre_commit(project, CONFIG)
    assert code != 0
    assert "none.json: no such file" in said
    assert pre_commit(project, CONFIG, entry=entry)[0] == 0
    assert not (project.folder / "reports").exists()
    project.config(SMALL.replace("[coco]", "[cocoa]"))
    code, said = pre_commit(project, CONFIG, entry=entry)
    assert code != 0
    assert "unknown metric 'cocoa'" in said


def test_the_hook_of_the_page_is_the_hook() -> None:
    text = file_of_page(".pre-commit-config.yaml")
    (repository,) = yaml.safe_load(text)["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == [HOOK["id"]]
    # What stands in the comments is YAML, too, and keys of a hook.
    uncommented = re.sub(r"# (files|entry|additional_dependencies)", r"\1", text)
    (hook,) = yaml.safe_load(uncommented)["repos"][0]["hooks"]
    assert set(hook) == {"id", "files", "entry", "additional_dependencies"}
    assert re.search(hook["files"], "evaluation/x.yaml")


# --- cron


@pytest.fixture
def cron(project: Project) -> Project:
    """The script in its folder, with an environment of Python beside it."""
    if shutil.which("flock") is None:
        pytest.skip("flock is a part of Linux")
    script = project.copy("evaluate.sh")
    script.chmod(0o755)
    programs = project.folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    shutil.copy(project.programs / "valor", programs / "valor")
    return project


def as_cron(project: Project) -> subprocess.CompletedProcess[str]:
    """What cron does: from home, with next to no environment, by /bin/sh."""
    return subprocess.run(
        ["env", "-i", "PATH=/usr/bin:/bin", "SHELL=/bin/sh", f"HOME={project.folder.parent}"]
        + ["/bin/sh", "-c", shlex.quote(str(project.folder / "evaluate.sh"))],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )


def log_of(project: Project) -> str:
    """What the logs have; there is more than one only where midnight came between."""
    return "".join(path.read_text() for path in sorted((project.folder / "logs").glob("*.log")))


def test_cron_says_nothing_when_all_is_well(cron: Project) -> None:
    for times in (1, 2):
        done = as_cron(cron)
        assert (done.returncode, done.stdout) == (0, "")
        assert log_of(cron).count("PASSED") == times
        assert log_of(cron).count("exit code 0\n") == times
    assert (cron.folder / "reports" / "nightly" / "report.html").exists() is False
    assert "PASSED" in cron.text("reports/nightly/report.md")


def test_cron_mails_what_failed_and_keeps_the_exit_code(cron: Project) -> None:
    cron.config(FAILING)
    failed = as_cron(cron)
    assert failed.returncode == 1
    assert failed.stdout.startswith("valor evaluate ended with exit code 1; the end of ")
    assert "✗ failed" in failed.stdout
    assert failed.stdout.endswith(log_of(cron))
    assert "FAILED" in cron.text("reports/nightly/report.md")

    # The second run writes behind the first, and leaves its reports alone.
    cron.config(BROKEN)
    broken = as_cron(cron)
    assert broken.returncode == 2
    assert "gatess: unknown key" in broken.stdout
    assert log_of(cron).count("exit code 1\n") == log_of(cron).count("exit code 2\n") == 1
    assert "FAILED" in cron.text("reports/nightly/report.md")


def test_cron_leaves_a_run_out_while_the_one_before_is_not_done(cron: Project) -> None:
    (cron.folder / "logs").mkdir()
    with (cron.folder / "logs" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = as_cron(cron)
        assert (done.returncode, done.stdout) == (
            75,
            "the run before is not done; this one is left out\n",
        )
        assert log_of(cron) == ""
        assert not (cron.folder / "reports").exists()
    # The file is still there, the lock is not.
    assert as_cron(cron).returncode == 0


def test_cron_forgets_old_logs(cron: Project) -> None:
    (cron.folder / "logs").mkdir()
    old, kept = (cron.folder / "logs" / name for name in ("2020-01-01.log", "2020-01-02.log"))
    for path in (old, kept):
        path.write_text("")
    os.utime(old, (0, 0))
    assert as_cron(cron).returncode == 0
    assert (old.exists(), kept.exists()) == (False, True)
