"""Producers and writes whose new values come from the same memory, compiled and by NumPy.

Where NumPy itself reads what it has overwritten, as in `v[0:8:2] = v[1:5]`, values are copied.

Run as a program it compares all pairs, with XLA at the user's level of optimisation, and prints
those that differ: `python overlapping_writes.py float32 1 0 1 alone` takes a dtype, a number of
axes, which part of how many to run, and whether the write is `alone`, or `among` others: of the
source before, and of the result behind.
"""

import sys

import numpy as onp

P = onp.array([3, 1, 2, 0, 5, 4, 7, 6, 9, 8, 11, 10])
PRODUCERS_1D = {
    "copy": lambda m, x: x.copy(),
    "new axis, copied": lambda m, x: x[None].copy()[0],
    "new axis, times 1": lambda m, x: (x[None, :] * 1)[0],
    "column": lambda m, x: (x[:, None] * 1)[:, 0],
    "two axes and back": lambda m, x: (x.reshape(3, 4) + 0).ravel(),
    "plus 1": lambda m, x: x + 1,
    "negated": lambda m, x: -x,
    "gather": lambda m, x: x[P],
    "take": lambda m, x: m.take(x, P),
    "delete": lambda m, x: m.delete(x, 0),
    "compress": lambda m, x: m.compress(onp.arange(12) % 7 != 0, x),
    "cumsum": lambda m, x: m.cumsum(x).astype(x.dtype),
    "choose": lambda m, x: m.choose(P % 2, [x, x + 1]),
    "take_along_axis": lambda m, x: m.take_along_axis(x, P, 0),
    "repeat": lambda m, x: m.repeat(x, 2),
    "tile": lambda m, x: m.tile(x, 2),
    "kron": lambda m, x: m.kron(x, m.ones(2, dtype=x.dtype)),
    "roll": lambda m, x: m.roll(x, 1),
    "flip": lambda m, x: m.flip(x).copy(),
    "concatenate": lambda m, x: m.concatenate([x[6:], x[:6]]),
    "pad": lambda m, x: m.pad(x, 1),
    "sort": lambda m, x: m.sort(x),
    "where": lambda m, x: m.where(x > 3, x, 0 * x),
    "transpose": lambda m, x: x.reshape(3, 4).T.reshape(-1),
    "stack": lambda m, x: m.stack([x, x])[1].copy(),
    "outer": lambda m, x: m.outer(x, m.ones(1, dtype=x.dtype))[:, 0].copy(),
    "ix_": lambda m, x: x.reshape(12, 1)[m.ix_(P, onp.array([0]))][:, 0],
}


def _set(v, key, new):
    v[key] = new
    return v


WRITES_1D = {
    "shifted": lambda m, v, x: _set(v, slice(1, None), v[:-1]),
    "shifted back": lambda m, v, x: _set(v, slice(None, -1), v[1:]),
    "of the source": lambda m, v, x: _set(v, slice(1, 8), x[:7]),
    "of the source, far": lambda m, v, x: _set(v, slice(2, 10), x[1:9]),
    "rolled": lambda m, v, x: _set(v, slice(1, None), m.roll(v, 1)[1:]),
    "two axes": lambda m, v, x: _set(v, slice(1, None), m.atleast_2d(v)[0, :-1]),
    "column": lambda m, v, x: _set(v, slice(1, None), v.reshape(-1, 1)[:-1, 0]),
    "copied": lambda m, v, x: _set(v, slice(1, 4), v[:3].copy()),
    "reversed": lambda m, v, x: _set(v, slice(1, None), v[::-1][:-1]),
    "sum of two": lambda m, v, x: _set(v, slice(1, -1), v[:-2] + v[2:]),
    "strided": lambda m, v, x: _set(v, slice(0, 8, 2), v[1:5].copy()),
    "strided source": lambda m, v, x: _set(v, slice(1, 6), v[:10:2].copy()),
    "gathered": lambda m, v, x: _set(v, slice(1, 6), v[onp.array([0, 1, 2, 3, 4])]),
    "repeated": lambda m, v, x: _set(v, slice(1, 9), m.repeat(v[:4], 2)),
    "tiled": lambda m, v, x: _set(v, slice(1, 9), m.tile(v[:4], 2)),
    "concatenated": lambda m, v, x: _set(v, slice(1, 7), m.concatenate([v[3:6], v[:3]])),
    "cumulated": lambda m, v, x: _set(v, slice(1, 6), m.cumsum(v[:5]).astype(v.dtype)),
    "sorted": lambda m, v, x: _set(v, slice(1, 6), m.sort(v[:5])),
    "scaled in place": lambda m, v, x: _set(v, slice(1, None), v[:-1] * 2 + x[0]),
    "twice": lambda m, v, x: _set(_set(v, slice(1, 5), v[:4]), slice(3, 8), x[2:7]),
    "flat": lambda m, v, x: (v.flat.__setitem__(slice(1, 4), v[:3].copy()), v)[1],
    "transposed": lambda m, v, x: _set(v, slice(0, 6), v[:6].reshape(2, 3).T.reshape(-1)),
    "into columns": lambda m, v, x: (
        v[:8].reshape(4, 2).__setitem__((slice(None), 0), v[1:5].copy()),
        v,
    )[1],
    "into a row": lambda m, v, x: (v[:9].reshape(3, 3).__setitem__(1, v[2:5]), v)[1],
    "positions": lambda m, v, x: _set(v, onp.array([1, 2, 3]), v[:3]),
    "one position": lambda m, v, x: (
        v[:8].reshape(2, 4).__setitem__(onp.array([1]), v[None, 3:7]),
        v,
    )[1],
    "mask": lambda m, v, x: _set(v, onp.arange(v.shape[0]) < 3, v[1:4]),
}
PRODUCERS_2D = {
    "copy": lambda m, A: A.copy(),
    "ravel and back": lambda m, A: (A.ravel() * 1).reshape(3, 4),
    "transpose": lambda m, A: m.ascontiguousarray(A.T).T.copy(),
    "rows": lambda m, A: A[[2, 0, 1]],
    "columns": lambda m, A: A[:, [3, 0, 2, 1]].copy(),
    "take": lambda m, A: m.take(A, onp.array([1, 2, 0]), axis=0),
    "new axis": lambda m, A: (A[None] + 0)[0],
    "plus 1": lambda m, A: A + 1,
    "repeat": lambda m, A: m.repeat(A, 2, axis=0),
    "tile": lambda m, A: m.tile(A, (2, 1)),
    "cumsum": lambda m, A: m.cumsum(A, axis=0).astype(A.dtype),
    "concatenate": lambda m, A: m.concatenate([A[1:], A[:1]]),
    "stack": lambda m, A: m.stack([A[0], A[1], A[2]]),
    "swapaxes": lambda m, A: A.reshape(4, 3).swapaxes(0, 1).copy(),
    "flip": lambda m, A: m.flip(A, 0).copy(),
}
WRITES_2D = {
    "rows down": lambda m, v, A: _set(v, slice(1, None), v[:-1]),
    "rows up": lambda m, v, A: _set(v, slice(None, -1), v[1:]),
    "rolled": lambda m, v, A: _set(v, slice(1, None), m.roll(v, 1, axis=0)[1:]),
    "columns": lambda m, v, A: _set(v, (slice(None), slice(1, None)), v[:, :-1]),
    "a row of the source": lambda m, v, A: _set(v, 1, A[0]),
    "a row, flat": lambda m, v, A: _set(v, 1, A.reshape(-1)[1:5]),
    "a column of rows": lambda m, v, A: _set(v, (slice(0, 3), 0), v[0, 1:4]),
    "a part": lambda m, v, A: _set(v, (slice(1, 3), slice(1, 3)), v[0:2, 0:2]),
    "a stencil": lambda m, v, A: _set(
        v, (slice(1, -1), slice(1, -1)), v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
    ),
    "flat": lambda m, v, A: (v.reshape(-1).__setitem__(slice(1, 6), v.ravel()[:5]), v)[1],
    "the diagonal": lambda m, v, A: (
        v.reshape(-1).__setitem__(slice(0, 10, 5), v[1, :2]),
        v,
    )[1],
    "sums": lambda m, v, A: _set(v, (0, slice(0, 3)), v[:3].sum(axis=1).astype(v.dtype)),
    "row after row": lambda m, v, A: [_set(v, i, v[i - 1] + A[0]) for i in range(1, 3)][-1],
}


def wrong(dtype, axes, part, parts, among):
    """The pairs that differ from NumPy, of each `parts`-th one."""
    from npcompat import np, npx

    producers, writes = (PRODUCERS_1D, WRITES_1D) if axes == 1 else (PRODUCERS_2D, WRITES_2D)
    source = onp.arange(1, 13).astype(dtype)
    source = source if axes == 1 else source.reshape(3, 4)
    found = []
    pairs = [(p, w) for p in producers for w in writes][part::parts]
    for producer, write in pairs:

        def program(m, x, producer=producer, write=write):
            if among:
                x[..., None] += 2
            v = producers[producer](m, x)
            v = writes[write](m, v, x)
            if among:
                v[...] += 1
            return v

        theirs, ours = source.copy(), np.array(source)
        expected = program(onp, theirs)
        compiled = npx.jit(lambda x, program=program: program(np, x))
        if not onp.array_equal(compiled(ours).asnumpy(), expected) or not (
            onp.array_equal(ours.asnumpy(), theirs)
        ):
            found.append((producer, write))
    return len(pairs), found


if __name__ == "__main__":
    count, found = wrong(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5] == "among")
    for pair in found:
        print(*pair, sep=" x ")
    print(f"{count} pairs, {len(found)} wrong")
