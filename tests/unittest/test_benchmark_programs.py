"""The NumPy programs of `benchmarks/programs`, at their small size: npcompat computes what NumPy
computes, eager and compiled.
"""

import json

import numpy as onp
import pytest

from benchmarks.npbench import row_of
from benchmarks.numpy_programs import CONTEXTS, check, ways
from benchmarks.programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_what_numpy_does(name):
    functions = ways(name, "SMALL")
    module = PROGRAMS[name]
    expected = functions.pop("numpy")()
    assert not onp.isnan(expected).any()
    for way, function in functions.items():
        with CONTEXTS[way]():
            if way == "by hand":
                continue  # compared where it is timed
            if way == "jit" and not getattr(module, "COMPILES", True):
                with pytest.raises(TypeError, match="while the function is being compiled"):
                    function()
            else:
                check(f"{name}, {way}", function(), expected)


def test_a_result_that_differs_is_an_error():
    expected = onp.array([1.0, 2.0])
    check("same", onp.array([1.0, 2.0 + 1e-12]), expected)
    for other in (
        onp.array([1.0, 2.001]),
        onp.array([1.0]),
        onp.array([1, 2]),
        onp.array([1.0, onp.nan]),
    ):
        with pytest.raises(AssertionError, match="heat, jit"):
            check("heat, jit", other, expected)


@pytest.fixture
def checkout(tmp_path):
    """Return a folder with one program as npbench keeps them, in versions for NumPy and JAX."""
    folder = tmp_path / "npbench" / "benchmarks" / "small"
    folder.mkdir(parents=True)
    (folder / "sums.py").write_text(
        "import numpy as np\n\ndef initialize(N):\n    return np.arange(N, dtype=float)\n"
    )
    (folder / "sums_numpy.py").write_text(
        "import numpy as np\n\ndef sums(N, a):\n"
        "    for i in range(1, N):\n        a[i] += np.sqrt(a[i - 1])\n"
    )
    (folder / "sums_jax.py").write_text(
        "import jax.numpy as jnp\n\ndef sums(N, a):\n"
        "    for i in range(1, N):\n        a = a.at[i].add(jnp.sqrt(a[i - 1]))\n    return a\n"
    )
    described = {
        "relative_path": "small",
        "module_name": "sums",
        "func_name": "sums",
        "parameters": {"S": {"N": 20}},
        "init": {"func_name": "initialize", "input_args": ["N"], "output_args": ["a"]},
        "input_args": ["N", "a"],
        "output_args": ["a"],
    }
    (tmp_path / "bench_info").mkdir()
    (tmp_path / "bench_info" / "sums.json").write_text(json.dumps({"benchmark": described}))
    return tmp_path


def test_programs_of_npbench_are_compared_before_they_are_timed(checkout):
    row = row_of(checkout, "sums", "S", 1)
    assert row["wrong"] == {}
    assert set(row["ms"]) >= {"numpy", "jit", "jax"}
    assert all(seconds > 0 for seconds in row["first"].values())


def test_a_version_of_npbench_that_differs_is_not_timed(checkout):
    path = checkout / "npbench" / "benchmarks" / "small" / "sums_jax.py"
    path.write_text(path.read_text().replace("return a", "return 2 * a"))
    row = row_of(checkout, "sums", "S", 1)
    assert row["wrong"] == {"jax": "ValueError: the results are not NumPy's"}
    assert set(row["ms"]) == {"numpy", "jit"}
