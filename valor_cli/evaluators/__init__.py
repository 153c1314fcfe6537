"""One wing per kind of evidence; wings do not import each other."""
