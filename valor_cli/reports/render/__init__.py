"""Renderers, one package per medium."""
