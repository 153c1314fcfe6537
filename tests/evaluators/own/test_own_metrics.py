"""Functions of the user's as metrics: what a run makes of them, and what it says of mistakes."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests import program
from tests.evaluators.own.own_runs import (
    config,
    content,
    function,
    schema,
    values,
    write_rows,
)
from valor_cli import (
    ConfigError,
    catalogue,
    compare,
    evaluate,
    read_run,
    sample_metric,
)
from valor_cli.config import load_config
from valor_cli.evaluators.own.source import module_of
from valor_cli.pipeline.piece_size import PIECE_BYTES

POLITENESS = '''
def politeness(sample, *, word: str = "please") -> float | None:
    """Share of the sentences that say the word."""
    if sample.response == "boom":
        raise ValueError("cannot read this")
    sentences = [one for one in sample.response.split(".") if one.strip()]
    if not sentences:
        return None
    return sum(word in one.lower() for one in sentences) / len(sentences)
'''

ROWS = [
    {"sample_id": "a", "response": "Please wait. Please sit.", "metadata": {"tone": "warm"}},
    {"sample_id": "b", "response": "Wait. Please sit.", "metadata": {"tone": "warm"}},
    {"sample_id": "c", "response": "boom", "metadata": {"tone": "cold"}},
    {"sample_id": "d", "response": "", "metadata": {"tone": "cold"}},
    {"sample_id": "e", "response": "No.", "metadata": {"tone": "cold"}},
    {"sample_id": "f", "response": None, "user_input": "Hi", "metadata": {"tone": "cold"}},
]
"""By hand: 2 of 2 sentences, 1 of 2, an exception, None, 0 of 1, and no response."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("metrics.py").write_text(POLITENESS, encoding="utf-8")
    write_rows("answers.jsonl", ROWS)
    return tmp_path


def test_a_function_is_a_metric() -> None:
    result = evaluate(
        config(
            slices=["tone"],
            interval={"resamples": 100},
            gates=["own.politeness >= 0.5", {"metric": "own.politeness", "max": 0.4}],
        )
    )
    # The mean of 1, 0.5 and 0; of the warm ones 1 and 0.5; of the cold ones 0 alone.
    assert values(result) == {
        ("own.politeness", "value", None): 0.5,
        ("own.politeness", "value", "metadata.tone=warm"): 0.75,
        ("own.politeness", "value", "metadata.tone=cold"): 0.0,
    }
    (whole, *_) = result.metrics
    assert (whole.n, whole.unit, whole.direction) == (3, "score", "higher")
    assert whole.parameters == {"word": "please"}
    assert whole.interval is not None
    assert whole.interval[0] < 0.5 < whole.interval[1]
    assert [gate.status for gate in result.gates] == ["passed", "failed"]
    (samples,) = result.samples
    assert list(samples.statuses or ()) == [
        *("ok", "ok", "parse_failure", "not_applicable", "ok", "missing_input")
    ]
    assert list(samples.undefined) == [
        *(None, None, "ValueError: cannot read this (metrics.py, line 5)"),
        *("the function returned None", None, "no response"),
    ]
    # Of the five samples that the metric is for, three have a value.
    assert [row.coverage for row in result.coverage if row.slice is None] == [0.6]


def test_parameters_a_name_and_a_threshold() -> None:
    entry = {"python": "metrics.py:politeness", "word": "wait", "name": "waits", "threshold": 0.9}
    result = evaluate(config({"python": "metrics.py:politeness"}, entry))
    # "wait" is in 1 of 2, 1 of 2 and 0 of 1 sentences.
    assert values(result)["own.waits", "value", None] == pytest.approx(1 / 3)
    assert values(result)["own.politeness", "value", None] == 0.5
    assert [one.threshold for one in result.problems if one.metric == "own.waits"][:1] == [0.9]


def test_one_function_with_several_parameters() -> None:
    entry = {"python": "metrics.py:politeness"}
    for other in ({**entry, "word": "wait"}, {"own.politeness": {"word": "wait"}}):
        result = evaluate(config(entry, other))
        found = {row.parameters["word"]: row.value for row in result.metrics}
        assert found == {"please": 0.5, "wait": pytest.approx(1 / 3)}
    with pytest.raises(ConfigError, match="the same metric with the same parameters"):
        evaluate(config(entry, "own.politeness"))


def test_the_code_is_recorded() -> None:
    digest = sha256(POLITENESS.encode()).hexdigest()
    first = evaluate(config(), out="first")
    assert first.settings["own.politeness"] == f"metrics.py:politeness sha256:{digest}"
    Path("metrics.py").write_text(POLITENESS.replace("lower()", "upper()"), encoding="utf-8")
    other = evaluate(config(), baseline=read_run("first"))
    assert values(other)["own.politeness", "value", None] == 0.0
    assert any("evaluated in another way" in one for one in other.warnings)
    # What a run without it computed is comparable.
    plain = evaluate(config("looping"), baseline=read_run("first"))
    assert not any("evaluated in another way" in one for one in plain.warnings)
    with pytest.raises(ConfigError, match="evaluated in another way"):
        evaluate(config(gates=["own.politeness drop <= 0.1"]), baseline=read_run("first"))


def test_two_models_are_compared() -> None:
    rows = [{"sample_id": str(at), "response": f"Please {at}."} for at in range(30)]
    write_rows("polite.jsonl", rows)
    write_rows("rude.jsonl", [{**row, "response": "No."} for row in rows])
    samples = {"rude": "rude.jsonl", "polite": "polite.jsonl"}
    result = evaluate(config(samples=samples, interval={"resamples": 50}), out="both")
    (found,) = result.comparisons
    assert found.metric == "own.politeness"
    assert found.p is not None
    assert found.p < 0.01
    told = compare("both")
    assert [one.metric for one in told.comparisons] == ["own.politeness"]


GENERATOR = "f in FILE must return a number: it is a generator"

DECLARED = """
from __future__ import annotations
import valor_cli

@valor_cli.sample_metric(
    better="lower", bounds=(0, 10), outputs=("words", "commas"), needs=("references",), unit="count"
)
def f(sample: valor_cli.Sample, *, words: list[str] = ["x"], most: int | None = None) -> dict:
    words.append("y")
    if len(words) != 2:
        raise ValueError(words)
    count = len(sample.response.split())
    return {"words": None if count == 1 else count, "commas": sample.response.count(",")}
"""


def test_several_outputs_are_declared() -> None:
    write_rows(
        "answers.jsonl",
        [
            {"sample_id": "a", "response": "so, so, so", "references": ["r"]},
            {"sample_id": "b", "response": "so", "references": ["r"]},
            {"sample_id": "c", "response": "so so so so so", "references": ["r"]},
            {"sample_id": "d", "response": "nothing to compare with"},
        ],
    )
    result = evaluate(config(function(DECLARED), gates=["own.f.commas <= 1"]))
    # 3 and 5 words, b has no such value; 2, 0 and 0 commas.
    assert values(result) == {
        ("own.f", "words", None): 4.0,
        ("own.f", "commas", None): pytest.approx(2 / 3),
    }
    assert {(row.unit, row.direction) for row in result.metrics} == {("count", "lower")}
    assert result.passed
    (samples,) = result.samples
    assert list(samples.undefined)[1:] == [
        *("the function returned None for words", None, "no references")
    ]


@pytest.mark.parametrize(
    ("body", "value", "reason"),
    [
        ("return True", 1.0, None),
        ("return 3", 3.0, None),
        ("import numpy; return numpy.float32(0.5)", 0.5, None),
        ("import numpy; return numpy.bool_(False)", 0.0, None),
        ("return {'value': 0.25}", 0.25, None),
        ("print('talk'); return 0", 0.0, None),
        ("return None", None, "the function returned None"),
        ("return {}", None, "the function returned None"),
        ("return float('nan')", None, "the function returned nan, not a finite number"),
        ("return -float('inf')", None, "the function returned -inf, not a finite number"),
        ("return '0.5'", None, "the function returned '0.5' (str), not a number"),
        ("return [1]", None, "the function returned [1] (list), not a number"),
        (
            "return -1",
            None,
            (
                "the function returned -1, but its bounds are 0 or more; declare others with "
                "@valor_cli.sample_metric(bounds=…)"
            ),
        ),
        (
            "return {'other': 1}",
            None,
            "the function returned the output 'other', but declares value",
        ),
        ("return 10 ** 400", None, "OverflowError: int too large to convert to float"),
        ("raise KeyError('x')", None, "KeyError: 'x' (FILE, line 2)"),
        ("assert False", None, "AssertionError (FILE, line 2)"),
        ("exit(3)", None, "SystemExit: 3 (FILE, line 2)"),
        (
            "int('x')",
            None,
            "ValueError: invalid literal for int() with base 10: 'x' (FILE, line 2)",
        ),
        ("sample.response = 'x'", None, "FrozenInstanceError: cannot assign to field 'response'"),
    ],
)
def test_what_a_function_returns(
    body: str, value: float | None, reason: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = function(f"def f(sample):\n    {body}\n")
    write_rows("answers.jsonl", [{"sample_id": "a", "response": "x"}])
    result = evaluate(config(entry))
    assert values(result) == {("own.f", "value", None): value}
    (samples,) = result.samples
    (told,) = samples.undefined
    file = entry["python"].partition(":")[0]
    assert told == reason or (told or "").startswith((reason or "?").replace("FILE", file))
    failed = reason is not None and "returned None" not in reason
    assert ("parse_failure" in (samples.statuses or ())) is failed
    assert capsys.readouterr().out == ""


def test_a_bool_is_a_fraction() -> None:
    entry = function("def f(sample) -> bool:\n    return 'Please' in sample.response\n")
    (row,) = evaluate(config(entry)).metrics
    # Two of the five responses that there are.
    assert (row.value, row.unit, row.n) == (0.4, "fraction", 5)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(:\n", "FILE cannot be imported: SyntaxError: invalid syntax (FILE, line 1)"),
        (
            "x = 1\n1 / 0\n",
            "FILE cannot be imported: ZeroDivisionError: division by zero (FILE, line 2)",
        ),
        (
            "import no_such_module\n",
            (
                "FILE cannot be imported: ModuleNotFoundError: No module named 'no_such_module' "
                "(FILE, line 1)"
            ),
        ),
        ("exit()\n", "FILE cannot be imported: SystemExit: None (FILE, line 1)"),
        ("def ff(sample): ...\n", "FILE has no function 'f' (did you mean 'ff'?)"),
        ("def _f(sample): ...\n", "FILE has no function 'f'"),
        ("f = 3\n", "f in FILE is not a function"),
        ("class f: ...\n", "f in FILE is not a function"),
        ("f = len\n", "f in FILE is not a function"),
        ("def f(sample): yield 1\n", GENERATOR),
        ("def f(): ...\n", "f in FILE must take one argument: def f(sample, *, …)"),
        ("def f(*, a: int = 1): ...\n", "f in FILE must take one argument: def f(sample, *, …)"),
        (
            "def f(sample, a: int = 1): ...\n",
            "f in FILE: the parameter a must be keyword-only: def f(sample, *, …)",
        ),
        (
            "def f(sample, **more): ...\n",
            "f in FILE: the parameter more must be keyword-only: def f(sample, *, …)",
        ),
        ("def f(sample, *, a=1): ...\n", "f in FILE: the parameter a needs a type, as a: str"),
        (
            "def f(sample, *, a: dict = {}): ...\n",
            (
                "f in FILE: the parameter a has an unsupported type; there are str, int, float, "
                "bool, Literal, a list or tuple of these, and None beside them"
            ),
        ),
        ("def f(sample, *, a: int): ...\n", "f in FILE: the parameter a needs a default"),
        (
            "def f(sample, *, a: int = 'x'): ...\n",
            "f in FILE: the parameter a has a default of another type: 'x'",
        ),
        (
            "def f(sample, *, name: str = 'x'): ...\n",
            "f in FILE: the parameter name must be called otherwise: configs have that key already",
        ),
        (
            "def f(sample, *, a: 'Nope' = 1): ...\n",
            "f in FILE has an annotation that cannot be read: name 'Nope' is not defined",
        ),
        (
            "import valor_cli\n@valor_cli.sample_metric(better='up')\ndef f(sample): ...\n",
            (
                "FILE cannot be imported: ValueError: better is 'higher', 'lower' or None, not "
                "'up' (FILE, line 2)"
            ),
        ),
    ],
)
def test_what_is_said_of_a_file(code: str, message: str) -> None:
    entry = function(code)
    Path("run.yaml").write_text(
        "task: text_generation\ndata: {samples: answers.jsonl}\nmetrics:\n"
        f"  - {{python: '{entry['python']}'}}\n"
        'gates: ["own.f >= 0.5"]\n',
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        load_config("run.yaml", catalogue)
    file = entry["python"].partition(":")[0]
    told = message.replace("FILE", file)
    assert [str(one) for one in caught.value.problems] == [
        f"run.yaml:4:14: metrics.0.python: {told}"
    ]


@pytest.mark.parametrize(
    ("entry", "messages"),
    [
        ("{python: none.py:f}", ["3:20: metrics.0.python: none.py: no such file"]),
        (
            "{python: metrics.py}",
            [
                (
                    "3:20: metrics.0.python: expected FILE.py:FUNCTION or package.module:FUNCTION, "
                    "found 'metrics.py'"
                )
            ],
        ),
        (
            "{python: no_such_package.metrics:f}",
            [
                (
                    "3:20: metrics.0.python: no module 'no_such_package' is installed; a file is "
                    "named by its path, as metrics.py:FUNCTION"
                )
            ],
        ),
        (
            "{python: 3}",
            ["3:20: metrics.0.python: expected FILE.py:FUNCTION, found the number 3"],
        ),
        (
            "{python: metrics.py:politeness, name: a-b}",
            [
                "3:49: metrics.0.name: expected a name of letters, digits and _, found 'a-b'",
            ],
        ),
        (
            "{python: metrics.py:politeness, words: please}",
            [
                (
                    "3:43: metrics.0.words: unknown parameter "
                    "(did you mean 'word'?); own.politeness has word, threshold"
                )
            ],
        ),
        (
            "{python: metrics.py:politeness, word: 3}",
            ["3:49: metrics.0.word: expected text, found the number 3"],
        ),
        (
            "own.politeness",
            [
                (
                    "3:11: metrics.0: unknown metric 'own.politeness'; this config has no own "
                    "metrics; `metrics:` lists them, as {python: metrics.py:FUNCTION} or "
                    "{custom_judge: {name: NAME, …}}"
                )
            ],
        ),
        (
            "{python: metrics.py:politeness}, {python: metrics.py:politeness}",
            ["3:44: metrics.1: the same metric with the same parameters as metrics.0"],
        ),
        (
            "{python: metrics.py:politeness}, {python: other.py:politeness}",
            [
                (
                    "3:53: metrics.1.python: another function is called own.politeness already; "
                    "give this one a name:"
                )
            ],
        ),
    ],
)
def test_what_is_said_of_a_config(entry: str, messages: list[str]) -> None:
    Path("other.py").write_text("def politeness(sample): ...\n", encoding="utf-8")
    text = f"task: text_generation\ndata: {{samples: answers.jsonl}}\nmetrics: [{entry}]\n"
    Path("run.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config("run.yaml", catalogue)
    assert [str(one) for one in caught.value.problems] == [f"run.yaml:{one}" for one in messages]


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (
            "own.politness >= 0.5",
            (
                "gates.0.metric: unknown metric 'own.politness' (did you mean 'own.politeness'?); "
                "this config has own.politeness"
            ),
        ),
        (
            {"metric": "own.politeness", "output": "f1", "min": 0.5},
            "gates.0.output: unknown output 'f1'; 'own.politeness' has value",
        ),
    ],
)
def test_gates_name_own_metrics(gate: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        evaluate(config(gates=[gate]))
    assert message.replace("'own.politeness' has", "own.politeness has") in str(caught.value)


def test_values_of_the_environment_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_SECRET", "hush-hush-4711")
    with pytest.raises(ConfigError) as caught:
        evaluate(config({"python": "${OWN_SECRET}.py:f"}))
    assert "hush" not in str(caught.value)


def test_a_threshold_out_of_bounds() -> None:
    with pytest.raises(ConfigError, match=r"values of own\.politeness go from 0, not to -1"):
        evaluate(config({"python": "metrics.py:politeness", "threshold": -1}))


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"bounds": (1, 0)}, r"bounds are \(lowest, highest\)"),
        ({"bounds": (None, 1)}, r"bounds are \(lowest, highest\)"),
        ({"outputs": ()}, "outputs are one or more names"),
        ({"outputs": ("a", "a")}, "outputs are one or more names"),
        ({"outputs": "value"}, "outputs is a tuple of names"),
        ({"needs": ("answer",)}, "needs has 'answer'; the columns are user_input, response"),
    ],
)
def test_declarations_are_checked(declared: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_metric(**declared)


def test_a_file_leaves_nothing_behind(folder: Path) -> None:
    path = list(sys.path)
    evaluate(config())
    assert sys.path == path
    assert "metrics" not in sys.modules
    own = str(folder / "metrics.py")
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    assert [name[:10] for name, file in files.items() if file == own] == ["valor_own_"]
    assert sorted(one.name for one in folder.iterdir()) == ["answers.jsonl", "metrics.py"]


def test_paths_are_relative_to_the_config(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "run.yaml").write_text(json.dumps(config(samples="../answers.jsonl")))
    (folder / "metrics.py").rename(folder / "deep" / "metrics.py")
    result = evaluate("deep/run.yaml")
    assert values(result)["own.politeness", "value", None] == 0.5


def test_a_function_of_an_installed_module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "house").mkdir()
    (folder / "house" / "house_metrics.py").write_text(POLITENESS, encoding="utf-8")
    monkeypatch.syspath_prepend(folder / "house")
    result = evaluate(config({"python": "house_metrics:politeness"}))
    digest = sha256(POLITENESS.encode()).hexdigest()
    assert values(result)["own.politeness", "value", None] == 0.5
    assert result.settings["own.politeness"] == f"house_metrics:politeness sha256:{digest}"
    sys.modules.pop("house_metrics", None)


def random_rows(count: int) -> list[dict[str, Any]]:
    draw = random.Random(7)
    words = ("Please sit.", "Wait.", "please.", "boom", "No.")
    return [
        {
            "sample_id": f"s{at}",
            "response": " ".join(draw.choices(words, k=draw.randint(0, 3))),
            "tone": draw.choice(("warm", "cold")),
        }
        for at in range(count)
    ]


@pytest.mark.parametrize("pieces", [None, "4000"], ids=["whole", "pieces"])
def test_processes_and_pieces_change_nothing(
    pieces: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows("answers.jsonl", random_rows(300))
    asked = config("looping", {"python": "metrics.py:politeness"}, interval={"resamples": 20})
    alone = content(evaluate(asked))
    if pieces is not None:
        monkeypatch.setenv(PIECE_BYTES, pieces)
        assert content(evaluate(asked)) == alone
    assert content(evaluate(asked, jobs=2)) == alone


def test_the_order_of_rows_changes_no_value() -> None:
    rows = random_rows(100)
    write_rows("answers.jsonl", rows)
    asked = config(slices=["tone"])
    before = values(evaluate(asked))
    write_rows("answers.jsonl", rows[::-1])
    assert values(evaluate(asked)) == before


def test_another_process_loads_it_again() -> None:
    (metric,) = load_config(config(), catalogue).own
    sent = pickle.dumps(metric)
    # A process that knows nothing of the file.
    Path("metrics.py").unlink()
    module_of.cache_clear()
    assert pickle.loads(sent) == metric  # noqa: S301 - made above
    assert [one.name for one in pickle.loads(sent).parameters] == ["word"]  # noqa: S301


def test_code_is_refused_on_request(folder: Path) -> None:
    Path("metrics.py").write_text("open('ran', 'w').close()\n" + POLITENESS, encoding="utf-8")
    Path("run.yaml").write_text(json.dumps(config()), encoding="utf-8")
    entry = "{python: metrics.py:politeness}"
    for arguments in (
        ("evaluate", "run.yaml", "--no-plugins"),
        ("validate", "run.yaml", "--no-plugins"),
        ("estimate", "run.yaml", "--no-plugins"),
        ("calibrate", "run.yaml", "--no-plugins"),
        ("evaluate", "answers.jsonl", "--metric", entry, "--no-plugins"),
    ):
        done = program.run(*arguments, cwd=folder)
        assert done.returncode == 2
        assert "names code to run, which --no-plugins refuses" in done.stderr
    with pytest.raises(ConfigError, match="no-plugins"):
        evaluate("run.yaml", plugins=False)
    assert not Path("ran").exists()
    done = program.run("validate", "run.yaml", cwd=folder)
    assert done.stdout == "run.yaml: ok; loaded own.politeness\n"
    assert Path("ran").exists()


def test_without_a_config(folder: Path) -> None:
    entry = "{python: metrics.py:politeness, word: wait}"
    done = program.run(
        *("evaluate", "answers.jsonl", "--metric", entry, "--gate", "own.politeness >= 0.9"),
        *("--save-config", "deep/run.yaml", "--out", "first"),
        cwd=folder,
    )
    assert (done.returncode, done.stdout[:6]) == (1, "FAILED")
    again = evaluate("deep/run.yaml")
    assert content(again)[1] == content(read_run("first"))[1]


def test_the_schema_takes_own_metrics() -> None:
    entry = {"python": "metrics.py:politeness", "word": "please", "threshold": 0.5}
    asked = config(entry, gates=[{"metric": "own.politeness", "min": 0.5}])
    assert schema().is_valid(asked)
    for wrong in ({"python": 3}, {"python": "metrics.py"}):
        assert not schema().is_valid(config(wrong))


def test_runs_without_any_import_none_of_it(folder: Path) -> None:
    code = (
        "import sys, valor_cli\n"
        "valor_cli.evaluate({'task': 'text_generation', 'data': {'samples': 'answers.jsonl'}, "
        "'metrics': ['looping']})\n"
        "print([name for name in sys.modules if name.startswith('valor_cli.evaluators.own')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
