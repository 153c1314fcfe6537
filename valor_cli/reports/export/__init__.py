"""Runs sent to other tools: experiment trackers, and comments of pull requests."""
