"""Charts: a run in; SVG, inside the HTML report or a file of its own, out."""
