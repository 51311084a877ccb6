"""Safety of the C fast path: no writes of shared memory, no unset slots, bounded recursion."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as onp
import pytest

from npcompat import np, npx

N = 400_000
"""Elements of arrays that are large enough for their buffers to be reused in expressions."""


def boxes():
    """Arrays of ours that nobody but an object array of NumPy's holds."""
    found = onp.empty(3, object)
    for i in range(3):
        found[i] = np.full(N, float(i + 1), dtype="float32")
    return found


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda o: o - o[::-1], [-2, 0, 2]),
        (lambda o: o + 1, [2, 3, 4]),
        (lambda o: 2 * o, [2, 4, 6]),
        (lambda o: o * o, [1, 4, 9]),
        (lambda o: o / 2, [0.5, 1, 1.5]),
        (lambda o: 1 - o, [0, -1, -2]),
        (lambda o: o + o + o, [3, 6, 9]),
        (lambda o: o**2, [1, 4, 9]),
    ],
)
def test_arrays_in_object_arrays_are_not_overwritten(compute, expected):
    o = boxes()
    found = compute(o)
    assert [x[7].item() for x in found] == expected
    assert [x[7].item() for x in o] == [1, 2, 3]
    assert [(x == i + 1).all().item() for i, x in enumerate(o)] == [True] * 3


def test_temporaries_of_expressions_are_reused():
    from npcompat._internal.native import fast_path

    if fast_path.native is None:
        pytest.skip("the C part is not built")
    a = np.ones(N, dtype="float32")
    made = a * 2
    kept = made + a  # `made` has a name: it stays
    assert made[0] == 2
    assert kept[0] == 3
    assert ((a * 2) + a)[0] == 3


UNSET = [
    lambda a: a + 1,
    lambda a: 1 + a,
    lambda a: -a,
    lambda a: a[0],
    lambda a: a.__setitem__(0, 1),
    lambda a: a.__iadd__(1),
    lambda a: a**2,
    lambda a: float(a),
    lambda a: np.copy(a),
    lambda a: a.T,
    lambda a: a.reshape(1),
    lambda a: np.exp(a),
    lambda a: np.sum(a),
    lambda a: np.take(np.ones(3), a),
    lambda a: np.stack([a, a]),
    lambda a: np.add(np.ones(3), 1, out=a),
    lambda a: np.ones(3) + a,
    lambda a: np.ones(N) * 2 + a,
    lambda a: np.ones(3)[a],
    lambda a: np.ones(3).__setitem__(0, a),
    lambda a: np.ones(3).__setitem__(a, 0),
    lambda a: npx.jit(lambda x: x + 1)(a),
]


@pytest.mark.parametrize("use", UNSET, ids=range(len(UNSET)))
@pytest.mark.parametrize("kind", [np.ndarray, type(np.sum(np.ones(2)))], ids=["array", "scalar"])
def test_an_array_without_its_slots_raises(use, kind):
    with pytest.raises((AttributeError, TypeError)):
        use(object.__new__(kind))


CHAINS = {
    "reshape": lambda x: x.reshape(x.shape[::-1]),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "view": lambda x: x.view(),
    "transpose": lambda x: x.transpose(),
    "T": lambda x: x.T,
    "slice": lambda x: x[:],
    "flip": lambda x: x[::-1],
    "another dtype": lambda x: x.view("int32" if x.dtype == "float32" else "float32"),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_long_chains_of_views_read_and_write_their_base(name, backend):
    expected = onp.arange(12, dtype="float32").reshape(3, 4)
    with npx.backend(backend):
        base = np.array(expected)
        real, x = expected, base
        for _ in range(1500):
            real, x = CHAINS[name](real), CHAINS[name](x)
        assert x.dtype == real.dtype
        assert x.strides == real.strides
        assert (x.asnumpy() == real).all()
        x[0, 1] = real[0, 1] = 50
        assert (base.asnumpy() == expected).all()


def test_chains_of_views_of_other_memory_orders():
    expected = onp.asfortranarray(onp.arange(24.0).reshape(2, 3, 4))
    x = np.array(expected, order="F")
    base, real = x, expected
    for i in range(100):
        axes = [(1, 2, 0), (0, 2, 1)][i % 2]
        real, x = real.transpose(axes), x.transpose(axes)
    real, x = real[:1, ::-1], x[:1, ::-1]
    assert x.strides == real.strides
    x[...] = real[...] = 7
    assert (base.asnumpy() == expected).all()


def test_views_without_end_under_an_observer():
    x = np.ones((3, 4))
    with npx.audit():
        for _ in range(150_000):
            x = x.T
    assert (x + 1).shape == (3, 4)


def test_a_thread_of_greenlets_leaves_nothing_behind():
    """A function whose calls are cached switches to another stack, as gevent does."""
    greenlet = pytest.importorskip("greenlet")

    class Lazy:
        def __init__(self, switch):
            self.switch = switch

        def __array__(self, dtype=None, copy=None):
            self.switch()
            return onp.ones(2)

    found = []

    def other():
        for _ in range(50):
            found.append(np.sum(np.ones((2, 3)), axis=0).tolist())
            first.switch()

    second = greenlet.greenlet(other)

    def main():
        for _ in range(50):
            found.append(np.concatenate([np.ones(1), Lazy(second.switch)]).tolist())

    first = greenlet.greenlet(main)
    first.switch()
    assert found.count([1, 1, 1]) == 50
    assert found.count([2, 2, 2]) >= 49


def test_a_program_in_a_folder_named_jax_is_the_users(tmp_path):
    folder = tmp_path / "jax"
    folder.mkdir()
    program = folder / "train.py"
    program.write_text(
        textwrap.dedent(
            """
            from npcompat import np, npx

            with npx.audit() as found:
                bool(np.ones((), dtype="float32") > 0)
                np.array([1, 2]).asnumpy()
                with npx.backend("jax"):
                    float(np.ones(3).sum())
            print({e.location.rsplit(":", 1)[0] for e in found})
            """
        )
    )
    ran = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert ran.stdout.strip() == repr({str(program)})


@pytest.mark.parametrize("isolated", [True, False])
def test_the_c_part_refuses_subinterpreters_in_words(isolated):
    from npcompat._internal.native import fast_path

    if fast_path.native is None:
        pytest.skip("the C part is not built")
    # NumPy refuses, too: its error would come first if the package were imported
    inside = f"""
import importlib.machinery, importlib.util
loader = importlib.machinery.ExtensionFileLoader(
    {fast_path.native.__name__!r}, {fast_path.native.__file__!r}
)
try:
    loader.exec_module(
        importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    )
except ImportError as error:
    print("refused:", error, flush=True)
else:
    print("imported", flush=True)
"""
    program = f"""
import sys
from npcompat import np
from npcompat._internal.native import _native
if sys.version_info >= (3, 13):
    import _interpreters
    made = _interpreters.create({"isolated" if isolated else "legacy"!r})
else:
    import _xxsubinterpreters as _interpreters
    made = _interpreters.create(isolated={isolated})
_interpreters.run_string(made, {inside!r})
_interpreters.destroy(made)
assert (np.ones(3) + 1).tolist() == [2, 2, 2]
"""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("refused: ")
    assert "interpreter" in found.stdout
