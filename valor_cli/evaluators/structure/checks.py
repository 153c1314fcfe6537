"""Config of the checks that `agent_sanity` can make."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from annotated_types import Interval, MinLen
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from valor_cli.errors import did_you_mean
from valor_cli.evaluators.inputs import searchable
from valor_cli.evaluators.schema_documents import SchemaSource

Written: TypeAlias = dict[str, Any]
"""A check as results have it."""


def _inside(pattern: str) -> str:
    if not pattern or pattern.startswith("/") or "\\" in pattern or "\0" in pattern:
        raise ValueError("expected a path inside the folder, as reports/*.json")
    if any(part in ("", ".", "..") for part in pattern.split("/")):
        raise ValueError("expected a path inside the folder, without '.', '..' and empty parts")
    return pattern


Files = Annotated[
    str,
    AfterValidator(_inside),
    Field(description="path in the folder, or a pattern with *, ?, [abc], and ** for any folders"),
]
"""Files of the folder: a path, or a pattern with *, ?, [abc], and ** for any folders."""


_KIND: Any = Field(description="which check it is")


class _Check(BaseModel):
    # Built when there is a check: every run imports this.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Exists(_Check):
    """A file of this path or pattern must exist."""

    check: Literal["exists"] = _KIND
    path: Files


class Layout(_Check):
    """A file of each path and pattern must exist."""

    check: Literal["layout"] = _KIND
    # Behind `_known`, what was a list in the config is one, and no tuple.
    paths: Annotated[
        tuple[Files, ...],
        MinLen(1),
        Field(strict=False, description="paths and patterns, each of which must have a file"),
    ]


class NotEmpty(_Check):
    """A file must contain more than white space."""

    check: Literal["not_empty"] = _KIND
    path: Files = "**/*"


class MinSize(_Check):
    """A file must have a minimum size in bytes."""

    check: Literal["min_size"] = _KIND
    path: Files
    bytes: Annotated[int, Interval(ge=1), Field(description="the fewest bytes")]


class MinPages(_Check):
    """A PDF must have a minimum number of pages."""

    check: Literal["min_pages"] = _KIND
    path: Files = "**/*.pdf"
    pages: Annotated[int, Interval(ge=1), Field(description="the fewest pages")]


class Parses(_Check):
    """A file must parse as the format of its extension or of `format`; others pass."""

    check: Literal["parses"] = _KIND
    path: Files = "**/*"
    format: Literal["json", "jsonl", "yaml", "csv"] | None = Field(
        None, description="what the file must be; omitted: as its name says"
    )


class ValidJson(_Check):
    """A file must be JSON that is valid under a JSON Schema, inline or in a file."""

    check: Literal["json_schema"] = _KIND
    path: Files
    document: SchemaSource = Field(
        alias="schema", description="the JSON Schema, or the path of a file with it"
    )


class Matches(_Check):
    """A regular expression must match, or must not match, in a file."""

    check: Literal["regex"] = _KIND
    path: Files
    pattern: Annotated[str, AfterValidator(searchable), Field(description="the regular expression")]
    expected: Literal["found", "absent"] = Field(
        "found", description="whether it must be found, or must not be"
    )


Check: TypeAlias = Exists | Layout | NotEmpty | MinSize | MinPages | Parses | ValidJson | Matches

_KINDS: dict[str, type[Check]] = {
    "exists": Exists,
    "layout": Layout,
    "not_empty": NotEmpty,
    "min_size": MinSize,
    "min_pages": MinPages,
    "parses": Parses,
    "json_schema": ValidJson,
    "regex": Matches,
}


def _as_written(checks: tuple[Check, ...]) -> tuple[Written, ...]:
    return tuple(
        {
            field.alias or name: getattr(check, name)
            for name, field in type(check).model_fields.items()
        }
        for check in checks
    )


def _known(given: object) -> object:
    name = given.get("check") if isinstance(given, dict) else None
    if not isinstance(name, str) or name not in _KINDS:
        near = did_you_mean(name, _KINDS) if isinstance(name, str) else ""
        raise ValueError(f"expected a mapping whose `check` is one of {', '.join(_KINDS)}{near}")
    return given


Checks = Annotated[
    tuple[Annotated[Check, Field(discriminator="check"), BeforeValidator(_known)], ...],
    MinLen(1),
    AfterValidator(_as_written),
]
"""Checks as a config writes them; once validated, mappings with every key, as results have them."""


def check_of(written: Written) -> Check:
    """The check in a validated mapping."""
    kind = _KINDS[written["check"]]
    names = {field.alias or name: name for name, field in kind.model_fields.items()}
    return kind.model_construct(None, **{names[key]: value for key, value in written.items()})
