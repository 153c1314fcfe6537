"""`valor schema`: print JSON Schemas for editors and readers."""

from __future__ import annotations

from typing import Annotated

import typer

from valor_cli.cli.output import say


def schema(
    results: Annotated[
        bool, typer.Option("--results", help="Print the schema of results.json instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of the config, for editors.

    \b
    Example:
      valor schema > valor.schema.json
    """
    import json

    if results:
        from valor_cli.results.schema import results_schema

        shown = results_schema()
    else:
        from valor_cli import catalogue
        from valor_cli.config import json_schema

        shown = json_schema(catalogue)
    say(json.dumps(shown, indent=2, ensure_ascii=False))
