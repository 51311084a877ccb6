"""Cases of attention; the oracles are written out with NumPy, in float64."""

import numpy as onp

from npcompat import autograd, np, npx
from registry_cases.case import case
from registry_cases.neural import softmax, wide


def attention(q, k, v, bias=0.0, seen=True):
    """Compute attention for one sequence and head after the other; groups share heads of keys."""
    out = onp.zeros((*q.shape[:3], v.shape[3]))
    bias, seen = (
        onp.broadcast_to(a, (q.shape[0], q.shape[2], q.shape[1], k.shape[1])) for a in (bias, seen)
    )
    for b in range(q.shape[0]):
        for h in range(q.shape[2]):
            g = h // (q.shape[2] // k.shape[2])
            products = q[b, :, h] @ k[b, :, g].T / onp.sqrt(q.shape[3]) + bias[b, h]
            out[b, :, h] = softmax(products, kept=seen[b, h]) @ v[b, :, g]
    return out


HEADS = {"dtypes": "f d bfloat16", "loose": 8.0, "layouts": ("ordinary", "view")}
case(
    "_npx_attention",
    lambda xp, q, k, v: npx.scaled_dot_product_attention(q, k, v),
    "2,2,2,2",
    "2,3,1,2",
    "2,3,1,3",
    oracle=wide(attention),
    second=True,
    **HEADS,
)
case(
    "_npx_attention",
    lambda xp, q, k, v, b, m: npx.scaled_dot_product_attention(q, k, v, m, b, is_causal=True),
    "1,3,2,2",
    "1,4,2,2",
    "1,4,2,2",
    "1,1,3,1",
    "1,2,3,4 mask bool",
    oracle=wide(
        lambda q, k, v, b, m: attention(q, k, v, b, onp.logical_and(m, onp.tri(3, 4, dtype=bool)))
    ),
    **{**HEADS, "dtypes": "f d", "layouts": ("ordinary",)},
)


def dropped(p, q, k, v, mask):
    with autograd.train_mode():
        np.random.seed(5)
        return npx.scaled_dot_product_attention(q, k, v, mask, dropout=p)


case(
    "_npx_attention_dropout",
    lambda xp, q, k, v, m: dropped(
        1e-12, q, k, v, m
    ),  # nothing is dropped: the weights are what they are without dropout
    "1,2,2,2",
    "1,3,1,2",
    "1,3,1,3",
    "1,1,2,3 mask bool",
    oracle=wide(lambda q, k, v, m: attention(q, k, v, 0.0, m != 0)),
    **{**HEADS, "dtypes": "f d", "layouts": ("ordinary",)},
)

# --- windows --------------------------------------------------------------------------------------


def windows(length, dilation, w, symmetric):
    """Position, head, entry of the window, and the position that it stands for, where there is one."""
    for i in range(length):
        for h, d in enumerate(dilation):
            for c in range(2 * w + 1 if symmetric else w + 1):
                j = i + int(d) * (c - w)
                if 0 <= j < length:
                    yield i, h, c, j


def scores(q, k, dilation, w, symmetric):
    out = onp.zeros((*q.shape[:3], 2 * w + 1 if symmetric else w + 1))
    for i, h, c, j in windows(q.shape[1], dilation, w, symmetric):
        out[:, i, h, c] = (q[:, i, h] * k[:, j, h]).sum(-1)
    return out


def contexts(s, v, dilation, w, symmetric):
    out = onp.zeros(v.shape)
    for i, h, c, j in windows(v.shape[1], dilation, w, symmetric):
        out[:, i, h] += s[:, i, h, c, None] * v[:, j, h]
    return out


def masks(s, dilation, valid, w):
    out = onp.zeros(s.shape)
    for b, n in enumerate(valid):
        for i, h, c, j in windows(s.shape[1], dilation, w, True):
            out[b, i, h, c] = i < n and j < n
    return out


WINDOW = {"dtypes": "f d", "loose": 8.0, "layouts": ("ordinary",)}
case(
    "_npx_sldwin_score",
    lambda xp, q, k, d: npx.sldwin_atten_score(q, k, d + 1, 2),
    "1,4,2,2",
    "1,4,2,2",
    "2 index2 int64",
    oracle=wide(lambda q, k, d: scores(q, k, d + 1, 2, True)),
    second=True,
    **WINDOW,
)
case(
    "_npx_sldwin_score",
    lambda xp, q, k, d: npx.sldwin_atten_score(q, k, d + 1, 1, symmetric=False),
    "1,4,2,2",
    "1,4,2,2",
    "2 index2 int64",
    oracle=wide(lambda q, k, d: scores(q, k, d + 1, 1, False)),
    grad=(),
    **WINDOW,
)
case(
    "_npx_sldwin_context",
    lambda xp, s, v, d: npx.sldwin_atten_context(s, v, d + 1, 1),
    "1,3,2,3",
    "1,3,2,2",
    "2 index2 int64",
    oracle=wide(lambda s, v, d: contexts(s, v, d + 1, 1, True)),
    second=True,
    **WINDOW,
)
case(
    "_npx_sldwin_mask",
    lambda xp, s, d, n: npx.sldwin_atten_mask_like(s, d + 1, n, 1),
    "2,4,2,3",
    "2 index2 int64",
    "2 index5 int64",
    oracle=wide(lambda s, d, n: masks(s, d + 1, n, 1)),
    **WINDOW,
)
