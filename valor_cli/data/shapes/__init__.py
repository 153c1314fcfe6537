"""The shapes of input: objects, scores, samples and label maps, as frozen columns."""
