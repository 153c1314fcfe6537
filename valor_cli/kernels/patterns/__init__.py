"""Patterns: users' regular expressions and conditions, in bounded time."""
