"""JSON: documents, records and typed values."""
