"""Text: tokens, sentences, edits, n-grams and subsequences."""
