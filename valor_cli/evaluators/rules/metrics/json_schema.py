"""JSON Schema: whether responses are JSON that is valid under a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from valor_cli.errors import printable
from valor_cli.evaluators.bounded_keywords import TooManyStepsError
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import rate_of_samples
from valor_cli.evaluators.schema_documents import (
    LONGEST,
    Document,
    Errors,
    SchemaFile,
    SchemaSource,
    errors_under,
)
from valor_cli.evaluators.verdicts import OUTPUTS, RATES, unreadable, verdict
from valor_cli.kernels.patterns.regex import PatternError, PatternTimeout
from valor_cli.kernels.replies.json_texts import (
    BeyondLimitsError,
    NotJsonError,
    inside_fence,
    parse_json,
)
from valor_cli.kernels.secrets.spans import Span, masked
from valor_cli.metric import Metric
from valor_cli.results import Mark

if TYPE_CHECKING:
    from jsonschema import ValidationError

LISTED = 5
"""Errors of one response that are told, in the order of the schema."""

_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}

Secrets = Callable[[str], Iterable[tuple[int, int]]]


def json_schema(
    texts: Texts,
    *,
    schema: SchemaSource = {},  # noqa: B006 - the default is shown, and never written to
    strip_fences: bool = False,
    check_formats: bool = False,
) -> Outcomes:
    """Whether the response is JSON that is valid under a JSON Schema.

    Strict JSON (RFC 8259): no NaN or Infinity, and nothing around it; with `strip_fences` a
    Markdown code fence around all of it is left out. Of a key that an object has twice the last
    value counts, and the reason says so. The schema is written in the config, or named as a file;
    it is of draft 2020-12 unless `$schema` names another, and `{}` asks for JSON only. `format` is
    an annotation, unless `check_formats`. Contexts are not judged. A response that is nested more
    than 100 levels deep is a parse failure. Skipped is one that the schema takes more than 50,000
    steps on, and 20 for each of its characters (recursive references can take any number), or its
    patterns longer than a second of processor time; so are those after many of that kind.

    Formula:
        a sample passes if its response is JSON and valid under the schema
        pass = samples that pass / samples with a response

    Pitfalls:
        Form, not content: wrong values in the right form pass. Under a schema without `required`
        and `additionalProperties: false` keys may be missing, and others may be present. A
        sentence before or behind the JSON fails, and so does a code fence without `strip_fences`.

    Example:
        Under a schema with the required key "answer", `{"answer": 42}` passes; `{"result": 42}` and
        `{"answer": 42` without its end do not: pass = 1 / 3 = 0.333.
    """
    data = texts.data
    errors = _errors_under(schema, check_formats=check_formats)
    return Outcomes.of(
        [
            missing("no response")
            if response is None
            else _judged(response, errors, data.secrets, strip_fences=strip_fences)
            for response in data.response
        ],
        OUTPUTS,
    )


def _errors_under(schema: Document | str, *, check_formats: bool) -> Errors:
    """What makes the errors of a value, made once for all samples."""
    document: Document | str = schema.document if isinstance(schema, SchemaFile) else schema
    if isinstance(document, str):
        raise ValueError(f"{document} was not read")
    if document == {} or document is True:
        return lambda value, characters: iter(())
    return errors_under(document, check_formats=check_formats)


def _judged(response: str, errors: Errors, secrets: Secrets, *, strip_fences: bool) -> Outcome:
    start, end = inside_fence(response) if strip_fences else (0, len(response))
    try:
        parsed = parse_json(response[start:end])
        first = list(islice(errors(parsed.value, end - start), LISTED + 1))
        told = [
            {"path": _shown(one.json_path, secrets), "message": _shown(_said(one), secrets)}
            for one in first[:LISTED]
        ]
    except NotJsonError as error:
        at = start + error.position
        mark = (Mark("response", at, at + 1, "not JSON"),) if at < len(response) else ()
        fence = " (it stands in a code fence)" if inside_fence(response)[0] > start else ""
        return verdict(False, reason=f"not JSON: {error.message}{fence}", marks=mark)
    except (BeyondLimitsError, PatternError) as why:
        return unreadable(str(why))
    except (TooManyStepsError, PatternTimeout) as why:
        return Outcome(status="skipped", reason=str(why))
    except RecursionError:
        return unreadable("the schema leads too deep into it")
    except ArithmeticError:
        return unreadable("the schema cannot be applied to a number as large as one in it")
    twice = (
        f'the key "{_shown(parsed.repeated[0], secrets)}" stands twice' if parsed.repeated else ""
    )
    if not told:
        return verdict(True, reason=twice or None)
    reason = f"{told[0]['path']}: {told[0]['message']}"
    if len(first) > 1:
        reason += f" (and {len(first) - 1 if len(first) <= LISTED else 'many'} more)"
    return verdict(
        False,
        reason="; ".join(filter(None, (reason, twice))),
        details={"errors": told, "all_listed": len(first) <= LISTED},
    )


def _said(error: ValidationError) -> str:
    """An error without the value, which may be long or secret."""
    if error.validator is None:
        return "the schema allows nothing here"
    kind = _KINDS.get(type(error.instance), "number")
    whole = repr(error.instance)
    if error.message.startswith(whole):
        return f"this {kind}{error.message[len(whole) :]}"
    return error.message


def _shown(text: str, secrets: Secrets) -> str:
    """A message on one line, cut, with what no report may show masked."""
    safe = masked(text, [Span(start, end, "") for start, end in secrets(text)])
    return printable(safe if len(safe) <= LONGEST else f"{safe[:LONGEST]}…")


JSON_SCHEMA = Metric(
    name="json_schema",
    measure=json_schema,
    compute=rate_of_samples,
    reference="jsonschema.Draft202012Validator",
    citation="JSON Schema: A Media Type for Describing JSON Documents, draft 2020-12; RFC 8259",
    outputs=RATES,
    aliases=("JSON Schema Evaluator", "JSONSchema"),
    needs=("response",),
    threshold=0.5,
)
