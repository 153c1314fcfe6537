"""Names to codes, one at a time or as a column of fields in a text."""
