"""Sections: the content of reports, whatever the medium."""
