"""Partitions: files and shards, cut into ranges that are read one at a time."""
