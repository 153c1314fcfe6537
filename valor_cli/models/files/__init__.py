"""Model files: folders, formats, checksums, and the packaged models."""
