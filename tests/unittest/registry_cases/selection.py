"""Cases of the operators that select elements of sequences, and of steps with the derivative of the
identity.
"""

import numpy as onp

from npcompat import npx
from registry_cases.case import case

KINDS = "? i e f d bfloat16"


def reversed_to(x, ends):
    """Each sequence (axis 0; the batch is axis 1) backwards up to its end."""
    y = x.copy()
    for i, end in enumerate(ends):
        y[:end, i] = x[:end, i][::-1]
    return y


LENGTHS = {"dtypes": "i f d", "layouts": ("ordinary",)}
case(
    "_npx_sequence_last",
    lambda xp, x, n: npx.sequence_last(x, n % 4 + 1, use_sequence_length=True),
    "4,3,2",
    "3 index4 int64",
    oracle=lambda x, n: onp.stack([x[n[i] % 4, i] for i in range(3)]),
    second=True,
    **LENGTHS,
)
case(
    "_npx_sequence_last",
    lambda xp, x, n: npx.sequence_last(x, n + 1, use_sequence_length=True, axis=1),
    "3,4",
    "3 index4 int64",
    oracle=lambda x, n: x[onp.arange(3), n],
    grad=(),
    **LENGTHS,
)
case(
    "_npx_sequence_reverse",
    lambda xp, x, n: npx.sequence_reverse(x, n + 1, use_sequence_length=True),
    "4,3,2",
    "3 index4 int64",
    oracle=lambda x, n: reversed_to(x, n + 1),
    second=True,
    **LENGTHS,
)
case(
    "_npx_sequence_reverse",
    lambda xp, x, n: npx.sequence_reverse(x, n + 1, use_sequence_length=True, axis=1),
    "3,4",
    "3 index4 int64",
    oracle=lambda x, n: reversed_to(x.T, n + 1).T,
    grad=(),
    **LENGTHS,
)


def rounded(x):
    if x.dtype.kind in "bi":
        return x
    return onp.asarray(
        onp.copysign(onp.floor(abs(x.astype(onp.float64)) + 0.5), x.astype(onp.float64))
    ).astype(x.dtype)


# Central differences are those of the steps, not of the identity: see test_npx_functions.py.
STEP = {"dtypes": KINDS, "grad": ()}
case("_npx_round_ste", lambda xp, x: npx.round_ste(x), "2,3 wide", oracle=rounded, **STEP)
case(
    "_npx_sign_ste",
    lambda xp, x: npx.sign_ste(x),
    "2,3",
    oracle=lambda x: onp.asarray(x if x.dtype.kind == "b" else onp.sign(x)),
    **STEP,
)
