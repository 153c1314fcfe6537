"""Text classifiers: probabilities of labels."""
