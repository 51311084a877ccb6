"""Strategies for keys of arrays: basic, advanced, and both mixed."""

import numpy as onp
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


def basic(shape, dimensions=4):
    """Integers, slices, new axes and an ellipsis."""
    return hnp.basic_indices(shape, allow_newaxis=True, max_dims=max(dimensions, len(shape)))


@st.composite
def advanced(draw, shape):
    """At least one list of positions or mask, among anything else; now and then out of bounds."""
    key, axis, length = [], 0, draw(st.integers(1, 3))
    while axis < len(shape):
        n = shape[axis]
        kind = draw(
            st.sampled_from(
                [
                    "positions",
                    "positions",
                    "column",
                    "slice",
                    "number",
                    "mask",
                    "new",
                    "masks",
                    "end",
                ]
            )
        )
        if kind in ("positions", "column"):
            found = draw(
                st.lists(
                    st.integers(-n, n - 1) if n else st.just(0), min_size=length, max_size=length
                )
            )
            if draw(st.integers(0, 19)) == 0:
                found[0] = n
            key.append([[i] for i in found] if kind == "column" else found)
        elif kind == "slice":
            key.append(draw(st.slices(n)))
        elif kind == "number":
            key.append(draw(st.integers(-n, n - 1)) if n else 0)
        elif kind == "mask":
            key.append(onp.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool))
        elif kind == "masks" and axis + 1 < len(shape):
            key.append(draw(hnp.arrays(bool, shape[axis : axis + 2])))
            axis += 1
        elif kind == "new":
            key.append(None)
            continue
        elif kind == "end":
            if draw(st.booleans()):
                key.append(Ellipsis)
            break
        else:
            key.append(slice(None))
        axis += 1
    if not any(isinstance(k, list | onp.ndarray) for k in key):
        key.append(draw(st.booleans()))
    return tuple(key)


def kept_axes(rank):
    """An axis, several, or all."""
    several = (
        st.lists(st.integers(-rank, rank - 1), min_size=1, max_size=2).map(tuple)
        if rank
        else st.just(())
    )
    return st.none() | st.integers(-1, max(rank - 1, 0)) | several
