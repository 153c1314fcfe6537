"""Language models: log-probabilities of text."""
