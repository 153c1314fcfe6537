"""Infer a config from files: what each holds, which task they are of, how they belong together."""

from valor_cli.pipeline.inference.inferred import Inferred, infer

__all__ = ["Inferred", "infer"]
