"""The explorer of a report: every sample of a run as columns, for its page to filter and draw."""
