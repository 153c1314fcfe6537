"""Load the weights of SummaC-Conv.

The authors' own file is a pickle file, which valor never reads: it is converted once.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra
from valor_cli.kernels.vectors.summac import EDGES, Layers
from valor_cli.models.protocols import ModelIdentity

CONVERT = (
    'convert it once, where torch is installed: python -c "import torch; from safetensors.torch '
    "import save_file; save_file(torch.load('summac_conv_vitc_sent_perc_e.bin', weights_only=True, "
    "map_location='cpu'), 'summac_conv.safetensors')\""
)
"""What to do with a pickle."""

_LARGEST = 1 << 20
"""Bytes of a file; the weights themselves are 59 numbers at most."""

_HIGHEST = 1e9

_BINS = {len(edges) - 1: name for name, edges in EDGES.items()}
_SHAPES: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "mlp.weight": tuple((1, bins) for bins in _BINS),
    "mlp.bias": ((1,),),
    "layer_final.weight": ((2, 3),),
    "layer_final.bias": ((2,),),
}
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle")


class ConvolutionWeights(Struct, frozen=True):
    """Weights of SummaC-Conv.

    Attributes:
        identity: The file.
        bins: The name of their bins, in `EDGES`.
        layers: Themselves.
    """

    identity: ModelIdentity
    bins: str
    layers: Layers


def convolution_weights(path: str) -> ConvolutionWeights:
    """Load weights from a safetensors, .npz or JSON file.

    Args:
        path: Of the file; JSON is an object of lists. The arrays are called as in the authors'
            own file: mlp.weight (1, bins), mlp.bias (1), layer_final.weight (2, 3) and
            layer_final.bias (2). There are 23 bins ("percentile") or 50 ("even50").

    Raises:
        ConfigError: The file cannot be read, is a pickle, or holds something else.
        MissingExtraError: It is a safetensors file, and safetensors is not installed.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix in _PICKLES:
        raise ConfigError(Problem(path, "is a pickle file, which valor never reads"), hint=CONVERT)
    if suffix not in _READERS:
        forms = ", ".join(_READERS)
        raise ConfigError(Problem(path, f"the weights are read from {forms}, found {suffix!r}"))
    content = _content(path)
    try:
        found = _READERS[suffix](content)
    except _Unreadable as error:
        raise ConfigError(Problem(path, f"is no {suffix} file of weights: {error}")) from None
    arrays = _checked(path, found)
    bins = _BINS[arrays["mlp.weight"].shape[1]]
    return ConvolutionWeights(
        ModelIdentity(os.path.basename(path), sha256(content).hexdigest()),
        bins,
        Layers(
            EDGES[bins],
            arrays["mlp.weight"][0],
            float(arrays["mlp.bias"][0]),
            arrays["layer_final.weight"],
            arrays["layer_final.bias"],
        ),
    )


class _Unreadable(Exception):  # noqa: N818  # what it says of a file
    """Why a file is not of its form."""


def _content(path: str) -> bytes:
    try:
        # Of a device there is no end.
        if os.path.exists(path) and not os.path.isfile(path):
            raise ConfigError(Problem(path, "is not a file; name the file with the weights"))
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigError(Problem(path, f"cannot be read: {error.strerror or error}")) from None
    if len(content) > _LARGEST:
        raise ConfigError(Problem(path, "is larger than 1 MiB: the weights are a few numbers"))
    return content


def _of_json(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _Unreadable(str(error) or "nested too deeply") from None
    if not isinstance(found, dict):
        raise _Unreadable("expected an object of lists")
    return found


def _of_npz(content: bytes) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(one.file_size for one in archive.infolist()) > _LARGEST:
                raise _Unreadable("it unpacks to more than 1 MiB")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return dict(arrays)
    except _Unreadable:
        raise
    except Exception as error:  # of broken archives and headers zipfile and numpy raise anything
        raise _Unreadable(str(error)[:200] or type(error).__name__) from None


def _of_safetensors(content: bytes) -> dict[str, Any]:
    reader = extra("safetensors.numpy", "hf", "summac_conv with a safetensors file")
    try:
        found: dict[str, Any] = reader.load(content)
    except Exception as error:  # its own kind of error, and KeyErrors of types numpy does not have
        raise _Unreadable(str(error)[:200] or type(error).__name__) from None
    return found


_READERS: Mapping[str, Callable[[bytes], dict[str, Any]]] = {
    ".safetensors": _of_safetensors,
    ".npz": _of_npz,
    ".json": _of_json,
}


def _checked(path: str, found: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """The arrays, of the right shapes.

    Raises:
        ConfigError: One is missing, has another shape, or holds what is no number.
    """
    problems, arrays = [], {}
    for name, shapes in _SHAPES.items():
        wanted = " or ".join(map(str, shapes))
        if name not in found:
            listed = ", ".join(sorted(found)[:10]) or "nothing"
            problems.append(Problem(path, f"{name} is missing; there is {listed}"))
            continue
        array = _numbers(found[name])
        if array is None:
            problems.append(Problem(path, f"{name} holds values that are not numbers up to 1e9"))
        elif array.shape not in shapes:
            message = f"{name} has the shape {array.shape}, expected {wanted}"
            problems.append(Problem(path, message))
        else:
            arrays[name] = array
    if problems:
        raise ConfigError(problems)
    return arrays


def _numbers(value: Any) -> NDArray[np.float64] | None:
    """An array of usable numbers; None: it is something else, or lists of unequal lengths."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            return None
        array = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    # NaN is not below it, either.
    return array if (np.abs(array) <= _HIGHEST).all() else None
