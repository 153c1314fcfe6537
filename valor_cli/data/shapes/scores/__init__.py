"""Classification samples: labels and scores."""
