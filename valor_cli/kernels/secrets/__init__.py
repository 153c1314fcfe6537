"""Secrets and personal data in text."""
