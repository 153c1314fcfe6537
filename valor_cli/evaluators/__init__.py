"""One wing per kind of evidence; wings do not know each other."""
