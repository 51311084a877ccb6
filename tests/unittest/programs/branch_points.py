"""Program of test_complex.py: functions of constants at branch points, compiled, beside NumPy's.

XLA knows these constants only while it generates code, at the optimization level of users.
"""

import itertools
from typing import Any

import numpy as onp

from npcompat import np, npx


def signed(x: float, y: float) -> list[complex]:
    """Return the four numbers whose parts have these magnitudes."""
    return [complex(a, b) for a, b in itertools.product((x, -x), (y, -y))]


POINTS = {
    **dict.fromkeys(["log", "log2", "log10", "angle", "arctan2"], signed(0.0, 0.0)),
    **dict.fromkeys(["log1p", "arctanh"], signed(1.0, 0.0)),
    "arctan": signed(0.0, 1.0),
}


def compute(like: Any, name: str, x: Any, z: complex) -> Any:
    """Call a function with `z` six times, which does not stand in the program as a constant."""

    def constant(value: Any) -> Any:
        return (like.argmin(x.reshape(1, -1), axis=0)[::-1].astype(type(value)) + 1) * value

    if name == "arctan2":
        return like.arctan2(constant(z.imag), constant(z.real))
    return getattr(like, name)(constant(z))


def equal(mine: Any, theirs: Any) -> bool:
    """Whether both parts are equal, with the signs of zeros."""
    return all(
        onp.allclose(p, q, 1e-13) and bool((onp.signbit(p) == onp.signbit(q)).all())
        for p, q in ((mine.real, theirs.real), (mine.imag, theirs.imag))
    )


def main() -> None:
    """Print what differs, and how many."""
    wrong = 0
    for name, points in POINTS.items():
        for z in points:
            with onp.errstate(all="ignore"):
                expected = compute(onp, name, onp.arange(6), z)
            found = npx.jit(lambda x, name=name, z=z: compute(np, name, x, z))(np.arange(6))
            if not equal(found.asnumpy(), expected):
                wrong += 1
                print(name, z, found.asnumpy()[0], expected[0])
    print(f"{sum(map(len, POINTS.values()))} points, {wrong} wrong")


if __name__ == "__main__":
    with npx.np_default_dtype():
        main()
