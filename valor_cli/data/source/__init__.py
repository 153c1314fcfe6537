"""Sources: paths, globs, URLs and compression, to blocks of bytes."""
