"""Sliding window attention (Longformer; Beltagy et al., 2020).

Entry `k` of a window of head `h` is the position `i + dilation[h] * (k - w)` of the sequence,
relative to position `i`.
"""

from collections.abc import Mapping
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import int64


def _floats_and(positions: int) -> Any:
    """Type rule: floats of one dtype, then `positions` integer inputs."""

    def rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
        numbers = len(types) - positions
        dtype = dtypes.floating(types[:numbers])[1]
        return [*[dtype] * numbers, *[int64] * positions], dtype

    return rule


def _offsets(xp: Any, w: int, symmetric: bool) -> Any:
    return xp.arange(-w, w + 1 if symmetric else 1)


def _seen(xp: Any, offset: Any, dilation: Any, length: int) -> tuple[Any, Any]:
    """Return the clipped target position of an offset, and a mask of those that exist."""
    places = xp.reshape(xp.arange(length), (-1, 1)) + dilation * offset
    return xp.clip(places, 0, max(length - 1, 0)), xp.logical_and(places >= 0, places < length)


def _gathered(xp: Any, x: Any, offset: Any, dilation: Any) -> Any:
    """Gather the elements (batch, length, heads, features) at an offset; zeros outside."""
    places, exist = _seen(xp, offset, dilation, x.shape[1])
    found = xp.take_along(x, xp.broadcast_to(places[None, :, :, None], x.shape), 1)
    return xp.where(exist[None, :, :, None], found, xp.zeros_like(found))


@operator("_npx_sldwin_score", rule=_floats_and(1), pattern="complex")
def _score(xp: Any, query: Any, key: Any, dilation: Any, *, w: int, symmetric: bool) -> Any:
    """Products of queries with the keys in their window."""

    def product(offset: Any) -> Any:
        return xp.sum(query * _gathered(xp, key, offset, dilation), axis=-1)

    return xp.moveaxis(xp.for_each(product, _offsets(xp, w, symmetric)), 0, -1)


@operator("_npx_sldwin_context", rule=_floats_and(1), pattern="complex")
def _context(xp: Any, score: Any, value: Any, dilation: Any, *, w: int, symmetric: bool) -> Any:
    """Weighted sums of the values in each window."""

    def weighted(offset: Any, weights: Any) -> Any:
        return xp.expand_dims(weights, -1) * _gathered(xp, value, offset, dilation)

    return xp.sum_over(weighted, _offsets(xp, w, symmetric), xp.moveaxis(score, -1, 0))


def _mask_rule(types: tuple[Type, ...], attrs: Mapping[str, Any]) -> Resolution:
    dtype = dtypes.strong(types[0])
    return [dtype, int64, int64], dtype


@operator("_npx_sldwin_mask", rule=_mask_rule, differentiable=False)
def _mask(xp: Any, score: Any, dilation: Any, valid_length: Any, *, w: int, symmetric: bool) -> Any:
    """Mask of windows: 1 where both positions are in the sequence, else 0."""
    length = score.shape[1]
    here = xp.reshape(xp.arange(length), (1, -1, 1, 1))
    there = here + xp.reshape(dilation, (1, 1, -1, 1)) * _offsets(xp, w, symmetric)
    ends = xp.reshape(valid_length, (-1, 1, 1, 1))
    return xp.logical_and(xp.logical_and(there >= 0, there < ends), here < ends)


def _fit(name: str, shapes: Mapping[str, tuple[int, ...]], dilation: Any, w: int) -> None:
    (first, shape), *others = shapes.items()
    if w < 0:
        raise ValueError(f"{name}: w must not be negative, got {w}")
    for other, found in others:
        if len(shape) != 4 or len(found) != 4 or found[:3] != shape[:3]:
            raise ValueError(
                f"{name}: {first} and {other} must agree in (batch, length, heads) of four axes, "
                f"got {shape} and {found}"
            )
    if len(shape) != 4 or dilation.shape != (shape[2],) or dilation.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: {first} must have four axes, and dilation be an int for each head, got "
            f"{shape}, and {dilation.dtype} "
            f"of {dilation.shape}"
        )


def _width(w: int, symmetric: bool) -> int:
    return 2 * w + 1 if symmetric else w + 1


def sldwin_atten_score(
    query: ArrayLike, key: ArrayLike, dilation: ArrayLike, w: int, symmetric: bool = True
) -> ndarray:
    """Sliding window attention scores: products of queries with the keys in their window.

    They are zero where the window extends beyond the sequence. Time is proportional to length times
    window; memory, also of the gradient, is that of the operands and the result.

    Parameters
    ----------
    query, key : array_like, shape (batch, length, heads, features)
        Queries and keys.
    dilation : array_like of int, shape (heads,)
        Steps between the elements of a window.
    w : int
        Number of elements of a window on each side.
    symmetric : bool
        Whether windows extend to both sides, or only back.

    Returns
    -------
    ndarray, shape (batch, length, heads, 2 w + 1 or w + 1)
        The products.

    Examples
    --------
    >>> q = np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1)
    >>> npx.sldwin_atten_score(q, q, np.array([1]), w=1)[0, :, 0]
    array([[0., 1., 2.],
           [2., 4., 6.],
           [6., 9., 0.]])
    """
    query, key, dilation = asarray(query), asarray(key), asarray(dilation)
    _fit("sldwin_atten_score", {"query": query.shape, "key": key.shape}, dilation, w)
    if query.shape != key.shape:
        raise ValueError(
            f"sldwin_atten_score: query and key must have one shape, got {query.shape} and "
            f"{key.shape}"
        )
    return apply(_score, (query, key, dilation), (int(w), bool(symmetric)))


def sldwin_atten_context(
    score: ArrayLike, value: ArrayLike, dilation: ArrayLike, w: int, symmetric: bool = True
) -> ndarray:
    """Sliding window attention context: weighted sums of the values in each window.

    Parameters
    ----------
    score : array_like, shape (batch, length, heads, 2 w + 1 or w + 1)
        Weights.
    value : array_like, shape (batch, length, heads, features)
        Values.
    dilation, w, symmetric
        As for `sldwin_atten_score`.

    Returns
    -------
    ndarray, shape (batch, length, heads, features)
        Weighted sums.

    Examples
    --------
    >>> v = np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1)
    >>> npx.sldwin_atten_context(np.ones((1, 3, 1, 3)), v, np.array([1]), w=1).ravel()
    array([3., 6., 5.])
    """
    score, value, dilation = asarray(score), asarray(value), asarray(dilation)
    _fit("sldwin_atten_context", {"score": score.shape, "value": value.shape}, dilation, w)
    _check_width("sldwin_atten_context", score.shape, w, symmetric)
    return apply(_context, (score, value, dilation), (int(w), bool(symmetric)))


def sldwin_atten_mask_like(
    score: ArrayLike, dilation: ArrayLike, valid_length: ArrayLike, w: int, symmetric: bool = True
) -> ndarray:
    """Sliding window attention mask: 1 where both positions are in the sequence, else 0.

    Parameters
    ----------
    score : array_like, shape (batch, length, heads, 2 w + 1 or w + 1)
        The scores whose shape and dtype the mask has.
    dilation : array_like of int, shape (heads,)
        Steps between the elements of a window.
    valid_length : array_like of int, shape (batch,)
        Lengths of the sequences.
    w, symmetric
        As for `sldwin_atten_score`.

    Examples
    --------
    >>> score, dilation, valid_length = np.ones((1, 3, 1, 3)), np.array([1]), np.array([2])
    >>> npx.sldwin_atten_mask_like(score, dilation, valid_length, w=1)[0, :, 0]
    array([[0., 1., 1.],
           [1., 1., 0.],
           [0., 0., 0.]])
    """
    score, dilation, lengths = asarray(score), asarray(dilation), asarray(valid_length)
    _fit("sldwin_atten_mask_like", {"score": score.shape}, dilation, w)
    _check_width("sldwin_atten_mask_like", score.shape, w, symmetric)
    if lengths.shape != score.shape[:1]:
        raise ValueError(
            f"sldwin_atten_mask_like: valid_length must have shape {score.shape[:1]}, got "
            f"{lengths.shape}"
        )
    return apply(_mask, (score, dilation, lengths), (int(w), bool(symmetric)))


def _check_width(name: str, shape: tuple[int, ...], w: int, symmetric: bool) -> None:
    if shape[3] != _width(w, symmetric):
        raise ValueError(
            f"{name}: windows of w={w}, symmetric={symmetric} have {_width(w, symmetric)} "
            f"elements, got scores of shape {shape}"
        )


__all__ = ["sldwin_atten_context", "sldwin_atten_mask_like", "sldwin_atten_score"]
