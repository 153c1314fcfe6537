"""`valor perturb`: write perturbed copies of text samples to test robustness."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from valor_cli.cli.output import say, warn
from valor_cli.errors import ConfigError, Problem
from valor_cli.masking import without_secrets


def perturb(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="JSONL, JSON or CSV; - is standard input.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="What to change, as typo,case; the kinds are listed above.",
        ),
    ],
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="FILE", help="File to write; - is stdout.")
    ],
    intensity: Annotated[
        Literal["low", "medium", "high"], typer.Option(help="How much to change.")
    ] = "medium",
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random changes.")] = 0,
    field: Annotated[
        Literal["user_input", "response", "references", "retrieved_contexts"],
        typer.Option(help="The text to change."),
    ] = "user_input",
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN", help="A standard column name and the file's name for it."
        ),
    ] = None,
    only_copies: Annotated[
        bool,
        typer.Option("--only-copies", help="Write the copies only, without the original rows."),
    ] = False,
    keep_response: Annotated[
        bool,
        typer.Option(
            "--keep-response", help="Keep the responses, although they answer the original text."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Write samples and perturbed copies, linked by perturbed_from.

    Copies have no response until a model has answered them. When original and copies are evaluated
    together, a metric with a threshold reports flips: samples that a change of the text moves to
    the other side of the threshold.

    \b
    Kinds:
      typo         typing errors: a neighbouring key, letters swapped, missing or doubled
      case         words in capitals, or with upper and lower case swapped
      word_swap    words swapped with the next one
      ocr          characters that OCR confuses: rn for m, O for 0, l for 1
      comma        commas where none belong
      punctuation  words without their punctuation
      word_repeat  words repeated
      homoglyph    Cyrillic letters that look like Latin ones
      base16       the longest words in base16; with --intensity high all of the text
      base64       the same in base64
      copy         nothing changed: 1, 3 or 9 copies, to see whether answers agree

    \b
    Example:
      valor perturb sample_data/text_generation/answers.jsonl --kind typo,ocr -o asked_again.jsonl
    """
    from valor_cli.pipeline.perturb import Perturbing
    from valor_cli.pipeline.perturb import perturb as run

    pairs = [one.partition("=") for one in column or ()]
    if wrong := [name for name, _, own in pairs if not own]:
        raise ConfigError(Problem("--column", f"expected NAME=COLUMN, found '{wrong[0]}'"))
    done = run(
        Perturbing(
            source=source,
            out=out,
            kinds=tuple(dict.fromkeys(one.strip() for one in kind.split(",") if one.strip())),
            intensity=intensity,
            seed=seed,
            field=field,
            columns={name: own for name, _, own in pairs},
            originals=not only_copies,
            keep_response=keep_response,
            force=force,
        )
    )
    for warning in dict.fromkeys(done.warnings):
        warn(warning)
    if done.content is not None:
        say(done.content)
    typer.echo(without_secrets(done.summary), err=True)
