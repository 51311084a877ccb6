"""Image decoding and reading from files."""

import os
from pathlib import Path
from typing import Any

import numpy as onp

from npcompat._internal.backend import pillow
from npcompat._internal.core.handle import Handle
from npcompat._internal.dispatch import handles
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._ufunc import finish
from npcompat.numpy_extension._image_layout import host_picture


def imdecode(buf: Any, flag: int = 1, to_rgb: bool = True, out: ndarray | None = None) -> ndarray:
    """Decode an image (JPEG, PNG and other formats of Pillow) to pixels.

    Parameters
    ----------
    buf : bytes, or array of uint8
        The content of an image file.
    flag : {1, 0, -1}
        1: three channels; 0: one, the luma; -1: one if the file has one, else three.
    to_rgb : bool
        Whether the order of channels is red, green, blue, or the reverse.
    out : ndarray, optional
        Array that the pixels are written to.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3) or (H, W, 1)
        The pixels, on the host. The EXIF orientation is applied; transparency is dropped.

    Raises
    ------
    ImportError
        If Pillow is not installed.
    ValueError
        If it is no image, or a damaged one.

    Examples
    --------
    >>> header, pixels = recordio.IRHeader(0, 0.0, 0, 0), onp.zeros((2, 3, 3), "uint8")
    >>> row = recordio.pack_img(header, pixels, 9, ".png")
    >>> image.imdecode(recordio.unpack(row)[1]).shape
    (2, 3, 3)
    """
    if isinstance(buf, Handle):
        buf = handles.to_host(buf)
    content = (
        onp.ascontiguousarray(buf, "uint8").tobytes()
        if isinstance(buf, onp.ndarray)
        else bytes(buf)
    )
    return finish(host_picture(pillow.decoded(content, flag, to_rgb, "imdecode")), out, "imdecode")


def imread(
    filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True, out: ndarray | None = None
) -> ndarray:
    """Read an image file; returns its pixels as `imdecode` does.

    Parameters
    ----------
    filename : path
        The file.
    flag, to_rgb, out
        As for `imdecode`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no image, or a damaged one; the error names the file.

    Examples
    --------
    >>> image.imread("nowhere.jpg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.jpg'
    """
    pixels = pillow.decoded(Path(filename).read_bytes(), flag, to_rgb, os.fspath(filename))
    return finish(host_picture(pixels), out, "imread")


__all__ = ["imdecode", "imread"]
