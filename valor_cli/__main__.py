"""`python -m valor_cli`, the same as `valor`."""

from valor_cli.cli.app import main

main()
