"""Cases of the operators of detection; their oracles are the loops of the papers' algorithms, in
float64.
"""

import itertools
import math

import numpy as onp

from npcompat import np, npx
from registry_cases.case import case
from registry_cases.convolution import convolved
from registry_cases.neural import wide

# --- boxes ----------------------------------------------------------------------------------------


def overlap(a, b):
    sides = [min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1)]
    shared = max(sides[0], 0) * max(sides[1], 0)
    union = sum((c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)) - shared
    return shared / union if union > 0 else 0.0


def overlaps(a, b):
    return onp.array([[overlap(p, q) for q in b.reshape(-1, 4)] for p in a.reshape(-1, 4)]).reshape(
        a.shape[:-1] + b.shape[:-1]
    )


def corners(x):
    return onp.concatenate([x[..., :2] - x[..., 2:] / 2, x[..., :2] + x[..., 2:] / 2], -1)


def boxed(xp, x):
    """Boxes with positive sides from any numbers, as corners."""
    return xp.concatenate([x[..., :2], x[..., :2] + xp.abs(x[..., 2:]) + x.dtype.type(0.5)], -1)


BOXES = {
    "dtypes": "f d",
    "loose": 16.0,
    "layouts": ("ordinary",),
}  # (what they are made of is tested with views elsewhere)
case(
    "_npx_box_iou",
    lambda xp, a, b: npx.box_iou(boxed(np, a), boxed(np, b)),
    "2,1,4",
    "2,4",
    oracle=wide(lambda a, b: overlaps(boxed(onp, a), boxed(onp, b))),
    **BOXES,
)
case(
    "_npx_box_iou",
    lambda xp, a, b: npx.box_iou(a, b, "center"),
    "2,4 positive",
    "1,4 positive",
    oracle=wide(lambda a, b: overlaps(corners(a), corners(b))),
    grad=(),
    **BOXES,
)


def suppressed(rows, thresh, valid, topk, start, score, id, background, force):
    """Suppress overlapping rows: kept ones by descending score, then rows of -1."""
    alive = [r for r in rows if r[score] > valid and (id < 0 or r[id] != background)]
    alive = sorted(alive, key=lambda r: -r[score])[: topk if topk > 0 else None]
    kept = []
    for row in alive:
        box = row[start : start + 4]
        if not any(
            overlap(k[start : start + 4], box) > thresh and (force or id < 0 or k[id] == row[id])
            for k in kept
        ):
            kept.append(row)
    return onp.array(kept + [onp.full(rows.shape[1], -1.0)] * (len(rows) - len(kept)))


def rows_of(xp, ids, scores, x):
    return xp.concatenate([ids[..., None].astype(x.dtype), scores[..., None], boxed(xp, x)], -1)


case(
    "_npx_box_nms",
    lambda xp, i, s, x: npx.box_nms(
        rows_of(np, i, s, x), 0.2, -1.0, topk=5, id_index=0, background_id=2
    ),
    "1,6 index3 int64",
    "1,6 distinct",
    "1,6,4",
    oracle=wide(
        lambda i, s, x: onp.stack(
            [suppressed(r, 0.2, -1.0, 5, 2, 1, 0, 2, False) for r in rows_of(onp, i, s, x)]
        )
    ),
    **BOXES,
)
case(
    "_npx_box_nms",
    lambda xp, i, s, x: npx.box_nms(rows_of(np, i, s, x), 0.2, force_suppress=True, id_index=0),
    "4 index3 int64",
    "4 distinct",
    "4,4",
    oracle=wide(lambda i, s, x: suppressed(rows_of(onp, i, s, x), 0.2, 0.0, -1, 2, 1, 0, -1, True)),
    grad=(),
    **BOXES,
)


def matched(scores, threshold, ascend, topk):
    rows, columns = onp.full(scores.shape[0], -1.0), onp.full(scores.shape[1], -1.0)
    order = sorted(
        itertools.product(*map(range, scores.shape)),
        key=lambda at: scores[at] * (1 if ascend else -1),
    )
    for r, c in order:
        good = scores[r, c] < threshold if ascend else scores[r, c] > threshold
        if good and rows[r] == columns[c] == -1 and (rows >= 0).sum() < topk:
            rows[r], columns[c] = c, r
    return rows, columns


def matched_batch(x, *options):
    found = [matched(s, *options) for s in x]
    return onp.stack([f[0] for f in found]), onp.stack([f[1] for f in found])


case(
    "_npx_bipartite_matching",
    lambda xp, x: npx.bipartite_matching(x, threshold=-1.0),
    "2,4,3 distinct",
    oracle=wide(lambda x: matched_batch(x, -1.0, False, 99)),
    **BOXES,
)
case(
    "_npx_bipartite_matching",
    lambda xp, x: npx.bipartite_matching(x, is_ascend=True, threshold=2.0, topk=2),
    "2,2,4 distinct",
    oracle=wide(lambda x: matched_batch(x, 2.0, True, 2)),
    **BOXES,
)


def encode(samples, matches, anchors, refs, means, stds):
    codes, masks = onp.zeros((*samples.shape, 4)), onp.zeros((*samples.shape, 4))
    for b, n in zip(*onp.nonzero(samples > 0.5), strict=True):
        a, g = anchors[b, n], refs[b, int(matches[b, n])]
        size, other = a[2:] - a[:2], g[2:] - g[:2]
        shift = ((g[:2] + g[2:]) - (a[:2] + a[2:])) / 2 / size
        codes[b, n], masks[b, n] = (
            (onp.concatenate([shift, onp.log(other / size)]) - means) / stds,
            1,
        )
    return codes, masks


case(
    "_npx_box_encode",
    lambda xp, s, m, a, r, e, d: npx.box_encode(s - 1, m, boxed(np, a), boxed(np, r), e, d),
    "1,3 index3 int64",
    "1,3 index2 int64",
    "1,3,4",
    "1,2,4",
    "4",
    "4 positive",
    oracle=wide(lambda s, m, a, r, e, d: encode(s - 1, m, boxed(onp, a), boxed(onp, r), e, d)),
    **BOXES,
)


def decode(codes, anchors, stds, clip=math.inf):
    steps, size = codes * stds, anchors[..., 2:] - anchors[..., :2]
    middle = steps[..., :2] * size + (anchors[..., :2] + anchors[..., 2:]) / 2
    return corners(onp.concatenate([middle, onp.exp(onp.minimum(steps[..., 2:], clip)) * size], -1))


case(
    "_npx_box_decode",
    lambda xp, x, a: npx.box_decode(x, boxed(np, a), 0.1, 0.1, 0.2, 0.3, format="corner"),
    "2,1,4",
    "1,1,4",
    oracle=wide(lambda x, a: decode(x, boxed(onp, a), (0.1, 0.1, 0.2, 0.3))),
    **BOXES,
)
case(
    "_npx_box_decode",
    lambda xp, x, a: npx.box_decode(x, a, clip=0.5),
    "1,2,4",
    "1,2,4 positive",
    oracle=wide(lambda x, a: decode(x, corners(a), (1, 1, 1, 1), 0.5)),
    second=True,
    **BOXES,
)

# --- single-shot detection ------------------------------------------------------------------------

STDS = onp.array([0.1, 0.1, 0.2, 0.2])


def targets(anchors, labels, scores, threshold, ratio=-1.0, mining=0.5, minimum=0):
    """The algorithm of the paper, an image after the other."""
    count = anchors.shape[1]
    codes, masks, classes = (onp.zeros((len(labels), count, *rest)) for rest in ((4,), (4,), ()))
    for b, rows in enumerate(labels):
        ends = [i for i, row in enumerate(rows) if row[0] == -1]
        rows = rows[: ends[0]] if ends else rows
        classes[b] = -1
        if not len(rows):
            continue
        shared = overlaps(anchors[0], rows[:, 1:5])
        match = {}
        while len(match) < min(len(rows), count):
            left = [
                (n, m)
                for n in range(count)
                for m in range(len(rows))
                if n not in match and m not in match.values()
            ]
            best = max(left, key=lambda at: shared[at])
            if shared[best] <= 1e-6:
                break
            match[best[0]] = best[1]
        for n in range(count):
            if n not in match and threshold > 0 and shared[n].max() > threshold:
                match[n] = int(shared[n].argmax())
        rest = [n for n in range(count) if n not in match]
        if ratio > 0:
            background = scores[b, 0] - onp.log(onp.exp(scores[b]).sum(0))
            rest = sorted(
                [n for n in rest if shared[n].max() < mining], key=lambda n: background[n]
            )
            rest = rest[: min(max(int(len(match) * ratio), minimum), count - len(match))]
        classes[b, rest] = 0
        for n, m in match.items():
            classes[b, n] = rows[m, 0] + 1
            codes[b, n] = encode(
                onp.ones((1, 1)),
                onp.zeros((1, 1)),
                anchors[:, n : n + 1],
                rows[None, m : m + 1, 1:5],
                0,
                STDS,
            )[0][0, 0]
            masks[b, n] = 1
    return codes.reshape(len(labels), -1), masks.reshape(len(labels), -1), classes


def labelled(xp, ids, x):
    return xp.concatenate([(ids - 1)[..., None].astype(x.dtype), boxed(xp, x)], -1)


TARGETS = ("1,5,4", "3,4 index4 int64", "3,4,4", "3,3,5")
for options in (
    {"overlap_threshold": 0.3},
    {"negative_mining_ratio": 1.0, "negative_mining_thresh": 0.3, "minimum_negative_samples": 2},
):
    given = {
        "threshold": options.get("overlap_threshold", 0.5),
        "ratio": options.get("negative_mining_ratio", -1.0),
        "mining": options.get("negative_mining_thresh", 0.5),
        "minimum": options.get("minimum_negative_samples", 0),
    }
    case(
        "_npx_multibox_target",
        lambda xp, a, i, x, s, o=options: npx.multibox_target(
            boxed(np, a), labelled(np, i, x), s, **o
        ),
        *TARGETS,
        oracle=wide(
            lambda a, i, x, s, o=given: targets(boxed(onp, a), labelled(onp, i, x), s, **o)
        ),
        **BOXES,
    )


def detected(scores, codes, anchors, threshold, nms, force, topk):
    out = []
    for b in range(len(scores)):
        boxes = onp.clip(decode(codes[b].reshape(-1, 4), anchors[0], STDS), 0, 1)
        rows = [
            onp.array([scores[b, 1:, n].argmax(), scores[b, 1:, n].max(), *boxes[n]])
            for n in range(anchors.shape[1])
        ]
        good = sorted([r for r in rows if r[1] >= threshold], key=lambda r: -r[1])
        kept = []
        for rank, row in enumerate(good):
            if rank >= topk or any(
                (force or k[0] == row[0]) and overlap(k[2:], row[2:]) >= nms for k in kept
            ):
                row[0] = -1
            else:
                kept.append(row.copy())
        out.append(good + [onp.full(6, -1.0)] * (len(rows) - len(good)))
    return onp.array(out)


for force, topk in ((False, 99), (True, 3)):
    case(
        "_npx_multibox_detection",
        lambda xp, s, c, a, f=force, k=topk: npx.multibox_detection(
            s, c, boxed(np, a) / 3, threshold=-0.5, nms_threshold=0.3, force_suppress=f, nms_topk=k
        ),
        "2,3,5 distinct",
        "2,20",
        "1,5,4 fraction",
        oracle=wide(
            lambda s, c, a, f=force, k=topk: detected(s, c, boxed(onp, a) / 3, -0.5, 0.3, f, k)
        ),
        **BOXES,
    )

# --- regions and moved windows --------------------------------------------------------------------


def pooled(x, rois, size, scale):
    out = onp.zeros((len(rois), x.shape[1], *size))
    for r, (image, *box) in enumerate(rois):
        left, top, right, bottom = (math.floor(v * scale + 0.5) for v in box)
        for i, j in itertools.product(*map(range, size)):
            down, across = max(bottom - top + 1, 1) / size[0], max(right - left + 1, 1) / size[1]
            rows = range(
                max(math.floor(i * down) + top, 0), min(math.ceil((i + 1) * down) + top, x.shape[2])
            )
            columns = range(
                max(math.floor(j * across) + left, 0),
                min(math.ceil((j + 1) * across) + left, x.shape[3]),
            )
            if rows and columns:
                out[r, :, i, j] = x[int(image)][
                    :, rows.start : rows.stop, columns.start : columns.stop
                ].max((1, 2))
    return out


case(
    "_npx_roi_pooling",
    lambda xp, x, i, b: npx.roi_pooling(x, np.concatenate([i[:, None], b], 1), (2, 3), 0.6),
    "2,1,4,4 distinct",
    "3 index2 int64",
    "3,4 index9 int64",
    oracle=wide(lambda x, i, b: pooled(x, onp.concatenate([i[:, None], b], 1), (2, 3), 0.6)),
    **BOXES,
)


def moved(x, offset, mask, w, stride, dilate, pad, offset_groups):
    """For each place and element of the window the data at the place that the offset leads to; then
    a convolution of what was found.
    """
    batch, channels, height, width = x.shape
    kernel, out = w.shape[2:], offset.shape[2:]
    found = onp.zeros((batch, channels, out[0] * kernel[0], out[1] * kernel[1]))
    for b, c, i, j, p, q in itertools.product(*map(range, (batch, channels, *out, *kernel))):
        g, k = c // (channels // offset_groups), p * kernel[1] + q
        y = i * stride + p * dilate - pad + offset[b, (g * kernel[0] * kernel[1] + k) * 2, i, j]
        z = j * stride + q * dilate - pad + offset[b, (g * kernel[0] * kernel[1] + k) * 2 + 1, i, j]
        total = 0.0
        for row, column in itertools.product(
            (math.floor(y), math.floor(y) + 1), (math.floor(z), math.floor(z) + 1)
        ):
            if 0 <= row < height and 0 <= column < width:
                total += x[b, c, row, column] * (1 - abs(y - row)) * (1 - abs(z - column))
        factor = 1.0 if mask is None else mask[b, g * kernel[0] * kernel[1] + k, i, j]
        found[b, c, i * kernel[0] + p, j * kernel[1] + q] = total * factor
    return found


MOVED = {"dtypes": "f d", "loose": 64.0, "layouts": ("ordinary",)}
case(
    "_npx_deformable_convolution",
    lambda xp, x, o, w, b: npx.deformable_convolution(
        x, o, w, b, stride=2, pad=1, num_group=2, num_deformable_group=2
    ),
    "1,2,3,2",
    "1,8,3,2 noninteger",
    "2,1,1,2",
    "2",
    oracle=wide(
        lambda x, o, w, b: convolved(
            moved(x, o, None, w, 2, 1, 1, 2), w, b, (1, 2), (1, 1), (0, 0), 2
        )
    ),
    second=True,
    **MOVED,
)
case(
    "_npx_deformable_convolution",
    lambda xp, x, o, m, w: npx.modulated_deformable_convolution(x, o, m, w, dilate=2),
    "1,1,4,3",
    "1,8,2,1 noninteger",
    "1,4,2,1",
    "2,1,2,2",
    oracle=wide(
        lambda x, o, m, w: convolved(
            moved(x, o, m, w, 1, 2, 0, 1), w, onp.zeros(2), (2, 2), (1, 1), (0, 0)
        )
    ),
    **MOVED,
)
