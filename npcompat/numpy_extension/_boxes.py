"""Bounding boxes: intersection over union, suppression, matching and encoding.

Boxes are stored along the last axis: as corners (left, top, right, bottom), or as center and size
(x, y, width, height).
"""

import math
from collections.abc import Sequence
from typing import Any

from npcompat._internal.core import dtypes
from npcompat._internal.core.dtypes import Resolution, Type
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._nn_types import int64

FORMATS = ("corner", "center")


def check_format(name: str, argument: str, given: str) -> None:
    """Raise ValueError for a format of boxes that does not exist."""
    if given not in FORMATS:
        raise ValueError(f"{name}: {argument} must be 'corner' or 'center', got {given!r}")


# --- geometry over an array namespace -------------------------------------------------------------


def _half(xp: Any, x: Any) -> Any:
    return x * xp.asarray(0.5, x.dtype)


def to_corners(xp: Any, boxes: Any) -> Any:
    """Convert boxes from center and size to corners."""
    middle, half = boxes[..., :2], _half(xp, boxes[..., 2:])
    return xp.concatenate([middle - half, middle + half], axis=-1)


def to_centers(xp: Any, boxes: Any) -> Any:
    """Convert boxes from corners to center and size."""
    first, last = boxes[..., :2], boxes[..., 2:]
    return xp.concatenate([_half(xp, first + last), last - first], axis=-1)


def overlap(xp: Any, a: Any, b: Any) -> Any:
    """Intersection over union (IoU) of boxes given by corners, which broadcast.

    It is 0 where both are empty.
    """
    low, high = xp.maximum(a[..., :2], b[..., :2]), xp.minimum(a[..., 2:], b[..., 2:])
    sides = xp.maximum(high - low, xp.zeros_like(high))
    shared = sides[..., 0] * sides[..., 1]
    union = _area(a) + _area(b) - shared
    empty = union <= 0
    return xp.where(
        empty, xp.zeros_like(union), shared / xp.where(empty, xp.ones_like(union), union)
    )


def _area(boxes: Any) -> Any:
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def encoded(xp: Any, anchors: Any, boxes: Any, means: Any, stds: Any) -> Any:
    """Encode boxes relative to anchors, both given by corners.

    Codes are shifts in units of the anchor's size, and logarithms of relative sizes.
    """
    a, g = to_centers(xp, anchors), to_centers(xp, boxes)
    shift = (g[..., :2] - a[..., :2]) / a[..., 2:]
    return (xp.concatenate([shift, xp.log(g[..., 2:] / a[..., 2:])], axis=-1) - means) / stds


def decoded(xp: Any, codes: Any, anchors: Any, stds: Any, limit: float = math.inf) -> Any:
    """Decode boxes to corners; anchors are given by center and size."""
    steps = codes * stds
    middle = steps[..., :2] * anchors[..., 2:] + anchors[..., :2]
    growth = xp.exp(
        steps[..., 2:]
        if limit == math.inf
        else xp.minimum(steps[..., 2:], xp.asarray(limit, steps.dtype))
    )
    return to_corners(xp, xp.concatenate([middle, growth * anchors[..., 2:]], axis=-1))


def not_suppressed(
    xp: Any, boxes: Any, alive: Any, ids: Any, threshold: float, at_threshold: bool
) -> Any:
    """Non-maximum suppression: return True for boxes that stay.

    Each box, in order, removes later ones of its own id (None: of any id) that overlap with it.
    `boxes` (batch, n, 4) are corners. Memory is linear in n.
    """
    count = boxes.shape[1]
    after = xp.arange(count)

    def step(i: Any, kept: Any) -> Any:
        shared = overlap(xp, boxes, xp.expand_dims(xp.take(boxes, i, axis=1), 1))
        close = shared >= threshold if at_threshold else shared > threshold
        if ids is not None:
            close = xp.logical_and(close, ids == xp.expand_dims(xp.take(ids, i, axis=1), 1))
        removed = xp.logical_and(
            xp.logical_and(close, after > i), xp.expand_dims(xp.take(kept, i, axis=1), 1)
        )
        return xp.logical_and(kept, xp.logical_not(removed))

    return xp.for_range(count, step, alive)


def paired(xp: Any, scores: Any, threshold: float, limit: int) -> tuple[Any, Any]:
    """Greedy bipartite matching: the column of each row and the row of each column, or -1.

    The best pair is matched first, then the best of the remaining rows and columns. `scores` are
    (batch, rows, columns); matched pairs score above the threshold.
    """
    batch, rows, columns = scores.shape
    lowest = xp.asarray(-math.inf, scores.dtype)

    def step(_: Any, state: Any) -> Any:
        left, by_row, by_column = state
        flat = xp.reshape(left, (batch, rows * columns))
        best = xp.argmax(flat, axis=-1)
        good = xp.expand_dims(xp.max(flat, axis=-1) > threshold, -1)
        row, column = xp.expand_dims(best // columns, -1), xp.expand_dims(best % columns, -1)
        in_row = xp.logical_and(xp.arange(rows) == row, good)
        in_column = xp.logical_and(xp.arange(columns) == column, good)
        taken = xp.logical_or(xp.expand_dims(in_row, 2), xp.expand_dims(in_column, 1))
        return (
            xp.where(taken, lowest, left),
            xp.where(in_row, column, by_row),
            xp.where(in_column, row, by_column),
        )

    none = [xp.full((batch, n), -1, dtype=int64) for n in (rows, columns)]
    _, by_row, by_column = xp.for_range(min(rows, columns, limit), step, (scores, *none))
    return by_row, by_column


# --- operators ------------------------------------------------------------------------------------


@operator("_npx_box_iou", rule=dtypes.floating, pattern="complex", scalars=False)
def _box_iou(xp: Any, a: Any, b: Any, *, format: str) -> Any:
    """Intersection over union of each pair of boxes."""
    if format == "center":
        a, b = to_corners(xp, a), to_corners(xp, b)
    apart = (*a.shape[:-1], *[1] * (b.ndim - 1), 4)
    return overlap(xp, xp.reshape(a, apart), b)


def box_iou(lhs: ArrayLike, rhs: ArrayLike, format: str = "corner") -> ndarray:
    """Intersection over union (IoU, Jaccard index) of each pair of boxes.

    Parameters
    ----------
    lhs, rhs : array_like, shape (..., 4)
        Boxes.
    format : {'corner', 'center'}
        Format of the boxes: (left, top, right, bottom), or (x, y, width, height).

    Returns
    -------
    ndarray, shape `lhs.shape[:-1] + rhs.shape[:-1]`
        The overlaps; 0 for boxes without area.

    Examples
    --------
    >>> npx.box_iou([[0.0, 0.0, 2.0, 2.0]], [[1.0, 0.0, 3.0, 2.0], [5.0, 5.0, 6.0, 6.0]]).round(4)
    array([[0.3333, 0.    ]])
    """
    check_format("box_iou", "format", format)
    lhs, rhs = asarray(lhs), asarray(rhs)
    for name, boxes in (("lhs", lhs), ("rhs", rhs)):
        if boxes.ndim < 1 or boxes.shape[-1] != 4:
            raise ValueError(
                f"box_iou: {name} must have boxes of 4 numbers along its last axis, got shape "
                f"{boxes.shape}"
            )
    return apply(_box_iou, (lhs, rhs), (format,))


@operator("_npx_box_nms", rule=dtypes.floating, prefers_xla=True)
def _box_nms(
    xp: Any,
    x: Any,
    *,
    overlap_thresh: float,
    valid_thresh: float,
    topk: int,
    start: int,
    score: int,
    id: int | None,
    background: int,
    force: bool,
    in_center: bool,
    out_center: bool,
) -> Any:
    """Non-maximum suppression: the rows that stay, by descending score, then rows of -1.

    Parameters
    ----------
    start : int
        Index of the first of the four coordinates in a row.
    score : int
        Index of the score.
    id : int, optional
        Index of the class; None if there is none.
    background : int
        A class that is removed; -1: none.
    force : bool
        Whether boxes of different classes suppress each other.
    in_center : bool
        Whether coordinates are center and size, not corners.
    out_center : bool
        The same for the result.
    """
    if in_center != out_center:
        boxes = (to_corners if in_center else to_centers)(xp, x[..., start : start + 4])
        x = xp.concatenate([x[..., :start], boxes, x[..., start + 4 :]], axis=-1)
    scores = xp.stop_gradient(x[..., score])
    valid = scores > valid_thresh
    if id is not None and background >= 0:
        valid = xp.logical_and(valid, x[..., id] != background)
    ranked = xp.where(valid, scores, xp.asarray(-math.inf, x.dtype))
    count = x.shape[1] if topk < 1 else min(topk, x.shape[1])
    order = xp.top_positions(ranked, count, False)
    rows = xp.take_along(x, _everywhere(xp, order, x.shape[-1]), 1)
    fixed = xp.stop_gradient(rows)
    boxes = fixed[..., start : start + 4]
    ids = None if force or id is None else fixed[..., id]
    alive = xp.take_along(valid, order, 1)
    kept = not_suppressed(
        xp, to_corners(xp, boxes) if out_center else boxes, alive, ids, overlap_thresh, False
    )
    first = xp.argsort(xp.logical_not(kept), axis=-1, stable=True)
    shown = xp.take_along(rows, _everywhere(xp, first, x.shape[-1]), 1)
    stays = xp.expand_dims(xp.take_along(kept, first, 1), -1)
    found = xp.where(stays, shown, xp.asarray(-1, x.dtype))
    return xp.concatenate(
        [found, xp.full((x.shape[0], x.shape[1] - count, x.shape[2]), -1, dtype=x.dtype)], axis=1
    )


def _everywhere(xp: Any, positions: Any, length: int) -> Any:
    return xp.broadcast_to(xp.expand_dims(positions, -1), (*positions.shape, length))


def box_nms(
    data: ArrayLike,
    overlap_thresh: float = 0.5,
    valid_thresh: float = 0.0,
    topk: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = -1,
    background_id: int = -1,
    force_suppress: bool = False,
    in_format: str = "corner",
    out_format: str = "corner",
) -> ndarray:
    """Non-maximum suppression (NMS): of overlapping boxes, keeps the one with the highest score.

    Gradients of the remaining rows flow back to their source.

    Parameters
    ----------
    data : array_like, shape (..., n, k)
        Each row holds a box, its score, and perhaps the id of its class.
    overlap_thresh : float
        Boxes whose intersection over union with a better one is larger are removed.
    valid_thresh : float
        Boxes whose score is not larger are removed.
    topk : int
        Number of best boxes that are considered, the others are removed; all if less than 1.
    coord_start, score_index, id_index : int
        Indices of the box, the score and the id in a row; -1 if there are no ids.
    background_id : int
        Boxes of this id are removed; none if -1.
    force_suppress : bool
        Whether boxes are removed by those of other ids, too.
    in_format, out_format : {'corner', 'center'}
        Format of the boxes in `data` and in the result: (left, top, right, bottom) or (x, y,
        width, height).

    Returns
    -------
    ndarray, shape of `data`
        The rows that stay, by descending score, and rows of -1 in place of the others.

    Examples
    --------
    >>> rows = [[0.9, 0, 0, 2, 2], [0.8, 0, 0, 2, 1.9], [0.7, 3, 3, 4, 4]]
    >>> npx.box_nms(rows, coord_start=1, score_index=0)
    array([[ 0.9,  0. ,  0. ,  2. ,  2. ],
           [ 0.7,  3. ,  3. ,  4. ,  4. ],
           [-1. , -1. , -1. , -1. , -1. ]])
    """
    check_format("box_nms", "in_format", in_format)
    check_format("box_nms", "out_format", out_format)
    data = asarray(data)
    width = data.shape[-1] if data.ndim > 1 else 0
    if (
        not 0 <= coord_start <= width - 4
        or not 0 <= score_index < width
        or not -1 <= id_index < width
    ):
        raise ValueError(
            f"box_nms: rows of shape {data.shape} do not hold a box at {coord_start}, a score at "
            f"{score_index} and an id at {id_index}"
        )
    attrs = (
        float(overlap_thresh),
        float(valid_thresh),
        int(topk),
        int(coord_start),
        int(score_index),
        None if id_index < 0 else int(id_index),
        int(background_id),
        bool(force_suppress),
        in_format == "center",
        out_format == "center",
    )
    rows = data.reshape(math.prod(data.shape[:-2]), *data.shape[-2:])
    return apply(_box_nms, (rows,), attrs).reshape(data.shape)


@operator("_npx_bipartite_matching", rule=dtypes.floating, outputs=2, differentiable=False)
def _bipartite_matching(xp: Any, scores: Any, *, threshold: float, ascend: bool, topk: int) -> Any:
    """Greedy bipartite matching: for each row its column, and for each column its row.

    Parameters
    ----------
    ascend : bool
        Whether small scores are better.
    """
    if ascend:
        return paired(xp, -scores, -threshold, topk)
    return paired(xp, scores, threshold, topk)


def bipartite_matching(
    data: ArrayLike, is_ascend: bool = False, threshold: float | None = None, topk: int = -1
) -> tuple[Any, Any]:
    """Greedy bipartite matching of rows and columns by their scores.

    The pair with the best score is matched first, then the best of the remaining rows and columns.

    Parameters
    ----------
    data : array_like, shape (..., n, m)
        Scores.
    is_ascend : bool
        Whether small scores are good.
    threshold : float
        Pairs have larger scores (smaller ones, with `is_ascend`).
    topk : int
        Maximum number of pairs; no limit if less than 1.

    Returns
    -------
    rows : ndarray, shape (..., n)
        The column of each row, -1 if it has none; in the dtype of the scores, as in MXNet.
    columns : ndarray, shape (..., m)
        The row of each column.

    Examples
    --------
    >>> npx.bipartite_matching([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]], threshold=1e-12)
    (array([ 1., -1.,  0.]), array([2., 0.]))
    """
    if threshold is None:
        raise TypeError("bipartite_matching: threshold, the limit of scores, must be given")
    scores = asarray(data)
    if scores.ndim < 2:
        raise ValueError(
            f"bipartite_matching: data must have at least 2 axes, got shape {scores.shape}"
        )
    *batch, n, m = scores.shape
    limit = int(topk) if topk > 0 else max(n, m)
    if 0 in (n, m):
        limit = 0
    rows, columns = apply(
        _bipartite_matching,
        (scores.reshape(math.prod(batch), n, m),),
        (float(threshold), bool(is_ascend), limit),
    )
    return rows.reshape(*batch, n), columns.reshape(*batch, m)


def _encode_rule(types: tuple[Type, ...], attrs: Any) -> Resolution:
    dtype = dtypes.floating(types[2:])[1]
    return [None, int64, *[dtype] * 4], (dtype, dtype)


@operator("_npx_box_encode", rule=_encode_rule, outputs=2)
def _box_encode(
    xp: Any, samples: Any, matches: Any, anchors: Any, refs: Any, means: Any, stds: Any
) -> Any:
    """Codes of the boxes that anchors are matched to, and a mask of the positive ones."""
    positive = xp.broadcast_to(xp.expand_dims(samples > 0.5, -1), (*samples.shape, 4))
    place = xp.broadcast_to(
        xp.expand_dims(xp.clip(matches, 0, max(refs.shape[1] - 1, 0)), -1), positive.shape
    )
    boxes = xp.where(
        positive, xp.take_along(refs, place, 1), anchors
    )  # unmatched anchors encode themselves, which avoids log(0)
    codes = encoded(xp, xp.broadcast_to(anchors, positive.shape), boxes, means, stds)
    return xp.where(positive, codes, xp.zeros_like(codes)), positive


def box_encode(
    samples: ArrayLike,
    matches: ArrayLike,
    anchors: ArrayLike,
    refs: ArrayLike,
    means: ArrayLike,
    stds: ArrayLike,
) -> tuple[Any, Any]:
    """Encode the boxes that anchors are matched to, as regression targets (Girshick, 2015).

    Parameters
    ----------
    samples : array_like, shape (batch, n)
        1 for positive anchors, which are encoded; -1 for negative ones, 0 for those to ignore.
    matches : array_like, shape (batch, n)
        Index of the box that is matched to each anchor.
    anchors : array_like, shape (batch, n, 4) or (1, n, 4)
        Anchors, by corners.
    refs : array_like, shape (batch, m, 4)
        Boxes, by corners.
    means, stds : array_like, shape (4,)
        Means and standard deviations with which codes are normalized.

    Returns
    -------
    targets : ndarray, shape (batch, n, 4)
        Shifts of centers in units of the anchor's size, and logarithms of relative sizes; zeros
        for anchors that are not positive.
    masks : ndarray, shape (batch, n, 4)
        1 for positive anchors, else 0.

    Examples
    --------
    >>> anchors, boxes = [[[0.0, 0.0, 2.0, 2.0]]], [[[1.0, 0.0, 3.0, 2.0]]]
    >>> npx.box_encode([[1]], [[0]], anchors, boxes, np.zeros(4), np.ones(4))
    (array([[[0.5, 0. , 0. , 0. ]]]), array([[[1., 1., 1., 1.]]]))
    """
    arrays = [asarray(a) for a in (samples, matches, anchors, refs, means, stds)]
    batch = arrays[0].shape
    shapes = [a.shape for a in arrays]
    fits = (
        len(batch) == 2
        and shapes[1] == batch
        and shapes[2] in ((*batch, 4), (1, *batch[1:], 4))
        and shapes[4] == shapes[5] == (4,)
    )
    if (
        not fits
        or len(shapes[3]) != 3
        or (shapes[3][0], shapes[3][2]) != (batch[0], 4)
        or shapes[3][1] == 0
    ):
        raise ValueError(
            "box_encode: expected samples and matches (batch, n), anchors (batch, n, 4), refs "
            "(batch, m, 4), means and stds (4,), "
            f"got shapes {', '.join(map(str, shapes))}"
        )
    codes, masks = apply(_box_encode, arrays)
    return codes, masks


@operator("_npx_box_decode", rule=dtypes.floating, pattern="complex", scalars=False)
def _box_decode(xp: Any, codes: Any, anchors: Any, *, stds: Any, clip: float, format: str) -> Any:
    """Decode boxes from codes and anchors, to corners.

    Parameters
    ----------
    stds : tuple of float
        Factors of the codes.
    """
    anchors = anchors if format == "center" else to_centers(xp, anchors)
    return decoded(
        xp, codes, anchors, xp.asarray(stds, codes.dtype), clip if clip > 0 else math.inf
    )


def box_decode(
    data: ArrayLike,
    anchors: ArrayLike,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: str = "center",
) -> ndarray:
    """Decode boxes from codes and anchors; the inverse of `box_encode` with zero means.

    Parameters
    ----------
    data : array_like, shape (batch, n, 4)
        Codes.
    anchors : array_like, shape (1, n, 4)
        Anchors.
    std0, std1, std2, std3 : float
        Factors of the codes.
    clip : float
        The largest logarithm of a relative size; no limit if it is not positive.
    format : {'center', 'corner'}
        Format of the anchors: (x, y, width, height), or (left, top, right, bottom).

    Returns
    -------
    ndarray, shape (batch, n, 4)
        Boxes, by corners.

    Examples
    --------
    >>> npx.box_decode([[[0.5, 0.0, 0.0, 0.0]]], [[[0.0, 0.0, 2.0, 2.0]]], format="corner")
    array([[[1., 0., 3., 2.]]])
    """
    check_format("box_decode", "format", format)
    data, anchors = asarray(data), asarray(anchors)
    if (
        data.ndim != 3
        or data.shape[2] != 4
        or anchors.shape not in ((1, *data.shape[1:]), data.shape)
    ):
        raise ValueError(
            "box_decode: expected data (batch, n, 4) and anchors (1, n, 4), got shapes "
            f"{data.shape} and {anchors.shape}"
        )
    stds: Sequence[float] = tuple(map(float, (std0, std1, std2, std3)))
    return apply(_box_decode, (data, anchors), (stds, float(clip), format))


__all__ = ["bipartite_matching", "box_decode", "box_encode", "box_iou", "box_nms"]
