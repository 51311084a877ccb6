"""Single-shot detection (SSD; Liu et al., 2016): anchor boxes, training targets, detections."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as onp

from npcompat._internal.core import dtypes
from npcompat._internal.core.op import operator
from npcompat._internal.dispatch import array_like
from npcompat._internal.dispatch.apply import apply
from npcompat.numpy._creation import asarray
from npcompat.numpy._ndarray import ndarray
from npcompat.numpy._typing import ArrayLike
from npcompat.numpy_extension._boxes import (
    decoded,
    encoded,
    not_suppressed,
    overlap,
    paired,
    to_centers,
)
from npcompat.numpy_extension._nn_types import float32

VARIANCES = (0.1, 0.1, 0.2, 0.2)


def multibox_prior(
    data: ArrayLike,
    sizes: Sequence[float] = (1.0,),
    ratios: Sequence[float] = (1.0,),
    clip: bool = False,
    steps: Sequence[float] = (-1.0, -1.0),
    offsets: Sequence[float] = (0.5, 0.5),
) -> ndarray:
    """Anchor boxes (priors) at each position of an image.

    They have all sizes with the first ratio, then the first size with the other ratios.

    Parameters
    ----------
    data : array_like, shape (batch, channels, height, width)
        The image; only its shape is used.
    sizes : sequence of float
        Sizes, relative to the image.
    ratios : sequence of float
        Ratios of width to height, in pixels.
    clip : bool
        Whether anchors are clipped to the image.
    steps : sequence of two float
        Distance between positions along height and width, relative to the image; evenly spread if
        not positive.
    offsets : sequence of two float
        Offset of a position within its step.

    Returns
    -------
    ndarray, shape (1, height * width * (len(sizes) + len(ratios) - 1), 4)
        Corners (left, top, right, bottom), relative to the image.

    Examples
    --------
    >>> npx.multibox_prior(np.zeros((1, 3, 1, 2)), sizes=[0.5])
    array([[[0.125, 0.25 , 0.375, 0.75 ],
            [0.625, 0.25 , 0.875, 0.75 ]]])
    """
    data = asarray(data)
    if data.ndim != 4 or 0 in data.shape[2:]:
        raise ValueError(
            "multibox_prior: data must have shape (batch, channels, height, width), got "
            f"{data.shape}"
        )
    given = {"sizes": sizes, "ratios": ratios, "steps": steps, "offsets": offsets}
    chosen = {name: onp.asarray(v, float).reshape(-1) for name, v in given.items()}
    for name in ("sizes", "ratios"):
        if not chosen[name].size or (chosen[name] <= 0).any():
            raise ValueError(
                f"multibox_prior: {name} must be positive, at least one, got {given[name]}"
            )
    for name in ("steps", "offsets"):
        if chosen[name].size != 2:
            raise ValueError(
                f"multibox_prior: {name} must be two numbers, for height and width, got "
                f"{given[name]}"
            )
    height, width = data.shape[2:]
    down, across = (
        s if s > 0 else 1 / n for s, n in zip(chosen["steps"], (height, width), strict=True)
    )
    y = (onp.arange(height) + chosen["offsets"][0]) * down
    x = (onp.arange(width) + chosen["offsets"][1]) * across
    each, first = chosen["sizes"], chosen["sizes"][:1]
    roots = onp.sqrt(chosen["ratios"])
    widths = onp.concatenate([each * roots[0], first * roots[1:]]) * height / width
    heights = onp.concatenate([each / roots[0], first / roots[1:]])
    half = onp.stack([-widths, -heights, widths, heights], -1) / 2
    centers = onp.stack(onp.broadcast_arrays(x[None, :], y[:, None]) * 2, -1)
    anchors = (centers[:, :, None] + half).reshape(1, -1, 4)
    dtype = data.dtype if dtypes.is_float(data.dtype) else float32
    return array_like.array_of((onp.clip(anchors, 0, 1) if clip else anchors).astype(dtype))


# --- training targets -----------------------------------------------------------------------------


@operator("_npx_multibox_target", rule=dtypes.floating, outputs=3, differentiable=False)
def _multibox_target(
    xp: Any,
    anchors: Any,
    labels: Any,
    scores: Any,
    *,
    threshold: float,
    ignore: float,
    ratio: float,
    mining: float,
    minimum: int,
    variances: tuple[float, ...],
) -> Any:
    """SSD training targets: box codes, a mask of positive anchors, and classes.

    Parameters
    ----------
    threshold : float
        Overlap from which an anchor is positive.
    ignore : float
        Class of anchors that are ignored.
    ratio : float
        Number of negative anchors for each positive one; -1: all.
    mining : float
        Overlap below which an anchor may be negative.
    minimum : int
        Minimum number of negative anchors.
    """
    batch, boxes = labels.shape[:2]
    count = anchors.shape[1]
    real = xp.cumsum(labels[..., 0] == -1, axis=1) == 0  # labels end at the first -1
    corners = xp.where(xp.expand_dims(real, -1), labels[..., 1:5], xp.zeros_like(labels[..., 1:5]))
    shared = overlap(xp, xp.expand_dims(anchors, 2), xp.expand_dims(corners, 1))
    shared = xp.where(xp.expand_dims(real, 1), shared, xp.asarray(-1, shared.dtype))
    by_anchor, _ = paired(xp, shared, 1e-6, boxes)
    best, most = xp.argmax(shared, axis=-1), xp.max(shared, axis=-1)
    first = by_anchor >= 0
    positive = xp.logical_or(first, most > threshold) if threshold > 0 else first
    match = xp.where(first, by_anchor, best)
    if ratio > 0:
        background = xp.take(scores, 0, axis=1)
        shifted = scores - xp.max(scores, axis=1, keepdims=True)
        certainty = background - xp.max(scores, axis=1) - xp.log(xp.sum(xp.exp(shifted), axis=1))
        candidate = xp.logical_and(xp.logical_not(positive), most < mining)
        rank = xp.argsort(
            xp.argsort(
                xp.where(candidate, certainty, xp.asarray(math.inf, certainty.dtype)),
                axis=-1,
                stable=True,
            ),
            axis=-1,
        )
        found = xp.sum(positive, axis=-1, keepdims=True)
        wanted = xp.minimum(xp.maximum(xp.floor(found * ratio), minimum), count - found)
        negative = xp.logical_and(candidate, rank < wanted)
    else:
        negative = xp.logical_not(positive)
    any_real = xp.any(real, axis=1, keepdims=True)  # images without boxes are ignored
    positive = xp.logical_and(positive, any_real)
    negative = xp.logical_and(negative, any_real)
    row = xp.take_along(
        labels, xp.broadcast_to(xp.expand_dims(match, -1), (batch, count, labels.shape[2])), 1
    )
    marked = xp.broadcast_to(xp.expand_dims(positive, -1), (batch, count, 4))
    target = xp.where(marked, row[..., 1:5], anchors)  # unmatched anchors encode themselves
    stds = xp.asarray(variances, anchors.dtype)
    codes = encoded(xp, xp.broadcast_to(anchors, marked.shape), target, xp.zeros_like(stds), stds)
    codes = xp.where(marked, codes, xp.zeros_like(codes))
    none = xp.where(negative, xp.zeros_like(row[..., 0]), xp.asarray(ignore, row.dtype))
    classes = xp.where(positive, row[..., 0] + 1, none)
    return xp.reshape(codes, (batch, 4 * count)), xp.reshape(marked, (batch, 4 * count)), classes


def multibox_target(
    anchor: ArrayLike,
    label: ArrayLike,
    cls_pred: ArrayLike,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: Sequence[float] = VARIANCES,
) -> tuple[Any, Any, Any]:
    """SSD training targets: matches anchors to boxes, and encodes the boxes.

    Each box is matched to the anchor with the largest overlap; then each remaining anchor to the
    box with the largest overlap, if it exceeds the threshold. Nothing flows back to the arguments.

    Parameters
    ----------
    anchor : array_like, shape (1, n, 4)
        Anchors, by corners.
    label : array_like, shape (batch, m, 5 or more)
        Class and corners of each box; the first row with class -1 ends the list.
    cls_pred : array_like, shape (batch, classes + 1, n)
        Predicted scores, background first; used by negative mining.
    overlap_threshold : float
        Anchors with a larger intersection over union are positive; only each box's best if it is
        not positive.
    ignore_label : float
        The class of anchors that are ignored.  In an image without boxes these are all.
    negative_mining_ratio : float
        Hard negative mining: number of negative anchors per positive one that are kept, those with
        the least certain predictions; the others are ignored. All are kept if it is not positive.
    negative_mining_thresh : float
        Negative anchors that are kept overlap less than this.
    minimum_negative_samples : int
        Minimum number of negative anchors that are kept.
    variances : sequence of four float
        Divisors of the codes.

    Returns
    -------
    box_target : ndarray, shape (batch, 4 n)
        Codes of the boxes of positive anchors, else zeros; see `box_encode`.
    box_mask : ndarray, shape (batch, 4 n)
        1 for positive anchors, else 0.
    cls_target : ndarray, shape (batch, n)
        Classes, counted from 1; 0 for negative anchors.

    Examples
    --------
    >>> anchors = np.array([[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]])
    >>> label = np.array([[[2, 0.5, 0.5, 1, 1]]])
    >>> npx.multibox_target(anchors, label, np.zeros((1, 4, 2)))[2]
    array([[0., 3.]])
    """
    anchor, label, scores = asarray(anchor), asarray(label), asarray(cls_pred)
    if anchor.ndim != 3 or anchor.shape[0] != 1 or anchor.shape[2] != 4:
        raise ValueError(f"multibox_target: anchor must have shape (1, n, 4), got {anchor.shape}")
    if label.ndim != 3 or label.shape[1] == 0 or label.shape[2] < 5:
        raise ValueError(
            "multibox_target: label must have shape (batch, m, 5 or more), m at least 1, got "
            f"{label.shape}"
        )
    if (
        scores.ndim != 3
        or scores.shape[1] == 0
        or (scores.shape[0], scores.shape[2]) != (label.shape[0], anchor.shape[1])
    ):
        raise ValueError(
            f"multibox_target: cls_pred must have shape ({label.shape[0]}, classes + 1, "
            f"{anchor.shape[1]}), got {scores.shape}"
        )
    attrs = (
        float(overlap_threshold),
        float(ignore_label),
        float(negative_mining_ratio),
        float(negative_mining_thresh),
        int(minimum_negative_samples),
        _four("multibox_target", variances),
    )
    codes, mask, classes = apply(_multibox_target, (anchor, label, scores), attrs)
    return codes, mask, classes


def _four(name: str, variances: Sequence[float]) -> tuple[float, ...]:
    found = tuple(map(float, variances))
    if len(found) != 4 or min(found) <= 0:
        raise ValueError(f"{name}: variances must be four positive numbers, got {variances}")
    return found


# --- detections -----------------------------------------------------------------------------------


@operator("_npx_multibox_detection", rule=dtypes.floating, differentiable=False, prefers_xla=True)
def _multibox_detection(
    xp: Any,
    scores: Any,
    codes: Any,
    anchors: Any,
    *,
    clip: bool,
    threshold: float,
    background: int,
    nms: float,
    force: bool,
    variances: tuple[float, ...],
    topk: int,
) -> Any:
    """SSD detections: rows of class, score and corners, by descending score.

    Parameters
    ----------
    background : int
        The background class.
    nms : float
        Overlap from which boxes suppress each other.
    force : bool
        Whether boxes of different classes suppress each other.
    topk : int
        Number of best boxes that are compared; -1: all.
    """
    batch, classes, count = scores.shape
    isolated = xp.reshape(xp.arange(classes) == background, (1, -1, 1))
    others = xp.where(isolated, xp.asarray(-1, scores.dtype), scores)
    best, most = xp.argmax(others, axis=1), xp.max(others, axis=1)
    ids = xp.astype(
        xp.where(best > background, best - 1, best) if background >= 0 else best, scores.dtype
    )
    boxes = decoded(
        xp,
        xp.reshape(codes, (batch, count, 4)),
        to_centers(xp, anchors),
        xp.asarray(variances, scores.dtype),
    )
    if clip:
        boxes = xp.clip(boxes, xp.asarray(0, boxes.dtype), xp.asarray(1, boxes.dtype))
    valid = most >= threshold
    rows = xp.concatenate([xp.expand_dims(ids, -1), xp.expand_dims(most, -1), boxes], axis=-1)
    kept_count = count if topk < 1 else min(topk, count)
    order = xp.top_positions(xp.where(valid, most, xp.asarray(-math.inf, most.dtype)), count, False)
    rows = xp.take_along(rows, xp.broadcast_to(xp.expand_dims(order, -1), rows.shape), 1)
    alive = xp.take_along(valid, order, 1)
    if 0 < nms <= 1:
        head = rows[:, :kept_count]
        stays = not_suppressed(
            xp, head[..., 2:], alive[:, :kept_count], None if force else head[..., 0], nms, True
        )
        stays = xp.concatenate([stays, xp.zeros((batch, count - kept_count), bool)], axis=1)
    else:
        stays = alive
    none = xp.asarray(-1, rows.dtype)
    shown = xp.where(xp.expand_dims(alive, -1), rows, none)
    found_ids = xp.where(stays, shown[..., 0], none)
    return xp.concatenate([xp.expand_dims(found_ids, -1), shown[..., 1:]], axis=-1)


def multibox_detection(
    cls_prob: ArrayLike,
    loc_pred: ArrayLike,
    anchor: ArrayLike,
    clip: bool = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool = False,
    variances: Sequence[float] = VARIANCES,
    nms_topk: int = -1,
) -> ndarray:
    """SSD detections: decodes and ranks boxes, and applies non-maximum suppression.

    Parameters
    ----------
    cls_prob : array_like, shape (batch, classes + 1, n)
        Probabilities.
    loc_pred : array_like, shape (batch, 4 n)
        Codes; see `box_decode`.
    anchor : array_like, shape (1, n, 4)
        Anchors, by corners.
    clip : bool
        Whether boxes are clipped to the image.
    threshold : float
        Boxes with a smaller probability are removed.
    background_id : int
        The background class; -1 if there is none.
    nms_threshold : float
        Boxes whose intersection over union with a better one is not smaller are removed; none are
        if it is not in (0, 1].
    force_suppress : bool
        Whether boxes are removed by those of other classes, too.
    variances : sequence of four float
        Factors of the codes.
    nms_topk : int
        Number of best boxes that are considered, the others are removed; all if less than 1.

    Returns
    -------
    ndarray, shape (batch, n, 6)
        Rows of class (counted from 0 without the background), probability, left, top, right,
        bottom, by descending probability. Suppressed rows have class -1; rows below the threshold
        are -1 as a whole.

    Examples
    --------
    >>> prob = np.array([[[0.1, 0.6], [0.9, 0.4]]])
    >>> anchors = np.array([[[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0]]])
    >>> npx.multibox_detection(prob, np.zeros((1, 8)), anchors, threshold=0.5)
    array([[[ 0. ,  0.9,  0. ,  0. ,  0.5,  0.5],
            [-1. , -1. , -1. , -1. , -1. , -1. ]]])
    """
    scores, codes, anchor = asarray(cls_prob), asarray(loc_pred), asarray(anchor)
    if (
        scores.ndim != 3
        or anchor.shape != (1, scores.shape[2], 4)
        or codes.shape != (scores.shape[0], 4 * scores.shape[2])
    ):
        raise ValueError(
            "multibox_detection: expected cls_prob (batch, classes + 1, n), loc_pred (batch, 4 n) "
            "and anchor (1, n, 4), "
            f"got shapes {scores.shape}, {codes.shape} and {anchor.shape}"
        )
    if not -1 <= background_id < scores.shape[1] or scores.shape[1] < (
        1 if background_id == -1 else 2
    ):
        raise ValueError(
            f"multibox_detection: background_id={background_id} must be one of {scores.shape[1]} "
            "classes, beside others, or -1"
        )
    attrs = (
        bool(clip),
        float(threshold),
        int(background_id),
        float(nms_threshold),
        bool(force_suppress),
        _four("multibox_detection", variances),
        int(nms_topk),
    )
    return apply(_multibox_detection, (scores, codes, anchor), attrs)


__all__ = ["multibox_detection", "multibox_prior", "multibox_target"]
