"""Cases of the operators of pictures; their oracles are loops over pixels, written out from the
definitions, in float64.
"""

import math

import numpy as onp

from npcompat import npx
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import case

PICTURES = {"layouts": ("ordinary", "view"), "loose": 4.0}


def rounded(values, dtype):
    """Values in a dtype; integers rounded, halves up, and kept in range."""
    if dtype.kind in "iu":
        limits = onp.iinfo(dtype)
        values = onp.clip(onp.floor(values + 0.5), limits.min, limits.max)
    return values.astype(dtype)


# --- tensors --------------------------------------------------------------------------------------

case(
    "_npx_image_to_tensor",
    lambda xp, a: npx.image.to_tensor(a),
    "4,5,3",
    oracle=lambda a: (onp.moveaxis(a.astype("float64"), -1, -3) / 255).astype("float32"),
    dtypes="B i f",
    loose=4.0,
    layouts=("ordinary", "empty", "view"),
    grad=(),
)
case(
    "_npx_image_normalize",
    lambda xp, a: npx.image.normalize(a, (0.5, 0.25), 2.0),
    "3,2,4,5",
    oracle=lambda a: ((a.astype("float64") - onp.array([0.5, 0.25])[:, None, None]) / 2).astype(
        a.dtype
    ),
    dtypes="e f d",
    **PICTURES,
)

# --- colours --------------------------------------------------------------------------------------


LUMA = onp.array([0.299, 0.587, 0.114])
YIQ = onp.array([[0.299, 0.587, 0.114], [0.5959, -0.2746, -0.3213], [0.2115, -0.5227, 0.3112]])


def recolored(a, matrix, offset):
    wide = a.astype("float64")
    out = onp.empty_like(wide)
    for n, i, j in onp.ndindex(a.shape[:3]):
        out[n, i, j] = [wide[n, i, j] @ matrix[n, :, c] + offset[n, c] for c in range(3)]
    return rounded(out, a.dtype)


case(
    "_npx_image_recolor",
    lambda xp, *arrays: apply(REGISTRY["_npx_image_recolor"], arrays),
    "2,4,5,3",
    "2,3,3 any float32",
    "2,3 any float32",
    oracle=recolored,
    dtypes="B f d",
    grad=(0,),
    **PICTURES,
)


def adjusted(picture, kind, factor):
    """One picture with more or less brightness, contrast or saturation, or its colours turned by a
    share of a turn.
    """
    luma = picture @ LUMA
    if kind == 0:
        return factor * picture
    if kind == 1:
        return luma.mean() + factor * (picture - luma.mean())
    if kind == 2:
        return luma[..., None] + factor * (picture - luma[..., None])
    y, i, q = YIQ @ picture.reshape(-1, 3).T
    chroma = (i + 1j * q) * onp.exp(2j * math.pi * factor)
    return (onp.linalg.inv(YIQ) @ onp.stack([y, chroma.real, chroma.imag])).T.reshape(picture.shape)


ORDER = onp.array([[2, 0, 3, 1], [1, 3, 0, 2]])


def in_order(a, factors):
    out = onp.empty_like(a)
    for n in range(len(a)):
        picture = a[n]
        for k in ORDER[n]:
            picture = rounded(adjusted(picture.astype("float64"), k, float(factors[n, k])), a.dtype)
        out[n] = picture
    return out


case(
    "_npx_image_adjust",
    lambda xp, a, factors: apply(
        REGISTRY["_npx_image_adjust"], (a, factors, ORDER), ((0, 1, 2, 3),)
    ),
    "2,4,5,3",
    "2,4 positive float32",
    oracle=in_order,
    dtypes="f d",
    grad=(0,),
    layouts=("ordinary", "view"),
    loose=16.0,
)

# --- sizes ----------------------------------------------------------------------------------------


def cubic(t):
    t = abs(t)
    return (
        1.5 * t**3 - 2.5 * t**2 + 1
        if t < 1
        else -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
        if t < 2
        else 0
    )


def lanczos(t):
    return float(onp.sinc(t) * onp.sinc(t / 3)) if abs(t) < 3 else 0


FILTERS = (None, lambda t: max(0, 1 - abs(t)), cubic, lambda t: float(-0.5 < t <= 0.5), lanczos)


def line(values, size, interp):
    """A row of pixels with another length."""
    scale = len(values) / size
    out = []
    for k in range(size):
        centre = (k + 0.5) * scale
        if interp == 0:
            out.append(values[int(centre)])
            continue
        weights = [FILTERS[interp]((i + 0.5 - centre) / max(scale, 1)) for i in range(len(values))]
        out.append(sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights))
    return onp.array(out)


def resampled(interp, width, height):
    def oracle(a, windows):
        pictures = a if a.ndim == 4 else a[None]
        out = onp.empty((len(pictures), height, width, a.shape[-1]), a.dtype)
        for picture, window, result in zip(pictures, windows.reshape(-1, 4), out, strict=True):
            left, top, across, down = window
            cut = picture[top : top + down, left : left + across].astype("float64")
            for c in range(a.shape[-1]):
                rows = rounded(
                    onp.array([line(row, width, interp) for row in cut[..., c]]), a.dtype
                ).astype("float64")
                result[..., c] = rounded(
                    onp.array([line(column, height, interp) for column in rows.T]).T, a.dtype
                )
        return out if a.ndim == 4 else out[0]

    return oracle


def resample(interp, width, height, operand, windows, **options):
    windows = onp.array(windows)
    case(
        "_npx_image_resample",
        lambda xp, a: apply(REGISTRY["_npx_image_resample"], (a, windows), (width, height, interp)),
        operand,
        oracle=lambda a: resampled(interp, width, height)(a, windows),
        dtypes="B f d",
        **{**PICTURES, **options},
    )


resample(1, 2, 8, "2,5,6,3 wide", [[1, 0, 4, 4], [0, 1, 6, 2]])
resample(2, 4, 6, "5,6,2 wide", [0, 0, 6, 5])
resample(0, 4, 6, "5,6,2 wide", [0, 0, 6, 5], grad=())
resample(3, 4, 2, "5,6,2 wide", [0, 0, 6, 5], grad=())
resample(4, 4, 6, "5,6,2 wide", [1, 1, 5, 4], grad=())


# --- rotation -------------------------------------------------------------------------------------


def rotated(a, degrees, zoom_in=False, zoom_out=False):
    out = onp.zeros(a.shape)
    count, _, height, width = a.shape
    for n in range(count):
        angle = math.radians(degrees[n])
        cos, sin = math.cos(angle), math.sin(angle)
        corners = [
            (x * cos - y * sin, x * sin + y * cos)
            for x in (1 - width, width - 1)
            for y in (1 - height, height - 1)
        ]
        spans = max(
            max(abs(x) for x, _ in corners) / (width - 1),
            max(abs(y) for _, y in corners) / (height - 1),
        )
        zoom = spans if zoom_out else 1 / spans if zoom_in else 1
        for i, j in onp.ndindex(height, width):
            y, x = (i - (height - 1) / 2) * zoom, (j - (width - 1) / 2) * zoom
            row, column = x * sin + y * cos + (height - 1) / 2, x * cos - y * sin + (width - 1) / 2
            for p, q in onp.ndindex(height, width):
                share = max(0, 1 - abs(row - p)) * max(0, 1 - abs(column - q))
                out[n, :, i, j] += share * a[n, :, p, q]
    return out.astype(a.dtype)


for zoom in ({}, {"zoom_in": True}, {"zoom_out": True}):
    case(
        "_npx_image_rotate",
        lambda xp, a, d, zoom=zoom: npx.image.imrotate(a, d, **zoom),
        "2,3,4,5",
        "2 wide float32",
        oracle=lambda a, d, zoom=zoom: rotated(a, d, **zoom),
        dtypes="f d",
        grad=() if zoom else (0,),
        layouts=("ordinary", "view"),
        loose=16.0,
    )
