"""Look up the images and objects that reports show."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from valor_cli.data.formats.images import ImageFolder
from valor_cli.data.shapes.objects.gallery import Gallery
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.errors import printable
from valor_cli.evaluators.detection.load.images_and_labels import Frame, images_of
from valor_cli.evaluators.detection.load.joining import positions
from valor_cli.evaluators.detection.load.objects import Side


def gallery_of(truth: ObjectFile, frame: Frame, side: Side) -> Gallery:
    """A gallery of the objects, without images."""
    images = images_of(truth)
    order = np.argsort(positions(images["id"], frame.image_ids))
    columns = {
        name: images[name][order] if name in images.columns else None
        for name in ("file_name", "width", "height")
    }
    return Gallery(
        truth_ids=side.ids,
        image_ids=frame.image_ids,
        files=columns["file_name"],
        width=columns["width"],
        height=columns["height"],
    )


def with_images(gallery: Gallery, frame: Frame, folder: str | None) -> tuple[Gallery, list[str]]:
    """Add image files from a folder, with a warning if some are missing."""
    if folder is None:
        return gallery, []
    pictures = ImageFolder(folder)
    names = (frame.image_ids.astype(str) if gallery.files is None else gallery.files).tolist()
    found = [name and pictures.find(name) for name in names]
    files = np.array([file or name for file, name in zip(found, names, strict=True)], object)
    kept = (frame.image_number >= 0).tolist()
    missing = [
        name for name, file, keep in zip(names, found, kept, strict=True) if keep and not file
    ]
    warnings = []
    if missing:
        warnings.append(
            f"images: {len(missing):,} of {sum(kept):,} images have no file in {folder} "
            f"(the first: {printable(str(missing[0]))}); they are drawn without"
        )
    return replace(gallery, files=files, size_of=pictures.size), warnings
