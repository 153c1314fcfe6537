"""A finished run in; JSON, a terminal summary, Markdown or HTML out. One module per format."""
