"""Cases of recurrent networks and of what aligns sequences; their oracles are written out with
NumPy, step by step, in float64.
"""

import itertools

import numpy as onp
from scipy import special

from npcompat import npx
from registry_cases.case import case
from registry_cases.neural import wide

sigmoid, tanh = special.expit, onp.tanh


def rnn_step(x, h, c, wi, wh, bi, bh):
    return tanh(wi @ x + bi + wh @ h + bh), None


def gru_step(x, h, c, wi, wh, bi, bh):
    (ar, az, an), (br, bz, bn) = onp.split(wi @ x + bi, 3), onp.split(wh @ h + bh, 3)
    z = sigmoid(az + bz)
    return (1 - z) * tanh(an + sigmoid(ar + br) * bn) + z * h, None


def lstm_step(x, h, c, wi, wh, bi, bh, wr=None, bounds=None):
    i, f, g, o = onp.split(wi @ x + bi + wh @ h + bh, 4)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    if bounds is not None:
        c = onp.clip(c, *bounds)
    h = sigmoid(o) * tanh(c)
    return (h if wr is None else wr @ h), c


def layer(step, x, lengths, h0, c0, weights, biases, backwards, **options):
    """One layer in one direction, sample by sample: outputs, last states, last cell states."""
    out, last_h, last_c = onp.zeros((*x.shape[:2], h0.shape[1])), [], []
    wi, wh, *wr = weights
    for n, length in enumerate(lengths):
        h, c = h0[n], None if c0 is None else c0[n]
        for t in range(length)[:: -1 if backwards else 1]:
            h, c = step(x[t, n], h, c, wi, wh, *biases, *wr, **options)
            out[t, n] = h
        last_h.append(h)
        last_c.append(c)
    return out, onp.stack(last_h), None if c0 is None else onp.stack(last_c)


def network(
    step, x, vector, h0, c0=None, lengths=None, layers=1, directions=1, projection=None, **options
):
    """The whole network, from the vector of its parameters."""
    lengths = [len(x)] * x.shape[1] if lengths is None else onp.clip(lengths, 0, len(x))
    size = (h0 if c0 is None else c0).shape[2]
    rows = {rnn_step: 1, gru_step: 3, lstm_step: 4}[step] * size
    vector = list(vector)

    def taken(*shape):
        count = int(onp.prod(shape))
        found, vector[:count] = onp.array(vector[:count]).reshape(shape), []
        return found

    weights, columns = [], x.shape[2]
    for at in range(layers * directions):
        if at >= directions:
            columns = h0.shape[2] * directions
        weights.append(
            [taken(rows, columns), taken(rows, h0.shape[2])]
            + ([taken(projection, size)] if projection else [])
        )
    biases = [[taken(rows), taken(rows)] for _ in weights]
    assert not vector
    last_h, last_c = [], []
    for at in range(0, layers * directions, directions):
        outs = []
        for i in range(at, at + directions):
            c = None if c0 is None else c0[i]
            out, h, c = layer(step, x, lengths, h0[i], c, weights[i], biases[i], i > at, **options)
            outs.append(out)
            last_h.append(h)
            last_c.append(c)
        x = onp.concatenate(outs, -1)
    return (x, onp.stack(last_h)) if c0 is None else (x, onp.stack(last_h), onp.stack(last_c))


RECURRENT = {"dtypes": "f d", "loose": 8.0, "layouts": ("ordinary", "view")}
case(
    "_npx_rnn",
    lambda xp, x, w, h: npx.rnn(
        x, w, h, mode="rnn_tanh", state_size=2, num_layers=1, state_outputs=True
    ),
    "3,2,3",
    f"{2 * (3 + 2 + 2)} unit",
    "1,2,2",
    oracle=wide(lambda x, w, h: network(rnn_step, x, w, h)),
    second=True,
    **{**RECURRENT, "dtypes": "e f d bfloat16"},
)
case(
    "_npx_rnn",
    lambda xp, x, w, h, n: npx.rnn(
        x, w, h, None, n, "gru", 1, 2, True, True, use_sequence_length=True
    ),
    "4,3,2",
    f"{6 * (2 + 1 + 2) + 6 * (2 + 1 + 2)} unit",
    "4,3,1",
    "3 index6 int32",
    oracle=wide(lambda x, w, h, n: network(gru_step, x, w, h, None, n, 2, 2)),
    **{**RECURRENT, "dtypes": "i f d"},
)
case(
    "_npx_lstm",
    lambda xp, x, w, h, c: npx.rnn(
        x,
        w,
        h,
        c,
        None,
        "lstm",
        2,
        1,
        True,
        True,
        projection_size=1,
        lstm_state_clip_min=-0.5,
        lstm_state_clip_max=0.4,
    ),
    "3,2,3",
    f"{2 * (8 * (3 + 1 + 2) + 2)} unit",
    "2,2,1",
    "2,2,2",
    oracle=wide(
        lambda x, w, h, c: network(lstm_step, x, w, h, c, None, 1, 2, 1, bounds=(-0.5, 0.4))
    ),
    second=True,
    **RECURRENT,
)
case(
    "_npx_lstm",
    lambda xp, x, w, h, c, n: npx.rnn(
        x, w, h, c, n, "lstm", 1, 2, True, True, use_sequence_length=True
    ),
    "4,3,2",
    f"{8 * (2 + 1 + 2) + 8 * (2 + 1 + 2)} unit",
    "4,3,1",
    "4,3,1",
    "3 index6 int64",
    oracle=wide(lambda x, w, h, c, n: network(lstm_step, x, w, h, c, n, 2, 2)),
    grad=(),
    **{**RECURRENT, "dtypes": "f", "layouts": ("ordinary",)},
)


# --- alignment ------------------------------------------------------------------------------------


def every_path(data, labels, ends, counts, blank):
    """Minus the logarithm of the sum of the probabilities of all paths that stand for the labels,
    each written out.
    """
    p = special.softmax(data, axis=2)
    losses = []
    for n in range(data.shape[1]):
        total, wanted = 0.0, list(labels[n, : counts[n]])
        for path in itertools.product(range(data.shape[2]), repeat=int(ends[n])):
            if [k for k, _ in itertools.groupby(path) if k != blank] == wanted:
                total += onp.prod([p[t, n, k] for t, k in enumerate(path)])
        losses.append(-onp.log(total) if total else onp.inf)
    return onp.array(losses)


def before_padding(labels, padding):
    return [next((i for i, k in enumerate(row) if k == padding), len(row)) for row in labels]


case(
    "_npx_ctc_loss",
    lambda xp, x, y: npx.ctc_loss(x, y),
    "5,3,3",
    "3,2 index3 int32",
    oracle=wide(lambda x, y: every_path(x, y, [5] * 3, before_padding(y, 0), 0)),
    second=True,
    **{**RECURRENT, "dtypes": "i e f d bfloat16"},
)
case(
    "_npx_ctc_loss",
    lambda xp, x, y, t, n: npx.ctc_loss(x, y, t, n, True, True, "last"),
    "4,4,3",
    "4,2 index2 int32",
    "4 index5 int64",
    "4 index3 int64",
    oracle=wide(lambda x, y, t, n: every_path(x, y, t, n, 2)),
    grad=(),
    **RECURRENT,
)
