"""Report files: results.json, samples.jsonl, CSV, JUnit and annotations."""
