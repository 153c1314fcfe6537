"""Load JSON Schemas named in configs and check that they can be applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import AfterValidator, Strict, ValidationInfo

from valor_cli.errors import printable
from valor_cli.evaluators.bounded_keywords import Budget, TooManyStepsError, bounded
from valor_cli.kernels.patterns.regex import PatternError, parse_pattern
from valor_cli.kernels.replies.json_texts import BeyondLimitsError, NotJsonError, parse_json
from valor_cli.paths import from_folder

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Resource
    from referencing._core import Resolver

Document: TypeAlias = Mapping[str, Any] | bool

Errors: TypeAlias = "Callable[[Any, int], Iterator[ValidationError]]"
"""What finds the errors of a value; it is told how many characters its JSON has."""

LONGEST = 200
"""Characters of a message of the jsonschema package that are shown."""

_DATA = ("const", "enum", "default", "examples")
"""Keywords that hold data, not schemas."""

_PUBLISHED = ("http://json-schema.org/", "https://json-schema.org/")

_ANY: tuple[Any, ...] = (None, {}, [], "", 0)
"""A value of each kind that has parts or none: references in a circle show with one of them."""


class SchemaFile(str):
    """The path of a schema in the config, and its content."""

    __slots__ = ("document",)

    document: Document

    def __reduce__(self) -> tuple[Any, ...]:
        return _schema_file, (str(self), self.document)


def _schema_file(path: str, document: Document) -> SchemaFile:
    found = SchemaFile(path)
    found.document = document
    return found


def _checked(document: dict[str, Any]) -> dict[str, Any]:
    check_schema(document)
    return document


def _read(path: str, info: ValidationInfo) -> SchemaFile:
    """The schema in a file; the path starts at the config's folder."""
    if not path:
        raise ValueError("a path of a JSON Schema is needed, found an empty text")
    place = from_folder((info.context or {}).get("folder", ""), path)
    try:
        with open(place, encoding="utf-8-sig") as file:
            text = file.read()
    except OSError as error:
        raise ValueError(f"cannot read {printable(place)}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{printable(place)} is not UTF-8") from None
    try:
        document = parse_json(text).value
    except NotJsonError as error:
        raise ValueError(f"{printable(place)} is not JSON: {error.message}") from None
    except BeyondLimitsError as error:
        raise ValueError(f"{printable(place)} cannot be used: {error}") from None
    if not isinstance(document, dict | bool):
        raise ValueError(f"{printable(place)}: expected a JSON Schema, which is an object")
    try:
        check_schema(document)
    except ValueError as error:
        raise ValueError(f"{printable(place)}: {error}") from None
    return _schema_file(path, document)


SchemaSource = (
    Annotated[dict[str, Any], AfterValidator(_checked)]
    | Annotated[bool, Strict()]
    | Annotated[str, AfterValidator(_read)]
)
"""A JSON Schema, or the path of a file that has one."""


def draft_of(document: Document) -> type[Validator]:
    """The validator for `$schema`, otherwise that of draft 2020-12.

    Raises:
        ValueError: It names no draft that is known.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    if isinstance(document, bool) or "$schema" not in document:
        return Draft202012Validator
    name = document["$schema"]
    # Unlike None, no default at all would mean the newest draft, and a warning.
    none: Any = None
    found = validator_for({"$schema": name}, default=none) if isinstance(name, str) else None
    if found is None:
        raise ValueError(
            f"$.$schema: {printable(repr(name))} is no known draft; known are 3, 4, 6, 7, 2019-09 "
            'and 2020-12, which is "https://json-schema.org/draft/2020-12/schema"'
        )
    return found


def check_schema(document: Document) -> None:
    """Check that a schema can be applied to any JSON.

    Raises:
        ValueError: It breaks the rules of its draft, has a pattern that is none, or refers to what
            it does not hold itself (nothing is fetched); the message has the place in it.
    """
    from jsonschema.exceptions import best_match

    draft = draft_of(document)
    try:
        broken = best_match(draft(draft.META_SCHEMA).iter_errors(document))
        if broken is not None:
            message = printable(broken.message)
            cut = message if len(message) <= LONGEST else f"{message[:LONGEST]}…"
            raise ValueError(f"no JSON Schema: {printable(broken.json_path)}: {cut}")
        _check_parts(document, draft)
        errors = errors_under(document, check_formats=False)
        for value in _ANY:
            next(errors(value, 0), None)
    except TooManyStepsError:
        raise ValueError(
            "no JSON Schema that can be applied: its references lead on and on"
        ) from None
    except RecursionError:
        raise ValueError("no JSON Schema: its references lead round in a circle") from None


def errors_under(document: Document, *, check_formats: bool) -> Errors:
    """A validator for a checked schema, with bounded time and no network access.

    It raises a `TooManyStepsError` or a `PatternTimeout` where that ends before the value does.

    Raises:
        ValueError: `$schema` names no draft that is known.
    """
    from jsonschema import validators
    from referencing import Registry

    draft, budget = draft_of(document), Budget()
    extend: Callable[..., type[Validator]] = validators.extend
    validator = extend(draft, bounded(draft.VALIDATORS, budget))(
        _without_dialect(document),
        # A registry of one's own fetches nothing.
        registry=Registry(),
        format_checker=draft.FORMAT_CHECKER if check_formats else None,
    )

    def errors(value: Any, characters: int) -> Iterator[ValidationError]:
        budget.begin(characters)
        return iter(validator.iter_errors(value))

    return errors


def _without_dialect(node: Any) -> Any:
    """The schema without `$schema`, which would bring in another validator than the one chosen."""
    if isinstance(node, list):
        return [_without_dialect(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        name: one if name in _DATA else _without_dialect(one)
        for name, one in node.items()
        if not (name == "$schema" and isinstance(one, str))
    }


def _check_parts(document: Document, draft: type[Validator]) -> None:
    """Look at every part of a schema, and at every one that those refer to."""
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import specification_with

    name = str(draft.META_SCHEMA.get("$id", draft.META_SCHEMA.get("id")))
    root = specification_with(name).create_resource(document)
    todo = [(root, REGISTRY.resolver_with_root(root))]
    seen: set[int] = set()
    while todo:
        resource, resolver = todo.pop()
        part = resource.contents
        if id(part) in seen or not isinstance(part, dict):
            continue
        seen.add(id(part))
        if validator_for(part, default=draft) is not draft:
            raise ValueError(f"$schema {part['$schema']!r} inside a schema of another draft")
        _check_patterns(part)
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(reference := part.get(keyword), str):
                try:
                    found = resolver.lookup(reference)
                except Unresolvable:
                    raise ValueError(
                        f'{keyword} "{printable(reference)}" is not in the schema, '
                        "and nothing is fetched"
                    ) from None
                if not reference.startswith(_PUBLISHED):
                    target = specification_with(name).create_resource(found.contents)
                    todo.append((target, found.resolver))
        todo += _parts(resource, resolver)


def _parts(
    resource: Resource[Any], resolver: Resolver[Any]
) -> Iterator[tuple[Resource[Any], Resolver[Any]]]:
    for part in resource.subresources():
        yield part, resolver.in_subresource(part)


def _check_patterns(part: Mapping[str, Any]) -> None:
    named = part.get("patternProperties")
    patterns = list(named) if isinstance(named, dict) else []
    if isinstance(part.get("pattern"), str):
        patterns.append(part["pattern"])
    for pattern in patterns:
        try:
            parse_pattern(pattern)
        except PatternError as error:
            raise ValueError(f'pattern "{printable(pattern)}": {error}') from None
