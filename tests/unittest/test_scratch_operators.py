"""A package outside of the tree adds operators: each is one file and one case, and everything that
the registry's operators have follows.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

TESTS = Path(__file__).parent

SCAN = '''
    """Means of the elements so far."""

    from npcompat._internal.core import dtypes
    from npcompat._internal.dispatch.apply import apply
    from npcompat._internal.core.op_kinds import for_axis


    @for_axis("_npx_running_mean", rule=dtypes.floating)
    def _running_mean(xp, a, axis):
        """Mean of the elements up to each one."""
        length = [1] * axis + [a.shape[axis]] + [1] * (a.ndim - axis - 1)
        return xp.cumsum(a, axis=axis) / xp.astype(xp.reshape(xp.arange(1, a.shape[axis] + 1), length), a.dtype)


    def running_mean(a, axis=None):
        """Mean of the elements up to each one along an axis.

        Examples
        --------
        >>> running_mean([1.0, 3.0, 5.0])
        array([1., 2., 3.])
        """
        return apply(_running_mean, (a,), (axis,))
'''
SCAN_CASE = """
    import numpy as onp
    from scan import running_mean
    from registry_cases.case import case


    def expected(a, axis):
        a = onp.asarray(a, onp.float64 if a.dtype.kind in "biu" else a.dtype)
        a = a.reshape(-1) if axis is None or not a.ndim else a
        return onp.moveaxis([a.take(range(i + 1), axis or 0).mean(axis or 0) for i in range(a.shape[axis or 0])] or a, 0, axis or 0)


    case("_npx_running_mean", lambda xp, a: running_mean(a, 1), "2,3", oracle=lambda a: expected(a, 1), dtypes="i f d", layouts=("ordinary", "view"))
    case("_npx_running_mean", lambda xp, a: running_mean(a), "2,3", oracle=lambda a: expected(a, None), dtypes="f d")
"""

ANY_INPUTS = '''
    """Distances between arrays."""

    from npcompat._internal.dispatch.apply import apply
    from npcompat._internal.core.op_kinds import broadcast


    @broadcast("_npx_apart")
    def _apart(xp, *arrays):
        """The largest less the smallest of the elements at each place."""
        largest = smallest = arrays[0]
        for array in arrays[1:]:
            largest, smallest = xp.maximum(largest, array), xp.minimum(smallest, array)
        return largest - smallest


    def apart(*arrays):
        """The largest less the smallest of the elements of arrays at each place.

        Examples
        --------
        >>> apart([1, 5], [2, 2], 3)
        array([2, 3])
        """
        return apply(_apart, arrays)
'''
ANY_INPUTS_CASE = """
    import numpy as onp
    from any_inputs import apart
    from registry_cases.case import case

    case(
        "_npx_apart",
        lambda xp, a, b, c: apart(a, b, c),
        "2,3 distinct",
        "3 positive",
        "2,1 fraction",
        oracle=lambda *a: onp.asarray(onp.ptp(onp.stack(onp.broadcast_arrays(*a)), axis=0)),
        dtypes="b i f d",
        smooth=False,
    )
"""

CONVOLUTION = '''
    """Dilation, the convolution of morphology (Serra, 1982)."""

    from npcompat._internal.dispatch.apply import apply
    from npcompat._internal.core.op_kinds import convolution


    @convolution("_npx_dilation", fill=-1e4)
    def _dilation(xp, windows, weight):
        """The largest sum of an element and its weight in each window.

        Parameters
        ----------
        stride, dilate, pad : tuple of int
            Step of the window, step within it, and padding, for each spatial axis.
        """
        return xp.max(windows + weight, axis=(2, 3))


    def dilation(x, weight, stride=(), dilate=(), pad=()):
        """The largest sum of an element and its weight in each window.

        Parameters
        ----------
        x : array_like, shape (N, C, ...)
            Batch.
        weight : array_like, shape (F, C, ...)
            Filters.

        Examples
        --------
        >>> dilation([[[1.0, 2.0, 9.0]]], [[[0.0, 1.0]]])
        array([[[ 3., 10.]]])
        """
        return apply(_dilation, (x, weight), (tuple(stride), tuple(dilate), tuple(pad)))
'''
CONVOLUTION_CASE = """
    import numpy as onp
    from numpy.lib.stride_tricks import sliding_window_view
    from convolution import dilation
    from registry_cases.case import case


    def expected(x, weight):
        x, weight = (onp.asarray(a, onp.float64 if a.dtype.kind in "biu" else a.dtype) for a in (x, weight))
        x = onp.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-1e4)
        windows = sliding_window_view(x, (2, 3), (2, 3))[:, None, :, ::2, ::1]
        return (windows + weight[None, :, :, None, None]).max(axis=(2, 5, 6))


    case(
        "_npx_dilation",
        lambda xp, x, w: dilation(x, w, stride=(2, 1), pad=(1, 1)),
        "1,2,4,3 distinct",
        "2,2,2,3 fraction",
        oracle=expected,
        dtypes="i f d",
        layouts=("ordinary", "view"),
    )
"""

CUSTOM = '''
    """A cube with a derivative of its own."""

    from npcompat import npx
    from npcompat._internal.core.op import register

    cube = npx.Custom(lambda x: x**3, lambda x: x, lambda x: x, bprop=lambda x, out, dout: (3 * x**2 * dout,), name="cube")
    _cube = register(cube.operator(1, ()))
'''
CUSTOM_CASE = """
    import numpy as onp
    from npcompat._internal.dispatch.apply import apply
    from custom import _cube, cube
    from registry_cases.case import KEPT, case

    case("_npx_custom_cube", lambda xp, a: apply(_cube, (a,)), "2,3", oracle=lambda a: onp.asarray(a**3), dtypes="f d", policy=KEPT)
    case("_npx_custom_cube", lambda xp, a: cube(a), "2,3", oracle=lambda a: a**3, dtypes="f d", policy=KEPT)
"""

FILES = {
    "scan": (SCAN, SCAN_CASE, "`ops.RunningMean(axis=None)(a)`; called by `scan.running_mean`."),
    "any_inputs": (
        ANY_INPUTS,
        ANY_INPUTS_CASE,
        "`ops.Apart()(*arrays)`; called by `any_inputs.apart`.",
    ),
    "convolution": (CONVOLUTION, CONVOLUTION_CASE, "- **Pattern**: complex"),
    "custom": (CUSTOM, CUSTOM_CASE, "## _npx_custom_cube"),
}

CHECKS = '''
    """The template's checks of every operator, for those that files add; prints their pages.
    """

    import doctest
    import importlib
    import sys

    import pytest

    from npcompat import np
    from npcompat._internal.core.op import REGISTRY
    import test_registry
    import test_registry_gradients
    import test_registry_graphs
    from npcompat.ops._manual import page

    for file in sys.argv[1:]:
        before = set(REGISTRY)
        module = importlib.import_module(file)
        importlib.import_module(f"{file}_case")
        (name,) = set(REGISTRY) - before
        for check in (
            test_registry.test_every_operator_has_cases_that_run_it,
            test_registry_graphs.test_an_operator_is_inferred_written_a_node_loaded_and_described,
        ):
            with pytest.MonkeyPatch.context() as patch:
                check(name, patch)
        for check in (
            test_registry.test_host,
            test_registry.test_xla,
            test_registry_gradients.test_gradients,
        ):
            check(name)
        test_registry.test_compiled(name, False)
        assert doctest.testmod(module).failed == 0
        print(page(REGISTRY[name]))
'''


def test_one_file_and_one_case_add_an_operator(tmp_path):
    written = {"checks": CHECKS}
    for name, (operator, case, _) in FILES.items():
        written |= {name: operator, f"{name}_case": case}
    for name, code in written.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code).lstrip())
    found = subprocess.run(
        [sys.executable, "-W", "error", "checks.py", *FILES],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, TESTS, TESTS.parents[1]))),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-3000:]
    for _, _, said in FILES.values():
        assert said in found.stdout
