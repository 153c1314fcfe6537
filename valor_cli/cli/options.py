"""Options that several commands have, and how what is given to them is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from valor_cli.errors import ConfigError, Problem

if TYPE_CHECKING:
    from valor_cli.pipeline.plan import Plan

Config: TypeAlias = Annotated[str, typer.Argument(metavar="CONFIG", help="A YAML config.")]

Overrides: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a value of the config."),
]

NoPlugins: TypeAlias = Annotated[
    bool, typer.Option("--no-plugins", help="Refuse configs that name code to run (own metrics).")
]

FirstSamples: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Use the first N samples only.")
]

TextOrJson: TypeAlias = Annotated[
    Literal["text", "json"], typer.Option("--format", help="How to print.")
]

Quiet: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Errors only.")]


def planned(config: str, overrides: list[str] | None, *, plugins: bool) -> Plan:
    """The plan of a config.

    Raises:
        ConfigError: The config cannot be used.
    """
    from valor_cli import catalogue, pipeline
    from valor_cli.config import load_config

    return pipeline.make_plan(
        load_config(Path(config), catalogue, overrides or (), plugins=plugins)
    )


def check_folder(out: str | None) -> None:
    """Check that a folder for reports has a name.

    Raises:
        ConfigError: It is an empty text.
    """
    if out == "":
        raise ConfigError(Problem("--out", "expected a folder, found an empty text"))


def listed(asked: str) -> tuple[str, ...]:
    """The names in a list with commas, once each."""
    return tuple(dict.fromkeys(name.strip() for name in asked.split(",")))
