"""The guide to choosing metrics: its content and how it is shown."""
