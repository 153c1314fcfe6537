"""Reports of a run: JSON, terminal, Markdown, HTML and more; one module per format."""
