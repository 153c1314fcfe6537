"""Folders: which files are under them."""

from __future__ import annotations

from pathlib import Path

from valor_cli.data.formats.folders import files_under


def test_links_to_folders_are_followed_once_and_never_in_circles(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data" / "inside", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    for path in (inside / "a.png", outside / "b.PNG", outside / "c.txt"):
        path.write_bytes(b"")
    (tmp_path / "data" / "link").symlink_to(outside)
    (tmp_path / "data" / "again").symlink_to(inside)
    (tmp_path / "data" / "round").symlink_to(tmp_path)
    (inside / "here").symlink_to(inside)
    assert files_under(str(tmp_path / "data"), ".png") == ["again/a.png", "link/b.PNG"]
