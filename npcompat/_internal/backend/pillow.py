"""Pictures by Pillow, an optional dependency: decoding, encoding, and resizing on the host."""

import importlib
import io
from typing import Any

import numpy as onp

Picture = onp.ndarray[Any, Any]


def pillow(module: str, what: str) -> Any:
    """Import a module of Pillow; if it is missing, the error says how to get it."""
    try:
        return importlib.import_module(f"PIL.{module}")
    except ImportError as error:
        raise ImportError(
            f"{what} needs Pillow, which is not installed: pip install 'npcompat[image]'"
        ) from error


FORMATS = "JPEG", "PNG", "WEBP", "BMP", "GIF", "PPM", "TIFF"
"""Formats that are decoded. Pillow knows others, of which PostScript runs a program of its own."""


def decoded(content: bytes, flag: int, to_rgb: bool, source: str) -> Picture:
    """Decode a picture to pixels of dtype uint8.

    The shape is (H, W, 3) with flag 1, (H, W, 1) with 0, and that of the file with -1. A picture
    that its EXIF tag rotates is turned upright; transparency is left out.
    """
    image_module = pillow("Image", "decoding pictures")
    operations = pillow("ImageOps", "decoding pictures")
    if flag not in (-1, 0, 1):
        raise ValueError(
            f"imdecode: flag must be 1 (colour), 0 (grey) or -1 (as it is), got {flag!r}"
        )
    if not content:
        raise ValueError(f"{source}: expected an encoded picture, got no bytes")
    stream = io.BytesIO(content)
    try:
        with image_module.open(stream, formats=FORMATS) as opened:
            grey = flag == 0 or (flag == -1 and opened.mode in ("1", "L", "LA"))
            pixels = onp.array(operations.exif_transpose(opened).convert("L" if grey else "RGB"))
    except image_module.UnidentifiedImageError:
        raise ValueError(
            f"{source}: not a picture of one of the formats {', '.join(FORMATS)}; it begins with "
            f"{content[:8]!r}"
        ) from None
    except (MemoryError, ImportError):
        raise
    except Exception as error:  # decoders raise many classes of errors
        raise ValueError(
            f"{source}: damaged picture of {len(content)} bytes, read up to byte {stream.tell()}: "
            f"{error}"
        ) from error
    if grey:
        return pixels[:, :, None]
    return pixels if to_rgb else pixels[:, :, ::-1].copy()


def encoded(pixels: Picture, extension: str, quality: int) -> bytes:
    """Encode pixels (H, W, 3) or (H, W[, 1]) of dtype uint8 as the file of a format.

    Quality is JPEG's, or PNG's compression, at most 9.
    """
    image_module = pillow("Image", "encoding pictures")
    options = {
        ".jpg": ("JPEG", "quality"),
        ".jpeg": ("JPEG", "quality"),
        ".png": ("PNG", "compress_level"),
    }
    if extension.lower() not in options:
        raise ValueError(
            f"pack_img: img_fmt must be one of {', '.join(options)}, got {extension!r}"
        )
    kind, option = options[extension.lower()]
    if not 0 <= quality <= 100:
        raise ValueError(f"pack_img: quality must be in [0, 100], got {quality}")
    if option == "compress_level":
        quality = min(quality, 9)
    stream = io.BytesIO()
    image_module.fromarray(
        pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels
    ).save(stream, kind, **{option: quality})
    return stream.getvalue()


def resized(picture: Picture, width: int, height: int, interp: int) -> Picture:
    """Resize an 8-bit picture (H, W, C), first across and then down; `interp` is 1 to 4."""
    image_module = pillow("Image", "resizing pictures on the host")
    kinds = image_module.Resampling
    kind = {1: kinds.BILINEAR, 2: kinds.BICUBIC, 3: kinds.BOX, 4: kinds.LANCZOS}[interp]

    def plane(pixels: Picture) -> Picture:
        across = image_module.fromarray(pixels).resize((width, len(pixels)), kind)
        return onp.asarray(across.resize((width, height), kind))

    if picture.shape[2] == 3:
        return plane(onp.ascontiguousarray(picture))
    return onp.stack(
        [plane(onp.ascontiguousarray(picture[:, :, c])) for c in range(picture.shape[2])], axis=2
    )


__all__ = ["decoded", "encoded", "pillow", "resized"]
