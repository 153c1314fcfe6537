"""Make perturbed copies of text samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from valor_cli.data.conversion.output import check_place, write_file
from valor_cli.data.formats.records import FORMS, RawRows, read_raw_rows, rows_as
from valor_cli.data.shapes.samples.schema import SCHEMA, other_names
from valor_cli.data.source.files import STDIN
from valor_cli.data.source.inputs import extension_of
from valor_cli.errors import LISTED, ConfigError, DataError, Problem, did_you_mean
from valor_cli.kernels.text.perturbations import CHANGES, COPIES, Intensity, perturbed

Field: TypeAlias = Literal["user_input", "response", "references", "retrieved_contexts"]

ENCODINGS: Final = ("base16", "base64")
"""Kinds that the copies name among their categories, for `encoding_guardrail` looks there."""


class Perturbing(Struct, frozen=True):
    """Options of a perturbation.

    Attributes:
        source, out: The file, and the one to write; "-" is standard input, and output.
        kinds: Keys of `CHANGES`; a copy of every row for each.
        intensity: How much is changed.
        seed: Random seed.
        field: The text that is changed.
        columns: Standard name to the file's own.
        originals: Whether the rows themselves are written too.
        keep_response: Whether copies keep the response, though it answers another input.
        force: Whether to replace an existing file.
    """

    source: str
    out: str
    kinds: Sequence[str]
    intensity: Intensity = "medium"
    seed: int = 0
    field: Field = "user_input"
    columns: Mapping[str, str] | None = None
    originals: bool = True
    keep_response: bool = False
    force: bool = False


class Perturbed(Struct, frozen=True):
    """The perturbed content, if it goes to standard output, and messages."""

    content: bytes | None
    summary: str
    warnings: Sequence[str]


def perturb(options: Perturbing) -> Perturbed:
    """Make perturbed copies of the rows of a file, linked to their originals.

    Raises:
        ConfigError: There is no such kind.
        DataError: The file cannot be read or has no such text; the output cannot be written.
    """
    unknown = [kind for kind in options.kinds if kind not in CHANGES]
    if unknown or not options.kinds:
        name = unknown[0] if unknown else ""
        problem = Problem("--kind", f"no kind '{name}'{did_you_mean(name, CHANGES)}")
        raise ConfigError(problem, hint=f"kinds: {', '.join(CHANGES)}")
    if options.out != STDIN:
        check_place(options.out, suffixes=(), force=options.force)
    source = read_raw_rows(options.source)
    form = (
        source.form if options.out == STDIN else FORMS.get(extension_of(options.out), source.form)
    )
    copier = _Copier(source, options)
    if form == "csv" and copier.drops_response:
        message = "a copy has no response yet, which a CSV file cannot say"
        hint = "write JSONL (-o NAME.jsonl), or keep the old ones with --keep-response"
        raise DataError(Problem(options.out, message), hint=hint)
    rows = list(copier.rows())
    content = rows_as(rows, form, source.delimiter)
    if options.out != STDIN:
        write_file(options.out, content)
    return Perturbed(
        content if options.out == STDIN else None, copier.summary(len(rows)), copier.warnings()
    )


class _Copier:
    """Copies rows, and counts what it did."""

    def __init__(self, source: RawRows, options: Perturbing) -> None:
        self.wish = options
        self.source = source
        names = tuple(dict.fromkeys(name for row in source.rows for name in row))
        layout = SCHEMA.layout(names, options.columns or {})
        keys = {name: str(path[0]) for name, path in layout.items() if len(path) == 1}
        if options.field not in keys:
            message = (
                f"there is no column {other_names(options.field)}; there is: {', '.join(names)}"
            )
            raise DataError(Problem(source.path, message), hint="name it with --column")
        self.text = keys[options.field]
        self.sample_id = keys.get("sample_id")
        self.response = keys.get("response")
        self.categories = keys.get("categories", "categories")
        self.link = keys.get("perturbed_from", "perturbed_from")
        self.copied = 0
        self.unchanged = 0
        if self.sample_id is not None:
            self._check_ids(self.sample_id)

    def _check_ids(self, key: str) -> None:
        """Copies name their originals: every row has an id, or none has.

        Raises:
            DataError: A row has none, or something that is no name.
        """
        wrong = [
            Problem(f"{self.source.path}, row {number}: {key}", "expected text or a whole number")
            for number, row in enumerate(self.source.rows, 1)
            if type(row.get(key)) not in (str, int) or row.get(key) == ""
        ]
        if wrong:
            raise DataError(wrong[:LISTED], total=len(wrong), hint="give every row an id, or none")

    @property
    def drops_response(self) -> bool:
        """Whether copies drop the response, which answers the original question."""
        asked = self.wish.field != "response" and not self.wish.keep_response
        return asked and self.response is not None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every row, and behind it its copies."""
        for number, row in enumerate(self.source.rows, 1):
            identity = str(number) if self.sample_id is None else row.get(self.sample_id)
            named = {"sample_id": identity, **row} if self.sample_id is None else dict(row)
            if self.wish.originals:
                yield named
            if row.get(self.link) not in (None, ""):
                continue  # a copy itself
            for kind in self.wish.kinds:
                yield from self._copies(named, str(identity), kind)

    def _copies(self, row: dict[str, Any], identity: str, kind: str) -> Iterator[dict[str, Any]]:
        options = self.wish
        seed = f"{options.seed} {kind} {options.field} {identity}"
        text = _changed(row.get(self.text), kind, options.intensity, seed)
        if text == row.get(self.text) and kind != "copy":
            self.unchanged += 1
            return
        name = f"{kind}-{options.intensity}"
        for number in range(1, 1 + (COPIES[options.intensity] if kind == "copy" else 1)):
            own = f"{identity}~{name}" + (f"-{number}" if kind == "copy" else "")
            copy = {**row, self.sample_id or "sample_id": own, self.text: text}
            if self.drops_response:
                copy.pop(self.response or "", None)
            if kind in ENCODINGS:
                copy[self.categories] = _with(row.get(self.categories), kind)
            self.copied += 1
            yield {**copy, self.link: identity, "perturbation": name}

    def summary(self, written: int) -> str:
        """What was done, in a line."""
        where = "standard output" if self.wish.out == STDIN else self.wish.out
        return f"wrote {written:,} rows to {where}: {self.copied:,} perturbed copies"

    def warnings(self) -> list[str]:
        """Warnings about rows without a copy, and about responses."""
        told = []
        if self.unchanged:
            told.append(f"{self.unchanged:,} copies left out: there is nothing in them to change")
        if self.drops_response and self.copied:
            told.append("the copies have no response yet: ask the models again")
        return told


def _changed(value: Any, kind: str, intensity: Intensity, seed: str) -> Any:
    """A text, or each text of a list, changed."""
    if isinstance(value, str):
        return perturbed(value, kind, intensity, seed)
    if isinstance(value, list):
        return [_changed(one, kind, intensity, f"{seed} {at}") for at, one in enumerate(value)]
    return value


def _with(categories: Any, kind: str) -> list[Any]:
    listed = categories if isinstance(categories, list) else [categories] if categories else []
    return [*listed, kind]
