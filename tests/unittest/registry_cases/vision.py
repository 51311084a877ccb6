"""Cases of the operators that images are treated with; their oracles are loops over positions, in
float64.
"""

import itertools

import numpy as onp

from npcompat import npx
from registry_cases.case import case
from registry_cases.neural import wide

# --- transposed convolution -----------------------------------------------------------------------


def spread(x, w, stride, dilate, pad, adj, groups=1):
    """Transposed convolution: each position of the data adds to a window of the result."""
    sizes = [
        s * (n - 1) + d * (k - 1) + 1
        for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilate, strict=True)
    ]
    filters = w.shape[1]
    y = onp.zeros((x.shape[0], groups * filters, *[n + a for n, a in zip(sizes, adj, strict=True)]))
    for at in itertools.product(*map(range, x.shape[2:])):
        window = tuple(
            slice(a * s, a * s + d * (k - 1) + 1, d)
            for a, s, d, k in zip(at, stride, dilate, w.shape[2:], strict=True)
        )
        for c in range(x.shape[1]):
            first = c // (x.shape[1] // groups) * filters
            y[(slice(None), slice(first, first + filters), *window)] += (
                x[(slice(None), c, *at)].reshape(-1, *[1] * (w.ndim - 1)) * w[c]
            )
    return y[(slice(None), slice(None), *[slice(p, y.shape[i + 2] - p) for i, p in enumerate(pad)])]


DECONV = {"dtypes": "e f d", "loose": 16.0, "layouts": ("ordinary", "view")}
case(
    "_npx_deconvolution",
    lambda xp, x, w, b: npx.deconvolution(
        x, w, b, stride=(2, 1), pad=(1, 0), adj=(1, 0), dilate=(1, 2), num_group=2
    ),
    "1,4,3,2",
    "4,1,3,2",
    "2",
    oracle=wide(lambda x, w, b: spread(x, w, (2, 1), (1, 2), (1, 0), (1, 0), 2) + b[:, None, None]),
    second=True,
    **DECONV,
)
case(
    "_npx_deconvolution",
    lambda xp, x, w: npx.deconvolution(x, w, stride=3, target_shape=5),
    "2,2,3",
    "2,3,2",
    grad=(),
    oracle=wide(
        lambda x, w: spread(x, w, (3,), (1,), (2,), (1,))
    ),  # of 8 elements 5 are wanted: padding 2, adjustment 1
    **{**DECONV, "layouts": ("ordinary",)},
)
case(
    "_npx_deconvolution",
    lambda xp, x, w: npx.deconvolution(x, w, layout="NHWC"),
    "1,3,2,2",
    "2,2,2,3",
    grad=(),
    oracle=wide(
        lambda x, w: onp.moveaxis(
            spread(onp.moveaxis(x, -1, 1), onp.moveaxis(w, -1, 1), (1, 1), (1, 1), (0, 0), (0, 0)),
            1,
            -1,
        )
    ),
    **{**DECONV, "dtypes": "f d", "layouts": ("ordinary",)},
)
