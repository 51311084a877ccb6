"""Cases of the operators of neural networks; their oracles are written out with NumPy and SciPy, in
float64.
"""

import numpy as onp
from scipy import special

from npcompat import autograd, np, npx
from npcompat._internal.core.op import REGISTRY
from npcompat._internal.dispatch.apply import apply
from registry_cases.case import BFLOAT16, case

FLOATS = "e f d"
KINDS = f"? i l {FLOATS} bfloat16"
USUAL = {"dtypes": KINDS, "second": True, "loose": 4.0}


def wide(function):
    """An oracle that computes in float64, and returns the dtype of the floats that it got."""

    def oracle(*arrays):
        carried = [a.dtype for a in arrays if a.dtype.kind == "f" or a.dtype == BFLOAT16]
        dtype = max(carried, key=lambda d: d.itemsize) if carried else onp.dtype("float64")
        result = function(
            *[
                a.astype(onp.float64) if a.dtype in carried or a.dtype.kind == "b" else a
                for a in arrays
            ]
        )
        return (
            tuple(onp.asarray(r).astype(dtype) for r in result)
            if isinstance(result, tuple)
            else onp.asarray(result).astype(dtype)
        )

    return oracle


def activation(name, oracle, call, domain="nonzero", **options):
    """A function of one array, applied element by element."""
    case(
        f"_npx_{name}",
        lambda xp, a: call(a),
        f"2,3 {domain}",
        oracle=wide(oracle),
        **{**USUAL, "special": True, **options},
    )


def sigmoid(x):
    return special.expit(x)


def softplus(x):
    return onp.logaddexp(x, 0)


activation("sigmoid", sigmoid, lambda a: npx.sigmoid(a))
activation("log_sigmoid", lambda x: -softplus(-x), lambda a: npx.log_sigmoid(a))
activation("softplus", softplus, lambda a: npx.softplus(a))
activation("softsign", lambda x: x / (1 + abs(x)), lambda a: npx.softsign(a), special=False)
activation("mish", lambda x: x * onp.tanh(softplus(x)), lambda a: npx.mish(a), special=False)
activation("silu", lambda x: x * sigmoid(1.5 * x), lambda a: npx.silu(a, 1.5), special=False)
activation("gelu", lambda x: x * special.ndtr(x), lambda a: npx.gelu(a), special=False)
activation(
    "gelu",
    lambda x: 0.5 * x * (1 + onp.tanh(onp.sqrt(2 / onp.pi) * (x + 0.044715 * x**3))),
    lambda a: npx.gelu(a, "tanh"),
    special=False,
)
activation(
    "leaky_relu",
    lambda x: onp.where(x > 0, x, 0.1 * x),
    lambda a: npx.leaky_relu(a, slope=0.1),
    second=False,
)
activation(
    "elu",
    lambda x: onp.where(x > 0, x, 0.7 * onp.expm1(onp.minimum(x, 0))),
    lambda a: npx.leaky_relu(a, act_type="elu", slope=0.7),
    special=False,
)
activation(
    "selu",
    lambda x: (
        1.0507009873554805 * onp.where(x > 0, x, 1.6732632423543772 * onp.expm1(onp.minimum(x, 0)))
    ),
    lambda a: npx.leaky_relu(a, act_type="selu"),
    special=False,
)
activation("erf", special.erf, lambda a: npx.erf(a))
activation(
    "erfinv",
    special.erfinv,
    lambda a: npx.erfinv(a),
    "unit",
    dtypes=f"? {FLOATS} bfloat16",
    special=False,
)
activation("gamma", special.gamma, lambda a: npx.gamma(a), "positive", special=False, loose=16)
activation(
    "gammaln", special.gammaln, lambda a: npx.gammaln(a), "positive", special=False, loose=16
)
activation(
    "digamma", special.digamma, lambda a: npx.digamma(a), "positive", special=False, loose=16
)
activation(
    "smooth_l1",
    lambda x: onp.where(abs(x) < 0.25, 2 * x * x, abs(x) - 0.125),
    lambda a: npx.smooth_l1(a, 2.0),
    second=False,
)
case(
    "_npx_relu",
    lambda xp, a: npx.relu(a),
    "2,3 nonzero",
    oracle=lambda a: onp.where(a > 0, a, a * 0 if a.dtype.kind != "b" else a),
    dtypes=KINDS,
    special=False,
)
case(
    "_npx_prelu",
    lambda xp, a, s: npx.leaky_relu(a, s, act_type="prelu"),
    "2,3,2 nonzero",
    "3 fraction",
    oracle=wide(lambda a, s: onp.where(a > 0, a, a * (s[:, None] if s.ndim and a.ndim > 1 else s))),
    dtypes="i e f d",
    layouts=("ordinary", "0-d", "view"),
)

# --- softmax --------------------------------------------------------------------------------------


def softmax(a, axis=-1, temperature=1.0, kept=None):
    a = a / temperature
    if kept is not None:
        a = onp.where(kept, a, -onp.inf)
    if a.size == 0 or a.ndim == 0:
        return onp.ones(a.shape)
    with onp.errstate(all="ignore"):
        return (
            onp.nan_to_num(special.softmax(a, axis=axis))
            if kept is not None
            else special.softmax(a, axis=axis)
        )


def log(p):
    with onp.errstate(all="ignore"):
        return onp.log(p)


case("_npx_softmax", lambda xp, a: npx.softmax(a), "2,3 wide", oracle=wide(softmax), **USUAL)
case(
    "_npx_softmax",
    lambda xp, a: npx.softmax(a, axis=0, temperature=2.0),
    "2,3,2",
    oracle=wide(lambda a: softmax(a, 0, 2.0)),
    dtypes="f d",
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npx_softmax",
    lambda xp, a, m: npx.masked_softmax(a, m),
    "2,3",
    "2,3 mask bool",
    oracle=wide(lambda a, m: softmax(a, -1, 1.0, m != 0)),
    dtypes="e f d",
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npx_softmax",
    lambda xp, a, n: npx.softmax(a, n, use_length=True),
    "2,3",
    "2 index4 int32",
    oracle=wide(lambda a, n: softmax(a, -1, 1.0, onp.arange(3) < n[:, None])),
    dtypes="f d",
    layouts=("ordinary", "view"),
)
case(
    "_npx_log_softmax",
    lambda xp, a: npx.log_softmax(a),
    "2,3 wide",
    oracle=wide(lambda a: special.log_softmax(a, axis=-1) if a.size and a.ndim else a * 0),
    **USUAL,
)
case(
    "_npx_log_softmax",
    lambda xp, a, m: xp_exp(npx.masked_log_softmax(a, m)),
    "2,3",
    "2,3 mask bool",
    oracle=wide(lambda a, m: softmax(a, -1, 1.0, m != 0)),
    dtypes="f d",
    layouts=("ordinary", "view"),
)


def xp_exp(a):
    return np.exp(a)


# --- dense layers ---------------------------------------------------------------------------------

case(
    "_npx_fully_connected",
    lambda xp, x, w, b: npx.fully_connected(x, w, b, no_bias=False),
    "2,3,2",
    "4,6",
    "4",
    oracle=wide(lambda x, w, b: x.reshape(len(x), -1) @ w.T + b),
    dtypes="i f d bfloat16",
    second=True,
    loose=8,
    layouts=("ordinary", "view"),
)
case(
    "_npx_fully_connected",
    lambda xp, x, w: npx.fully_connected(x, w, flatten=False),
    "2,3,2",
    "4,2",
    oracle=wide(lambda x, w: x @ w.T),
    dtypes="f d",
    loose=8,
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npx_batch_dot",
    lambda xp, a, b: npx.batch_dot(a, b, transpose_b=True),
    "2,3,2",
    "2,4,2",
    oracle=lambda a, b: onp.matmul(a, onp.swapaxes(b, -1, -2)),
    dtypes="i f d",
    second=True,
    loose=8,
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npx_batch_dot",
    lambda xp, a, b: npx.batch_dot(a, b, transpose_a=True),
    "2,3,2",
    "2,3,4",
    oracle=lambda a, b: onp.matmul(onp.swapaxes(a, -1, -2), b),
    dtypes="f d",
    loose=8,
    layouts=("ordinary", "view"),
)
case(
    "_npx_batch_flatten",
    lambda xp, a: npx.batch_flatten(a),
    "2,3,2",
    oracle=lambda a: a.reshape(len(a), onp.prod(a.shape[1:], dtype=int)),
    dtypes=KINDS,
    second=True,
    layouts=("ordinary", "empty", "view"),
)
case(
    "_npx_all_finite",
    lambda xp, a, b: apply(REGISTRY["_npx_all_finite"], (a, b)),
    "2,3",
    "3",
    oracle=lambda a, b: onp.isfinite(a).all() & onp.isfinite(b).all(),
    dtypes="e f d",
    special=True,
)
case(
    "_npx_global_norm",
    lambda xp, a, b: apply(REGISTRY["_npx_global_norm"], (a, b)),
    "2,3",
    "3",
    oracle=lambda a, b: wide(lambda a, b: onp.sqrt((a * a).sum() + (b * b).sum()))(a, b)[()],
    dtypes="f d",
    loose=4,
    layouts=("ordinary", "view"),
    second=True,
)


def _dropped(p, x):
    with autograd.train_mode():
        rng_state(3)
        return npx.dropout(x, p)


def rng_state(seed):
    np.random.seed(seed)


case(
    "_npx_dropout",
    lambda xp, x: _dropped(0.4, x),
    "20,10 positive",
    oracle=None,
    holds=lambda y, x: (
        0.4 < (y.asnumpy() != 0).mean() < 0.8
        and onp.allclose(y.asnumpy()[y.asnumpy() != 0], (x / 0.6)[y.asnumpy() != 0], rtol=1e-2)
        and y.dtype == x.dtype
    ),
    dtypes="e f d",
    grad=(),
    layouts=("ordinary", "view"),
)
case(
    "_npx_dropout",
    lambda xp, x: _dropped(0.4, x),
    "2,3 positive",
    oracle=None,
    holds=lambda y, x: y.shape == x.shape,
    dtypes="d",
    layouts=("ordinary", "0-d", "empty"),
)
case(
    "_npx_dropout",
    lambda xp, x: _dropped(1.0, x),
    "2,3",
    oracle=lambda x: x * 0,
    dtypes="f d",
    layouts=("ordinary",),
)

# --- normalization --------------------------------------------------------------------------------


def normalized(x, axes, gamma, beta, eps, channel):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    shape = [-1 if i == channel else 1 for i in range(x.ndim)]
    return (x - mean) / onp.sqrt(variance + eps) * gamma.reshape(shape) + beta.reshape(shape)


NORM = {"dtypes": "e f d bfloat16", "loose": 40.0, "layouts": ("ordinary", "view")}
case(
    "_npx_layer_norm",
    lambda xp, x, g, b: npx.layer_norm(x, g, b, axis=1),
    "2,4,3",
    "4 positive",
    "4",
    oracle=wide(lambda x, g, b: normalized(x, (1,), g, b, 1e-5, 1)),
    second=True,
    **NORM,
)
case(
    "_npx_layer_norm_statistics",
    lambda xp, x, g, b: npx.layer_norm(x, g, b, output_mean_var=True),
    "2,4",
    "4 positive",
    "4",
    oracle=wide(
        lambda x, g, b: (
            normalized(x, (1,), g, b, 1e-5, 1),
            x.mean(-1, keepdims=True),
            onp.sqrt(x.var(-1, keepdims=True) + 1e-5),
        )
    ),
    **{**NORM, "dtypes": "f d"},
)
case(
    "_npx_group_norm",
    lambda xp, x, g, b: npx.group_norm(x, g, b, num_groups=2),
    "2,4,3",
    "4 positive",
    "4",
    oracle=wide(lambda x, g, b: grouped(x, g, b)[0]),
    second=True,
    **NORM,
)
case(
    "_npx_group_norm_statistics",
    lambda xp, x, g, b: npx.group_norm(x, g, b, num_groups=2, output_mean_var=True),
    "2,4,3",
    "4 positive",
    "4",
    oracle=wide(lambda x, g, b: grouped(x, g, b)),
    **{**NORM, "dtypes": "f d"},
)
case(
    "_npx_instance_norm",
    lambda xp, x, g, b: npx.instance_norm(x, g, b),
    "2,3,4",
    "3 positive",
    "3",
    oracle=wide(lambda x, g, b: normalized(x, (2,), g, b, 1e-3, 1)),
    second=True,
    **NORM,
)
case(
    "_npx_l2_normalization",
    lambda xp, x: npx.l2_normalization(x, mode="channel"),
    "2,3,4 nonzero",
    oracle=wide(lambda x: x / onp.sqrt((x * x).sum(1, keepdims=True) + 1e-10)),
    second=True,
    **NORM,
)
case(
    "_npx_l2_normalization",
    lambda xp, x: npx.l2_normalization(x),
    "2,3,4 nonzero",
    oracle=wide(lambda x: x / onp.sqrt((x * x).sum((1, 2), keepdims=True) + 1e-10)),
    **{**NORM, "dtypes": "f d"},
)


def grouped(x, g, b):
    parts = x.reshape(2, 2, 2, 3)
    mean, deviation = parts.mean((2, 3)), onp.sqrt(parts.var((2, 3)) + 1e-3)
    y = ((parts - mean[..., None, None]) / deviation[..., None, None]).reshape(x.shape)
    return y * g[:, None] + b[:, None], mean, deviation


def batch_norm(training, x, g, b, mean, variance):
    with autograd.train_mode() if training else autograd.predict_mode():
        running_mean, running_var = mean.copy(), variance.copy()
        y = npx.batch_norm(x, g, b, running_mean, running_var, fix_gamma=False)
        return y, running_mean, running_var


def batch_oracle(x, g, b, mean, variance):
    m, v = x.mean((0, 2)), x.var((0, 2))
    return normalized(x, (0, 2), g, b, 1e-3, 1), 0.9 * mean + 0.1 * m, 0.9 * variance + 0.1 * v


def predicted(x, g, b, mean, variance):
    return (
        (x - mean[:, None]) / onp.sqrt(variance[:, None] + 1e-3) * g[:, None] + b[:, None],
        mean,
        variance,
    )


BATCH = ("2,3,4", "3 positive", "3", "3", "3 positive")
# The running statistics are no function of the data to differentiate: gradients are those of the
# first output.
case(
    "_npx_batch_norm",
    lambda xp, *a: batch_norm(True, *a)[0],
    *BATCH,
    oracle=wide(lambda *a: batch_oracle(*a)[0]),
    grad=(0, 1, 2),
    **NORM,
)
case(
    "_npx_batch_norm",
    lambda xp, *a: batch_norm(True, *a),
    *BATCH,
    oracle=wide(batch_oracle),
    grad=(),
    **NORM,
)
case(
    "_npx_batch_norm_predict",
    lambda xp, *a: batch_norm(False, *a),
    *BATCH,
    oracle=wide(predicted),
    grad=(0, 1, 2),
    **NORM,
)

# --- selecting ------------------------------------------------------------------------------------


def picked(x, i, axis=-1):
    return onp.take_along_axis(
        x, onp.expand_dims(onp.clip(i.astype(int), 0, x.shape[axis] - 1), axis), axis
    ).squeeze(axis)


def ranked(x, k, axis=-1):
    return onp.flip(onp.argsort(x, axis=axis, kind="stable"), axis).take(range(k), axis)


case(
    "_npx_one_hot",
    lambda xp, i: npx.one_hot(i, 4, 2.0, -1.0),
    "2,3 below5 int64",
    oracle=lambda i: onp.where(i[..., None] == onp.arange(4), 2, -1).astype("f"),
)
case(
    "_npx_pick",
    lambda xp, x, i: npx.pick(x, i),
    "2,3",
    "2 below5 int64",
    oracle=picked,
    dtypes="i f d",
    second=True,
    layouts=("ordinary", "view"),
)
case(
    "_npx_pick",
    lambda xp, x, i: npx.pick(x, i, axis=0, keepdims=True),
    "2,3",
    "3 index2 float32",
    oracle=lambda x, i: picked(x, i, 0)[None],
    dtypes="f d",
    grad=(0,),
    layouts=("ordinary", "view"),
)
case(
    "_npx_sequence_mask",
    lambda xp, x, n: npx.sequence_mask(x, n, True, value=-1.0),
    "3,2,2",
    "2 index4 int32",
    oracle=lambda x, n: onp.where(onp.arange(3)[:, None, None] < n[:, None], x, x.dtype.type(-1)),
    dtypes="f d",
    second=True,
    layouts=("ordinary", "view"),
)
case(
    "_npx_topk",
    lambda xp, x: npx.topk(x, k=2),
    "2,4 distinct",
    oracle=lambda x: ranked(x, 2).astype("f"),
    dtypes="i l f d",
    layouts=("ordinary", "view"),
)
case(
    "_npx_topk_value",
    lambda xp, x: npx.topk(x, axis=0, k=2, ret_typ="value"),
    "4,3 distinct",
    oracle=lambda x: onp.take_along_axis(x, ranked(x, 2, 0), 0),
    dtypes="i f d",
    second=True,
    layouts=("ordinary", "view"),
)
case(
    "_npx_topk_mask",
    lambda xp, x: npx.topk(x, k=2, ret_typ="mask"),
    "2,4 distinct",
    oracle=lambda x: (x >= onp.sort(x)[:, -2:-1]).astype(x.dtype),
    dtypes="i f d",
    layouts=("ordinary", "view"),
)


def wrong_label(ignored):
    def call(xp, label):
        if xp is onp:
            return onp.bool_(not ((label > -1) & (label < 3) | (label == ignored)).all())
        return apply(REGISTRY["_npx_any_wrong_label"], (label,), (3, ignored))

    return call


for shape, ignored in (("4 below3", None), ("4", None), ("2,3", -1)):
    case("_npx_any_wrong_label", wrong_label(ignored), shape, dtypes="i l f d")
