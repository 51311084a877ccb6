"""Cases of convolution and pooling; their oracles are written out with NumPy, in float64."""

import itertools

import numpy as onp

from npcompat import npx
from registry_cases.case import case
from registry_cases.neural import wide


def windows(x, kernel, stride, dilate, pad, fill=0.0):
    """For each output position, the part of the padded data that its window covers."""
    spatial = x.ndim - 2
    x = onp.pad(x, [(0, 0), (0, 0), *[(p, p) for p in pad]], constant_values=fill)
    out = [
        (x.shape[i + 2] - dilate[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(spatial)
    ]
    for at in itertools.product(*map(range, out)):
        yield (
            at,
            x[
                (
                    slice(None),
                    slice(None),
                    *[
                        slice(a * s, a * s + d * (k - 1) + 1, d)
                        for a, s, d, k in zip(at, stride, dilate, kernel, strict=True)
                    ],
                )
            ],
        )


def convolved(x, w, b, stride, dilate, pad, groups=1):
    found = {}
    for at, part in windows(x, w.shape[2:], stride, dilate, pad):
        pieces = [
            onp.tensordot(p, f, (list(range(1, x.ndim)), list(range(1, x.ndim))))
            for p, f in zip(onp.split(part, groups, 1), onp.split(w, groups, 0), strict=True)
        ]
        found[at] = onp.concatenate(pieces, 1)
    shape = tuple(n + 1 for n in max(found))
    y = onp.zeros((*next(iter(found.values())).shape, *shape))
    for at, value in found.items():
        y[(..., *at)] = value
    return y + b.reshape(-1, *[1] * (x.ndim - 2))


CONV = {"dtypes": "e f d", "loose": 16.0, "layouts": ("ordinary", "view")}
case(
    "_npx_convolution",
    lambda xp, x, w, b: npx.convolution(x, w, b, stride=2, pad=(1, 0)),
    "2,3,5,4",
    "4,3,3,2",
    "4",
    oracle=wide(lambda x, w, b: convolved(x, w, b, (2, 2), (1, 1), (1, 0))),
    second=True,
    **CONV,
)
case(
    "_npx_convolution",
    lambda xp, x, w, b: npx.convolution(x, w, b, num_group=2, dilate=2),
    "1,4,5,5",
    "2,2,2,2",
    "2",
    oracle=wide(lambda x, w, b: convolved(x, w, b, (1, 1), (2, 2), (0, 0), 2)),
    **CONV,
)
case(
    "_npx_convolution",
    lambda xp, x, w, b: npx.convolution(x, w, b, pad=1),
    "2,2,5",
    "3,2,3",
    "3",
    oracle=wide(lambda x, w, b: convolved(x, w, b, (1,), (1,), (1,))),
    **CONV,
)
case(
    "_npx_convolution",
    lambda xp, x, w: npx.convolution(x, w, layout="NHWC"),
    "1,4,3,2",
    "3,2,2,2",
    oracle=wide(
        lambda x, w: onp.moveaxis(
            convolved(
                onp.moveaxis(x, -1, 1), onp.moveaxis(w, -1, 1), onp.zeros(3), (1, 1), (1, 1), (0, 0)
            ),
            1,
            -1,
        )
    ),
    **CONV,
)


def pooled(x, kernel, stride, pad, summary, fill=0.0):
    found = {
        at: summary(part) for at, part in windows(x, kernel, stride, (1,) * len(kernel), pad, fill)
    }
    y = onp.zeros((*x.shape[:2], *[n + 1 for n in max(found)]))
    for at, value in found.items():
        y[(..., *at)] = value
    return y


POOL = {"dtypes": "e f d", "loose": 8.0, "layouts": ("ordinary", "view")}
case(
    "_npx_pooling",
    lambda xp, x: npx.pooling(x, 2, 2, pad=1),
    "2,2,5,4 distinct",
    oracle=wide(lambda x: pooled(x, (2, 2), (2, 2), (1, 1), lambda p: p.max((2, 3)), -onp.inf)),
    **POOL,
)
case(
    "_npx_pooling",
    lambda xp, x: npx.pooling(x, (2, 3), (1, 2), pool_type="avg", pad=(0, 1)),
    "2,2,4,5",
    oracle=wide(lambda x: pooled(x, (2, 3), (1, 2), (0, 1), lambda p: p.mean((2, 3)))),
    second=True,
    **POOL,
)
case(
    "_npx_pooling",
    lambda xp, x: npx.pooling(x, 2, pool_type="sum"),
    "2,3,4",
    oracle=wide(lambda x: pooled(x, (2,), (1,), (0,), lambda p: p.sum(2))),
    **POOL,
)
case(
    "_npx_pooling",
    lambda xp, x: npx.pooling(x, 2, 2, pool_type="lp", p_value=3),
    "1,2,4,4 nonzero",
    oracle=wide(
        lambda x: pooled(x, (2, 2), (2, 2), (0, 0), lambda p: (abs(p) ** 3).sum((2, 3)) ** (1 / 3))
    ),
    **POOL,
)
case(
    "_npx_pooling",
    lambda xp, x: npx.pooling(x, pool_type="avg", global_pool=True),
    "2,3,2,4",
    oracle=wide(lambda x: x.mean((2, 3), keepdims=True)),
    **POOL,
)
case(
    "_npx_pooling",
    lambda xp, x: npx.pooling(x, 3, 2, pool_type="avg", pad=1, count_include_pad=False),
    "1,2,4,4",
    oracle=wide(
        lambda x: pooled(x, (3, 3), (2, 2), (1, 1), lambda p: onp.nanmean(p, (2, 3)), onp.nan)
    ),
    **POOL,
)
