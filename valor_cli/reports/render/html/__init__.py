"""Reports in HTML, one self-contained page."""
