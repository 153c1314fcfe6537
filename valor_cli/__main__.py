"""Run `valor` as `python -m valor_cli`."""

from valor_cli.cli.app import main

main()
