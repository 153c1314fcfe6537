"""Evidence of text metrics: the outcome of each metric on each sample."""
