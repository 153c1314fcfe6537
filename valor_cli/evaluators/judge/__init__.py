"""Judges: what a language model that is asked says of responses and of what was retrieved."""

from __future__ import annotations
