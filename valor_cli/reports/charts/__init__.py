"""SVG charts of a run, for the HTML report or as separate files."""
