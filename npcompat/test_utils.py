"""Test utilities: comparison with tolerances by dtype, random arrays, gradient checks."""

import functools
import os
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as onp

from npcompat import autograd, npx
from npcompat import numpy as np
from npcompat._internal.backend.jax import language
from npcompat._internal.core import dtypes
from npcompat._internal.core.handle import Handle
from npcompat.numpy._typing import ArrayLike, DTypeLike

Test = TypeVar("Test", bound=Callable[..., Any])
TOLERANCES: dict[str, tuple[float, float]] = {
    "bfloat16": (2e-2, 1e-2),
    "float16": (2e-3, 1e-3),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float64": (1e-9, 1e-12),
    "complex128": (1e-9, 1e-12),
}
"""Relative and absolute tolerance of each dtype; other dtypes are compared exactly."""


# --- comparisons ----------------------------------------------------------------------------------


def tolerances(*dtypes: DTypeLike) -> tuple[float, float]:
    """Return the relative and absolute tolerance of the least precise of some dtypes.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> test_utils.tolerances("float64", "float16")
    (0.002, 0.001)
    >>> test_utils.tolerances("int64")
    (0.0, 0.0)
    """
    return max(TOLERANCES.get(onp.dtype(d).name, (0.0, 0.0)) for d in dtypes)


_ARRAYS = (Handle, onp.bool_)
"""Classes of results of operators: bools are NumPy's on the host."""


def _on_host(a: ArrayLike) -> onp.ndarray[Any, Any]:
    return a.asnumpy() if isinstance(a, Handle) else onp.asarray(a)  # type: ignore[attr-defined]


def _exact(a: onp.ndarray[Any, Any]) -> onp.ndarray[Any, Any]:
    """Convert to a dtype in which differences are exact enough."""
    if a.dtype.kind in "iu" and a.itemsize == 8:
        return a.astype(object)  # Python integers, since float64 would round them
    return a if a.dtype.kind in "cO" else a.astype(onp.float64)


def _differences(
    a: onp.ndarray[Any, Any], b: onp.ndarray[Any, Any], rtol: float, atol: float, equal_nan: bool
) -> onp.ndarray[Any, Any]:
    """Return elementwise differences in units of the tolerance; at most 1 if close enough."""
    x, y = _exact(a), _exact(b)
    with onp.errstate(all="ignore"):
        distance = onp.asarray(abs(x - y), onp.float64)
        allowed = atol + rtol * onp.asarray(abs(y), onp.float64)
        excess = onp.where(distance == 0, 0.0, distance / allowed)
    excess = onp.where(x == y, 0.0, excess)  # equal infinities do not differ
    missing = (x != x), (y != y)
    excess = onp.where(
        missing[0] | missing[1], onp.inf, onp.where(onp.isnan(excess), onp.inf, excess)
    )
    return onp.where(missing[0] & missing[1], 0.0, excess) if equal_nan else excess


def same(a: ArrayLike, b: ArrayLike) -> bool:
    """Return True if two arrays have the same shape and equal elements; nan equals nan.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> test_utils.same(np.ones(2), [1, 1]), test_utils.same(np.ones(2), 1)
    (True, False)
    """
    x, y = _on_host(a), _on_host(b)
    return x.shape == y.shape and bool((_differences(x, y, 0.0, 0.0, True) <= 1).all())


def almost_equal(
    a: ArrayLike,
    b: ArrayLike,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
) -> bool:
    """Return True if two arrays have the same shape and close elements.

    The arguments are those of `assert_almost_equal`.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> test_utils.almost_equal(np.array([1.0]), [1.0000001])
    True
    """
    x, y = _on_host(a), _on_host(b)
    usual = tolerances(x.dtype, y.dtype)
    rtol, atol = usual[0] if rtol is None else rtol, usual[1] if atol is None else atol
    return x.shape == y.shape and bool((_differences(x, y, rtol, atol, equal_nan) <= 1).all())


def assert_almost_equal(
    a: ArrayLike,
    b: ArrayLike,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    names: tuple[str, str] = ("a", "b"),
    *,
    use_broadcast: bool = False,
) -> None:
    """Assert that two arrays have the same shape and close elements.

    Parameters
    ----------
    a, b : array_like
        Arrays to compare; `b` is the expected one, or a number that all elements have.
    rtol, atol : float, optional
        Tolerance: elements may differ by ``atol + rtol * abs(b)``. The default is that of the less
        precise dtype.
    equal_nan : bool
        Whether nan equals nan.
    names : tuple of str
        Names of the arrays in the message.
    use_broadcast : bool
        Whether arrays of different shapes are broadcast. In MXNet that is the default.

    Raises
    ------
    AssertionError
        If they differ; the message shows the largest difference.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> found, expected = np.array([1.0, 2.0]), [1.0, 2.5]
    >>> test_utils.assert_almost_equal(found, expected, names=("found", "expected"))
    Traceback (most recent call last):
    AssertionError: found and expected differ in 1 of 2 elements (rtol=1e-05, atol=1e-06)
    worst at [1]: found = 2.0, expected = 2.5, off by 0.5
    """
    x, y = _on_host(a), _on_host(b)
    if x.shape != y.shape and (use_broadcast or not y.shape):
        x, y = onp.broadcast_arrays(x, y)
    if x.shape != y.shape:
        raise AssertionError(f"{names[0]} has shape {x.shape}, {names[1]} has shape {y.shape}")
    usual = tolerances(x.dtype, y.dtype)
    rtol, atol = usual[0] if rtol is None else rtol, usual[1] if atol is None else atol
    excess = _differences(x, y, rtol, atol, equal_nan)
    wrong = int((excess > 1).sum())
    if not wrong:
        return
    worst = onp.unravel_index(int(excess.argmax()), x.shape)
    found, expected = x[worst].item(), y[worst].item()
    where = f"[{', '.join(map(str, map(int, worst)))}]"
    off = (
        f", off by {abs(found - expected):.6g}"
        if abs(found) < onp.inf and abs(expected) < onp.inf
        else ""
    )
    raise AssertionError(
        f"{names[0]} and {names[1]} differ in {wrong} of {x.size} elements (rtol={rtol:g}, "
        f"atol={atol:g})\n"
        f"worst at {where}: {names[0]} = {found}, {names[1]} = {expected}{off}"
    )


def assert_exception(
    f: Callable[..., Any], exception_type: type[BaseException], *args: Any, **kwargs: Any
) -> None:
    """Assert that a call raises, at the latest when its result is read.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> test_utils.assert_exception(np.ones(3).reshape, ValueError, 2)
    """
    try:
        for leaf in language.flatten(f(*args, **kwargs))[0]:
            if isinstance(leaf, Handle):
                onp.asarray(leaf)
    except exception_type:
        return
    raise AssertionError(f"{getattr(f, '__name__', f)} did not raise {exception_type.__name__}")


# --- samples --------------------------------------------------------------------------------------


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """Return a random shape of `num_dim` axes, with lengths up to `dim`.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> len(test_utils.rand_shape_nd(3))
    3
    """
    return tuple(random.randint(0 if allow_zero_size else 1, dim) for _ in range(num_dim))


def rand_ndarray(
    shape: int | Sequence[int],
    dtype: DTypeLike = None,
    low: float = -1.0,
    high: float = 1.0,
    scale: float = 1.0,
) -> np.ndarray:
    """Return an array of random values between `low` and `high`, times `scale`.

    Parameters
    ----------
    shape : int or tuple of int
        Its shape.
    dtype : dtype, optional
        Its dtype; the default float if not given. Complex arrays have both parts in the interval,
        bools are fair coins.
    low, high, scale : float
        Bounds, and factor of the values.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> x = test_utils.rand_ndarray((2, 3), "int8", 0, 5)
    >>> x.shape, x.dtype, bool((x <= 5).all())
    ((2, 3), dtype('int8'), True)
    """
    wanted = dtypes.default_float() if dtype is None else dtypes.canonical(dtype)
    if wanted.kind == "b":
        return np.random.uniform(size=shape) < 0.5
    if wanted.kind in "iu":
        return (np.random.randint(int(low), int(high) + 1, size=shape) * int(scale)).astype(wanted)
    real = np.random.uniform(low, high, shape, dtype="float64") * scale
    if wanted.kind == "c":
        return (real + 1j * np.random.uniform(low, high, shape, dtype="float64") * scale).astype(
            wanted
        )
    return real.astype(wanted)


# --- checks ---------------------------------------------------------------------------------------


def _copies(inputs: Sequence[Any], dtype: Callable[[Any], Any] | None = None) -> list[Any]:
    """Copy the inputs, arrays to the current device and optionally to another dtype."""
    made = []
    for x in inputs:
        if isinstance(x, np.ndarray | onp.ndarray):
            host = _on_host(x)
            x = np.array(host if dtype is None else host.astype(dtype(host.dtype)))
        made.append(x)
    return made


def _results(result: Any) -> list[Any]:
    return [r for r in language.flatten(result)[0] if isinstance(r, _ARRAYS)]


def _wide(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    if not dtypes.is_inexact(dtype):
        return dtype
    return onp.dtype("complex128" if dtype.kind == "c" else "float64")


def check_numeric_gradient(
    f: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    step: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    jit: bool = False,
    seed: int = 0,
) -> None:
    """Assert that the recorded gradients of a function equal its central differences.

    The function is called on copies of the inputs in float64 (complex128). Its outputs are weighted
    by random head gradients and summed; each element of each float input is perturbed by `step`.
    The gradient of a complex input is that of the real part by its real part minus i times that by
    its imaginary part, as in JAX.

    Parameters
    ----------
    f : callable
        Takes the inputs; returns arrays in any containers. It may write to its inputs.
    inputs : sequence
        Arrays, and other arguments that are passed unchanged.
    step : float
        Perturbation of an element.
    rtol, atol : float
        Tolerance of the comparison.
    jit : bool
        Whether the gradients are taken through `npx.jit(f)`.
    seed : int
        Seed of the random numbers that `f` draws, set before each call.

    Raises
    ------
    AssertionError
        If a gradient is wrong; the message shows the largest difference.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> inputs = [np.ones((2, 3)), np.ones(3)]
    >>> test_utils.check_numeric_gradient(lambda x, y: np.tanh(x) @ y, inputs)
    """

    def call(function: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        np.random.seed(seed)
        return [r for r in _results(function(*arguments)) if dtypes.is_inexact(r.dtype)]

    variables = _copies(inputs, _wide)
    wanted = [
        i for i, x in enumerate(variables) if isinstance(x, Handle) and dtypes.is_inexact(x.dtype)
    ]
    for i in wanted:
        variables[i].attach_grad()
    generator = onp.random.default_rng(seed)
    with autograd.record():
        outs = call(
            npx.jit(f) if jit else f, [x * 1 if i in wanted else x for i, x in enumerate(variables)]
        )
        heads = [_head(generator, out) for out in outs]
        total: Any = sum(
            (out * np.array(head)).sum().real for out, head in zip(outs, heads, strict=True)
        )
    if not issubclass(type(total), Handle):
        raise AssertionError("check_numeric_gradient: the function returns no array of floats")
    total.backward()

    def moved(position: int, values: onp.ndarray[Any, Any]) -> float:
        with npx.backend("numpy"):
            found = call(
                f, _copies([values if i == position else x for i, x in enumerate(variables)], _wide)
            )
            return float(
                sum(
                    (_on_host(out) * head).sum().real
                    for out, head in zip(found, heads, strict=True)
                )
            )

    for i in wanted:
        expected = _central_differences(functools.partial(moved, i), _on_host(variables[i]), step)
        assert_almost_equal(
            variables[i].grad,
            expected,
            rtol,
            atol,
            names=(f"gradient of input {i}", "central difference"),
        )


def _head(generator: onp.random.Generator, out: Any) -> onp.ndarray[Any, Any]:
    head: onp.ndarray[Any, Any] = onp.asarray(generator.uniform(0.5, 1.5, out.shape))
    return head + 1j * generator.uniform(-1, 1, out.shape) if out.dtype.kind == "c" else head


def _central_differences(
    f: Callable[[Any], float], x: onp.ndarray[Any, Any], step: float
) -> onp.ndarray[Any, Any]:
    found = onp.zeros_like(x)
    directions = (1, 1j) if x.dtype.kind == "c" else (1,)
    for position in onp.ndindex(x.shape):
        for direction in directions:
            up, down = x.copy(), x.copy()
            up[position] += step * direction
            down[position] -= step * direction
            found[position] += (f(up) - f(down)) / (2 * step) * onp.conj(direction)
    return found


def check_consistency(
    f: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    rtol: float | None = None,
    atol: float | None = None,
    jit: bool = True,
    backends: Sequence[str] = ("jax", "numpy"),
    seed: int = 0,
) -> Any:
    """Assert that a function has the same results on each backend, eager and compiled.

    Values, dtypes and shapes of its results are compared, as are those of its inputs after the
    call, which it may write, and the class of an exception.

    Parameters
    ----------
    f : callable
        Takes the inputs; returns arrays in any containers.
    inputs : sequence
        Arrays, and other arguments that are passed unchanged.
    rtol, atol : float, optional
        As in `assert_almost_equal`.
    jit : bool
        Whether `npx.jit(f)` is run, too.
    backends : sequence of str
        Backends on which the function runs eagerly.
    seed : int
        Seed of the random numbers that `f` draws, set before each call.

    Returns
    -------
    object
        The result of `f` on the first backend, or the exception that it raised.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> def f(x):
    ...     x[0] = 5
    ...     return x.sum()
    >>> test_utils.check_consistency(f, [np.arange(3)])
    np.int64(8)
    """
    runs = [(name, name, f) for name in backends] + (
        [("npx.jit", "jax", npx.jit(f))] if jit else []
    )
    first: Any = None
    for name, backend, function in runs:
        with npx.backend(backend):
            arguments = _copies(inputs)
            np.random.seed(seed)
            try:
                result = function(*arguments)
                _results(result)
            except Exception as error:
                result = error
        if first is None:
            first = (name, result, arguments)
            continue
        _agree(result, first[1], rtol, atol, (name, first[0]))
        if not isinstance(result, Exception):
            _agree(
                arguments,
                first[2],
                rtol,
                atol,
                (f"inputs after {name}", f"inputs after {first[0]}"),
            )
    return first[1]


def _agree(
    found: Any, expected: Any, rtol: float | None, atol: float | None, names: tuple[str, str]
) -> None:
    if isinstance(found, Exception) or isinstance(expected, Exception):
        if type(found) is not type(expected):
            raise AssertionError(f"{names[0]}: {found!r}, {names[1]}: {expected!r}")
        return
    (leaves, tree), (others, other_tree) = language.flatten(found), language.flatten(expected)
    if tree != other_tree:
        raise AssertionError(f"{names[0]} returned {tree}, {names[1]} returned {other_tree}")
    for i, (a, b) in enumerate(zip(leaves, others, strict=True)):
        if not isinstance(a, _ARRAYS) or not isinstance(b, _ARRAYS):
            if type(a) is not type(b) or not (isinstance(a, _ARRAYS) or a == b):
                raise AssertionError(f"array {i}: {names[0]}: {a!r}, {names[1]}: {b!r}")
            continue
        if a.dtype != b.dtype:
            raise AssertionError(
                f"array {i}: {names[0]} has dtype {a.dtype}, {names[1]} has dtype {b.dtype}"
            )
        assert_almost_equal(a, b, rtol, atol, names=(f"array {i} of {names[0]}", f"of {names[1]}"))


# --- surroundings ---------------------------------------------------------------------------------


def with_seed(seed: int | None = None) -> Callable[[Test], Test]:
    """Decorate a test to seed npcompat, NumPy and Python; a failure reports the seed.

    Parameters
    ----------
    seed : int, optional
        The seed. By default that of the environment variable ``NPCOMPAT_TEST_SEED``, or a new one
        at each run.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> @test_utils.with_seed(3)
    ... def draw():
    ...     return np.random.uniform()
    >>> bool(draw() == draw())
    True
    """

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def seeded(*args: Any, **kwargs: Any) -> Any:
            asked = os.environ.get("NPCOMPAT_TEST_SEED")
            chosen = (
                seed
                if seed is not None
                else int(asked)
                if asked
                else random.SystemRandom().randrange(2**32)
            )
            random.seed(chosen)
            onp.random.seed(chosen)
            np.random.seed(chosen)
            try:
                return test(*args, **kwargs)
            except BaseException as error:
                error.add_note(
                    f"random numbers were seeded with {chosen}; run with "
                    f"NPCOMPAT_TEST_SEED={chosen} to repeat this"
                )
                raise

        return seeded  # type: ignore[return-value]

    return decorate


def default_device() -> npx.Device | npx.Sharding:
    """Return the device of new arrays.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> test_utils.default_device() == npx.current_device()
    True
    """
    return npx.current_device()


def effective_dtype(a: Any) -> onp.dtype[Any]:
    """Return the dtype whose precision products of the array really have.

    Accelerators multiply float32 matrices in reduced precision.

    Examples
    --------
    >>> from npcompat import test_utils
    >>> with npx.cpu():
    ...     test_utils.effective_dtype(np.ones(2))
    dtype('float32')
    """
    reduced = {"gpu": "float16", "tpu": "bfloat16"}.get(a.device.device_type)
    return (
        dtypes.canonical(reduced)
        if reduced is not None and a.dtype == onp.float32
        else onp.dtype(a.dtype)
    )


use_np = npx.use_np

__all__ = [
    "TOLERANCES", "almost_equal", "assert_almost_equal", "assert_exception", "check_consistency",
    "check_numeric_gradient", "default_device", "effective_dtype", "rand_ndarray",
    "rand_shape_nd", "same", "tolerances", "use_np", "with_seed",
]  # fmt: skip
