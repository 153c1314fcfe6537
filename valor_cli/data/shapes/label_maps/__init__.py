"""Label maps: images whose pixels are labels."""
