"""PNG: headers, chunks and pixels."""
