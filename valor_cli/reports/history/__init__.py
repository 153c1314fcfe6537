"""Reports of a history: the trend of each value over many runs."""
