"""Basket of eager calls, as NumPy programs write them, and the libraries to compare.

`a` and `b` are float32 arrays of one shape, `mask` is a bool array of that shape, `at` a sorted
array of indices of the first axis. A call that ends in a write is measured on operands of its own.
"""

import ast
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from npcompat import np, npx

GROUPS: dict[str, tuple[str, ...]] = {
    "elementwise": (
        "np.exp(a)", "np.log(a)", "np.sqrt(a)", "np.sin(a)", "np.tanh(a)", "np.absolute(a)",
        "np.negative(a)", "np.square(a)", "np.floor(a)", "np.isnan(a)", "np.add(a, b)",
        "np.subtract(a, b)", "np.multiply(a, b)", "np.divide(a, b)", "np.maximum(a, b)",
        "np.arctan2(a, b)", "np.greater(a, b)", "np.equal(a, b)", "np.where(mask, a, b)",
        "np.clip(a, 0.6, 0.9)",
    ),
    "operators": (
        "a + b", "a * b", "a - 0.5", "2 * a", "a ** 2", "a / b", "a > 0.5", "a == b", "-a",
        "abs(a)", "mask & mask", "~mask",
    ),
    "reductions": (
        "np.sum(a)", "np.sum(a, axis=0)", "np.prod(a, axis=0)", "np.max(a, axis=0)", "np.min(a)",
        "np.mean(a, axis=0)", "np.mean(a)", "np.std(a, axis=0)", "np.all(mask)",
        "np.any(mask, axis=0)", "np.argmax(a, axis=0)", "np.cumsum(a, axis=0)", "a.sum()",
        "a.max()",
    ),
    "get": (
        "a[1]", "a[-1, 2]", "a[1:5]", "a[:, 1]", "a[::2]", "a[None]", "a[...]", "a[mask]", "a[at]",
        "np.take(a, at, axis=0)",
    ),
    "set": (
        "a[1] = 1.5", "a[1, 2] = 0.5", "a[1:5] = b[2:6]", "a[:, 1] = 0.5", "a[...] = b",
        "a[mask] = 0.75", "a[at] = 0.5", "a += 0.25", "a *= b", "a[1:] += b[1:]",
    ),
    "shaping": (
        "a.reshape(-1)", "np.transpose(a)", "a.T", "np.ravel(a)", "a.copy()",
        "np.expand_dims(a, 0)", "np.squeeze(a[None])", "np.broadcast_to(a, (2, *a.shape))",
        "np.flip(a, 0)", "np.roll(a, 1, 0)", "np.repeat(a, 2, 0)", "np.tile(a, 2)",
    ),
    "joining": (
        "np.concatenate((a, b))", "np.stack((a, b))", "np.vstack((a, b))", "np.split(a, 2)",
    ),
    "creation": (
        "np.zeros(a.shape)", "np.ones(a.shape)", "np.full(a.shape, 0.5)", "np.arange(10)",
        "np.linspace(0.0, 1.0, 11)", "np.eye(4)", "np.zeros_like(a)", "np.ones_like(a)",
    ),
    "products": (
        "np.matmul(a, b)", "np.dot(a, b)", "a @ b", "np.einsum('ij,kj->ik', a, b)",
        "np.outer(a[0], b[0])", "np.inner(a[0], b[0])",
    ),
    "sorting": (
        "np.sort(a, axis=-1)", "np.argsort(a, axis=-1)", "np.searchsorted(at, at)",
        "np.nonzero(mask)", "np.unique(at)",
    ),
    "astype": ("a.astype('float64')", "a.astype('int32')", "mask.astype('float32')"),
    "random": (
        "np.random.uniform(size=a.shape)", "np.random.normal(size=a.shape)",
        "np.random.randint(0, 10, a.shape)",
    ),
    "conversion": (
        "np.array([1.0, 2.0, 3.0])", "np.array(host)", "np.asarray(host)", "to_numpy(a)",
        "a.tolist()", "float(np.sum(a))", "a[0, 0].item()", "bool(np.any(mask))",
    ),
}  # fmt: skip
CALLS = {source: group for group, sources in GROUPS.items() for source in sources}
SHAPES = ((), (8, 8), (0, 3), (256, 256), (1000, 1000))
LARGE = 2**16  # from this size on libraries use threads, and results are waited for
ARRAYS = ("a", "b", "mask", "at")
DRAWN = frozenset(GROUPS["random"])  # libraries draw different values


@dataclass(frozen=True)
class Library:
    """Library to compare: its namespace, conversion to its arrays, and waiting for results."""

    namespace: Any
    array: Callable[[Any], Any]
    mode: Callable[[], AbstractContextManager[Any]] = nullcontext
    wait: Callable[[Any], object] | None = None


def libraries() -> dict[str, Library]:
    """Return the libraries to compare.

    NumPy, npcompat on XLA and under `auto`, `jax.numpy`, and, if installed, torch and its emulation
    of NumPy.
    """
    found = {
        "numpy": Library(numpy, numpy.array),
        "xla": Library(np, np.array, partial(npx.backend, "jax"), _waited),
        "auto": Library(np, np.array, partial(npx.backend, "auto"), _waited),
        "jnp": Library(jnp, jnp.array, wait=jax.block_until_ready),
    }
    if find_spec("torch"):
        import torch  # optional: measured where it is installed
        import torch._numpy

        found["torch"] = Library(torch, torch.tensor)
        found["tnp"] = Library(torch._numpy, torch._numpy.array)
    return found


def _waited(result: Any) -> Any:
    for array in result if isinstance(result, tuple | list) else (result,):
        if isinstance(array, np.ndarray):
            array.wait_to_read()
    return result


def operands(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return NumPy arrays for the names that the calls use."""
    state = numpy.random.RandomState(0)
    size = math.prod(shape)
    a, b = [
        numpy.asarray(0.5 + state.permutation(size).reshape(shape) / (2 * max(size, 1)), "float32")
        for _ in range(2)
    ]  # all distinct
    length = shape[0] if shape else 1
    at = numpy.sort(state.randint(0, max(length, 1), size=min(length, 100))).astype("int64")
    return {"a": a, "b": b, "mask": numpy.asarray(a > 0.75), "at": at}


def names(source: str) -> list[str]:
    """Return the names of the arrays that a call uses."""
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    return [name for name in ARRAYS if name in used]


def bound(source: str, namespace: Any, arrays: Mapping[str, Any], host: Any) -> Callable[[], Any]:
    """Return a call as a function without arguments.

    It returns the call's result, or the array that it writes to.
    """
    writes = not isinstance(ast.parse(source).body[0], ast.Expr)
    body = f"nonlocal a; {source}; return a" if writes else f"return {source}"
    parameters = ("np", "host", "to_numpy", *ARRAYS)
    made: dict[str, Any] = {}
    exec(
        f"def bind({', '.join(parameters)}):\n def call(): {body}\n return call", made
    )  # the source is from this file
    return made["bind"](namespace, host, numpy.asarray, *[arrays.get(name) for name in ARRAYS])


def agrees(result: Any, expected: Any) -> bool:
    """Return True if a library's result is NumPy's, to the precision of float32."""
    if isinstance(expected, list | tuple) and any(isinstance(e, numpy.ndarray) for e in expected):
        return (
            isinstance(result, list | tuple)
            and len(result) == len(expected)
            and all(map(agrees, result, expected))
        )
    try:
        got = numpy.asarray(getattr(result, "tensor", result))  # of arrays of torch._numpy
    except (TypeError, ValueError, RuntimeError):
        return False
    if got.shape != numpy.shape(expected) or not numpy.can_cast(got.dtype, "complex128"):
        return False
    return numpy.allclose(got, expected, rtol=1e-3, atol=1e-5, equal_nan=True)
