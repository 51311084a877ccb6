"""`NPCOMPAT_FAST` leaves fast paths out; results stay the same."""

import pytest
from processes import run

from npcompat import npx

PROGRAM = """
from npcompat import np, npx
a = np.arange(12.0).reshape(3, 4)
a[1, 2:] = -a[0, :2]
a[a > 9] = 0
f = npx.jit(lambda x: (x * 2).sum(axis=0))
np.random.seed(1)
draws = [float(np.random.uniform()) for _ in range(3)]
print(npx.build_info()["fast"], npx.build_info()["native"])
print((a @ a.T).tolist(), f(a).tolist(), f(a).tolist(), draws, np.concatenate([a, a])[-1].tolist())
"""


def test_results_do_not_depend_on_the_switch():
    (_, expected), _ = run(PROGRAM)
    for chosen in ("none", "index", "calls", "draws", "pages", "index,draws"):
        (fast, found), error = run(PROGRAM, NPCOMPAT_FAST=chosen)
        assert found == expected, error
        kinds = () if chosen == "none" else tuple(chosen.split(","))
        native = npx.build_info()["native"] and not {"index", "calls", "pages"}.isdisjoint(kinds)
        assert fast == f"{kinds} {native}"


def test_a_wrong_switch_is_refused():
    _, error = run(PROGRAM, NPCOMPAT_FAST="everything")
    assert "expected all, none, or some of index, calls, draws, pages" in error


def test_build_info_says_why_the_c_part_is_missing():
    (first, _), _ = run(PROGRAM, NPCOMPAT_NATIVE="0")
    assert first.endswith("False")
    info = npx.build_info()
    assert info["native"] == (info["native_missing"] == "")
    with pytest.raises(KeyError):
        info["nothing"]
