"""Texts as models take them: tokens, windows and batches."""
